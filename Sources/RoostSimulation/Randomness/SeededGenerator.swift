/// A generator whose whole sequence follows from its seed, the same on every platform and in every process.
///
/// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018), its state filled by
/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). For tests only:
/// whoever sees some of its output can compute the rest.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    /// The generator in a given state, which must not be all zeros.
    package init(state: (UInt64, UInt64, UInt64, UInt64)) {
        self.state = state
    }

    /// - Parameter stream: Generators of one seed and different streams are independent of each other.
    package init(seed: UInt64, stream: UInt64 = 0) {
        var filler = SplitMix(state: seed)
        // The stream is mixed before it is added: neighbouring seeds and streams must not meet.
        var mixer = SplitMix(state: stream)
        if stream != 0 { filler.state &+= mixer.next() }
        state = (filler.next(), filler.next(), filler.next(), filler.next())
    }

    package mutating func next() -> UInt64 {
        let result = rotate(state.1 &* 5, by: 7) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = rotate(state.3, by: 45)
        return result
    }

    /// A number in `0 ..< bound`, which must be above 0; the bias is below `bound` / 2^64.
    package mutating func next(below bound: Int) -> Int {
        precondition(bound > 0, "an empty range has no member to choose")
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// True with the given probability: never at 0, always at 1.
    package mutating func chance(_ probability: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < probability
    }

    /// Fills `buffer`; the bytes are the numbers' in little-endian order.
    package mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        var offset = 0
        while offset < buffer.count {
            let word = next().littleEndian
            unsafe withUnsafeBytes(of: word) { bytes in
                let part = unsafe bytes.prefix(buffer.count - offset)
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyBytes(from: part)
            }
            offset += 8
        }
    }

    private func rotate(_ value: UInt64, by count: UInt64) -> UInt64 {
        value << count | value >> (64 - count)
    }
}

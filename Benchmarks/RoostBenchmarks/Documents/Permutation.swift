/// A pseudo-random order of `0..<count` that needs no memory: a four-round Feistel network over the next even
/// number of bits, walked until it lands inside (Black and Rogaway, CT-RSA 2002).
struct Permutation: Sendable {
    private let count: UInt64
    private let halfBits: UInt64
    private let halfMask: UInt64
    private let seed: UInt64

    init(count: Int, seed: UInt64) {
        self.count = UInt64(count)
        let bits = UInt64(64 - UInt64(max(count - 1, 1)).leadingZeroBitCount)
        halfBits = (bits + 1) / 2
        halfMask = (1 << halfBits) - 1
        self.seed = seed
    }

    /// The element at `position`; every element appears at one position.
    subscript(position: Int) -> Int {
        var word = UInt64(position)
        repeat { word = encrypted(word) } while word >= count
        return Int(word)
    }

    private func encrypted(_ word: UInt64) -> UInt64 {
        var left = word >> halfBits
        var right = word & halfMask
        for round: UInt64 in 0..<4 {
            let mixed = SplitMix64.mix(right &+ seed &+ round &* 0x9E37_79B9_7F4A_7C15) & halfMask
            (left, right) = (right, left ^ mixed)
        }
        return left << halfBits | right
    }
}

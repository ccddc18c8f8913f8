import RoostBytes

/// Writes numbers as bits, the highest of a byte first.
struct BitWriter {
    private let buffer: ByteBuffer
    /// Bits that are not in the buffer yet: the lowest ``used`` ones, fewer than 8.
    private var pending: UInt64 = 0
    private var used = 0

    /// Appends to `buffer`, from its end on.
    init(_ buffer: ByteBuffer) { self.buffer = buffer }

    /// Appends the lowest `count` bits of a number, at most 56.
    mutating func append(_ bits: UInt64, count: Int) {
        pending = pending << UInt64(count) | bits & ((1 << UInt64(count)) - 1)
        used += count
        while used >= 8 {
            used -= 8
            buffer.append(UInt8(truncatingIfNeeded: pending >> UInt64(used)))
        }
    }

    /// Appends so many zeros, and a one.
    private mutating func append(unary count: UInt64) {
        var left = count
        while left >= 32 {
            append(0, count: 32)
            left -= 32
        }
        append(1, count: Int(left) + 1)
    }

    /// Appends a number in Rice's code: what is above its lowest `k` bits, at most 56, in unary, and these (R. F. Rice, "Some
    /// Practical Universal Noiseless Coding Techniques", 1979).
    mutating func append(rice number: UInt64, _ k: Int) {
        append(unary: number >> UInt64(k))
        append(number, count: k)
    }

    /// Appends a number from 1 to 2⁵⁷ − 1 in the code gamma: how many bits follow its highest one in unary, and these (P. Elias,
    /// "Universal Codeword Sets and Representations of the Integers", 1975).
    mutating func append(gamma number: UInt64) {
        let length = number.bitWidth - 1 - number.leadingZeroBitCount
        append(unary: UInt64(length))
        append(number, count: length)
    }

    /// Fills the last byte with zeros.
    mutating func finish() {
        if used > 0 { append(0, count: 8 - used) }
    }
}

/// Reads what ``BitWriter`` wrote, for input that may be damaged.
struct BitReader {
    private let bytes: ByteView
    /// How many bits have been read.
    private var position = 0

    /// So many bits are in ``window`` at least.
    private static let windowSize = 57

    init(_ bytes: ByteView) { self.bytes = bytes }

    /// How many bytes there are.
    var size: Int { bytes.count }

    /// How many bytes have been begun.
    var bytesRead: Int { (position + 7) / 8 }

    /// The next bits, the first one highest; zeros after the end.
    @inline(__always)
    private var window: UInt64 {
        let byte = position >> 3
        let word =
            byte &+ 8 <= bytes.count ? bytes.load(UInt64.self, at: byte).byteSwapped : lastWord(byte)
        return word &<< UInt64(position & 7)
    }

    private func lastWord(_ start: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in start..<start + 8 {
            word = word << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0)
        }
        return word
    }

    /// Passes over bits that were read.
    @inline(__always)
    private mutating func pass(_ count: Int) throws(MalformedBytes) {
        position &+= count
        guard position <= bytes.count &* 8 else { throw MalformedBytes(at: bytes.count) }
    }

    /// Reads `count` bits, at most 56.
    private mutating func bits(_ count: Int) throws(MalformedBytes) -> UInt64 {
        let number = (window &>> 1) &>> UInt64(63 - count)
        try pass(count)
        return number
    }

    /// Reads how many zeros come before the next one, and that.
    private mutating func unary() throws(MalformedBytes) -> UInt64 {
        var count = 0
        while true {
            let zeros = window.leadingZeroBitCount
            if zeros < Self.windowSize {
                try pass(zeros + 1)
                return UInt64(count + zeros)
            }
            try pass(Self.windowSize)
            count += Self.windowSize
        }
    }

    /// Reads a number in Rice's code.
    ///
    /// - Parameter k: at most 40.
    @inline(__always)
    mutating func rice(_ k: Int) throws(MalformedBytes) -> UInt64 {
        let window = window
        let zeros = window.leadingZeroBitCount
        if zeros &+ 1 &+ k <= Self.windowSize {
            try pass(zeros &+ 1 &+ k)
            let rest = (window &<< UInt64(zeros)) &<< 1
            let low = (rest &>> 1) &>> UInt64(63 &- k)
            return UInt64(zeros) &<< UInt64(k) | low
        }
        let high = try unary()
        guard high <= UInt64.max >> UInt64(k) else { throw MalformedBytes(at: bytesRead) }
        return high << UInt64(k) | (try bits(k))
    }

    /// Reads a number in the code gamma.
    @inline(__always)
    mutating func gamma() throws(MalformedBytes) -> UInt64 {
        let window = window
        let length = window.leadingZeroBitCount
        if 2 &* length &+ 1 <= Self.windowSize {
            try pass(2 &* length &+ 1)
            return window &>> UInt64(63 &- 2 &* length)
        }
        let count = Int(try unary())
        guard count <= 56 else { throw MalformedBytes(at: bytesRead) }
        return 1 << UInt64(count) | (try bits(count))
    }
}

/// A bit plane in two integers, for every processor: rows 0 and 1 in `low`, rows 2 and 3 in `high`.
struct ScalarBitPlane: BitPlane {
    var low: UInt64
    var high: UInt64

    @inline(__always)
    init(_ low: UInt64, _ high: UInt64) {
        self.low = low
        self.high = high
    }

    @inline(__always)
    init(repeating pattern: UInt64) { self.init(pattern, pattern) }

    @inline(__always)
    static func ^ (a: Self, b: Self) -> Self { Self(a.low ^ b.low, a.high ^ b.high) }

    @inline(__always)
    static func & (a: Self, b: Self) -> Self { Self(a.low & b.low, a.high & b.high) }

    @inline(__always)
    init(rowsOf block: Block128) {
        self.init(block.first.littleEndian, block.second.littleEndian)
        transpose()
    }

    @inline(__always)
    var block: Block128 {
        var columns = self
        columns.transpose()
        return Block128(first: columns.low.littleEndian, second: columns.high.littleEndian)
    }

    /// Transposes the 4×4 matrix of bytes: first within its quarters, then the quarters.
    @inline(__always)
    private mutating func transpose() {
        low = Self.transposeQuarters(low)
        high = Self.transposeQuarters(high)
        let difference = ((low >> 16) ^ high) & 0x0000_FFFF_0000_FFFF
        high ^= difference
        low ^= difference << 16
    }

    @inline(__always)
    private static func transposeQuarters(_ word: UInt64) -> UInt64 {
        let difference = ((word >> 24) ^ word) & 0x0000_0000_FF00_FF00
        return word ^ difference ^ (difference << 24)
    }

    @inline(__always)
    func shiftedRight(_ count: Int) -> Self { Self(low &>> UInt64(count), high &>> UInt64(count)) }

    @inline(__always)
    func shiftedLeft(_ count: Int) -> Self { Self(low &<< UInt64(count), high &<< UInt64(count)) }

    @inline(__always)
    var nextRow: Self { Self((low >> 32) | (high << 32), (high >> 32) | (low << 32)) }

    @inline(__always)
    var oppositeRow: Self { Self(high, low) }

    @inline(__always)
    func nextColumn(_ count: Int) -> Self {
        if count == 0 { return self }
        let stays = Self(repeating: ((1 << (32 - 8 * UInt64(count))) - 1) &* 0x0000_0001_0000_0001)
        let wraps = Self(repeating: ~stays.low)
        return (shiftedRight(8 * count) & stays) ^ (shiftedLeft(32 - 8 * count) & wraps)
    }
}

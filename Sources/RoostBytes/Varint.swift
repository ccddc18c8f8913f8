// Varints: unsigned integers in 1 to 10 bytes, small ones short, seven bits to a byte, the lowest first, the high bit set on all
// bytes but the last (LEB128, as in Protocol Buffers). Every value has exactly one encoding here; longer ones with needless
// zeros are refused.

/// The number of bytes that `value` takes as a varint: 1 to 10.
@inlinable package func varintLength(_ value: UInt64) -> Int {
    value < 0x80 ? 1 : (70 - value.leadingZeroBitCount) / 7
}

extension [UInt8] {
    /// Appends `value` as a varint.
    package mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}

extension Span<UInt8> {
    /// Reads the varint at `offset`, which must not be negative, and moves `offset` past it; `nil` when the bytes end too
    /// early, the value does not fit 64 bits, or the encoding is not the shortest.
    package func varint(at offset: inout Int) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < count {
            let byte = self[offset]
            offset += 1
            if shift == 63 && byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return byte == 0 && shift > 0 ? nil : value }
            shift += 7
        }
        return nil
    }
}

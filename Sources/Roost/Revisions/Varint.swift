/// Unsigned integers in 1 to 10 bytes, small ones short: seven bits to a byte, the lowest first, the high
/// bit set on all bytes but the last (LEB128, as in Protocol Buffers).
///
/// Every value has exactly one encoding here; longer ones with needless zeros are refused.
enum Varint {
    /// Appends `value` to `bytes`.
    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// How many bytes `value` takes.
    static func length(_ value: UInt64) -> Int { max(1, (70 - value.leadingZeroBitCount) / 7) }

    /// Reads the value at `offset` and moves `offset` past it; `nil` when the bytes end too early, the value
    /// does not fit 64 bits, or the encoding is not the shortest. `offset` must not be negative.
    static func read(_ bytes: Span<UInt8>, at offset: inout Int) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if shift == 63 && byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return byte == 0 && shift > 0 ? nil : value }
            shift += 7
        }
        return nil
    }
}

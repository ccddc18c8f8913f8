/// What the JSON parser and the JSON writer both know about the text.
enum JSONText {
    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// The first byte from `cursor` on that is a quotation mark, a backslash or a control character, or, if
    /// `stopsAtNonASCII`, part of a multi-byte sequence; `end` if there is none.
    ///
    /// Looks at eight bytes at a time. The classic test for a zero byte, `(x - 0x01…) & ~x & 0x80…`, may also
    /// mark bytes above a true hit, but the lowest mark is exact.
    @inline(__always)
    static func skipPlain(
        _ cursor: UnsafeRawPointer, _ end: UnsafeRawPointer, stopsAtNonASCII: Bool
    ) -> UnsafeRawPointer {
        var cursor = unsafe cursor
        while unsafe end - cursor >= 8 {
            let word = UInt64(littleEndian: unsafe cursor.loadUnaligned(as: UInt64.self))
            let quotes = word ^ 0x2222_2222_2222_2222
            let backslashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
            var marks = (quotes &- 0x0101_0101_0101_0101) & ~quotes
            marks |= (backslashes &- 0x0101_0101_0101_0101) & ~backslashes
            marks |= (word &- 0x2020_2020_2020_2020) & ~word
            if stopsAtNonASCII { marks |= word }
            marks &= UTF8Text.highBits
            if marks != 0 { return unsafe cursor + marks.trailingZeroBitCount >> 3 }
            unsafe cursor += 8
        }
        while unsafe cursor < end {
            let byte = unsafe cursor.load(as: UInt8.self)
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            if stopsAtNonASCII && byte >= 0x80 { break }
            unsafe cursor += 1
        }
        return unsafe cursor
    }
}

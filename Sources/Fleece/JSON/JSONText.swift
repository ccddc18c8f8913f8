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

/// A decimal number while its digits are read.
struct JSONNumber {
    let isNegative: Bool
    /// The digits as a number, if ``isExact``.
    private var mantissa: UInt64 = 0
    private var isExact = true
    /// The power of ten to multiply by.
    var exponent = 0
    /// Whether neither a fraction nor an exponent was given.
    var isWhole = true

    /// The powers of ten that a double holds exactly.
    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
        1e19, 1e20, 1e21, 1e22,
    ]

    init(isNegative: Bool) {
        self.isNegative = isNegative
    }

    /// Takes the next digit; `scale` is -1 behind the decimal point and 0 before it.
    @inline(__always)
    mutating func append(digit: UInt8, scale: Int) {
        let (shifted, overflows) = mantissa.multipliedReportingOverflow(by: 10)
        let (sum, carries) = shifted.addingReportingOverflow(UInt64(digit))
        isExact = isExact && !overflows && !carries
        mantissa = sum
        exponent &+= scale
    }

    @inline(__always)
    var signedInteger: Int64? {
        guard isWhole, isExact else { return nil }
        guard isNegative else { return Int64(exactly: mantissa) }
        guard mantissa > 0, mantissa <= UInt64(Int64.min.magnitude) else { return nil }
        return Int64(truncatingIfNeeded: 0 &- mantissa)
    }

    @inline(__always)
    var unsignedInteger: UInt64? {
        isWhole && isExact && !isNegative ? mantissa : nil
    }

    /// The nearest double where one operation on exact operands yields it (W. D. Clinger, "How to read
    /// floating point numbers accurately", 1990); `nil` where that takes more.
    @inline(__always)
    var simpleDouble: Double? {
        guard isExact, mantissa <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
        let digits = Double(mantissa)
        let value = exponent < 0 ? digits / Self.powers[-exponent] : digits * Self.powers[exponent]
        return isNegative ? -value : value
    }
}

extension JSONParser {
    /// Parses the number at the cursor.
    ///
    /// Integers that fit 64 bits with or without sign stay integers; greater ones, and -0, become the nearest double.
    @inline(__always)
    mutating func parseNumber(into writer: inout FleeceWriter) throws(FleeceError) {
        let first = unsafe cursor
        let isNegative = byte == UInt8(ascii: "-")
        if isNegative { advance() }
        var number = JSONNumber(isNegative: isNegative)
        if byte == UInt8(ascii: "0") {
            advance()
            if JSONText.isDigit(byte) { throw failure(.malformedJSON, "A number must not begin with 0.") }
        } else {
            try parseDigits(into: &number, scale: 0)
        }
        if byte == UInt8(ascii: ".") {
            advance()
            try parseDigits(into: &number, scale: -1)
            number.isWhole = false
        }
        if byte | 0x20 == UInt8(ascii: "e") {
            try parseExponent(into: &number)
            number.isWhole = false
        }
        if let integer = number.signedInteger {
            writer.write(integer)
        } else if let integer = number.unsignedInteger {
            writer.write(integer)
        } else if let double = number.simpleDouble {
            writer.write(double)
        } else {
            try unsafe writeInexact(from: first, into: &writer)
        }
    }

    @inline(__always)
    private mutating func parseDigits(into number: inout JSONNumber, scale: Int) throws(FleeceError) {
        var position = unsafe cursor
        while true {
            let digit = unsafe byte(at: position) &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            number.append(digit: digit, scale: scale)
            unsafe position += 1
        }
        guard unsafe position > cursor else { throw unexpected("a digit") }
        unsafe cursor = position
    }

    private mutating func parseExponent(into number: inout JSONNumber) throws(FleeceError) {
        advance()
        let isNegative = byte == UInt8(ascii: "-")
        if isNegative || byte == UInt8(ascii: "+") { advance() }
        guard JSONText.isDigit(byte) else { throw unexpected("a digit") }
        var exponent = 0
        repeat {
            exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), 1_000_000)
            advance()
        } while JSONText.isDigit(byte)
        number.exponent += isNegative ? -exponent : exponent
    }

    /// Leaves the correct rounding of many digits to the standard library.
    @inline(never)
    private mutating func writeInexact(from first: UnsafeRawPointer, into writer: inout FleeceWriter)
        throws(FleeceError)
    {
        let text = unsafe String(
            decoding: UnsafeRawBufferPointer(start: first, count: cursor - first), as: UTF8.self)
        guard let value = Double(text), value.isFinite else {
            unsafe cursor = first
            throw failure(.unrepresentableNumber, "The number is beyond the range of a double.")
        }
        writer.write(value)
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
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18,
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
        guard isExact, mantissa <= UInt64(1) << 53, exponent >= -22, exponent <= 22 else { return nil }
        let digits = Double(mantissa)
        let value = exponent < 0 ? digits / Self.powers[-exponent] : digits * Self.powers[exponent]
        return isNegative ? -value : value
    }
}

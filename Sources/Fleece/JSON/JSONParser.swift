/// Reads one JSON text (RFC 8259) and writes it as one value of a body, in a single pass.
///
/// Nothing is built in between: strings without escapes go from the text to the body in one copy.
/// Lives no longer than the closure that lends it the text.
@safe struct JSONParser: ~Copyable {
    private let start: UnsafeRawPointer
    let end: UnsafeRawPointer
    var cursor: UnsafeRawPointer
    /// A string with escapes, without them.
    var unescaped = GrowableBuffer<UInt8>(capacity: 256)

    @unsafe init(_ text: UnsafeRawBufferPointer) {
        unsafe start = text.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
        unsafe end = start + text.count
        unsafe cursor = start
    }

    /// The byte at the cursor; 0, which no JSON token begins with, at the end of the text.
    @inline(__always)
    var byte: UInt8 { unsafe byte(at: cursor) }

    @inline(__always)
    func byte(at position: UnsafeRawPointer) -> UInt8 {
        unsafe position < end ? position.load(as: UInt8.self) : 0
    }

    @inline(__always)
    mutating func advance() { unsafe cursor += 1 }

    /// Goes to the next byte that is no space, tab, line feed or carriage return, and answers it.
    @inline(__always)
    private mutating func skipSpace() -> UInt8 {
        let byte = byte
        return byte > 0x20 ? byte : skipSpaces()
    }

    @inline(never)
    private mutating func skipSpaces() -> UInt8 {
        while byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { advance() }
        return byte
    }

    /// Parses the whole text.
    mutating func parse(into writer: inout FleeceWriter) throws(FleeceError) {
        try parseWhole(into: &writer)
        try expectEnd()
    }

    /// Parses the whole text, an object whose pairs with keys that `isApart` accepts go to a dictionary in `other`.
    ///
    /// - Returns: Whether there were such pairs; without them `other` stays as it was. A text that is no object goes to
    ///   `writer` as it is.
    mutating func parse(
        into writer: inout FleeceWriter, separating isApart: (UnsafeRawBufferPointer) -> Bool,
        into other: inout FleeceWriter
    ) throws(FleeceError) -> Bool {
        guard skipSpace() == UInt8(ascii: "{") else {
            try parse(into: &writer)
            return false
        }
        try enter(&writer)
        writer.beginDictionary()
        var hasOthers = false
        var isFirst = true
        while skipSpace() != UInt8(ascii: "}") || !isFirst {
            guard skipSpace() == UInt8(ascii: "\"") else { throw unexpected("a key in quotation marks") }
            let key = try unsafe parseString()
            if unsafe isApart(key) {
                if !hasOthers { other.beginDictionary() }
                hasOthers = true
                unsafe other.key(utf8: key)
                try expectColon()
                try parseWhole(into: &other)
            } else {
                unsafe writer.key(utf8: key)
                try expectColon()
                try parseWhole(into: &writer)
            }
            isFirst = false
            guard skipSpace() == UInt8(ascii: ",") else { break }
            advance()
        }
        guard byte == UInt8(ascii: "}") else { throw unexpected("a comma or a closing brace") }
        advance()
        writer.endDictionary()
        if hasOthers { other.endDictionary() }
        try expectEnd()
        return hasOthers
    }

    /// Parses a value with all that is in it.
    @inline(__always)
    private mutating func parseWhole(into writer: inout FleeceWriter) throws(FleeceError) {
        let outside = writer.depth
        repeat {
            try parseValue(into: &writer)
        } while try !endsText(&writer, outside: outside)
    }

    private mutating func expectEnd() throws(FleeceError) {
        _ = skipSpace()
        guard unsafe cursor == end else { throw unexpected("the end of the text") }
    }

    @inline(__always)
    private mutating func expectColon() throws(FleeceError) {
        guard skipSpace() == UInt8(ascii: ":") else { throw unexpected("a colon") }
        advance()
    }

    /// Parses a scalar or enters a collection up to where its first value is expected.
    @inline(__always)
    private mutating func parseValue(into writer: inout FleeceWriter) throws(FleeceError) {
        while true {
            switch skipSpace() {
            case UInt8(ascii: "\""):
                try unsafe writer.writeString(utf8: parseString())
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                try parseNumber(into: &writer)
            case UInt8(ascii: "{"):
                try enter(&writer)
                writer.beginDictionary()
                guard skipSpace() == UInt8(ascii: "}") else {
                    try parseKey(into: &writer)
                    continue
                }
                advance()
                writer.endDictionary()
            case UInt8(ascii: "["):
                try enter(&writer)
                writer.beginArray()
                guard skipSpace() == UInt8(ascii: "]") else { continue }
                advance()
                writer.endArray()
            case UInt8(ascii: "t"):
                try parseWord("true")
                writer.write(true)
            case UInt8(ascii: "f"):
                try parseWord("false")
                writer.write(false)
            case UInt8(ascii: "n"):
                try parseWord("null")
                writer.writeNull()
            default:
                throw unexpected("a value")
            }
            return
        }
    }

    /// Behind a value: leaves the collections that end here, and goes to the next value if there is one.
    @inline(__always)
    private mutating func endsText(_ writer: inout FleeceWriter, outside: Int) throws(FleeceError) -> Bool {
        while writer.depth > outside {
            let byte = skipSpace()
            if byte == UInt8(ascii: ",") {
                advance()
                if writer.isInDictionary { try parseKey(into: &writer) }
                return false
            }
            if writer.isInDictionary {
                guard byte == UInt8(ascii: "}") else { throw unexpected("a comma or a closing brace") }
                advance()
                writer.endDictionary()
            } else {
                guard byte == UInt8(ascii: "]") else { throw unexpected("a comma or a closing bracket") }
                advance()
                writer.endArray()
            }
        }
        return true
    }

    private mutating func enter(_ writer: inout FleeceWriter) throws(FleeceError) {
        guard writer.depth < FleeceLimits.maximumDepth else {
            throw failure(.tooDeep, "Collections are nested more than \(FleeceLimits.maximumDepth) deep.")
        }
        advance()
    }

    @inline(__always)
    private mutating func parseKey(into writer: inout FleeceWriter) throws(FleeceError) {
        guard skipSpace() == UInt8(ascii: "\"") else { throw unexpected("a key in quotation marks") }
        try unsafe writer.key(utf8: parseString())
        try expectColon()
    }

    private mutating func parseWord(_ word: StaticString) throws(FleeceError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard unsafe word.utf8Start[index] == byte else { throw unexpected("“\(word)”") }
            advance()
        }
    }
}

extension JSONParser {
    func unexpected(_ expectation: String) -> FleeceError {
        guard unsafe cursor < end else {
            return failure(.malformedJSON, "The text ends where \(expectation) is expected.")
        }
        let found = byte > 0x20 && byte < 0x7F ? "“\(Unicode.Scalar(byte))”" : "byte \(byte)"
        return failure(.malformedJSON, "Here \(expectation) is expected, not \(found).")
    }

    func failure(_ code: FleeceError.Code, _ message: String) -> FleeceError {
        let before = unsafe UnsafeRawBufferPointer(start: start, count: cursor - start)
        let newlines = unsafe before.lazy.filter { $0 == 0x0A }.count
        let lineStart = unsafe before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let offset = before.count
        return FleeceError(code, message, offset: offset, line: newlines + 1, column: offset - lineStart + 1)
    }
}

// MARK: - Numbers

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

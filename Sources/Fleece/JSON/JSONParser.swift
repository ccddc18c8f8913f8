/// Reads one JSON text (RFC 8259) and writes it as one value of a body, in a single pass.
///
/// Nothing is built in between: strings without escapes go from the text to the body in one copy.
/// Lives no longer than the closure that lends it the text.
@safe struct JSONParser: ~Copyable {
    private let start: UnsafeRawPointer
    private let end: UnsafeRawPointer
    private(set) var cursor: UnsafeRawPointer
    /// A string with escapes, without them.
    private var unescaped = GrowableBuffer<UInt8>(capacity: 256)

    @unsafe init(_ text: UnsafeRawBufferPointer) {
        unsafe start = text.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
        unsafe end = start + text.count
        unsafe cursor = start
    }

    /// The byte at the cursor; 0, which no JSON token begins with, at the end of the text.
    @inline(__always)
    private var byte: UInt8 {
        unsafe cursor < end ? cursor.load(as: UInt8.self) : 0
    }

    @inline(__always)
    private mutating func advance() { unsafe cursor += 1 }

    @inline(__always)
    private mutating func skipSpace() {
        // Space, tab, line feed and carriage return.
        while byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { advance() }
    }

    /// Parses the whole text.
    mutating func parse(into writer: inout FleeceWriter) throws(FleeceError) {
        let outside = writer.depth
        repeat {
            try parseValue(into: &writer)
        } while try !endsText(&writer, outside: outside)
        skipSpace()
        guard unsafe cursor == end else { throw unexpected("the end of the text") }
    }

    /// Parses a scalar or enters a collection up to where its first value is expected.
    @inline(__always)
    private mutating func parseValue(into writer: inout FleeceWriter) throws(FleeceError) {
        while true {
            skipSpace()
            switch byte {
            case UInt8(ascii: "\""):
                try unsafe writer.writeString(utf8: parseString())
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                try parseNumber(into: &writer)
            case UInt8(ascii: "{"):
                try enter(&writer)
                writer.beginDictionary()
                skipSpace()
                guard byte == UInt8(ascii: "}") else {
                    try parseKey(into: &writer)
                    continue
                }
                advance()
                writer.endDictionary()
            case UInt8(ascii: "["):
                try enter(&writer)
                writer.beginArray()
                skipSpace()
                guard byte == UInt8(ascii: "]") else { continue }
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
            skipSpace()
            let byte = byte
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
        skipSpace()
        guard byte == UInt8(ascii: "\"") else { throw unexpected("a key in quotation marks") }
        try unsafe writer.key(utf8: parseString())
        skipSpace()
        guard byte == UInt8(ascii: ":") else { throw unexpected("a colon") }
        advance()
    }

    private mutating func parseWord(_ word: StaticString) throws(FleeceError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard unsafe word.utf8Start[index] == byte else { throw unexpected("“\(word)”") }
            advance()
        }
    }
}

extension JSONParser {
    /// Parses the string whose quotation mark is at the cursor. The result holds until the next call.
    @inline(__always)
    private mutating func parseString() throws(FleeceError) -> UnsafeRawBufferPointer {
        advance()
        let first = unsafe cursor
        try skipPlainText()
        guard byte == UInt8(ascii: "\"") else { return unsafe try parseEscapedString(from: first) }
        let text = unsafe UnsafeRawBufferPointer(start: first, count: cursor - first)
        advance()
        return unsafe text
    }

    /// Goes to the next quotation mark or backslash; what is before it is well-formed and has no controls.
    @inline(__always)
    private mutating func skipPlainText() throws(FleeceError) {
        while true {
            unsafe cursor = JSONText.skipPlain(cursor, end, stopsAtNonASCII: true)
            let byte = byte
            if byte >= 0x80 {
                try skipMultibyte()
                continue
            }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            guard unsafe cursor < end else {
                throw failure(.malformedJSON, "The text ends within a string.")
            }
            throw failure(.malformedJSON, "The control character \(byte) in a string must be escaped.")
        }
    }

    @inline(__always)
    private mutating func skipMultibyte() throws(FleeceError) {
        repeat {
            let length = unsafe UTF8Text.sequenceLength(at: cursor, end: end)
            guard length > 0 else { throw failure(.illFormedText, "The text is not well-formed UTF-8.") }
            unsafe cursor += length
        } while byte >= 0x80
    }

    @inline(never)
    private mutating func parseEscapedString(from first: UnsafeRawPointer) throws(FleeceError) -> UnsafeRawBufferPointer {
        unescaped.removeAll()
        var plain = unsafe first
        while true {
            unsafe unescaped.append(bytes: UnsafeRawBufferPointer(start: plain, count: cursor - plain))
            if byte == UInt8(ascii: "\"") { break }
            advance()
            try parseEscape()
            unsafe plain = cursor
            try skipPlainText()
        }
        advance()
        return unsafe UnsafeRawBufferPointer(unescaped.elements)
    }

    private mutating func parseEscape() throws(FleeceError) {
        let escape = byte
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(escape)
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "f"): unescaped.append(0x0C)
        case UInt8(ascii: "n"): unescaped.append(0x0A)
        case UInt8(ascii: "r"): unescaped.append(0x0D)
        case UInt8(ascii: "t"): unescaped.append(0x09)
        case UInt8(ascii: "u"):
            advance()
            let scalar = try parseEscapedScalar()
            for unit in UTF8.encode(scalar)! { unescaped.append(unit) }
            return
        default:
            throw failure(.malformedJSON, "A backslash must be followed by one of \"\\/bfnrtu.")
        }
        advance()
    }

    /// Parses the four digits behind `\u`, and the second half of a surrogate pair if they are the first.
    private mutating func parseEscapedScalar() throws(FleeceError) -> Unicode.Scalar {
        let unit = try parseHexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, byte == UInt8(ascii: "\\") else { throw loneSurrogate() }
        advance()
        guard byte == UInt8(ascii: "u") else { throw loneSurrogate() }
        advance()
        let trailing = try parseHexadecimal()
        guard trailing >= 0xDC00, trailing < 0xE000,
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (trailing - 0xDC00))
        else { throw loneSurrogate() }
        return scalar
    }

    private mutating func parseHexadecimal() throws(FleeceError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let digit = byte
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(digit - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(digit - UInt8(ascii: "A") + 10)
            default: throw unexpected("a hexadecimal digit")
            }
            advance()
        }
        return value
    }

    private func loneSurrogate() -> FleeceError {
        failure(.illFormedText, "A \\u escape names one half of a surrogate pair without the other.")
    }
}

extension JSONParser {
    /// Parses the number at the cursor.
    ///
    /// Integers that fit 64 bits with or without sign stay integers; greater ones, and -0, become the nearest double.
    @inline(__always)
    private mutating func parseNumber(into writer: inout FleeceWriter) throws(FleeceError) {
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
        guard JSONText.isDigit(byte) else { throw unexpected("a digit") }
        repeat {
            number.append(digit: byte &- UInt8(ascii: "0"), scale: scale)
            advance()
        } while JSONText.isDigit(byte)
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
    private mutating func writeInexact(from first: UnsafeRawPointer, into writer: inout FleeceWriter) throws(FleeceError) {
        let text = unsafe String(decoding: UnsafeRawBufferPointer(start: first, count: cursor - first), as: UTF8.self)
        guard let value = Double(text), value.isFinite else {
            unsafe cursor = first
            throw failure(.unrepresentableNumber, "The number is beyond the range of a double.")
        }
        writer.write(value)
    }
}

extension JSONParser {
    private func unexpected(_ expectation: String) -> FleeceError {
        guard unsafe cursor < end else {
            return failure(.malformedJSON, "The text ends where \(expectation) is expected.")
        }
        let found = byte > 0x20 && byte < 0x7F ? "“\(Unicode.Scalar(byte))”" : "byte \(byte)"
        return failure(.malformedJSON, "Here \(expectation) is expected, not \(found).")
    }

    private func failure(_ code: FleeceError.Code, _ message: String) -> FleeceError {
        let before = unsafe UnsafeRawBufferPointer(start: start, count: cursor - start)
        let newlines = unsafe before.lazy.filter { $0 == 0x0A }.count
        let lineStart = unsafe before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let offset = before.count
        return FleeceError(code, message, offset: offset, line: newlines + 1, column: offset - lineStart + 1)
    }
}

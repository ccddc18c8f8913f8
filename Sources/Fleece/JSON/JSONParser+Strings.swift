extension JSONParser {
    /// Parses the string whose quotation mark is at the cursor. The result holds until the next call.
    @inline(__always)
    mutating func parseString() throws(FleeceError) -> UnsafeRawBufferPointer {
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
        var position = unsafe cursor
        while true {
            unsafe position = JSONText.skipPlain(position, end, stopsAtNonASCII: true)
            let byte = unsafe byte(at: position)
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            guard byte >= 0x80 else { throw unsafe unexpectedControl(at: position) }
            repeat {
                let length = unsafe UTF8Text.sequenceLength(at: position, end: end)
                guard length > 0 else { throw unsafe illFormed(at: position) }
                unsafe position += length
            } while unsafe self.byte(at: position) >= 0x80
        }
        unsafe cursor = position
    }

    private mutating func unexpectedControl(at position: UnsafeRawPointer) -> FleeceError {
        unsafe cursor = position
        guard unsafe cursor < end else { return failure(.malformedJSON, "The text ends within a string.") }
        return failure(.malformedJSON, "The control character \(byte) in a string must be escaped.")
    }

    private mutating func illFormed(at position: UnsafeRawPointer) -> FleeceError {
        unsafe cursor = position
        return failure(.illFormedText, "The text is not well-formed UTF-8.")
    }

    @inline(never)
    private mutating func parseEscapedString(from first: UnsafeRawPointer) throws(FleeceError)
        -> UnsafeRawBufferPointer
    {
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
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                value = value << 4 | UInt32(digit - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"):
                value = value << 4 | UInt32(digit - UInt8(ascii: "A") + 10)
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

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

// MARK: - Strings

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

// MARK: - JSONParts

/// Finds the parts of a JSON text without parsing them, so that a part which is no JSON, or is nested too deeply, spoils none of the
/// others: an answer with many documents is taken apart by this, and each document is parsed for itself.
///
/// It only tells strings and brackets apart. It takes linear time and constant memory, whatever the depth; whether a part is JSON its
/// parser says.
package enum JSONParts {
    /// The elements of the array that `text` is; `nil` where it is something else, or its brackets don't match.
    package static func elements(of text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        var scanner = Scanner(text)
        guard scanner.take(UInt8(ascii: "[")) else { return nil }
        var elements: [ArraySlice<UInt8>] = []
        if scanner.take(UInt8(ascii: "]")) { return scanner.isAtEnd ? elements : nil }
        while true {
            guard let value = scanner.value() else { return nil }
            elements.append(value)
            if scanner.take(UInt8(ascii: ",")) { continue }
            return scanner.take(UInt8(ascii: "]")) && scanner.isAtEnd ? elements : nil
        }
    }

    /// The members of the object that `text` is, in their order, the names as JSON strings; `nil` where it is something else, or its
    /// brackets don't match.
    package static func members(
        of text: ArraySlice<UInt8>
    ) -> [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]? {
        var scanner = Scanner(text)
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        var members: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
        if scanner.take(UInt8(ascii: "}")) { return scanner.isAtEnd ? members : nil }
        while true {
            guard let name = scanner.value(), name.first == UInt8(ascii: "\""),
                scanner.take(UInt8(ascii: ":")), let value = scanner.value()
            else { return nil }
            members.append((name, value))
            if scanner.take(UInt8(ascii: ",")) { continue }
            return scanner.take(UInt8(ascii: "}")) && scanner.isAtEnd ? members : nil
        }
    }

    /// The value of the last member of that name, as a parser has it; `nil` where there is none.
    ///
    /// - Parameter name: Without characters that JSON escapes.
    package static func member(_ name: String, of text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        members(of: text)?.last { $0.name.dropFirst().dropLast().elementsEqual(name.utf8) }?.value
    }

    private struct Scanner {
        private let text: ArraySlice<UInt8>
        private var index: Int

        init(_ text: ArraySlice<UInt8>) {
            self.text = text
            index = text.startIndex
            skipSpace()
        }

        var isAtEnd: Bool { index == text.endIndex }

        /// Passes over that byte, and space behind it, if it is next.
        mutating func take(_ byte: UInt8) -> Bool {
            guard index < text.endIndex, text[index] == byte else { return false }
            index += 1
            skipSpace()
            return true
        }

        private mutating func skipSpace() {
            while index < text.endIndex, [0x20, 10, 13, 9].contains(text[index]) { index += 1 }
        }

        /// Passes over a value and space behind it; `nil` where there is none, or it has no end.
        mutating func value() -> ArraySlice<UInt8>? {
            let start = index
            var depth = 0
            while index < text.endIndex {
                switch text[index] {
                case UInt8(ascii: "\""):
                    guard skipString() else { return nil }
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    index += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    guard depth > 0 else { return finish(start) }
                    depth -= 1
                    index += 1
                case UInt8(ascii: ","), UInt8(ascii: ":"):
                    guard depth > 0 else { return finish(start) }
                    index += 1
                default: index += 1
                }
                if depth == 0, index < text.endIndex, ",:]}".utf8.contains(text[index]) {
                    return finish(start)
                }
            }
            return depth == 0 ? finish(start) : nil
        }

        private mutating func finish(_ start: Int) -> ArraySlice<UInt8>? {
            var end = index
            while end > start, [0x20, 10, 13, 9].contains(text[end - 1]) { end -= 1 }
            guard end > start else { return nil }
            skipSpace()
            return text[start..<end]
        }

        private mutating func skipString() -> Bool {
            index += 1
            while index < text.endIndex {
                switch text[index] {
                case UInt8(ascii: "\""):
                    index += 1
                    return true
                case UInt8(ascii: "\\"): index += 2
                default: index += 1
                }
            }
            return false
        }
    }
}

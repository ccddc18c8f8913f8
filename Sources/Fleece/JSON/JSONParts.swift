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

import Foundation
import RoostBytes
import RoostOrder

/// Functions of strings. Of anything else they yield null.
enum Strings {
    static func evaluation(_ function: Function, _ values: [Evaluation], _ collation: Collation)
        -> Evaluation?
    {
        switch function {
        case .concat: concatenation(values)
        case .length: ofText(values[0]) { text, _ in .integer(Int64(text.string.unicodeScalars.count)) }
        case .lower: ofText(values[0]) { text, frame in frame.string(text.string.lowercased()) }
        case .upper: ofText(values[0]) { text, frame in frame.string(text.string.uppercased()) }
        case .ltrim: trim(values, start: true, end: false)
        case .rtrim: trim(values, start: false, end: true)
        case .trim: trim(values, start: true, end: true)
        case .contains:
            Arguments.two(values) { text, part, _ in
                guard let text = text.text, let part = part.text else { return .null }
                return .bool(contains(text, part, collation))
            }
        default: nil
        }
    }

    private static func ofText(
        _ value: @escaping Evaluation, _ body: @escaping @Sendable (ByteView, Frame) -> Value
    ) -> Evaluation {
        Arguments.one(value) { value, frame in value.text.map { body($0, frame) } ?? .null }
    }

    /// `||` and concat(): numbers and truth values as text.
    static func concatenation(_ parts: [Evaluation]) -> Evaluation {
        { frame in
            var result: [UInt8] = []
            var absent: Value?
            for part in parts {
                let value = part(frame)
                switch value {
                case .missing: return .missing
                case .string(let text): result += text.array
                default:
                    guard let text = Kinds.text(value) else {
                        absent = .null
                        continue
                    }
                    result += text.utf8
                }
            }
            return absent ?? .string(frame.arena.copy(result))
        }
    }

    // MARK: Parts

    static func contains(_ text: ByteView, _ part: ByteView, _ collation: Collation) -> Bool {
        switch collation.texts {
        case .bytes: return find(part, in: text) { $0 } != nil
        case .caselessASCII: return find(part, in: text) { $0.asciiLowercased } != nil
        case .unicode: return UnicodeText.contains(text.string, part.string, collation)
        }
    }

    /// Where `part` begins in `text`, byte by byte as `fold` makes them.
    @inline(__always)
    private static func find(_ part: ByteView, in text: ByteView, _ fold: (UInt8) -> UInt8) -> Int? {
        guard part.count > 0 else { return 0 }
        guard part.count <= text.count else { return nil }
        let first = fold(part[0])
        for start in 0...(text.count - part.count) where fold(text[start]) == first {
            var length = 1
            while length < part.count, fold(text[start + length]) == fold(part[length]) { length += 1 }
            if length == part.count { return start }
        }
        return nil
    }

    /// Takes away white space, or the characters of the second argument.
    private static func trim(_ values: [Evaluation], start: Bool, end: Bool) -> Evaluation {
        let body: @Sendable (Value, Value?, Frame) -> Value = { value, characters, frame in
            guard let text = value.text?.string else { return .null }
            var set: Set<Unicode.Scalar>?
            if let characters {
                guard let text = characters.string else { return .null }
                set = Set(text.unicodeScalars)
            }
            func goes(_ scalar: Unicode.Scalar) -> Bool {
                set?.contains(scalar) ?? scalar.properties.isWhitespace
            }
            var rest = text.unicodeScalars[...]
            if start { rest = rest.drop(while: goes) }
            while end, let last = rest.last, goes(last) { rest.removeLast() }
            return frame.string(String(rest))
        }
        guard values.count == 2 else { return Arguments.one(values[0]) { body($0, nil, $1) } }
        return Arguments.two(values) { body($0, $1, $2) }
    }

    // MARK: LIKE

    static func like(
        _ value: @escaping Evaluation, _ pattern: @escaping Evaluation, _ collation: Collation,
        _ isNegated: Bool
    ) -> Evaluation {
        { frame in
            let (value, pattern) = (value(frame), pattern(frame))
            guard value.isValued, pattern.isValued else {
                return value.isMissing || pattern.isMissing ? .missing : .null
            }
            guard let text = value.text, let pattern = pattern.text else { return .bool(isNegated) }
            return .bool(LikePattern.matches(text, pattern, collation) != isNegated)
        }
    }
}

/// Comparisons of parts of texts in the order that people expect.
enum UnicodeText {
    /// Whether a stretch of characters of `text` compares as equal to `part`.
    static func contains(_ text: String, _ part: String, _ collation: Collation) -> Bool {
        guard !part.isEmpty else { return true }
        let folded = fold(part, collation)
        return fold(text, collation).firstRange(of: folded) != nil
    }

    /// The text without what the collation takes for no difference.
    static func fold(_ text: String, _ collation: Collation) -> [Character] {
        guard case .unicode(let order) = collation.texts else { return Array(text) }
        var text = text
        if order.ignoresAccents {
            let kept = text.decomposedStringWithCanonicalMapping.unicodeScalars.filter {
                $0.properties.generalCategory != .nonspacingMark
            }
            text = String(String.UnicodeScalarView(kept))
        }
        return Array(order.ignoresCase ? text.lowercased() : text)
    }
}

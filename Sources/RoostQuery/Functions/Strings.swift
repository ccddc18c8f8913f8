import Foundation
import Roost
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
        case .startsWith: ofTwo(values) { text, part, _ in .bool(text.starts(with: part)) }
        case .endsWith:
            ofTwo(values) { text, part, _ in
                .bool(part.count <= text.count && text.dropFirst(text.count - part.count).starts(with: part))
            }
        case .instr:
            ofTwo(values) { text, part, _ in
                .integer(Int64(find(part, in: text).map { characters(text.prefix($0)) + 1 } ?? 0))
            }
        case .left:
            ends(values) { count, length in 0..<(count < 0 ? max(0, length + count) : min(count, length)) }
        case .right:
            ends(values) { count, length in
                (count < 0 ? min(-count, length) : max(0, length - count))..<length
            }
        case .substr: substring(values)
        case .lpad: padded(values, atEnd: false)
        case .rpad: padded(values, atEnd: true)
        case .reverse: ofText(values[0]) { text, frame in frame.string(String(text.string.reversed())) }
        case .replace: replacing(values)
        case .repeated: repeated(values)
        case .split: split(values)
        default: nil
        }
    }

    private static func ofText(
        _ value: @escaping Evaluation, _ body: @escaping @Sendable (ByteView, Frame) -> Value
    ) -> Evaluation {
        Arguments.one(value) { value, frame in value.text.map { body($0, frame) } ?? .null }
    }

    private static func ofTwo(
        _ values: [Evaluation], _ body: @escaping @Sendable (ByteView, ByteView, Frame) -> Value
    ) -> Evaluation {
        Arguments.two(values) { a, b, frame in
            guard let a = a.text, let b = b.text else { return .null }
            return body(a, b, frame)
        }
    }

    /// A function of a text and of values that are all there.
    private static func ofAll(
        _ values: [Evaluation], _ body: @escaping @Sendable (ByteView, [Value], Frame) -> Value
    ) -> Evaluation {
        { frame in
            let values = values.map { $0(frame) }
            if values.contains(where: \.isMissing) { return .missing }
            guard let text = values[0].text, values.allSatisfy(\.isValued) else { return .null }
            return body(text, Array(values.dropFirst()), frame)
        }
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

    /// Texts, numbers and truth values as one text.
    static func joined(_ values: [Value], _ separator: String, _ frame: Frame) -> Value {
        text(frame) { text in
            for (index, value) in values.compactMap(Kinds.text).enumerated() {
                if index > 0 { text.append(separator.utf8) }
                text.append(value.utf8)
            }
        }
    }

    /// Bytes of a text that is made, as many as fit.
    private struct Builder {
        fileprivate var bytes: [UInt8] = []
        fileprivate var isTooLong = false

        mutating func append(_ part: some Collection<UInt8>) {
            guard !isTooLong, bytes.count + part.count <= Arena.limit else { return isTooLong = true }
            bytes += part
        }

        mutating func append(_ part: ByteView) { unsafe append(part.buffer) }

        /// Appends a part again and again, unless that is too long altogether.
        mutating func append(_ part: some Collection<UInt8>, times count: Int) {
            let (total, isPast) = part.count.multipliedReportingOverflow(by: max(0, count))
            guard !isPast, total <= Arena.limit - bytes.count else { return isTooLong = true }
            bytes.reserveCapacity(bytes.count + total)
            for _ in 0..<max(0, count) { append(part) }
        }
    }

    /// A text that `body` makes. One that exceeds what a row may take ends the query.
    private static func text(_ frame: Frame, _ body: (inout Builder) -> Void) -> Value {
        var builder = Builder()
        body(&builder)
        guard !builder.isTooLong else {
            frame.fail(
                DatabaseError(
                    .limitExceeded, "A text that the query makes is longer than \(Arena.limit >> 20) MB."))
            return .null
        }
        return .string(frame.arena.copy(builder.bytes))
    }

    // MARK: Characters

    /// How many characters there are.
    private static func characters(_ text: ByteView) -> Int {
        (0..<text.count).count { text[$0] & 0xC0 != 0x80 }
    }

    /// The part of a text whose characters are numbered so.
    private static func characters(_ range: Range<Int>, of text: ByteView) -> ByteView {
        var (number, start, end) = (0, text.count, text.count)
        for place in 0..<text.count where text[place] & 0xC0 != 0x80 {
            if number == range.lowerBound { start = place }
            if number == range.upperBound {
                end = place
                break
            }
            number += 1
        }
        return start < end ? text.slice(start, end - start) : .empty
    }

    /// A number as one of characters, cut off where it is beyond those of any text.
    private static func position(_ value: Value) -> Int? {
        value.double.map { Int(max(-1e12, min($0.rounded(.towardZero), 1e12))) }
    }

    private static func ends(_ values: [Evaluation], _ range: @escaping @Sendable (Int, Int) -> Range<Int>)
        -> Evaluation
    {
        ofAll(values) { text, values, _ in
            position(values[0]).map { .string(characters(range($0, characters(text)), of: text)) } ?? .null
        }
    }

    /// substr(text, start, length?): from the end where the start is negative, and backwards where the length is.
    private static func substring(_ values: [Evaluation]) -> Evaluation {
        ofAll(values) { text, values, _ in
            let count = characters(text)
            guard var start = position(values[0]) else { return .null }
            if start < 0 { start += count + 1 }
            var end = count + 1
            if values.count > 1 {
                guard let length = position(values[1]) else { return .null }
                end = start + length
            }
            let (first, last) = (max(min(start, end), 1), min(max(start, end), count + 1))
            return .string(first < last ? characters(first - 1..<last - 1, of: text) : .empty)
        }
    }

    private static func padded(_ values: [Evaluation], atEnd: Bool) -> Evaluation {
        ofAll(values) { text, values, frame in
            guard let length = position(values[0]), values.count < 2 || values[1].text != nil else {
                return .null
            }
            let filler = values.count > 1 ? values[1].string ?? "" : " "
            let count = characters(text)
            guard count < length, !filler.isEmpty else {
                return .string(characters(0..<min(count, max(0, length)), of: text))
            }
            return Self.text(frame) { result in
                if atEnd { result.append(text) }
                let scalars = filler.unicodeScalars.map { Array(String($0).utf8) }
                let (whole, rest) = (length - count).quotientAndRemainder(dividingBy: scalars.count)
                result.append(Array(scalars.joined()), times: whole)
                result.append(Array(scalars[..<rest].joined()))
                if !atEnd { result.append(text) }
            }
        }
    }

    private static func repeated(_ values: [Evaluation]) -> Evaluation {
        ofAll(values) { text, values, frame in
            guard let count = position(values[0]) else { return .null }
            guard text.count > 0 else { return .string(.empty) }
            return Self.text(frame) { result in
                unsafe result.append(text.buffer, times: count)
            }
        }
    }

    private static func replacing(_ values: [Evaluation]) -> Evaluation {
        ofAll(values) { text, values, frame in
            guard let part = values[0].text, let other = values[1].text else { return .null }
            guard part.count > 0 else { return .string(text) }
            return Self.text(frame) { result in
                for (index, between) in pieces(of: text, separatedBy: part).enumerated() {
                    if index > 0 { result.append(other) }
                    result.append(between)
                }
            }
        }
    }

    /// split(text, separator?): an array of the pieces; of the words without a separator, of the characters with an empty one.
    private static func split(_ values: [Evaluation]) -> Evaluation {
        ofAll(values) { text, values, frame in
            guard let separator = values.first else {
                let words = text.string.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
                return frame.array(words.map { frame.string(String($0)) })
            }
            guard let separator = separator.text else { return .null }
            guard separator.count > 0 else {
                return frame.array(text.string.unicodeScalars.map { frame.string(String($0)) })
            }
            return frame.array(pieces(of: text, separatedBy: separator).map { .string($0) })
        }
    }

    /// What is before, between and behind the places where a separator stands, which is not empty.
    private static func pieces(of text: ByteView, separatedBy separator: ByteView) -> [ByteView] {
        var pieces: [ByteView] = []
        var rest = text
        while let place = find(separator, in: rest) {
            pieces.append(rest.prefix(place))
            rest = rest.dropFirst(place + separator.count)
        }
        return pieces + [rest]
    }

    // MARK: Parts

    static func contains(_ text: ByteView, _ part: ByteView, _ collation: Collation) -> Bool {
        switch collation.texts {
        case .bytes: return find(part, in: text) { $0 } != nil
        case .caselessASCII: return find(part, in: text) { $0.asciiLowercased } != nil
        case .unicode: return UnicodeText.contains(text.string, part.string, collation)
        }
    }

    /// Where `part` begins in `text`.
    private static func find(_ part: ByteView, in text: ByteView) -> Int? { find(part, in: text) { $0 } }

    /// A longer part is not compared again at each place, which would take too long where much of it is in the text again and
    /// again.
    private static let longPart = 32

    /// Where `part` begins in `text`, byte by byte as `fold` makes them.
    @inline(__always)
    private static func find(_ part: ByteView, in text: ByteView, _ fold: (UInt8) -> UInt8) -> Int? {
        guard part.count > 0 else { return 0 }
        guard part.count <= text.count else { return nil }
        guard part.count <= longPart else { return findLong(part, in: text, fold) }
        let first = fold(part[0])
        for start in 0...(text.count - part.count) where fold(text[start]) == first {
            var length = 1
            while length < part.count, fold(text[start + length]) == fold(part[length]) { length += 1 }
            if length == part.count { return start }
        }
        return nil
    }

    /// The same in as many steps as there are bytes (D. E. Knuth, J. H. Morris and V. R. Pratt, 1977).
    private static func findLong(_ part: ByteView, in text: ByteView, _ fold: (UInt8) -> UInt8) -> Int? {
        // For each beginning of the part: how long the longest other beginning is that it ends with.
        var borders = [Int](repeating: 0, count: part.count)
        var length = 0
        for place in 1..<part.count {
            while length > 0, fold(part[place]) != fold(part[length]) { length = borders[length - 1] }
            if fold(part[place]) == fold(part[length]) { length += 1 }
            borders[place] = length
        }
        length = 0
        for place in 0..<text.count {
            while length > 0, fold(text[place]) != fold(part[length]) { length = borders[length - 1] }
            if fold(text[place]) == fold(part[length]) { length += 1 }
            if length == part.count { return place + 1 - length }
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

extension ByteView {
    fileprivate func prefix(_ count: Int) -> ByteView { slice(0, count) }

    fileprivate func starts(with part: ByteView) -> Bool {
        part.count <= count && prefix(part.count).compare(part) == 0
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

/// The part of a content that a request asks for.
public enum ByteRange: Sendable, Equatable {
    /// The field asks for nothing that is given alone: send everything.
    case whole
    /// These bytes.
    case part(Range<UInt64>)
    /// Nothing of what is asked for is there: 416.
    case unsatisfiable

    /// What a `Range` field asks for of `length` bytes. Several ranges of which more than one is there, other units and what is no range are
    /// answered with everything, which the standard allows (RFC 9110, section 14.2).
    public init(_ field: String?, length: UInt64) {
        guard let field, field.lowercased().hasPrefix("bytes=") else {
            self = .whole
            return
        }
        var found: [Range<UInt64>] = []
        var count = 0
        for element in field.dropFirst(6).split(separator: ",") {
            let text = HTTPHeaders.trimmed(element)
            guard !text.isEmpty else { continue }
            guard let range = Self.range(text, length) else {
                self = .whole
                return
            }
            count += 1
            if !range.isEmpty { found.append(range) }
        }
        if count == 0 || found.count > 1 {
            self = .whole
        } else {
            self = found.first.map { .part($0) } ?? .unsatisfiable
        }
    }

    /// `FIRST-LAST`, `FIRST-` or `-COUNT`; an empty range for one that is not there, `nil` for what is no range.
    private static func range(_ text: String, _ length: UInt64) -> Range<UInt64>? {
        let bounds = text.split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, bounds.allSatisfy({ $0.utf8.allSatisfy(Syntax.isDigit) }) else { return nil }
        // A number that is too large for a length is beyond each of them.
        let numbers = bounds.map { $0.isEmpty ? nil : UInt64($0) ?? .max }
        switch (numbers[0], numbers[1]) {
        case (let first?, let last):
            if let last, last < first { return nil }
            guard first < length else { return 0..<0 }
            return first..<min(last ?? .max, length - 1) + 1
        case (nil, let count?): return length - min(count, length)..<length
        case (nil, nil): return nil
        }
    }
}

/// A part of a body that a client asks for (RFC 9110, section 14).
public enum ByteRange: Sendable, Equatable {
    /// The field asks for nothing that can be given alone: send everything.
    case whole
    /// These bytes.
    case part(Range<UInt64>)
    /// Nothing of what is asked for is there: 416.
    case unsatisfiable

    /// What a `Range` field asks for of `length` bytes. Several ranges, and other units, are answered with everything,
    /// which the standard allows.
    public init(_ field: String?, length: UInt64) {
        guard let field, field.lowercased().hasPrefix("bytes=") else {
            self = .whole
            return
        }
        let bounds = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            .map { HTTPHeaders.trimmed($0) }
        guard bounds.count == 2,
            bounds.allSatisfy({ $0.utf8.count <= 18 && $0.utf8.allSatisfy(Syntax.isDigit) })
        else {
            self = .whole
            return
        }
        switch (UInt64(bounds[0]), UInt64(bounds[1])) {
        case (let first?, let last):
            if let last, last < first {
                self = .whole
            } else if first >= length {
                self = .unsatisfiable
            } else {
                self = .part(first..<min(last.map { $0 + 1 } ?? length, length))
            }
        case (nil, let suffix?):
            self = suffix == 0 || length == 0 ? .unsatisfiable : .part(length - min(suffix, length)..<length)
        case (nil, nil): self = .whole
        }
    }
}

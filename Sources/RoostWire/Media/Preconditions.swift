/// The conditions that a request makes on what is there, by entity tags (RFC 9110, section 13).
///
/// What they are asked about has a strong tag and no date, so conditions by dates say nothing, as the standard asks.
public struct Preconditions: Sendable {
    /// What a request for a representation is answered with.
    public enum Verdict: Sendable, Equatable {
        /// What it asks for.
        case proceed
        /// 304: the client has it.
        case notModified
        /// 412: it is not what the client thinks.
        case failed
    }

    private let match: Tags?
    private let noneMatch: Tags?
    private let range: Tags?

    /// The conditions in the fields of a request.
    public init(_ headers: HTTPHeaders) {
        match = Tags(headers.all("If-Match"))
        noneMatch = Tags(headers.all("If-None-Match"))
        range = Tags(headers.all("If-Range"))
    }

    /// What a GET or HEAD is answered with, of a representation that has this tag.
    ///
    /// - Parameter tag: A strong one, with its quotation marks.
    public func verdict(_ tag: String) -> Verdict {
        if let match, !match.contains(tag, isWeak: false) { return .failed }
        if let noneMatch, noneMatch.contains(tag, isWeak: true) { return .notModified }
        return .proceed
    }

    /// Whether a part may be answered, of a representation that has this tag. Otherwise all of it is.
    public func allowsPart(_ tag: String) -> Bool { range?.contains(tag, isWeak: false) ?? true }
}

/// A list of entity tags, or `*`.
private struct Tags {
    private var isAny = false
    /// Each with its quotation marks.
    private var tags: [(tag: [UInt8], isWeak: Bool)] = []

    /// - Returns: `nil` where there is no field.
    init?(_ fields: [String]) {
        guard !fields.isEmpty else { return nil }
        for field in fields { read(Array(field.utf8)) }
    }

    /// Reads the elements of a field; one that is no tag equals none.
    private mutating func read(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let first = rest.first {
            guard first != UInt8(ascii: ","), first != 0x20, first != 0x09 else {
                rest.removeFirst()
                continue
            }
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest.removeFirst(2) }
            if rest.first == UInt8(ascii: "\""),
                let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\""))
            {
                tags.append((Array(rest[...end]), isWeak))
                rest = rest[(end + 1)...]
            } else {
                let element = rest.prefix { $0 != UInt8(ascii: ",") }
                isAny = isAny || element.elementsEqual("*".utf8)
                rest = rest.dropFirst(element.count)
            }
        }
    }

    /// Whether a strong tag is among them.
    ///
    /// - Parameter isWeak: Whether weak tags count, too.
    func contains(_ tag: String, isWeak: Bool) -> Bool {
        isAny || tags.contains { $0.tag.elementsEqual(tag.utf8) && (isWeak || !$0.isWeak) }
    }
}

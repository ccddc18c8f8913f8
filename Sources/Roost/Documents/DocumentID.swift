/// The name of a document within its collection, checked.
///
/// 1 to 2048 bytes of UTF-8; any character may stand in it, as in CouchDB. An ID is compared by its bytes, not as
/// Swift compares strings: `é` as one character and as `e` with an accent are different IDs, as they are
/// different keys in the file. IDs that begin with `_` are reserved, but for two kinds, as in CouchDB: see
/// ``Kind``.
package struct DocumentID: Sendable {
    /// The longest ID in bytes of UTF-8.
    package static let maximumLength = 2048

    /// What the beginning of an ID says about its document.
    package enum Kind: Hashable, Sendable {
        /// A document with revisions, which is listed among the changes and replicated.
        case ordinary
        /// `_design/…`: ordinary in every way but that CouchDB keeps the definitions of views there.
        case design
        /// `_local/…`: without history, never among the changes and never replicated.
        case local
    }

    /// The ID as it was given.
    package let string: String

    /// What the beginning of the ID says about the document.
    package let kind: Kind

    /// Checks `string`. O(length).
    ///
    /// - Throws: `invalidDocumentID`, whose message says which rule is broken, where, and what to do.
    package init(_ string: String) throws(DatabaseError) {
        let length = string.utf8.count
        guard length > 0 else {
            throw Self.invalid("A document ID must not be empty. Leave it out to have one made.")
        }
        guard length <= Self.maximumLength else {
            throw Self.invalid(
                "The document ID \(DatabaseError.quoted(string)) is \(length) bytes long, and the longest is "
                    + "\(Self.maximumLength). Shorten it, or keep the long name in a property.")
        }
        self.string = string
        kind = try Self.kind(of: string)
    }

    /// Checks bytes that ought to be UTF-8. O(length).
    ///
    /// - Throws: `invalidDocumentID`, also for bytes that are not UTF-8.
    package init(utf8 bytes: [UInt8]) throws(DatabaseError) {
        guard let string = String(validating: bytes, as: UTF8.self) else {
            let readable = String(decoding: bytes.prefix(Self.maximumLength), as: UTF8.self)
            throw Self.invalid(
                "The document ID \(DatabaseError.quoted(readable)) is not valid UTF-8. Encode it as UTF-8.")
        }
        try self.init(string)
    }

    private static func kind(of string: String) throws(DatabaseError) -> Kind {
        guard string.utf8.first == UInt8(ascii: "_") else { return .ordinary }
        for (prefix, kind) in [("_local/", Kind.local), ("_design/", Kind.design)]
        where string.utf8.starts(with: prefix.utf8) {
            if string.utf8.count > prefix.utf8.count { return kind }
            throw invalid(
                "The document ID \(DatabaseError.quoted(string)) has no name after the slash. Add one.")
        }
        throw invalid(
            "The document ID \(DatabaseError.quoted(string)) begins with an underscore, which is reserved. "
                + "Begin it with another character, or with _local/ for a document that is never replicated.")
    }

    private static func invalid(_ message: String) -> DatabaseError {
        DatabaseError(.invalidDocumentID, message)
    }
}

extension DocumentID: Hashable, Comparable, CustomStringConvertible {
    package static func == (left: Self, right: Self) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The ID as it was given.
    package var description: String { string }
}

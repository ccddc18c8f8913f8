import Fleece

/// A value of a Codable type as it was read from a document, and the revision that it was read at.
///
/// Its properties are those of the value:
///
/// ```swift
/// if var note = try notes.document("swifts", as: Note.self) {
///     note.stars += 1                  // note.value.stars
///     try notes.save(&note)            // `conflict` if somebody has saved the document since
/// }
/// ```
///
/// So an edit that was based on an older state never replaces a newer one unnoticed.
@dynamicMemberLookup
public struct Versioned<Value> {
    /// The document's ID in its collection.
    public let id: String
    /// The revision that the value was read or saved at last. A transaction that was rolled back leaves the one from before.
    public var revision: RevisionID {
        guard let revision = origin.revision else {
            preconditionFailure("a value that was read has a revision")
        }
        return revision
    }
    /// The document that the value was read from, and its revision.
    public var origin: DraftOrigin
    /// The value itself, to be read and changed.
    public var value: Value

    /// A property of the value.
    public subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> Member {
        value[keyPath: member]
    }

    /// A property of the value.
    public subscript<Member>(dynamicMember member: WritableKeyPath<Value, Member>) -> Member {
        get { value[keyPath: member] }
        set { value[keyPath: member] = newValue }
    }
}

extension Versioned where Value: Decodable {
    /// What a document's properties decode to; see ``Document/decode(_:)``.
    ///
    /// - Throws: `decodingFailed`.
    public init(_ document: Document) throws(DatabaseError) {
        id = document.id
        origin = DraftOrigin(document)
        value = try document.decode()
    }
}

extension Versioned: DocumentDraft where Value: Encodable {
    /// What the value encodes to.
    ///
    /// - Throws: `invalidDocument` when that is not an object; `invalidDocumentID` when the value's own `id` was changed.
    public func content() throws(DatabaseError) -> IncomingDocument {
        try BodyMaker().document(encoding: self)
    }
}

extension Versioned: Identifiable {}
extension Versioned: Sendable where Value: Sendable {}
extension Versioned: Equatable where Value: Equatable {}
extension Versioned: Hashable where Value: Hashable {}

extension Versioned: CustomStringConvertible {
    /// ID, revision and value.
    public var description: String { "\(id) at \(revision): \(value)" }
}

/// A Codable type whose properties may be missing from a document: they get the values that `init()` gives them. See
/// `Fleece.DecodableWithDefaults`.
public typealias DecodableWithDefaults = Fleece.DecodableWithDefaults

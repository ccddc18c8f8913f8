/// A value of a Codable type as it was read from a document, and the revision that it was read at.
///
/// Its properties are those of the value:
///
/// ```swift
/// if var note = try notes.get("swifts", as: Note.self) {
///     note.stars += 1                  // note.value.stars
///     try notes.save(&note)            // `conflict` if somebody has saved the document since
/// }
/// ```
///
/// So an edit that was based on an older state never replaces a newer one unnoticed.
@dynamicMemberLookup
public struct Stored<Value> {
    /// The document's name in its collection.
    public let id: String
    /// The revision that the value was read or saved at last. A batch that was undone leaves the one from before.
    public var revision: RevisionID {
        guard let revision = draftRevision.current else {
            preconditionFailure("a stored value has a revision")
        }
        return revision
    }
    private var draftRevision: DraftRevision
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

    /// Notes that the value was saved as `document`, provided that the batch is committed.
    mutating func wasSaved(as document: Document, in outcome: BatchOutcome) {
        draftRevision.note(document.revision, in: outcome)
    }
}

extension Stored where Value: Decodable {
    /// What a document's properties decode to; see ``Document/decode(_:)``.
    ///
    /// - Throws: `decodingFailed`.
    public init(_ document: Document) throws(DatabaseError) {
        id = document.id
        draftRevision = DraftRevision(document.revision)
        value = try document.decode()
    }
}

extension Stored: Identifiable {}
extension Stored: Sendable where Value: Sendable {}
extension Stored: Equatable where Value: Equatable {}
extension Stored: Hashable where Value: Hashable {}

extension Stored: CustomStringConvertible {
    /// ID, revision and value.
    public var description: String { "\(id) at \(revision): \(value)" }
}

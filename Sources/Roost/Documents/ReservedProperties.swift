import Fleece

/// What a body that is to be saved says in its reserved properties.
struct ReservedProperties: Sendable {
    private(set) var id: String?
    private(set) var revision: RevisionID?
    private(set) var isDeleted = false
    private(set) var attachments: NamedValues<AttachmentClaim>?

    /// - Throws: `corruptRevisionData` for a reserved name that no body may have, and for one whose value cannot be true.
    init(_ properties: FleeceDocument) throws(DatabaseError) {
        for (name, value) in properties.root.dictionary ?? .empty
        where ReservedNames.all.contains(name) {
            switch name {
            case ReservedNames.id: id = try Self.require(value.string, name)
            case ReservedNames.deleted: isDeleted = try Self.require(value.bool, name)
            case ReservedNames.revision:
                revision = try Self.require(value.string.flatMap { RevisionID($0) }, name)
            case ReservedNames.attachments:
                attachments = try AttachmentClaim.claims(DocumentValue(value))
            default: throw Self.corrupt(name, "is reserved for replication")
            }
        }
    }

    private static func require<T>(_ value: T?, _ name: String) throws(DatabaseError) -> T {
        guard let value else { throw corrupt(name, "has a value that cannot be right") }
        return value
    }

    /// Compares with the document that is being saved.
    ///
    /// - Returns: What to expect, given the revision that the body names as its parent.
    /// - Throws: `corruptRevisionData` when the body names another document or revision.
    func check(
        _ id: DocumentID, expecting expectation: DocumentExpectation, mayDelete: Bool
    ) throws(DatabaseError) -> DocumentExpectation {
        if let own = self.id, !own.utf8.elementsEqual(id.string.utf8) {
            throw Self.corrupt(ReservedNames.id, "is not the ID under which the document is saved")
        }
        if isDeleted, !mayDelete {
            throw Self.corrupt(
                ReservedNames.deleted, "says that it is deleted, which a save cannot do; delete it")
        }
        guard let revision else { return expectation }
        switch expectation {
        case .any: return .revision(revision)
        case .revision(revision): return expectation
        default:
            throw Self.corrupt(ReservedNames.revision, "is not the revision that the change was based on")
        }
    }

    private static func corrupt(_ name: String, _ reason: String) -> DatabaseError {
        DatabaseError(
            .corruptRevisionData,
            "The document's property \(name) \(reason). Leave the property out, or give it another name.")
    }
}

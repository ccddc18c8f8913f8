import Fleece

/// What a body that is to be saved says in its reserved properties.
struct ReservedProperties: Sendable {
    private(set) var id: String?
    /// What `_rev` says; a local document's need not be a revision ID.
    private(set) var revisionText: String?
    private(set) var isDeleted = false
    private(set) var attachments: NamedValues<AttachmentClaim>?
    /// What `_revisions` says: the generation of the revision, and the digests from it back.
    private var revisions: (start: UInt64, digests: [String])?

    /// - Parameter takesNumbersAsIDs: whether an `_id` that is a whole number counts as its digits.
    /// - Throws: `corruptRevisionData` for a reserved name that no body may have, and for one whose value cannot be true.
    init(_ properties: FleeceDocument, takesNumbersAsIDs: Bool = false) throws(DatabaseError) {
        // Most that is saved many at a time says nothing else.
        if let members = properties.root.dictionary, members.count == 1,
            let id = members[ReservedNames.id].string
        {
            self.id = id
            return
        }
        for (name, value) in properties.root.dictionary ?? .empty
        where ReservedNames.contain(name) {
            switch name {
            case ReservedNames.id:
                let number = takesNumbersAsIDs ? value.int.map(String.init) : nil
                id = try Self.require(value.string ?? number, name)
            case ReservedNames.deleted: isDeleted = try Self.require(value.bool, name)
            case ReservedNames.revision: revisionText = try Self.require(value.string, name)
            case ReservedNames.attachments:
                attachments = try AttachmentClaim.claims(DocumentValue(value))
            case ReservedNames.revisions:
                let digests = try Self.require(value["ids"].array, name).map(\.string)
                revisions = (
                    try Self.require(value["start"].uint64, name),
                    try digests.map { (text) throws(DatabaseError) in try Self.require(text, name) }
                )
            default:
                guard ReservedNames.told.contains(name) else {
                    throw Self.corrupt(name, "is reserved for replication")
                }
            }
        }
    }

    /// Whether `_revisions` tells the history of the revision.
    var tellsHistory: Bool { revisions != nil }

    /// Drops what is said of revisions.
    mutating func dropRevisions() { (revisionText, revisions) = (nil, nil) }

    /// Whether nothing is said but that the document's ID is `id`.
    func sayOnly(id: String?) -> Bool {
        guard revisionText == nil, !isDeleted, attachments == nil, revisions == nil, let own = self.id else {
            return false
        }
        return id.map { own.utf8.elementsEqual($0.utf8) } ?? true
    }

    private static func require<T>(_ value: T?, _ name: String) throws(DatabaseError) -> T {
        guard let value else { throw corrupt(name, "has a value that cannot be right") }
        return value
    }

    /// What `_rev` says.
    ///
    /// - Throws: `invalidRevisionID`.
    var revision: RevisionID? {
        get throws(DatabaseError) {
            try revisionText.map { (text) throws(DatabaseError) in try RevisionID(validating: text) }
        }
    }

    /// The revision and its ancestors, newest first, as far as they are told.
    var history: [RevisionID] {
        get throws(DatabaseError) {
            let own = try revision
            guard let revisions else { return own.map { [$0] } ?? [] }
            var history: [RevisionID] = []
            history.reserveCapacity(revisions.digests.count)
            for (age, digest) in revisions.digests.enumerated() {
                let generation = revisions.start.subtractingReportingOverflow(UInt64(age))
                guard !generation.overflow else {
                    throw Self.corrupt(ReservedNames.revisions, "has more revisions than its start says")
                }
                history.append(try RevisionID(validating: "\(generation.partialValue)-\(digest)"))
            }
            guard own == nil || history.first == own else {
                throw Self.corrupt(ReservedNames.revisions, "does not begin with the document's revision")
            }
            return history
        }
    }

    /// Compares with the document that is being saved.
    ///
    /// - Returns: What to expect, given the revision that the body names as its parent.
    /// - Throws: `corruptRevisionData` when the body names another document or revision, `invalidRevisionID`.
    func check(
        _ id: DocumentID, expecting expectation: DocumentExpectation, mayDelete: Bool
    ) throws(DatabaseError) -> DocumentExpectation {
        try checkID(id.string)
        if isDeleted, !mayDelete {
            throw Self.corrupt(
                ReservedNames.deleted, "says that it is deleted, which a save cannot do; delete it")
        }
        guard let revision = try revision else { return expectation }
        switch expectation {
        case .any: return .revision(revision)
        case .revision(revision): return expectation
        default:
            throw Self.corrupt(ReservedNames.revision, "is not the revision that the change was based on")
        }
    }

    /// - Throws: `corruptRevisionData` when the body names another document.
    func checkID(_ id: String) throws(DatabaseError) {
        guard let own = self.id, !own.utf8.elementsEqual(id.utf8) else { return }
        throw Self.corrupt(ReservedNames.id, "is not the ID under which the document is saved")
    }

    static func corrupt(_ name: String, _ reason: String) -> DatabaseError {
        DatabaseError(
            .corruptRevisionData,
            "The document's property \(name) \(reason). Leave the property out, or give it another name.")
    }
}

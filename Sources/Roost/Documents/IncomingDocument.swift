import Fleece

/// A document that is to be saved or inserted, parsed: a body, and what it says of itself.
///
/// Parsing needs no database and no write, so it is done before one is begun, and what is wrong with a document is known
/// then:
///
/// ```swift
/// var document = try IncomingDocument(json: text)        // what a peer sent, _revisions and _attachments in it
/// document.contents["photo.jpg"] = Attachment(blob)      // stored before
/// try database.write { try $0.insert(document, in: notes) }
/// ```
public struct IncomingDocument: Sendable {
    /// The properties, without reserved ones.
    var body: DocumentBody
    /// What the reserved properties say, where there were any.
    var claims: ReservedProperties?
    /// What it says of the document's ID.
    var identity = ValueIdentity.none
    /// What is said of the attachments by name; `nil` when nothing is, and then a save keeps those that are there.
    public internal(set) var attachments: NamedValues<AttachmentClaim>?
    /// The content of attachments that follow the text, and of others that the text does not mention: handles of blobs
    /// that the database has.
    public var contents: NamedValues<Attachment> = [:]

    /// - Parameter claims: what the reserved properties say, where there were any.
    init(_ body: DocumentBody, claims: ReservedProperties? = nil) {
        self.body = body
        self.claims = claims
        if let id = claims?.id { identity = .id(id) }
        attachments = claims?.attachments
    }

    /// The document that a JSON object describes.
    ///
    /// - Parameter json: The text as UTF-8.
    /// - Throws: `invalidDocument` for text that is not one JSON object, with line and column; `limitExceeded` for
    ///   one that is nested too deeply or too large; `corruptRevisionData` for reserved properties that cannot be;
    ///   `invalidRevisionID`.
    public init(json: some Sequence<UInt8>) throws(DatabaseError) {
        self = try BodyMaker().document(json: json)
    }

    /// The document that a JSON object describes.
    public init(json: String) throws(DatabaseError) { try self.init(json: json.utf8) }

    /// The ID that it is to be saved under where none is given; `nil` when one may be made up.
    ///
    /// - Throws: `invalidDocumentID` when what it says can't be an ID.
    var suggestedID: String? {
        get throws(DatabaseError) {
            switch identity {
            case .none: return nil
            case .id(let id): return id
            case .unusable(let reason): throw DatabaseError(.invalidDocumentID, reason)
            }
        }
    }

    /// What `_id` says; `nil` where it says nothing.
    public var id: String? { claims?.id }

    /// What `_rev` says; `nil` where it says nothing.
    ///
    /// - Throws: `invalidRevisionID` when that is no revision ID.
    public var revision: RevisionID? {
        get throws(DatabaseError) { try claims?.revision }
    }

    /// Whether `_deleted` says that it is a tombstone.
    public var isDeleted: Bool { claims?.isDeleted ?? false }

    /// The revision and its ancestors, newest first: what `_revisions` says, else `_rev` alone, else nothing.
    ///
    /// - Throws: `invalidRevisionID`, `corruptRevisionData` when the two contradict each other.
    public var history: [RevisionID] {
        get throws(DatabaseError) { try claims?.history ?? [] }
    }

    /// What it is going to be, for those who are asked whether they want it; its place in the changes is not known.
    package func document(id: String, revision: RevisionID) -> Document {
        Document(
            id: id, revision: revision, sequence: 0, flags: isDeleted ? .deleted : [], body: body)
    }

    /// The properties, without reserved ones.
    package var properties: FleeceDictionary { body.dictionary }

    /// All properties as one value.
    package var value: FleeceValue { body.properties.root }

    /// The names at the top level that begin with an underscore and mean nothing to Roost: they are kept as properties.
    /// CouchDB refuses documents that have any.
    public var unknownMembers: [String] {
        body.dictionary.keys.filter { $0.utf8.first == UInt8(ascii: "_") }
    }
}

// MARK: - ReservedNames

/// Names at the top level of a document that mean something to CouchDB's protocol, and what becomes of them in a body
/// that is to be saved.
///
/// `_id`, `_rev` and `_deleted` may repeat what is true of the document anyway, as they do in JSON that CouchDB wrote, and
/// `_revisions` is the history of one that is inserted. `_attachments` becomes the revision's attachments. What a server
/// tells of a document besides (``told``) says nothing to one that stores it. None of these is stored. The rest is
/// refused: were it stored, no peer could tell it from the protocol's own.
enum ReservedNames {
    static let id = "_id"
    static let revision = "_rev"
    static let deleted = "_deleted"
    static let attachments = "_attachments"
    static let revisions = "_revisions"
    static let revisionsInfo = "_revs_info"
    static let conflicts = "_conflicts"
    static let deletedConflicts = "_deleted_conflicts"
    static let localSequence = "_local_seq"
    /// What is told on request, and passed over when it comes back.
    static let told = [revisionsInfo, conflicts, deletedConflicts, localSequence]
    /// What all of them begin with.
    static let firstByte = UInt8(ascii: "_")
    static let all = [id, revision, "_sequence", deleted, "_removed", attachments, revisions] + told

    /// Whether the UTF-8 `name` is one of them.
    static func contain(_ name: UnsafeRawBufferPointer) -> Bool {
        guard unsafe name.first == firstByte else { return false }
        return all.contains { unsafe $0.utf8.elementsEqual(name) }
    }

    static func contain(_ name: String) -> Bool {
        name.utf8.first == firstByte && all.contains { $0.utf8.elementsEqual(name.utf8) }
    }
}

// MARK: - ReservedProperties

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

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

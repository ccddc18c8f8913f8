import Fleece
import RoostBytes

extension WriteTransaction {
    // MARK: Saving

    /// Saves a JSON object as a document.
    ///
    /// - Parameters:
    ///   - json: The text. `_id` and `_rev` in it must be the document's ID and the revision that the edit was based on, and
    ///     `_deleted` makes it a tombstone; they are not stored. `_attachments` becomes the attachments; without it
    ///     the document keeps those that it has.
    ///   - id: The document's ID; where there is none, the text's `_id`, or else a new one.
    ///   - collection: The collection to save it in.
    ///   - expectation: What the document must be like. By default the save goes on top of the document as it is.
    /// - Throws: `invalidDocument`, `invalidDocumentID`, `conflict`, `corruptRevisionData`.
    @discardableResult
    public func save(
        json: String, id: String? = nil, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document {
        try save(
            try maker.document(json: json.utf8), id: id, in: collection, expecting: expectation,
            mayDelete: true)
    }

    /// Saves a document that was parsed before, with content of attachments that came apart from the text: see
    /// ``save(json:id:in:expecting:)``.
    ///
    /// - Throws: also `missingStub` for an attachment that is a stub of content that the database does not have, `notFound` for
    ///   content that it does not have.
    @discardableResult
    public func save(
        _ document: IncomingDocument, id: String? = nil, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document {
        try save(document, id: id, in: collection, expecting: expectation, mayDelete: true)
    }

    /// Saves what `value` encodes to, which must be an object, as a new document.
    ///
    /// - Parameters:
    ///   - value: What to save.
    ///   - id: The document's ID; where there is none, the `id` of an `Identifiable` value, or else a new one.
    ///   - collection: The collection to save it in.
    ///   - expectation: What the document must be like. By default there must be none, or a deleted one: a value that was
    ///     not read with its revision must not replace a document unnoticed. `.any` replaces the document as it is. Where the
    ///     value has a property `_rev`, that revision is expected.
    /// - Throws: `conflict`; `invalidDocument`; `invalidDocumentID`, also where an `id` of the value can't be one;
    ///   `corruptRevisionData`.
    @discardableResult
    public func save(
        _ value: some Encodable, id: String? = nil, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Document {
        try save(value: try maker.document(encoding: value), id: id, in: collection, expecting: expectation)
    }

    /// Saves a draft in place of the revision that it was read or saved at last.
    ///
    /// - Parameters:
    ///   - draft: The draft; it gets the new revision, and an ID if it had none, so that it can be changed and saved again.
    ///     Where a merge decided, it gets the merged content, too.
    ///   - collection: The collection to save it in.
    ///   - expectation: What the document must be like; by default as the draft was read.
    ///   - policy: What to do when it is not.
    /// - Throws: `conflict`, `corruptRevisionData`, `invalidDocument`; `invalidDocumentID`, also when the `id` of a ``Versioned``
    ///   value was changed.
    @discardableResult
    public func save<Draft: DocumentDraft>(
        _ draft: inout Draft, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation? = nil,
        onConflict policy: SavePolicy<Draft> = .failOnConflict
    ) throws(DatabaseError) -> Document {
        try save(&draft, draft.content(), in: collection, expecting: expectation, onConflict: policy)
    }

    /// Saves a draft with the content that it has.
    func save<Draft: DocumentDraft>(
        _ draft: inout Draft, _ content: IncomingDocument, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation?, onConflict policy: SavePolicy<Draft>
    ) throws(DatabaseError) -> Document {
        let origin = draft.origin
        let id = origin.id ?? core.makeDocumentID()
        let expectation = expectation ?? origin.revision.map { .revision($0) } ?? .absent
        let saved: Document
        switch policy {
        case .failOnConflict:
            saved = try save(content, id: id, in: collection, expecting: expectation, mayDelete: false)
        case .lastWriteWins:
            saved = try save(content, id: id, in: collection, expecting: .any, mayDelete: false)
        case .merge(let handler):
            do throws(DatabaseError) {
                saved = try save(content, id: id, in: collection, expecting: expectation, mayDelete: false)
            } catch {
                guard error.code == .conflict,
                    var merged = handler(draft, try document(id, in: collection))
                else { throw error }
                merged.origin = origin
                draft = merged
                saved = try save(merged.content(), id: id, in: collection, expecting: .any, mayDelete: false)
            }
        }
        draft.origin.record(saved, in: outcome)
        draft.adopt(saved)
        return saved
    }

    /// Saves properties as a document that another module has taken apart already, so that they are not written as text and
    /// parsed again.
    ///
    /// - Parameters:
    ///   - properties: A dictionary without reserved properties.
    ///   - reserved: The reserved properties: `_attachments`, `_deleted`.
    ///   - contents: The content of the attachments that follow, which the store has.
    /// - Throws: As ``save(json:id:in:expecting:)``.
    package func save(
        _ properties: FleeceDocument, reserved: FleeceDocument, contents: NamedValues<Attachment>, id: String,
        in collection: DocumentCollection, expecting expectation: DocumentExpectation
    ) throws(DatabaseError) -> Document {
        try save(
            try IncomingDocument(properties, reserved, contents), id: id, in: collection,
            expecting: expectation, mayDelete: true)
    }

    /// Saves a value that was encoded before.
    func save(
        value: IncomingDocument, id: String?, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation?
    ) throws(DatabaseError) -> Document {
        let standard: DocumentExpectation = value.claims?.revisionText == nil ? .absent : .any
        return try save(
            value, id: id, in: collection, expecting: expectation ?? standard, mayDelete: false)
    }

    /// Saves a document that was parsed.
    ///
    /// - Parameter mayDelete: Whether `_deleted` may make it a tombstone.
    func save(
        _ document: IncomingDocument, id: String?, in collection: DocumentCollection,
        expecting expectation: DocumentExpectation, mayDelete: Bool
    ) throws(DatabaseError) -> Document {
        var id = id
        if id == nil { id = try document.suggestedID }
        let name = try DocumentID(revisioned: id ?? core.makeDocumentID())
        let claims = document.claims
        let expectation = try claims?.check(name, expecting: expectation, mayDelete: mayDelete) ?? expectation
        let attachments = try prepare(document.attachments, contents: document.contents)
        let saved = try writer(collection).edit(
            name, document.body, attachments, isDeleted: document.isDeleted, expecting: expectation)
        self.name(attachments)
        return saved
    }

    /// Changes a document: reads it as a `T`, passes that to `change`, and saves it.
    ///
    /// - Parameters:
    ///   - id: The document's ID.
    ///   - type: The type that it is decoded as.
    ///   - collection: The collection that it is in.
    ///   - change: Changes the value.
    /// - Returns: What was saved; `nil` when there is no such document, and `change` was not called.
    /// - Throws: `decodingFailed`, `invalidDocument`; what `change` throws, and then nothing was changed.
    @discardableResult
    public func update<T: Codable>(
        _ id: String, as type: T.Type = T.self, in collection: DocumentCollection,
        _ change: (inout T) throws -> Void
    ) throws -> Versioned<T>? {
        guard var stored = try document(id, as: type, in: collection) else { return nil }
        try change(&stored.value)
        try save(&stored, in: collection)
        return stored
    }

    // MARK: Deleting

    /// Deletes a document: adds a tombstone, which is replicated like any edit.
    ///
    /// - Parameters:
    ///   - id: The document's ID.
    ///   - collection: The collection that it is in.
    ///   - expectation: What the document must be like.
    /// - Returns: The tombstone; `nil` when there was no such document, or only a deleted one.
    /// - Throws: `conflict` when an expected revision is not a leaf.
    @discardableResult
    public func delete(
        _ id: String, in collection: DocumentCollection, expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document? {
        let id = try DocumentID(revisioned: id)
        let writer = try writer(collection)
        let key = writer.keyView(id)
        let loaded = try writer.load(key)
        if expectation == .any, loaded?.isLive != true { return nil }
        return try writer.edit(id, key, loaded, .empty, isDeleted: true, expecting: expectation)
    }

    /// Deletes a document in the revision that was read: see `delete(_:in:expecting:)`.
    ///
    /// - Throws: `conflict` when it has been edited since.
    @discardableResult
    public func delete(
        _ document: some RevisionedDocument, in collection: DocumentCollection
    ) throws(DatabaseError) -> Document? {
        try delete(document.id, in: collection, expecting: .revision(document.revision))
    }

    // MARK: Reading

    /// The document as it is with the changes made so far; `nil` when there is none or it is deleted.
    ///
    /// - Parameters:
    ///   - id: The document's ID.
    ///   - collection: The collection that it is in.
    ///   - includingDeleted: Whether to return the winning tombstone of a document that is deleted.
    public func document(
        _ id: String, in collection: DocumentCollection, includingDeleted: Bool = false
    ) throws(DatabaseError) -> Document? {
        try reader(collection).document(id, includingDeleted: includingDeleted)
    }

    /// The document's properties decoded as a `T`, as they are with the changes made so far; `nil` when there is none or it
    /// is deleted.
    ///
    /// - Throws: `decodingFailed` when the properties are not those of a `T`.
    public func document<T: Decodable>(
        _ id: String, as type: T.Type = T.self, in collection: DocumentCollection
    ) throws(DatabaseError) -> Versioned<T>? {
        try document(id, in: collection).map { (document) throws(DatabaseError) in try Versioned(document) }
    }
}

/// A document as it was read at a revision: a ``Document`` or a ``Versioned`` value.
public protocol RevisionedDocument {
    /// The document's ID.
    var id: String { get }
    /// The revision that was read.
    var revision: RevisionID { get }
}

extension Document: RevisionedDocument {}
extension Versioned: RevisionedDocument {}

extension IncomingDocument {
    /// A document that another module has taken apart already.
    init(
        _ properties: FleeceDocument, _ reserved: FleeceDocument, _ contents: NamedValues<Attachment>
    ) throws(DatabaseError) {
        self.init(try DocumentBody(new: properties), claims: try ReservedProperties(reserved))
        self.contents = contents
    }
}

extension DocumentID {
    /// An ID of a document that has revisions.
    ///
    /// - Throws: `invalidDocumentID`, also for the ID of a local document.
    init(revisioned string: String) throws(DatabaseError) {
        try self.init(string)
        guard kind != .local else {
            throw DatabaseError(
                .invalidDocumentID,
                "\(DatabaseError.quoted(string)) names a local document, which has no revisions. Use the methods for "
                    + "local documents, without the prefix _local/.")
        }
    }
}

import Foundation

// Every change here is a commit of its own. Each comes in two forms: one blocks its thread until the commit is durable, the
// other suspends its task meanwhile. A task that is cancelled before its turn has come throws `cancelled`, and nothing was
// changed; a write that has begun is finished.

extension DocumentCollection {
    /// Saves a JSON object, durably: see ``WriteTransaction/save(json:id:in:expecting:)``.
    @discardableResult
    public func save(
        json: String, id: String? = nil, expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document {
        try write { (transaction) throws(DatabaseError) in
            try transaction.save(json: json, id: id, in: self, expecting: expectation)
        }
    }

    /// Saves a JSON object, durably, without blocking a thread: see ``WriteTransaction/save(json:id:in:expecting:)``.
    @discardableResult
    public func save(
        json: String, id: String? = nil, expecting expectation: DocumentExpectation = .any
    ) async throws(DatabaseError) -> Document {
        let document = try BodyMaker().document(json: json.utf8)
        return try await write { (transaction) throws(DatabaseError) in
            try transaction.save(document, id: id, in: self, expecting: expectation, mayDelete: true)
        }
    }

    /// Saves what `value` encodes to as a new document, durably: see `save(_:id:in:expecting:)`.
    @discardableResult
    public func save(
        _ value: some Encodable, id: String? = nil, expecting expectation: DocumentExpectation? = nil
    ) throws(DatabaseError) -> Document {
        try write { (transaction) throws(DatabaseError) in
            try transaction.save(value, id: id, in: self, expecting: expectation)
        }
    }

    /// Saves what `value` encodes to as a new document, durably, without blocking a thread: see
    /// `save(_:id:in:expecting:)`.
    @discardableResult
    public func save(
        _ value: some Encodable, id: String? = nil, expecting expectation: DocumentExpectation? = nil
    ) async throws(DatabaseError) -> Document {
        let incoming = try BodyMaker().document(encoding: value)
        return try await write { (transaction) throws(DatabaseError) in
            try transaction.save(value: incoming, id: id, in: self, expecting: expectation)
        }
    }

    /// Saves a draft, durably: see ``WriteTransaction/save(_:in:expecting:onConflict:)``.
    @discardableResult
    public func save<Draft: DocumentDraft>(
        _ draft: inout Draft, expecting expectation: DocumentExpectation? = nil,
        onConflict policy: SavePolicy<Draft> = .failOnConflict
    ) throws(DatabaseError) -> Document {
        var saved = draft
        let document = try write { (transaction) throws(DatabaseError) in
            try transaction.save(&saved, in: self, expecting: expectation, onConflict: policy)
        }
        draft = saved
        return document
    }

    /// Saves a draft, durably, without blocking a thread: see ``WriteTransaction/save(_:in:expecting:onConflict:)``.
    @discardableResult
    public func save<Draft: DocumentDraft & Sendable>(
        _ draft: inout Draft, expecting expectation: DocumentExpectation? = nil,
        onConflict policy: SavePolicy<Draft> = .failOnConflict
    ) async throws(DatabaseError) -> Document {
        let (unsaved, content) = (draft, try draft.content())
        let (saved, document) = try await write { (transaction) throws(DatabaseError) in
            var saved = unsaved
            let document = try transaction.save(
                &saved, content, in: self, expecting: expectation, onConflict: policy)
            return (saved, document)
        }
        draft = saved
        return document
    }

    /// Resolves a document's conflicts, durably: see ``WriteTransaction/resolve(_:keeping:json:in:)``.
    @discardableResult
    public func resolve(
        _ id: String, keeping revision: RevisionID? = nil, json: String? = nil
    ) throws(DatabaseError) -> Document? {
        try write { (transaction) throws(DatabaseError) in
            try transaction.resolve(id, keeping: revision, json: json, in: self)
        }
    }

    /// Resolves a document's conflicts with a value, durably: see `WriteTransaction.resolve(_:with:keeping:in:)`.
    @discardableResult
    public func resolve(
        _ id: String, with value: some Encodable, keeping revision: RevisionID? = nil
    ) throws(DatabaseError) -> Document? {
        try write { (transaction) throws(DatabaseError) in
            try transaction.resolve(id, with: value, keeping: revision, in: self)
        }
    }

    /// Runs `change` in a commit of its own.
    func write<R>(
        _ change: (WriteTransaction) throws(DatabaseError) -> R
    ) throws(DatabaseError) -> R {
        try database.checkWritable()
        return try database.core.write(change)
    }

    /// Runs `change` in a commit of its own, on another thread.
    func write<R: Sendable>(
        _ change: @escaping @Sendable (WriteTransaction) throws(DatabaseError) -> R
    ) async throws(DatabaseError) -> R {
        try database.checkWritable()
        let core = database.core
        return try await core.workers.run(cancelled: .cancelledBeforeStart) { (flag) throws(DatabaseError) in
            try core.write(cancellation: flag, change)
        }
    }
}

/// What is changed by the ID of a document, whatever its properties are read as: a ``DocumentCollection`` and a
/// ``TypedCollection`` have it alike.
public protocol DocumentWriting: Sendable {
    /// The collection that is changed.
    var documents: DocumentCollection { get }
}

extension DocumentCollection: DocumentWriting {
    /// The collection itself.
    public var documents: DocumentCollection { self }
}

extension TypedCollection: DocumentWriting {}

extension DocumentWriting {
    /// Deletes a document, durably: see `WriteTransaction.delete(_:in:expecting:)`.
    @discardableResult
    public func delete(
        _ id: String, expecting expectation: DocumentExpectation = .any
    ) throws(DatabaseError) -> Document? {
        let documents = documents
        return try documents.write { (transaction) throws(DatabaseError) in
            try transaction.delete(id, in: documents, expecting: expectation)
        }
    }

    /// Deletes a document, durably, without blocking a thread: see `WriteTransaction.delete(_:in:expecting:)`.
    @discardableResult
    public func delete(
        _ id: String, expecting expectation: DocumentExpectation = .any
    ) async throws(DatabaseError) -> Document? {
        let documents = documents
        return try await documents.write { (transaction) throws(DatabaseError) in
            try transaction.delete(id, in: documents, expecting: expectation)
        }
    }

    /// Deletes a document in the revision that was read, durably: see `delete(_:in:)`.
    ///
    /// - Throws: `conflict` when it has been edited since.
    @discardableResult
    public func delete(_ document: some RevisionedDocument) throws(DatabaseError) -> Document? {
        try delete(document.id, expecting: .revision(document.revision))
    }

    /// Deletes a document in the revision that was read, durably, without blocking a thread: see `delete(_:in:)`.
    ///
    /// - Throws: `conflict` when it has been edited since.
    @discardableResult
    public func delete(_ document: some RevisionedDocument) async throws(DatabaseError) -> Document? {
        try await delete(document.id, expecting: .revision(document.revision))
    }

    /// Removes a document as if it had never been, durably: see ``WriteTransaction/purge(_:revisions:in:)``.
    @discardableResult
    public func purge(_ id: String, revisions: [RevisionID]? = nil) throws(DatabaseError) -> [RevisionID] {
        let documents = documents
        return try documents.write { (transaction) throws(DatabaseError) in
            try transaction.purge(id, revisions: revisions, in: documents)
        }
    }

    /// Removes a document as if it had never been, durably, without blocking a thread: see
    /// ``WriteTransaction/purge(_:revisions:in:)``.
    @discardableResult
    public func purge(
        _ id: String, revisions: [RevisionID]? = nil
    ) async throws(DatabaseError) -> [RevisionID] {
        let documents = documents
        return try await documents.write { (transaction) throws(DatabaseError) in
            try transaction.purge(id, revisions: revisions, in: documents)
        }
    }

    /// Sets when a document is to be purged, durably: see ``WriteTransaction/setExpiration(_:of:in:)``.
    @discardableResult
    public func setExpiration(_ date: Date?, of id: String) throws(DatabaseError) -> Bool {
        let documents = documents
        return try documents.write { (transaction) throws(DatabaseError) in
            try transaction.setExpiration(date, of: id, in: documents)
        }
    }

    /// Sets when a document is to be purged, durably, without blocking a thread: see
    /// ``WriteTransaction/setExpiration(_:of:in:)``.
    @discardableResult
    public func setExpiration(_ date: Date?, of id: String) async throws(DatabaseError) -> Bool {
        let documents = documents
        return try await documents.write { (transaction) throws(DatabaseError) in
            try transaction.setExpiration(date, of: id, in: documents)
        }
    }
}

import Fleece
import RoostBytes

extension WriteTransaction {
    /// Saves many JSON objects, one after the other, faster than one by one: they are parsed on all cores, ahead of being
    /// stored.
    ///
    /// ```swift
    /// try database.write { transaction in
    ///     try transaction.save(contentsOf: readings.lazy.map { ($0.name, $0.json) }, in: log)
    /// }
    /// ```
    ///
    /// Each is saved as by ``save(json:id:in:expecting:)``, on top of whatever is there. The sequence is asked for a
    /// few at a time, on the thread of the batch; memory is bounded by its largest texts.
    ///
    /// - Parameters:
    ///   - texts: The documents: each its name, or `nil` for the text's `_id` or else a new one, and its text.
    ///   - collection: Where they are to be.
    /// - Returns: What became of each, in their order.
    /// - Throws: As for one document, for the first that can't be saved. Those before it are saved if the batch goes on all the same.
    @discardableResult
    @inlinable public func save(
        contentsOf texts: some Sequence<(id: String?, json: String)>, in collection: DocumentCollection
    ) throws(DatabaseError) -> [DocumentChange] {
        let saving = BulkSave(self, collection)
        for text in texts { try saving.add(text.json, id: text.id) }
        return try saving.finish()
    }

    /// Stores one of the documents that were prepared as the revision that it says it is.
    ///
    /// One that tells its history (`_revisions`) is inserted with it. One that names only a `_rev` is inserted as that revision where
    /// the collection has no such document, and is an edit of that revision otherwise. Any other is saved.
    ///
    /// - Returns: `false` where the collection has the revision already.
    /// - Throws: As ``save(_:_:in:asNewRevision:)``; `missingStub` for an attachment whose content is not here.
    package func restore(
        _ documents: PreparedDocuments, _ place: Int, in collection: DocumentCollection
    ) throws(DatabaseError) -> Bool {
        if case .other(let id, .success(let document)) = documents.items[place],
            let claims = document.claims, let id = id ?? claims.id
        {
            var isInserted = claims.tellsHistory
            if !isInserted, try claims.revision != nil {
                let writer = try writer(collection)
                isInserted = try writer.load(writer.keyView(try DocumentID(revisioned: id))) == nil
            }
            if isInserted { return try insert(document, id: id, in: collection) }
        }
        try save(documents, place, in: collection)
        return true
    }

    /// Saves one of the documents that were prepared, on top of whatever is there.
    ///
    /// - Parameter isNewRevision: whether the revision that it names is passed over.
    /// - Throws: what is wrong with it; `invalidDocumentID`, `conflict`, `corruptRevisionData`.
    @discardableResult
    package func save(
        _ documents: PreparedDocuments, _ place: Int, in collection: DocumentCollection,
        asNewRevision isNewRevision: Bool = false
    ) throws(DatabaseError) -> DocumentChange {
        switch documents.items[place] {
        case .plain(let id, let body, let digest):
            return try writer(collection).edit(
                try DocumentID(revisioned: id ?? core.makeDocumentID()), body, of: documents.bodies,
                firstDigest: digest)
        case .other(let id, let document):
            var document = try document.get()
            if isNewRevision { document.claims?.dropRevisions() }
            return DocumentChange(
                try save(document, id: id, in: collection, expecting: .any, mayDelete: true))
        }
    }
}

extension DocumentChange {
    /// What became of a document that was saved just now.
    fileprivate init(_ document: Document) {
        var flags: StoredDocument.Flags = document.isDeleted ? .deleted : []
        if document.isConflicted { flags.insert(.conflicted) }
        if document.hasSeveralLeaves { flags.insert(.severalLeaves) }
        if document.body.attachmentList != nil { flags.insert(.hasAttachments) }
        self.init(
            id: document.id, sequence: document.sequence, revision: document.revision, flags: flags)
    }
}

extension CollectionWriter {
    /// Makes an edit on top of whatever is there.
    ///
    /// - Parameters:
    ///   - body: Where in `bodies` the stored form of a body without attachments is.
    ///   - firstDigest: That of the edit where it is the document's first revision.
    fileprivate func edit(
        _ id: DocumentID, _ body: Range<Int>, of bodies: [UInt8], firstDigest: RevisionDigest
    ) throws(DatabaseError) -> DocumentChange {
        let key = keyView(id)
        if let loaded = try load(key) {
            let body = try bodies.withView { (bodies) throws(DatabaseError) in
                try DocumentBody(stored: bodies.slice(body.lowerBound, body.count))
            }
            return DocumentChange(try edit(id, key, loaded, body, isDeleted: false, expecting: .any))
        }
        let revision = try RevisionID.next(after: nil, digest: firstDigest)
        let sequence = nextSequence()
        let place = try bodies.withView { (bodies) throws(DatabaseError) in
            try append(stored: bodies.slice(body.lowerBound, body.count))
        }
        let stored = try store(
            RevisionTree(only: revision, flags: [], sequence: sequence), newLeaf: (revision, place), of: key,
            nil, touched: [], sequence: sequence)
        return DocumentChange(id: id.string, sequence: sequence, revision: revision, flags: stored.flags)
    }
}

// MARK: - BulkSave

/// Documents that are saved one after the other and parsed by several threads, ahead of being stored. Belongs to the thread of
/// its batch.
@usableFromInline final class BulkSave {
    private let batch: WriteTransaction
    private let collection: DocumentCollection
    private let ahead = WorkAhead<DocumentTexts, PreparedDocuments> { $0.prepared() }
    private var texts = DocumentTexts()
    private var changes: [DocumentChange] = []

    @usableFromInline init(_ batch: WriteTransaction, _ collection: DocumentCollection) {
        self.batch = batch
        self.collection = collection
    }

    /// Takes a document, and stores others that were taken before where many wait.
    @usableFromInline func add(_ json: String, id: String?) throws(DatabaseError) {
        texts.append(json, id: id)
        guard texts.isFull else { return }
        ahead.add(texts)
        texts = DocumentTexts()
        if ahead.count > ahead.depth { _ = try storeNext() }
    }

    /// Stores what was taken and is not stored yet.
    ///
    /// - Returns: What became of all documents.
    @usableFromInline func finish() throws(DatabaseError) -> [DocumentChange] {
        if !texts.isEmpty { ahead.add(texts) }
        while try storeNext() {}
        return changes
    }

    private func storeNext() throws(DatabaseError) -> Bool {
        guard let documents = ahead.next() else { return false }
        for place in 0..<documents.count {
            changes.append(try batch.save(documents, place, in: collection))
        }
        return true
    }
}

// MARK: - DocumentTexts

/// JSON texts of documents, one behind the other in one piece of memory.
package struct DocumentTexts: Sendable {
    private var bytes: [UInt8] = []
    private var documents: [(id: String?, end: Int)] = []

    package init() {}

    /// So many bytes of text are parsed at a time, or one document that has more.
    private static let mostBytes = 1 << 14

    /// Whether more should go into another piece.
    package var isFull: Bool { bytes.count >= Self.mostBytes }

    package var isEmpty: Bool { documents.isEmpty }

    /// Adds a text.
    ///
    /// - Parameter id: The document's name; `nil` for what the text says, or a new one.
    mutating func append(_ json: String, id: String?) {
        bytes.append(contentsOf: json.utf8)
        documents.append((id, bytes.count))
    }

    /// Adds a text in UTF-8.
    package mutating func append(_ json: ArraySlice<UInt8>) {
        bytes += json
        documents.append((nil, bytes.count))
    }

    /// The documents. O(n).
    ///
    /// - Parameters:
    ///   - takesNumbersAsIDs: whether an `_id` may be a whole number, which counts as its digits.
    ///   - name: What a document is called that has no name yet; `nil` for what it says itself, or a new one.
    package func prepared(
        takingNumbersAsIDs takesNumbersAsIDs: Bool = false,
        name: (IncomingDocument) throws(DatabaseError) -> String? = { _ in nil }
    ) -> PreparedDocuments {
        var maker = PreparedDocuments.Maker(takingNumbersAsIDs: takesNumbersAsIDs)
        var start = 0
        for (id, end) in documents {
            maker.add(json: bytes[start..<end]) { (document) throws(DatabaseError) in
                if let id { return id }
                if let name = try name(document) { return name }
                return try document.suggestedID
            }
            start = end
        }
        return maker.finish()
    }
}

// MARK: - PreparedDocuments

/// Documents that are to be saved, parsed and ready to be stored, one after the other.
///
/// The bodies of those that say nothing of themselves but their ID lie one behind the other in one piece of memory, with the
/// digests that they have as first revisions. That is what most documents are that are saved many at a time.
package struct PreparedDocuments: Sendable {
    enum Item: Sendable {
        /// A document by its body alone: its name, where the stored form of the body is, the digest of its first revision.
        case plain(id: String?, body: Range<Int>, digest: RevisionDigest)
        /// A document that says more of itself, or why there is none.
        indirect case other(id: String?, Result<IncomingDocument, DatabaseError>)
    }

    private(set) var bodies: [UInt8] = []
    private(set) var items: [Item] = []

    package var count: Int { items.count }

    /// Parses documents, with memory that is kept between them.
    struct Maker: ~Copyable {
        private let maker: BodyMaker
        private var form = CanonicalForm()
        private var prepared = PreparedDocuments()

        init(takingNumbersAsIDs takesNumbersAsIDs: Bool = false) {
            maker = BodyMaker(takesNumbersAsIDs: takesNumbersAsIDs)
        }

        /// Adds the document that a JSON object describes. What is wrong with it is told when it is to be saved.
        ///
        /// - Parameter id: The document's name; `nil` for a new one.
        mutating func add(
            json: ArraySlice<UInt8>, id: (IncomingDocument) throws(DatabaseError) -> String?
        ) {
            do throws(DatabaseError) {
                let document = try maker.document(json: json)
                let id = try id(document)
                guard document.isPlain(id) else {
                    return prepared.items.append(.other(id: id, .success(document)))
                }
                let start = prepared.bodies.count
                document.body.append(to: &prepared.bodies)
                prepared.items.append(
                    .plain(
                        id: id, body: start..<prepared.bodies.count,
                        digest: document.body.digest(parent: nil, isDeleted: false, gatheredIn: &form)))
            } catch {
                prepared.items.append(.other(id: nil, .failure(error)))
            }
        }

        /// What was added.
        consuming func finish() -> PreparedDocuments { prepared }
    }
}

extension IncomingDocument {
    /// Whether it says nothing of itself but `id`, and brings nothing.
    fileprivate func isPlain(_ id: String?) -> Bool {
        guard attachments == nil, contents.isEmpty else { return false }
        return claims?.sayOnly(id: id) ?? true
    }
}

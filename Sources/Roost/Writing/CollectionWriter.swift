import Fleece
import RoostBytes
import RoostStorage

/// Changes the documents of one collection within a transaction, and keeps the collection's record.
final class CollectionWriter {
    let transaction: StoreTransaction
    let trees: CollectionTrees
    let name: CollectionName
    /// How many bodies of earlier revisions are kept of each branch of a document.
    let keptRevisions: Int
    var record: CollectionRecord
    /// Whether documents were changed.
    private(set) var hasChanged = false
    /// Whether the collection has bodies of earlier revisions, once that was looked up. None is added where none are kept.
    var hasEarlierBodies: Bool?
    /// Whether a change stopped half way, so that the transaction must not be committed.
    private var isTorn = false
    private let storedRecord: CollectionRecord
    private let key = ByteBuffer(capacity: DocumentID.maximumLength)
    private let bodyBuffer = ByteBuffer(capacity: 4096)

    /// Holds what is made of one document after the other.
    struct Scratch: ~Copyable {
        /// What is put into the trees.
        var entry: [UInt8] = []
        var change: [UInt8] = []
        /// What the digest of a new revision is made of.
        var form = CanonicalForm()
    }

    /// Changed by one call after another: checking at run time that no two overlap takes a share of each document's time.
    var scratch: Scratch {
        @inline(__always) _read { yield unsafe uncheckedScratch }
        @inline(__always) _modify { yield unsafe &uncheckedScratch }
    }
    @exclusivity(unchecked) private var uncheckedScratch = Scratch()

    /// - Throws: `notFound` when there is no such collection any more.
    init(
        _ name: CollectionName, _ trees: CollectionTrees, catalog: Tree, keptRevisions: Int,
        in transaction: StoreTransaction
    ) throws(DatabaseError) {
        self.keptRevisions = keptRevisions
        self.transaction = transaction
        self.trees = trees
        self.name = name
        let bytes = try translating { () throws(StoreError) in
            try transaction[catalog].value(Catalog.collection(name))
        }
        guard let bytes else { throw DatabaseError.missing(name) }
        record = try CollectionRecord(bytes)
        storedRecord = record
        // A collection of the same name may have been made since.
        guard trees.documents.name == "documents/\(record.number)" else { throw DatabaseError.missing(name) }
    }

    /// The entry of a document with many revisions that was changed last, which is written when another document or
    /// somebody else needs it: writing thousands of revisions anew for each one that is added takes quadratic time.
    private var unwritten: (id: [UInt8], document: LoadedDocument, replaced: UInt64?)?
    /// From this number of revisions on an entry is kept back.
    private static let manyRevisions = 64

    /// Reads what was changed, too, once ``flush()`` was called; bodies and what stands in the extras always.
    var reader: CollectionReader<StoreTransaction> { CollectionReader(source: transaction, trees: trees) }

    /// All that is stored of a document, bodies aside; `nil` when there is no such document.
    func load(_ id: ByteView) throws(DatabaseError) -> LoadedDocument? {
        if let unwritten, unwritten.id.withView({ $0.compare(id) == 0 }) { return unwritten.document }
        return try reader.load(id)
    }

    /// Writes what was kept back.
    func flush() throws(DatabaseError) {
        guard let unwritten = unwritten.take() else { return }
        try unwritten.id.withView { (id) throws(DatabaseError) in
            try write(id, unwritten.document, replacing: unwritten.replaced)
        }
    }

    /// Called before the first of several steps that belong together.
    func beginChange() { isTorn = true }

    /// Called after the last step.
    func endChange() {
        isTorn = false
        hasChanged = true
    }

    /// Stores the record, if it has changed.
    ///
    /// - Throws: `inputOutput` when a change failed half way and its error was passed over.
    func finish(in catalog: Tree) throws(DatabaseError) {
        guard !isTorn else {
            throw DatabaseError(
                .inputOutput,
                "A change of the transaction failed, and what it had done till then cannot be kept. Nothing was saved; "
                    + "let the error that came first end the transaction.")
        }
        try flush()
        guard record != storedRecord else { return }
        try translating { () throws(StoreError) in
            try transaction.put(Catalog.collection(name), record.encoded, in: catalog)
        }
    }

    /// The ID's UTF-8; valid until the next call.
    func keyView(_ id: DocumentID) -> ByteView {
        key.reset()
        var string = id.string
        string.withUTF8 { key.append(unsafe ByteView(UnsafeRawBufferPointer($0))) }
        return key.view
    }

    // MARK: Storing

    /// Writes a body into the file.
    func append(_ body: DocumentBody) throws(DatabaseError) -> ValueReference {
        try body.checkLength()
        body.store(in: bodyBuffer)
        return try translating { () throws(StoreError) in try transaction.append(value: bodyBuffer.view) }
    }

    /// Writes the stored form of a body into the file.
    func append(stored body: ByteView) throws(DatabaseError) -> ValueReference {
        try DocumentBody.checkLength(body.count)
        return try translating { () throws(StoreError) in try transaction.append(value: body) }
    }

    /// Gives out the next sequence.
    func nextSequence() -> UInt64 {
        record.lastSequence += 1
        return record.lastSequence
    }

    /// Gives a document the next sequence.
    func resequence(_ id: ByteView) throws(DatabaseError) {
        guard var document = try load(id) else { return }
        let sequence = document.sequence
        document.sequence = nextSequence()
        beginChange()
        try put(id, document, replacing: sequence)
        endChange()
    }

    /// Stores the entry of a document in both orders, in place of the one at `oldSequence`.
    func put(
        _ id: ByteView, _ document: LoadedDocument, replacing oldSequence: UInt64?
    ) throws(DatabaseError) {
        var replaced = oldSequence
        if let unwritten {
            if unwritten.id.withView({ $0.compare(id) == 0 }) {
                replaced = unwritten.replaced
            } else {
                try flush()
            }
        }
        unwritten = nil
        if document.tree.count < Self.manyRevisions { return try write(id, document, replacing: replaced) }
        unwritten = (id.array, document, replaced)
    }

    private func write(
        _ id: ByteView, _ document: LoadedDocument, replacing oldSequence: UInt64?
    ) throws(DatabaseError) {
        try putEntry(id, document)
        scratch.change.removeAll(keepingCapacity: true)
        StoredChange.encode(document.flags, winner: document.winner, id: id, to: &scratch.change)
        try translating { () throws(StoreError) in
            if let oldSequence {
                try Sequences.withKey(oldSequence) { (sequence) throws(StoreError) in
                    try transaction.deleteKnown(sequence, in: trees.changes)
                }
            }
            try Sequences.withKey(document.sequence) { (sequence) throws(StoreError) in
                try scratch.change.withView { (change) throws(StoreError) in
                    try transaction.put(
                        sequence, inline: change, value: document.body, owns: false, in: trees.changes)
                }
            }
        }
    }

    /// Stores the entry of a document in the order of IDs, with its revision tree where it belongs.
    func putEntry(_ id: ByteView, _ document: LoadedDocument) throws(DatabaseError) {
        var flags = document.flags.subtracting([.single, .elsewhere])
        var tree: [UInt8] = []
        if document.tree.count == 1 {
            flags.insert(.single)
        } else {
            document.tree.encode(to: &tree)
            if tree.count > StoredDocument.longestInlineTree { flags.insert(.elsewhere) }
        }
        scratch.entry.removeAll(keepingCapacity: true)
        StoredDocument.encodeHead(
            flags, sequence: document.sequence, expiration: document.expiration, winner: document.winner,
            to: &scratch.entry)
        if flags.contains(.elsewhere) {
            try put(tree, under: ExtrasKey.revisions(of: id))
        } else {
            scratch.entry += tree
            if document.flags.contains(.elsewhere) { try removeExtra(ExtrasKey.revisions(of: id)) }
        }
        try translating { () throws(StoreError) in
            try scratch.entry.withView { (entry) throws(StoreError) in
                try transaction.put(id, inline: entry, value: document.body, owns: true, in: trees.documents)
            }
        }
    }

    /// Sets a value in the extras.
    func put(_ value: [UInt8], under key: [UInt8]) throws(DatabaseError) {
        try translating { () throws(StoreError) in try transaction.put(Key(key), value, in: trees.extras) }
    }

    /// Hands a body over to the extras.
    func put(body: ValueReference, under key: [UInt8]) throws(DatabaseError) {
        try translating { () throws(StoreError) in
            try key.withView { (key) throws(StoreError) in
                try transaction.put(key, inline: .empty, value: body, owns: true, in: trees.extras)
            }
        }
    }

    /// Deletes an entry of the extras.
    func removeExtra(_ key: [UInt8]) throws(DatabaseError) {
        try translating { () throws(StoreError) in try transaction.delete(Key(key), in: trees.extras) }
    }
}

extension DatabaseError {
    /// A collection that does not exist, or not any more.
    static func missing(_ name: CollectionName) -> Self {
        Self(
            .notFound, "There is no collection \(name) here: it was dropped, or not made yet.",
            underlyingError: MissingCollection())
    }
}

// MARK: - Editing

extension CollectionWriter {
    /// Makes an edit: a new revision on top of the one that `expectation` names.
    func edit(
        _ id: DocumentID, _ body: DocumentBody, _ attachments: NamedValues<PreparedAttachment>? = nil,
        isDeleted: Bool = false,
        expecting expectation: DocumentExpectation
    ) throws(DatabaseError) -> Document {
        let key = keyView(id)
        let loaded = try load(key)
        return try edit(id, key, loaded, body, attachments, isDeleted: isDeleted, expecting: expectation)
    }

    /// As ``edit(_:_:_:isDeleted:expecting:)``, where what is stored of the document is known.
    func edit(
        _ id: DocumentID, _ key: ByteView, _ loaded: LoadedDocument?, _ body: DocumentBody,
        _ attachments: NamedValues<PreparedAttachment>? = nil, isDeleted: Bool,
        expecting expectation: DocumentExpectation
    ) throws(DatabaseError) -> Document {
        var tree = loaded?.tree ?? RevisionTree()
        let parent = try tree.parent(for: expectation)
        let body = try complete(
            body, attachments, history: parent.map { [$0] } ?? [], isDeleted: isDeleted, isEdit: true,
            generation: (parent?.generation ?? 0) + 1, key, loaded)
        let revision = try RevisionID.next(
            after: parent,
            digest: body.digest(parent: parent, isDeleted: isDeleted, gatheredIn: &scratch.form))
        let flags = RevisionFlags(of: body, isDeleted: isDeleted)
        let sequence = nextSequence()
        try tree.edit(parent, as: revision, flags: flags, sequence: sequence)
        tree.stem(to: record.revisionLimit)
        let place = try append(body)
        let stored = try store(
            tree, newLeaf: (revision, place), of: key, loaded, touched: parent.map { [$0] } ?? [],
            sequence: sequence)
        return Document(
            id: id.string, revision: revision, sequence: sequence, isDeleted: isDeleted, stored, body)
    }
}

extension RevisionFlags {
    /// Those of a revision with this body.
    init(of body: DocumentBody, isDeleted: Bool) {
        self = isDeleted ? .deleted : []
        if body.attachmentList != nil { insert(.hasAttachments) }
    }
}

extension Document {
    /// The revision that was just stored.
    init(
        id: String, revision: RevisionID, sequence: UInt64, isDeleted: Bool, _ stored: LoadedDocument,
        _ body: DocumentBody
    ) {
        var flags = stored.flags.subtracting(.deleted)
        if isDeleted { flags.insert(.deleted) }
        self.init(id: id, revision: revision, sequence: sequence, flags: flags, body: body)
    }
}

// MARK: - LoadedDocument

/// What is stored of a document before a change to it, bodies aside.
struct LoadedDocument {
    var flags: StoredDocument.Flags
    var sequence: UInt64
    var expiration: UInt64?
    var winner: RevisionID
    /// Where the winner's body is.
    var body: ValueReference
    var tree: RevisionTree

    var isLive: Bool { !flags.contains(.deleted) }
}

extension LoadedDocument {
    /// What the entry of a document says. A revision tree that is elsewhere is still to be read.
    init(reading entry: StoredDocument, body: ValueReference) throws(DatabaseError) {
        self.init(
            flags: entry.flags, sequence: entry.sequence, expiration: entry.expiration, winner: entry.winner,
            body: body, tree: try RevisionTree(in: entry))
    }
}

extension CollectionReader {
    /// All that is stored of a document, bodies aside; `nil` when there is no such document.
    func load(_ id: ByteView) throws(DatabaseError) -> LoadedDocument? {
        let loaded = try withEntry(id) { (entry, place) throws(DatabaseError) in
            try LoadedDocument(reading: entry, body: place)
        }
        guard var loaded, loaded.flags.contains(.elsewhere) else { return loaded }
        loaded.tree = try longTree(of: id)
        return loaded
    }

    /// A revision tree that is not in the document's entry.
    func longTree(of id: ByteView) throws(DatabaseError) -> RevisionTree {
        let bytes = try translating { () throws(StoreError) in
            try source[trees.extras, Key(ExtrasKey.revisions(of: id))]
        }
        guard let bytes else { throw DatabaseError.damaged("The list of a document's revisions") }
        return try RevisionTree(bytes.span)
    }
}

extension RevisionTree {
    /// The tree in a document's entry; without revisions where it is elsewhere.
    fileprivate init(in entry: StoredDocument) throws(DatabaseError) {
        if entry.flags.contains(.single) {
            var flags: RevisionFlags = []
            if entry.flags.contains(.deleted) { flags.insert(.deleted) }
            if entry.flags.contains(.hasAttachments) { flags.insert(.hasAttachments) }
            self.init(only: entry.winner, flags: flags, sequence: entry.sequence)
        } else if entry.flags.contains(.elsewhere) {
            self.init()
        } else {
            let bytes = unsafe entry.tree.buffer.assumingMemoryBound(to: UInt8.self)
            try unsafe self.init(bytes.span)
        }
    }

    /// The tree of a document with one revision.
    init(only id: RevisionID, flags: RevisionFlags, sequence: UInt64) {
        nodes = [Node(id: id, flags: flags, isLeaf: true, parent: Node.none, sequence: sequence)]
    }
}

import RoostBlobs
import RoostBytes
import RoostStorage

/// Compares what the trees of one collection say of each document.
struct CollectionCheck {
    private let name: CollectionName
    private let reader: CollectionReader<Snapshot>
    private let blobs: BlobInventory?
    var findings: DocumentFindings

    private var live: UInt64 = 0
    private var lastSequence: UInt64 = 0
    private var expirations: UInt64 = 0
    /// Long revision trees, and bodies of leaves that are not winners.
    private var besides: UInt64 = 0

    init(
        _ name: CollectionName, _ reader: CollectionReader<Snapshot>, _ blobs: BlobInventory?,
        _ findings: DocumentFindings
    ) {
        self.name = name
        self.reader = reader
        self.blobs = blobs
        self.findings = findings
    }

    private mutating func note(_ what: String, _ key: Key? = nil) {
        findings.add(what, name, id: key.map { $0.string ?? "\($0)" })
    }

    // MARK: In the order of IDs

    /// Checks the document that `cursor`, one of the documents' tree, is at.
    mutating func check(_ cursor: Cursor) {
        let key = cursor.key
        guard let entry = try? StoredDocument(cursor.inline), let place = cursor.reference,
            (try? DocumentID(utf8: key.bytes)) != nil
        else { return note("its entry is not what Roost writes", key) }
        if !entry.flags.contains(.deleted) { live += 1 }
        lastSequence = max(lastSequence, entry.sequence)
        checkChange(of: key, entry, place)
        checkExpiration(of: key, entry)
        if let body = check(bodyAt: cursor) { checkBlobs(of: key, body) }
        if !entry.flags.contains(.single) { checkRevisions(of: key, entry) }
    }

    private mutating func checkChange(of key: Key, _ entry: StoredDocument, _ place: ValueReference) {
        do throws(StoreError) {
            let agrees: Bool? = try Sequences.withKey(entry.sequence) { (sequence) throws(StoreError) in
                try reader.source.withEntry(sequence, in: reader.trees.changes) { (inline, value) in
                    guard let change = try? StoredChange(inline) else { return false }
                    return change.id.array == key.bytes && change.winner == entry.winner && value == place
                        && change.flags == entry.flags.intersection(.shownInChanges)
                }
            }
            switch agrees {
            case true?: return
            case false?: note("the change with its sequence, \(entry.sequence), says something else", key)
            case nil: note("it is not among the changes", key)
            }
        } catch {
            note("its change can't be read", key)
        }
    }

    private mutating func checkExpiration(of key: Key, _ entry: StoredDocument) {
        guard let time = entry.expiration else { return }
        expirations += 1
        let place = key.bytes.withView { ExtrasKey.expiration(time, $0) }
        let isThere = try? reader.source[reader.trees.extras].contains(Key(place))
        if isThere != true { note("its expiration is not among those to come", key) }
    }

    /// The winner's body, valid until the cursor is used again.
    private mutating func check(bodyAt cursor: Cursor) -> ByteView? {
        guard blobs != nil else { return nil }
        do throws(StoreError) {
            let body = try cursor.valueView()
            try cursor.checkMapping()
            if (try? DocumentBody(stored: body)) != nil { return body }
        } catch {}
        note("its body can't be read", cursor.key)
        return nil
    }

    private mutating func checkBlobs(of key: Key, _ body: ByteView) {
        for digest in BlobReferences.digests(inBody: body).map(\.description).sorted() {
            guard let fault = blobs?.fault(of: digest) else { continue }
            findings.add(fault, name, id: key.string, blob: digest)
        }
    }

    private mutating func checkRevisions(of key: Key, _ entry: StoredDocument) {
        let loaded = try? key.bytes.withView { (view) throws(DatabaseError) in try reader.load(view) }
        guard let loaded = loaded ?? nil else { return note("its revisions can't be read", key) }
        guard loaded.tree.winner?.id == entry.winner else {
            return note("its revisions have another winner than its entry says", key)
        }
        if entry.flags.contains(.elsewhere) { besides += 1 }
        for leaf in loaded.tree.leaves where leaf.id != entry.winner {
            besides += 1
            check(bodyOf: leaf.id, of: key, loaded)
        }
    }

    private mutating func check(bodyOf leaf: RevisionID, of key: Key, _ loaded: LoadedDocument) {
        do throws(DatabaseError) {
            let place = try key.bytes.withView { (view) throws(DatabaseError) in
                try reader.place(of: leaf, view, loaded)
            }
            guard blobs != nil else { return }
            let bytes = try translating { () throws(StoreError) in
                try reader.source.withValue(at: place, in: reader.trees.extras) { $0.array }
            }
            bytes.withView { checkBlobs(of: key, $0) }
        } catch {
            note("the body of its revision \(leaf) can't be read", key)
        }
    }

    // MARK: In the order of changes

    /// Names the documents that stand among the changes and not among the documents, or can't be read there.
    mutating func checkChanges() {
        do throws(DatabaseError) {
            let cursor = try reader.changes.cursor()
            while try translating({ () throws(StoreError) in try cursor.next() }) {
                guard let change = try? StoredChange(cursor.inline) else {
                    note("the entry of change \(cursor.key.number ?? 0) is not what Roost writes")
                    continue
                }
                check(Key(change.id.array), at: cursor.key.number ?? 0)
            }
        } catch {
            note("a part of its list of changes can't be read")
        }
    }

    private mutating func check(_ key: Key, at sequence: UInt64) {
        do throws(DatabaseError) {
            let found = try key.bytes.withView { (id) throws(DatabaseError) in
                try reader.withEntry(id) { (entry, _) in entry.sequence }
            }
            guard let found else { return note("it is among the changes and not among the documents", key) }
            if found != sequence { note("it is among the changes twice", key) }
        } catch {
            note("it can't be read", key)
        }
    }

    // MARK: The collection

    /// Compares what the collection says of itself with what was found; for when nothing was wrong with its documents.
    mutating func check(_ record: CollectionRecord) {
        if record.liveCount != live {
            note("it counts \(record.liveCount) documents and has \(live)")
        }
        if record.lastSequence < lastSequence {
            note("its last sequence is \(record.lastSequence), and a document has \(lastSequence)")
        }
        do throws(StoreError) {
            let extras = try reader.source[reader.trees.extras]
            if try extras.count(in: ExtrasKey.allExpirations) != expirations {
                note("it has expirations that are of no document")
            }
            if try extras.count(in: ExtrasKey.allRevisions) != besides {
                note("it has revisions that are of no document")
            }
        } catch {
            note("what it holds beside documents can't be read")
        }
    }
}

// MARK: - DocumentCheck

/// Compares all that a snapshot says of documents.
struct DocumentCheck {
    private let core: DatabaseCore
    private let snapshot: Snapshot
    /// `nil` where bodies and blobs are not to be read.
    private let blobs: BlobInventory?
    private let meter: CheckMeter
    private(set) var findings: DocumentFindings
    /// Documents that were looked at.
    private(set) var documents: UInt64 = 0

    init(_ core: DatabaseCore, _ snapshot: Snapshot, _ blobs: BlobInventory?, _ meter: CheckMeter, limit: Int)
    {
        self.core = core
        self.snapshot = snapshot
        self.blobs = blobs
        self.meter = meter
        findings = DocumentFindings(limit: limit)
    }

    /// - Throws: `cancelled`.
    mutating func run() throws(DatabaseError) {
        var names: [CollectionName] = []
        do throws(DatabaseError) {
            names = try core.collectionNames(in: snapshot)
        } catch {
            findings.add("its list of collections can't be read")
        }
        for name in names {
            do throws(DatabaseError) {
                guard let trees = try core.trees(of: name, in: snapshot),
                    let record = try core.record(of: name, in: snapshot)
                else { continue }
                try check(name, trees, record)
            } catch {
                guard error.code != .cancelled else { throw error }
                findings.add("it can't be read as a whole", name)
            }
        }
    }

    private mutating func check(
        _ name: CollectionName, _ trees: CollectionTrees, _ record: CollectionRecord
    ) throws(DatabaseError) {
        let reader = CollectionReader(source: snapshot, trees: trees)
        var collection = CollectionCheck(name, reader, blobs, findings)
        let total = try reader.documents.count
        let changes = try reader.changes.count
        let before = findings.count
        do throws(DatabaseError) {
            let cursor = try reader.documents.cursor()
            while try translating({ () throws(StoreError) in try cursor.next() }) {
                try meter.note(documents, of: total)
                documents += 1
                collection.check(cursor)
            }
        } catch {
            guard error.code != .cancelled else { throw error }
            collection.findings.add("a part of its list of documents can't be read", name)
        }
        // Each document has a change of its own, so there are others only if there are more of them.
        if collection.findings.count > before || changes != total {
            collection.checkChanges()
        } else {
            collection.check(record)
        }
        findings = collection.findings
    }
}

extension DatabaseCore {
    /// The record of a collection; `nil` when there is no such collection.
    func record(
        of name: CollectionName, in snapshot: Snapshot
    ) throws(DatabaseError) -> CollectionRecord? {
        let bytes = try translating { () throws(StoreError) in try snapshot[catalog, Catalog.collection(name)]
        }
        guard let bytes else { return nil }
        return try CollectionRecord(bytes)
    }
}

// MARK: - DocumentFinding

/// One thing that is wrong with a document, or was lost of it, as a check or a salvage found it.
public struct DocumentFinding: Hashable, Sendable, CustomStringConvertible {
    /// The collection, as scope and name with a dot between; `nil` where the database as a whole is concerned.
    public let collection: String?
    /// The document; `nil` where the collection as a whole, or an unknown number of documents, is concerned.
    public let id: String?
    /// What is wrong, as part of a sentence. It holds no content of documents.
    public let what: String
    /// The digest of the blob that is missing or damaged; `nil` where something else is wrong.
    public let blob: String?

    init(_ what: String, collection: CollectionName? = nil, id: String? = nil, blob: String? = nil) {
        self.collection = collection?.description
        self.id = id
        self.what = what
        self.blob = blob
    }

    /// The finding in a line.
    public var description: String {
        let document = id.map { "document \(DatabaseError.quoted($0))" }
        let place = [document, collection.map { "collection \($0)" }].compactMap { $0 }.joined(
            separator: " of ")
        return place.isEmpty ? what : "\(place): \(what)"
    }
}

/// Gathers findings up to a limit.
struct DocumentFindings {
    private(set) var findings: [DocumentFinding] = []
    /// Findings beyond the limit.
    private(set) var further = 0
    private let limit: Int

    init(limit: Int) { self.limit = max(1, limit) }

    var count: Int { findings.count + further }

    mutating func add(
        _ what: String, _ collection: CollectionName? = nil, id: String? = nil, blob: String? = nil
    ) {
        add(DocumentFinding(what, collection: collection, id: id, blob: blob))
    }

    mutating func add(_ finding: DocumentFinding) {
        guard findings.count < limit else {
            further += 1
            return
        }
        findings.append(finding)
    }
}

import RoostBytes
import RoostFile
import RoostStorage

/// Makes one truth of what a salvage found of a collection's documents.
///
/// A document stands in the order of IDs and in that of changes, and a salvage may have found another state of it in
/// either, or find it in one alone. The entry with the highest sequence is the newest, and it is taken. What it
/// needs beside it (revisions, other leaves) counts as far as it fits; all other entries are made anew or go.
struct CollectionRepair {
    private let core: DatabaseCore
    private let name: CollectionName
    private let trees: CollectionTrees
    /// Documents that there are in the end, deleted ones among them.
    private(set) var documents: UInt64 = 0

    /// Documents that are put right in one commit.
    private static let pageSize = 1000

    init(_ core: DatabaseCore, _ name: CollectionName, _ trees: CollectionTrees) {
        self.core = core
        self.name = name
        self.trees = trees
    }

    /// - Parameter losses: what the salvage of the store could not read.
    mutating func run(
        losses: [SalvageReport.Loss], _ findings: inout DocumentFindings
    ) throws(DatabaseError) {
        let newestSequence = try lastSequence()
        let newestPurge = try lastPurge()
        try takeFromChanges(&findings)
        try rewriteDocuments(after: newestSequence, newestPurge, &findings)
        try removeStrayExtras()
        try describe(losses, &findings)
    }

    private var reader: CollectionReader<Snapshot> {
        CollectionReader(source: core.store.snapshot(), trees: trees)
    }

    /// Calls `body` with a transaction's writer until it answers that there is nothing left.
    private func inBatches(
        _ body: (CollectionWriter) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        while try core.write({ (transaction) throws(DatabaseError) in
            try body(transaction.writer(name, trees))
        }) {}
    }

    /// The highest sequence that was given, as far as anything tells.
    private func lastSequence() throws(DatabaseError) -> UInt64 {
        let reader = reader
        var last = try core.record(of: name, in: reader.source)?.lastSequence ?? 0
        let changes = try reader.changes
        let newest = try translating { () throws(StoreError) in try changes.last() }
        last = max(last, newest?.key.number ?? 0)
        let cursor = try reader.documents.cursor()
        while try translating({ () throws(StoreError) in try cursor.next() }) {
            last = max(last, (try? StoredDocument(cursor.inline))?.sequence ?? 0)
        }
        // Documents with an impossible sequence get another, for which there must be room.
        return min(last, CollectionRecord.largestSequence / 2)
    }

    /// The sequence of the last purge that is remembered.
    private func lastPurge() throws(DatabaseError) -> UInt64 {
        let cursor = try reader.extras.cursor(ExtrasKey.allPurges)
        guard try translating({ () throws(StoreError) in try cursor.previous() }) else { return 0 }
        return min(Sequences.number(cursor.keyView.dropFirst(1)), CollectionRecord.largestSequence)
    }

    // MARK: Changes

    /// Takes the documents from the order of changes that are missing, or older, in that of IDs.
    private func takeFromChanges(_ findings: inout DocumentFindings) throws(DatabaseError) {
        let cursor = try reader.changes.cursor()
        try inBatches { (writer) throws(DatabaseError) in
            for _ in 0..<Self.pageSize {
                guard try translating({ () throws(StoreError) in try cursor.next() }) else { return false }
                guard let change = try? StoredChange(cursor.inline), let body = cursor.reference,
                    let sequence = cursor.key.number, (try? DocumentID(utf8: change.id.array)) != nil
                else { continue }
                let known = try? writer.reader.withEntry(change.id) { (entry, _) in entry.sequence }
                if let known = known ?? nil, known >= sequence { continue }
                try writer.putEntry(change.id, LoadedDocument(change, sequence: sequence, body: body))
                guard change.winner.generation > 1 || change.flags.contains(.severalLeaves) else { continue }
                findings.add(
                    "only its newest revision was found; its history is lost", name,
                    id: Key(change.id.array).string)
            }
            return true
        }
    }

    // MARK: Documents

    /// Puts each document's entry right, and makes the order of changes anew.
    private mutating func rewriteDocuments(
        after newestSequence: UInt64, _ newestPurge: UInt64, _ findings: inout DocumentFindings
    ) throws(DatabaseError) {
        let source = reader
        let cursor = try source.documents.cursor()
        var (documents, live): (UInt64, UInt64) = (0, 0)
        var isFirst = true
        try inBatches { (writer) throws(DatabaseError) in
            if isFirst {
                isFirst = false
                writer.record.lastSequence = newestSequence
                writer.record.lastPurge = max(writer.record.lastPurge, newestPurge)
                // What was rescued is another history: indexes and peers must not go on with the old one.
                writer.record.renewEpoch(core.environment)
                try translating { () throws(StoreError) in
                    try writer.transaction.delete(.all, in: trees.changes)
                }
            }
            for _ in 0..<Self.pageSize {
                guard try translating({ () throws(StoreError) in try cursor.next() }) else {
                    writer.record.liveCount = live
                    return false
                }
                guard let document = try rewrite(cursor, source, writer, &findings) else { continue }
                documents += 1
                if document.isLive { live += 1 }
            }
            return true
        }
        self.documents = documents
    }

    /// Puts one document right; `nil` when its entry can't be one.
    private func rewrite(
        _ cursor: Cursor, _ source: CollectionReader<Snapshot>, _ writer: CollectionWriter,
        _ findings: inout DocumentFindings
    ) throws(DatabaseError) -> LoadedDocument? {
        let key = cursor.key
        guard let entry = try? StoredDocument(cursor.inline), let body = cursor.reference,
            (try? DocumentID(utf8: key.bytes)) != nil
        else {
            findings.add("its entry can't be read; it is lost", name, id: key.string)
            try translating { () throws(StoreError) in try writer.transaction.delete(key, in: trees.documents)
            }
            return nil
        }
        return try key.bytes.withView { (id) throws(DatabaseError) in
            var document = try mended(id, entry, body, source, &findings)
            if try !isFree(document.sequence, writer) { document.sequence = writer.nextSequence() }
            try writer.put(id, document, replacing: nil)
            if let time = document.expiration { try writer.put([], under: ExtrasKey.expiration(time, id)) }
            return document
        }
    }

    private func isFree(_ sequence: UInt64, _ writer: CollectionWriter) throws(DatabaseError) -> Bool {
        guard sequence > 0, sequence <= writer.record.lastSequence else { return false }
        try writer.flush()
        return try translating { () throws(StoreError) in
            try !writer.transaction[trees.changes].contains(Key(Sequences.key(sequence)))
        }
    }

    /// The document with as much of its revisions as was found and fits its entry.
    private func mended(
        _ id: ByteView, _ entry: StoredDocument, _ body: ValueReference, _ source: CollectionReader<Snapshot>,
        _ findings: inout DocumentFindings
    ) throws(DatabaseError) -> LoadedDocument {
        let name = Key(id.array).string
        var document = LoadedDocument(entry, body: body)
        if let loaded = try? source.load(id), let found = loaded.tree.winner, found.id == entry.winner {
            document.tree = loaded.tree
            document.flags = loaded.flags
        } else if !entry.flags.contains(.single) {
            findings.add("its history is lost", self.name, id: name)
        }
        let others = document.tree.leaves.filter { $0.id != entry.winner }
        let lost = others.map(\.id).filter { (try? source.place(of: $0, id, document)) == nil }
        for revision in document.tree.purge(lost) {
            findings.add("its revision \(revision), which was in conflict, is lost", self.name, id: name)
        }
        if !document.tree.isConflicted { document.flags.remove(.conflicted) }
        if !document.tree.hasSeveralLeaves { document.flags.remove(.severalLeaves) }
        return document
    }

    // MARK: Beside documents

    /// Removes revisions and expirations that are of no document as it is now.
    private func removeStrayExtras() throws(DatabaseError) {
        let cursor = try reader.extras.cursor()
        try inBatches { (writer) throws(DatabaseError) in
            for _ in 0..<Self.pageSize {
                guard try translating({ () throws(StoreError) in try cursor.next() }) else { return false }
                let key = cursor.key
                guard try key.bytes.withView({ (view) throws(DatabaseError) in try isStray(view, writer) })
                else { continue }
                try writer.removeExtra(key.bytes)
            }
            return true
        }
    }

    private func isStray(_ key: ByteView, _ writer: CollectionWriter) throws(DatabaseError) -> Bool {
        if let (time, id) = ExtrasKey.readExpiration(key) {
            return try writer.reader.withEntry(id) { (entry, _) in entry.expiration } != .some(.some(time))
        }
        if let (id, revision) = ExtrasKey.readEarlier(key) {
            guard let document = try writer.reader.load(id), let revision = try? RevisionID(revision) else {
                return true
            }
            return document.tree[revision]?.isLeaf != false
        }
        guard let (id, revision) = ExtrasKey.readRevision(key) else { return false }
        guard let document = try writer.reader.load(id) else { return true }
        if revision.isEmpty { return !document.flags.contains(.elsewhere) }
        guard let revision = try? RevisionID(revision) else { return true }
        return revision == document.winner || document.tree[revision]?.isLeaf != true
    }

    // MARK: Losses

    /// Says of the parts of the list of documents that could not be read what is there of them now.
    private func describe(
        _ losses: [SalvageReport.Loss], _ findings: inout DocumentFindings
    ) throws(DatabaseError) {
        let documents = try reader.documents
        for loss in losses where loss.tree == trees.documents.name {
            let present = try translating { () throws(StoreError) in try documents.count(in: loss.keys) }
            if let lower = loss.keys.lower, loss.keys.upper == Key(lower.bytes + [0]) {
                findings.add(
                    present == 0
                        ? "it is lost"
                        : "its newest state in the list of documents can't be read; it may be older",
                    name, id: lower.string)
                continue
            }
            let from = loss.keys.lower?.string.map { "from \(DatabaseError.quoted($0))" } ?? "from the first"
            let to =
                loss.keys.upper?.string.map { " to before \(DatabaseError.quoted($0))" } ?? " to the last"
            findings.add(
                "a part of the list of \(loss.entries) documents, \(from)\(to), can't be read; \(present) are there, "
                    + "some perhaps in an older revision", name)
        }
    }
}

extension LoadedDocument {
    /// The document that a change tells of, without its history.
    fileprivate init(_ change: StoredChange, sequence: UInt64, body: ValueReference) {
        let flags = change.flags.intersection([.deleted, .hasAttachments])
        self.init(
            flags: flags, sequence: sequence, expiration: nil, winner: change.winner, body: body,
            tree: RevisionTree(only: change.winner, flags: flags.ofRevision, sequence: sequence))
    }

    /// The document that an entry tells of, without its history.
    fileprivate init(_ entry: StoredDocument, body: ValueReference) {
        self.init(
            flags: entry.flags.subtracting([.conflicted, .severalLeaves, .elsewhere]),
            sequence: entry.sequence, expiration: entry.expiration,
            winner: entry.winner, body: body,
            tree: RevisionTree(only: entry.winner, flags: entry.flags.ofRevision, sequence: entry.sequence))
    }
}

extension StoredDocument.Flags {
    /// Those of the winning revision.
    fileprivate var ofRevision: RevisionFlags {
        var flags: RevisionFlags = []
        if contains(.deleted) { flags.insert(.deleted) }
        if contains(.hasAttachments) { flags.insert(.hasAttachments) }
        return flags
    }
}

// MARK: - CatalogRepair

/// Makes the catalog of a salvaged store name all collections of which there are trees.
struct CatalogRepair {
    private let path: String
    private let options: DatabaseOptions
    private let environment: Environment

    /// - Parameter path: the directory of the new database.
    init(_ path: String, _ options: DatabaseOptions, _ environment: Environment) {
        self.path = path
        self.options = options
        self.environment = environment
    }

    func run(_ findings: inout DocumentFindings) throws(DatabaseError) {
        let store = try translating { () throws(StoreError) in
            try Store.open(DatabaseOpener.dataPath(path), options: options.store, environment: environment)
        }
        let transaction = try translating { () throws(StoreError) in try store.beginWriting() }
        defer { transaction.rollback() }
        let catalog = try translating { () throws(StoreError) in try transaction.tree(Catalog.treeName) }
        var record = try databaseRecord(transaction, catalog, &findings)
        let named = try namedCollections(transaction, catalog, &findings)
        let orphans = Set(transaction.treeNames.compactMap { CollectionTrees.number(inTreeName: $0) })
            .subtracting(named.values).sorted()
        for number in orphans {
            try name(number, transaction, catalog, isDefaultTaken: named[.default] != nil, &findings)
        }
        record.nextCollection = max(
            record.nextCollection, (named.values + orphans).max().map { $0 &+ 1 } ?? 1)
        if named[.default] == nil, !orphans.contains(1) {
            let number = record.nextCollection
            record.nextCollection += 1
            try put(CollectionRecord(number: number, environment), .default, transaction, catalog)
        }
        try translating { () throws(StoreError) in
            try transaction.put(Catalog.database, record.encoded, in: catalog)
            _ = try transaction.commit()
            try store.close()
        }
    }

    private func databaseRecord(
        _ transaction: StoreTransaction, _ catalog: Tree, _ findings: inout DocumentFindings
    ) throws(DatabaseError) -> DatabaseRecord {
        let bytes = try translating { () throws(StoreError) in try transaction[catalog, Catalog.database] }
        if let bytes, let record = try? DatabaseRecord(bytes) { return record }
        findings.add("the database's identity is lost; it has a new one, by which peers don't know it")
        return DatabaseRecord(environment)
    }

    /// The numbers of the collections that have a name. Those whose record can't be read lose it; trees that are missing
    /// are made.
    private func namedCollections(
        _ transaction: StoreTransaction, _ catalog: Tree, _ findings: inout DocumentFindings
    ) throws(DatabaseError) -> [CollectionName: UInt64] {
        var named: [CollectionName: UInt64] = [:]
        let entries = try translating { () throws(StoreError) in
            let cursor = try transaction[catalog].cursor(Catalog.collections)
            var entries: [(Key, [UInt8])] = []
            while try cursor.next() { entries.append((cursor.key, try cursor.value())) }
            return entries
        }
        for (key, value) in entries {
            guard let name = try? Catalog.name(key), let record = try? CollectionRecord(value),
                !named.values.contains(record.number)
            else {
                try translating { () throws(StoreError) in try transaction.delete(key, in: catalog) }
                continue
            }
            named[name] = record.number
            _ = try translating { () throws(StoreError) in
                try CollectionTrees(number: record.number, in: transaction)
            }
        }
        return named
    }

    /// Gives the collection that these trees are of a name. The first that a database makes is the default one.
    private func name(
        _ number: UInt64, _ transaction: StoreTransaction, _ catalog: Tree, isDefaultTaken: Bool,
        _ findings: inout DocumentFindings
    ) throws(DatabaseError) {
        let name =
            number == 1 && !isDefaultTaken ? CollectionName.default : try CollectionName("salvaged-\(number)")
        try put(CollectionRecord(number: number, environment), name, transaction, catalog)
        findings.add("its name or its record is lost", name)
    }

    private func put(
        _ record: CollectionRecord, _ name: CollectionName, _ transaction: StoreTransaction, _ catalog: Tree
    ) throws(DatabaseError) {
        try translating { () throws(StoreError) in
            _ = try CollectionTrees(number: record.number, in: transaction)
            try transaction.put(Catalog.collection(name), record.encoded, in: catalog)
        }
    }
}

extension CollectionTrees {
    /// The number of the collection that a tree of this name belongs to; `nil` when it is of none.
    static func number(inTreeName name: String) -> UInt64? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, ["documents", "changes", "extras"].contains(parts[0]),
            let number = UInt64(parts[1]), number > 0, number < .max, String(number) == parts[1]
        else { return nil }
        return number
    }
}

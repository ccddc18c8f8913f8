import Roost
import RoostBytes
import RoostStorage

/// The derived store of a collection: the records and trees of all its indexes.
struct IndexStore: Sendable {
    let store: Store

    /// Whether this process may write to it.
    var isWritable: Bool { !store.isReadOnly }

    /// The record of an index, and the snapshot in which it is true of the trees; `nil` for the record where there is none.
    func record(_ name: String, in snapshot: Snapshot) throws(StoreError) -> IndexRecord? {
        guard let catalog = snapshot.tree(IndexTrees.catalog), let bytes = try snapshot[catalog, Key(name)]
        else {
            return nil
        }
        return try bytes.withView { (view) throws(StoreError) in
            do throws(MalformedBytes) {
                return try IndexRecord(view)
            } catch {
                throw Self.malformed("the record of an index")
            }
        }
    }

    func put(_ record: IndexRecord, _ name: String, in transaction: StoreTransaction) throws(StoreError) {
        try transaction.put(Key(name), record.encoded, in: try transaction.tree(IndexTrees.catalog))
    }

    /// Makes the record and the trees of an index that has to be built, in place of what there was.
    func begin(
        _ definition: IndexDefinition, epoch: UInt64, sequence: UInt64, purge: UInt64
    ) throws -> IndexRecord {
        try store.write { transaction in
            let old = try record(definition.name, in: store.snapshot())
            if let old { try drop(old, in: transaction) }
            let record = IndexRecord(
                number: try nextNumber(in: transaction), signature: Array(definition.signature.utf8),
                hasRows: definition.maintainer == nil, epoch: epoch,
                sequence: sequence, purge: purge)
            _ = try transaction.tree(
                IndexTrees.rows(record.number), reduction: definition.storedReduction(of: record.number))
            _ = try transaction.tree(IndexTrees.documents(record.number))
            try put(record, definition.name, in: transaction)
            return record
        }
    }

    /// One more than any number that is in use; trees that were dropped with their record leave nothing behind.
    private func nextNumber(in transaction: StoreTransaction) throws -> UInt64 {
        var last: UInt64 = 0
        try transaction[transaction.tree(IndexTrees.catalog)].forEach { _, value in
            last = max(
                last,
                (try? value.withView { (view) throws(MalformedBytes) in try IndexRecord(view) })?.number ?? 0)
            return true
        }
        for name in store.snapshot().treeNames {
            last = max(last, IndexTrees.number(of: name) ?? 0)
        }
        return last + 1
    }

    /// Drops the index with its trees. O(number of trees).
    func drop(_ name: String) throws {
        try store.write { transaction in
            guard let record = try record(name, in: store.snapshot()) else { return }
            try drop(record, in: transaction)
            try transaction.delete(Key(name), in: transaction.tree(IndexTrees.catalog))
        }
    }

    private func drop(_ record: IndexRecord, in transaction: StoreTransaction) throws(StoreError) {
        let snapshot = store.snapshot()
        for name in snapshot.treeNames where IndexTrees.number(of: name) == record.number {
            if let tree = snapshot.tree(name) { try transaction.drop(tree) }
        }
    }

    /// What is kept, by name. O(number of indexes and trees).
    func statuses() throws -> [IndexStatus] {
        let snapshot = store.snapshot()
        guard let catalog = snapshot.tree(IndexTrees.catalog) else { return [] }
        var bytes: [UInt64: UInt64] = [:]
        for name in snapshot.treeNames {
            guard let number = IndexTrees.number(of: name), let tree = snapshot.tree(name) else { continue }
            bytes[number, default: 0] += try snapshot[tree].storedBytes
        }
        var statuses: [IndexStatus] = []
        let cursor = try snapshot[catalog].cursor()
        while try cursor.next() {
            let name = String(decoding: cursor.key.bytes, as: UTF8.self)
            guard let record = try record(name, in: snapshot) else { continue }
            let rows = try snapshot.tree(IndexTrees.rows(record.number)).map { try snapshot[$0].count } ?? 0
            statuses.append(IndexStatus(name: name, record, rows: rows, bytes: bytes[record.number] ?? 0))
        }
        return statuses
    }

    /// What an entry is called that no index has written.
    static func malformed(_ what: String) -> StoreError {
        StoreError(.damaged, "The derived data has malformed bytes: \(what). It is made anew.")
    }
}

// MARK: - Check

extension IndexStore {
    /// Compares the two trees of each index: every row is listed with its document, and nothing else is. O(rows log rows).
    ///
    /// - Parameter step: called now and then with how many rows of an index were found; stops the check by throwing.
    /// - Returns: what is wrong, a sentence for each index.
    func findings(_ step: (_ done: UInt64, _ total: UInt64) throws -> Void) throws -> [String] {
        let snapshot = store.snapshot()
        guard let catalog = snapshot.tree(IndexTrees.catalog) else { return [] }
        var findings: [String] = []
        let cursor = try snapshot[catalog].cursor()
        while try cursor.next() {
            let name = String(decoding: cursor.key.bytes, as: UTF8.self)
            guard let record = try record(name, in: snapshot), record.phase == .complete, record.hasRows
            else { continue }
            if let finding = try finding(record, in: snapshot, step) {
                findings.append("\(name): \(finding)")
            }
        }
        return findings
    }

    private func finding(
        _ record: IndexRecord, in snapshot: Snapshot, _ step: (_ done: UInt64, _ total: UInt64) throws -> Void
    ) throws -> String? {
        guard let rowTree = snapshot.tree(IndexTrees.rows(record.number)),
            let documentTree = snapshot.tree(IndexTrees.documents(record.number))
        else { return "its trees are missing" }
        let rows = try snapshot[rowTree]
        let documents = try snapshot[documentTree].cursor()
        var listed: UInt64 = 0
        while try documents.next() {
            if listed % 1_024 == 0 { try step(listed, rows.count) }
            for key in try DocumentRows.keys(try documents.value(), of: documents.key.bytes) {
                guard try rows.contains(Key(key)) else { return "a row of a document is missing" }
                listed += 1
            }
        }
        return listed == rows.count ? nil : "\(rows.count) rows, of which documents list \(listed)"
    }
}

// MARK: - Index record

/// What is known of an index in its store, and how far it has come: an entry of the tree `indexes`, by the index's name.
///
///     version     1 byte   03
///     number      varint   names the index's trees
///     signature   varint length, bytes
///     epoch       8 bytes  the history of the documents that the rows were made of
///     sequence    varint   all changes of documents up to this sequence of the collection are in the rows
///     purge       varint   and all purges up to this purge sequence
///     latest      varint   of documents that were changed again, changes up to this sequence may be in the rows
///     purged      varint   and purges up to this purge sequence
///     phase       1 byte   0 complete, 1 documents are being mapped, 2 runs are being merged; plus 128 where there are no rows
///     runs        varint   while it is built: how many sorted runs there are
///     last        rest     while it is built: the ID of the last document that was mapped
struct IndexRecord: Hashable, Sendable {
    static let version: UInt8 = 3
    private static let rowless: UInt8 = 0x80

    enum Phase: UInt8 { case complete, mapping, merging }

    let number: UInt64
    let signature: [UInt8]
    let epoch: UInt64
    private(set) var sequence: UInt64
    private(set) var purge: UInt64
    /// The sequence and the purge sequence of the latest moment of which rows were made. It is later than the index has come
    /// where a build was cut off and went on, or where not all changes since have been worked off.
    private(set) var latestSequence: UInt64
    private(set) var latestPurge: UInt64
    /// Whether it has rows, and no maintainer that has something else.
    let hasRows: Bool
    var phase = Phase.mapping
    var runs: UInt64 = 0
    var last: [UInt8] = []

    init(
        number: UInt64, signature: [UInt8], hasRows: Bool = true, epoch: UInt64, sequence: UInt64,
        purge: UInt64
    ) {
        self.number = number
        self.signature = signature
        self.hasRows = hasRows
        self.epoch = epoch
        self.sequence = sequence
        self.purge = purge
        latestSequence = sequence
        latestPurge = purge
    }

    /// Notes that rows are made of the documents of a moment.
    mutating func include(_ moment: CollectionSnapshot) {
        latestSequence = max(latestSequence, moment.lastSequence)
        latestPurge = max(latestPurge, moment.purgeSequence)
    }

    /// Notes that all changes up to a sequence of a moment are in the rows, and its purges with the last of them.
    mutating func reach(_ sequence: UInt64, of moment: CollectionSnapshot) {
        include(moment)
        self.sequence = max(self.sequence, sequence)
        if sequence == moment.lastSequence { purge = max(purge, moment.purgeSequence) }
    }

    /// Whether some rows may be those of a later moment.
    func isAhead(of moment: CollectionSnapshot) -> Bool {
        latestSequence > moment.lastSequence || latestPurge > moment.purgeSequence
    }

    /// Whether the rows are those of a moment.
    func isCurrent(at moment: CollectionSnapshot) -> Bool {
        epoch == moment.epoch && !isAhead(of: moment) && !isBehind(moment)
    }

    /// Whether rows of that moment are missing.
    func isBehind(_ moment: CollectionSnapshot) -> Bool {
        phase != .complete || sequence < moment.lastSequence || purge < moment.purgeSequence
    }

    var encoded: [UInt8] {
        let buffer = ByteBuffer(capacity: 128)
        buffer.append(Self.version)
        buffer.append(varint: number)
        signature.withView { buffer.append(prefixed: $0) }
        buffer.append(integer: epoch)
        buffer.append(varint: sequence)
        buffer.append(varint: purge)
        buffer.append(varint: latestSequence)
        buffer.append(varint: latestPurge)
        buffer.append(phase.rawValue | (hasRows ? 0 : Self.rowless))
        buffer.append(varint: runs)
        buffer.append(last)
        return buffer.view.array
    }

    /// More runs than any build makes.
    static let mostRuns: UInt64 = 1 << 20

    /// - Throws: `MalformedBytes` for an entry of another version, too.
    init(_ bytes: ByteView) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.version else { throw MalformedBytes(at: 0) }
        number = try reader.varint()
        guard number <= IndexTrees.greatestNumber else { throw MalformedBytes(at: reader.position) }
        signature = try reader.prefixed().array
        epoch = try reader.integer(UInt64.self)
        sequence = try reader.varint()
        purge = try reader.varint()
        latestSequence = try reader.varint()
        latestPurge = try reader.varint()
        let bits = try reader.byte()
        hasRows = bits & Self.rowless == 0
        guard let phase = Phase(rawValue: bits & ~Self.rowless) else {
            throw MalformedBytes(at: reader.position)
        }
        self.phase = phase
        runs = try reader.varint()
        guard runs <= Self.mostRuns else { throw MalformedBytes(at: reader.position) }
        last = bytes.dropFirst(reader.position).array
    }
}

/// The names of an index's trees.
enum IndexTrees {
    /// No index gets a number above this.
    static let greatestNumber = UInt64(UInt32.max)

    /// The tree of ``IndexRecord``s by name.
    static let catalog = "indexes"

    /// The rows, by their keys: ``IndexRow``.
    static func rows(_ number: UInt64) -> String { "rows/\(number)" }

    /// The keys of each document's rows, by its ID: ``DocumentRows``.
    static func documents(_ number: UInt64) -> String { "documents/\(number)" }

    /// Sorted rows of a part of the documents, while the index is built.
    static func run(_ number: UInt64, _ run: UInt64) -> String { "run/\(number)/\(run)" }

    /// The number of the index that a tree of this name belongs to; `nil` for the catalog.
    static func number(of name: String) -> UInt64? {
        name.split(separator: "/").dropFirst().first.flatMap { UInt32($0) }.map(UInt64.init)
    }
}

/// The emitted keys of a document's rows, as the index keeps them: of each row in turn a varint length and the key, or what
/// stands for a long one. What else the rows' keys in the tree have follows from the document's ID and the rows' order.
enum DocumentRows {
    static func append(_ component: ByteView, to buffer: ByteBuffer) { buffer.append(prefixed: component) }

    static func encode(_ rows: [IndexRow]) -> [UInt8] {
        let buffer = ByteBuffer()
        for row in rows { Array(row.component).withView { append($0, to: buffer) } }
        return buffer.view.array
    }

    /// The keys of the rows in the tree.
    ///
    /// - Parameter id: that of the document, UTF-8.
    /// - Throws: ``StoreError`` with `damaged` for bytes that no index has written.
    static func keys(_ bytes: [UInt8], of id: [UInt8]) throws(StoreError) -> [[UInt8]] {
        do throws(MalformedBytes) {
            return try bytes.withView { (view) throws(MalformedBytes) in
                var reader = ByteReader(view)
                var keys: [[UInt8]] = []
                var ordinals: [[UInt8]: UInt32] = [:]
                while !reader.isAtEnd {
                    let component = try reader.prefixed().array
                    var key = component + id
                    if !(reader.isAtEnd && keys.isEmpty) {
                        let ordinal = ordinals[component, default: 0]
                        RowKey.append(ordinal: ordinal, to: &key)
                        ordinals[component] = ordinal + 1
                    }
                    keys.append(key)
                }
                return keys
            }
        } catch {
            throw IndexStore.malformed("the keys of a document")
        }
    }
}

import Fleece
import Roost
import RoostBytes
import RoostOrder

/// The documents of a collection, or those with some IDs.
final class DocumentRows: RowSource {
    private let number: Int
    private let cursor: BodyCursor
    private let counter: WorkCounter
    private var untilCheck = 0
    /// The end of the arena when no row had been looked at.
    private let mark: Arena.Mark

    private static let checkInterval = 256

    init(
        _ frame: Frame, _ number: Int, _ snapshot: CollectionSnapshot, _ selection: DocumentSelection,
        _ counter: WorkCounter
    ) throws(DatabaseError) {
        self.number = number
        cursor = try snapshot.bodyCursor(selection)
        self.counter = counter
        mark = frame.arena.mark
        super.init(frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        if untilCheck == 0 {
            try counter.checkCancellation()
            try cursor.verify()
            untilCheck = Self.checkInterval
        }
        untilCheck -= 1
        guard try cursor.next() else {
            try cursor.verify()
            return false
        }
        counter.documents += 1
        frame.setRow(
            number, Value(FleeceNode(root: try cursor.body())),
            RowMetadata(id: cursor.id, body: cursor.metadata))
        return true
    }
}

/// Documents that are looked up by their IDs, in the order of these.
final class LookedUpRows: RowSource {
    private let number: Int
    private let snapshot: CollectionSnapshot
    private let access: DocumentAccess
    private let counter: WorkCounter
    /// The IDs left, the last first.
    private var ids: [[UInt8]]
    private let mark: Arena.Mark

    init(
        _ frame: Frame, _ number: Int, _ snapshot: CollectionSnapshot, _ access: DocumentAccess,
        _ ids: [[UInt8]],
        _ counter: WorkCounter
    ) {
        self.number = number
        self.snapshot = snapshot
        self.access = access
        self.counter = counter
        self.ids = ids.reversed()
        mark = frame.arena.mark
        super.init(frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        while let id = ids.popLast() {
            try counter.checkCancellation()
            counter.documents += 1
            let (frame, number) = (frame, number)
            let isThere = try id.withView { (view) throws(DatabaseError) in
                try snapshot.withBody(view, includesDeleted: access.includesDeleted) { metadata, body in
                    frame.setRow(
                        number, Value(FleeceNode(root: frame.arena.copy(body))),
                        RowMetadata(id: frame.arena.copy(view), body: metadata))
                }
            }
            if isThere { return true }
        }
        return false
    }
}

/// Rows of a source that were read once and are found by a value of theirs.
final class HashTable {
    private var rows: [[UInt8]: [Int]] = [:]
    private var stored: [StoredRow] = []

    private struct StoredRow {
        let root: OwnedValue
        let id: [UInt8]
        let metadata: BodyMetadata?
    }

    /// Reads all rows of `source`.
    init(_ source: RowSource, _ number: Int, _ hash: HashJoin, _ budget: MemoryBudget) throws(DatabaseError) {
        let (frame, encoder) = (source.frame, KeyEncoder(hash.collation))
        while try source.next() {
            let mark = frame.arena.mark
            defer { frame.arena.release(to: mark) }
            let value = hash.inner(frame)
            guard value.isValued else { continue }
            encoder.reset()
            encoder.append(value)
            let metadata = frame.rowMetadata(number)
            let row = StoredRow(
                root: OwnedValue(frame.root(number)), id: metadata?.id.array ?? [], metadata: metadata?.body)
            try budget.take(row.root.size + encoder.count + 96)
            rows[encoder.key, default: []].append(stored.count)
            stored.append(row)
        }
        try frame.check()
    }

    func matches(_ key: [UInt8]) -> [Int] { rows[key] ?? [] }

    /// Makes a stored row the present one.
    func set(_ index: Int, _ number: Int, _ frame: Frame) {
        let row = stored[index]
        frame.setRow(
            number, row.root.value(in: frame.arena),
            row.metadata.map { RowMetadata(id: frame.arena.copy(row.id), body: $0) })
    }
}

/// The rows of a hash table that match the present rows of the sources before.
final class HashedRows: RowSource {
    private let number: Int
    private let table: HashTable
    private var matches: [Int]
    private let mark: Arena.Mark

    init(_ frame: Frame, _ number: Int, _ table: HashTable, _ hash: HashJoin) {
        self.number = number
        self.table = table
        let value = hash.outer(frame)
        if value.isValued {
            let encoder = KeyEncoder(hash.collation)
            encoder.append(value)
            matches = table.matches(encoder.key).reversed()
        } else {
            matches = []
        }
        mark = frame.arena.mark
        super.init(frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        guard let match = matches.popLast() else { return false }
        table.set(match, number, frame)
        return true
    }
}

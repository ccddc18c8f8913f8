import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder
import RoostStorage

/// Rows of a source that were read once and are found by a value of theirs. What exceeds the memory is kept in a tree on disk.
final class HashTable {
    private let number: Int
    /// Keeps the table for its other rows.
    private unowned let execution: Execution
    private var rows: [[UInt8]: [Int]] = [:]
    private var stored: [StoredRow] = []
    private var size = 0
    /// All rows, by their values, once they exceed the memory: documents by their IDs, others as they are.
    private var tree: TreeView?
    private let lookup: DocumentLookup?

    private struct StoredRow {
        let root: OwnedValue
        let id: [UInt8]
        let metadata: BodyMetadata?
    }

    /// Reads all rows of `source`, which are those of `plan`.
    init(
        _ source: Operator, _ plan: SourcePlan, _ hash: HashJoinKey, _ execution: Execution
    ) throws(DatabaseError) {
        number = plan.number
        self.execution = execution
        if case .documents(let collection, _) = plan.origin {
            lookup = DocumentLookup(
                execution.frame, number, try execution.documents(of: collection), .all, includesDeleted: true)
        } else {
            lookup = nil
        }
        let (frame, encoder) = (source.frame, KeyEncoder(hash.collation))
        var sort: ExternalSort?
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
            let rowSize = row.root.size + encoder.count + 96
            if sort == nil, !execution.budget.fitsEasily(rowSize) { sort = try putAside() }
            if let sort {
                try sort.add(encoder.key, bytes(of: row))
                continue
            }
            try execution.budget.take(rowSize)
            size += rowSize
            rows[encoder.key, default: []].append(stored.count)
            stored.append(row)
        }
        try frame.check()
        if let sort { tree = try self.tree(of: sort) }
    }

    // MARK: On disk

    /// A sort with the rows that are in memory, which are not any more.
    private func putAside() throws(DatabaseError) -> ExternalSort {
        let sort = ExternalSort(execution)
        execution.budget.giveBack(size)
        for (key, places) in rows {
            for place in places { try sort.add(key, bytes(of: stored[place])) }
        }
        rows = [:]
        stored = []
        return sort
    }

    /// What is kept of a row: the ID of a document; of another row its value.
    private func bytes(of row: StoredRow) -> [UInt8] {
        guard lookup == nil else { return row.id }
        var writer = FleeceWriter()
        writer.write(row.root.value(in: execution.frame.arena))
        return (try? writer.finish()) ?? []
    }

    private func tree(of sort: ExternalSort) throws(DatabaseError) -> TreeView {
        let spill = try execution.spill
        return try spill.tree { put in
            var number: UInt64 = 0
            while let entry = try sort.next() {
                let key = entry.key.withView { RowKey.component($0) }
                try put(Key(key + Key(number).bytes), entry.value)
                number += 1
            }
        }
    }

    // MARK: Looking up

    /// The rows with a value's key.
    func matches(_ key: [UInt8]) throws(DatabaseError) -> Matches {
        guard let tree else { return .known(rows[key]?[...] ?? []) }
        return .stored(tree.cursor(KeyRange(prefix: Key(key.withView { RowKey.component($0) }))))
    }

    enum Matches {
        /// The places of rows in memory.
        case known(ArraySlice<Int>)
        case stored(Cursor)
    }

    /// Makes the next of the matches the present row; `false` after the last.
    func next(_ matches: inout Matches) throws(DatabaseError) -> Bool {
        switch matches {
        case .known(var places):
            guard let place = places.popFirst() else { return false }
            matches = .known(places)
            set(stored[place])
            return true
        case .stored(let cursor):
            while let bytes = try Self.next(cursor) {
                if try setStored(bytes) { return true }
            }
            return false
        }
    }

    private static func next(_ cursor: Cursor) throws(DatabaseError) -> [UInt8]? {
        do throws(StoreError) {
            return try cursor.next() ? try cursor.value() : nil
        } catch {
            throw DatabaseError(derived: error)
        }
    }

    private func set(_ row: StoredRow) {
        let frame: Frame = execution.frame
        frame.setRow(
            number, row.root.value(in: frame.arena),
            row.metadata.map { RowMetadata(id: frame.arena.copy(row.id), body: $0) })
    }

    private func setStored(_ bytes: [UInt8]) throws(DatabaseError) -> Bool {
        guard let lookup else {
            let frame: Frame = execution.frame
            frame.setRow(number, Value(FleeceNode(root: frame.arena.copy(bytes))), nil)
            return true
        }
        return try bytes.withView { (id) throws(DatabaseError) in try lookup.find(id) }
    }
}

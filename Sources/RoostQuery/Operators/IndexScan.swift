import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostStorage

/// The documents that rows of an index lead to; or what these rows have of them, where nothing else is requested.
class IndexScan: Operator {
    private let number: Int
    private let lookup: DocumentLookup
    fileprivate let entries: IndexEntries
    fileprivate let execution: Execution
    private let covering: [IndexAccess.CoveredPath]
    private let reader: RowReader?
    private var mark: Arena.Mark

    init(
        _ node: SourceNode, _ documents: SnapshotReaders.Documents, _ access: DocumentAccess,
        _ entries: IndexEntries, _ execution: Execution
    ) {
        number = node.source.number
        lookup = DocumentLookup(execution.frame, number, documents, access.metadata)
        self.entries = entries
        self.execution = execution
        let index = entries.ranges.access
        covering = index.covering ?? []
        reader = index.covering.map { RowReader(index.index, $0.map(\.place), execution.frame.arena) }
        mark = execution.frame.arena.mark
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        mark = frame.arena.mark
        try entries.open()
    }

    /// The row of the index that leads to the next document.
    fileprivate func entry() throws(DatabaseError) -> IndexRowView? { try entries.next() }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        while let row = try entry() {
            guard try reader == nil ? look(up: row) : take(row) else { continue }
            produced += 1
            return true
        }
        return false
    }

    override func close() { entries.close() }

    /// Looks the document up.
    private func look(up row: IndexRowView) throws(DatabaseError) -> Bool {
        execution.counter.documents += 1
        return try lookup.find(row.documentID)
    }

    /// Takes from the row what is asked of the document.
    private func take(_ row: IndexRowView) throws(DatabaseError) -> Bool {
        guard let reader else { return false }
        frame.setRow(number, .missing, RowMetadata(id: frame.arena.copy(row.documentID), body: nil))
        try reader.read(row)
        for covered in covering { frame.setValue(reader.values[covered.place], ofPath: covered.path) }
        return true
    }
}

/// The documents that rows of two indexes lead to. The IDs of the first are kept in memory.
final class Intersect: IndexScan {
    private let others: IndexEntries
    /// The IDs of the other index that were not met yet.
    private var wanted: Set<[UInt8]>?
    private var taken = 0

    init(
        _ node: SourceNode, _ documents: SnapshotReaders.Documents, _ access: DocumentAccess,
        _ entries: IndexEntries, others: IndexEntries, _ execution: Execution
    ) {
        self.others = others
        super.init(node, documents, access, entries, execution)
    }

    override func open() throws(DatabaseError) {
        release()
        try others.open()
        try super.open()
    }

    override fileprivate func entry() throws(DatabaseError) -> IndexRowView? {
        if wanted == nil { wanted = try read() }
        while wanted?.isEmpty == false, let row = try entries.next() {
            if wanted?.remove(row.documentID.array) != nil { return row }
        }
        return nil
    }

    override func close() {
        release()
        others.close()
        super.close()
    }

    private func read() throws(DatabaseError) -> Set<[UInt8]> {
        var ids: Set<[UInt8]> = []
        while let row = try others.next() {
            let id = row.documentID.array
            taken += id.count + 32
            try execution.budget.take(id.count + 32)
            ids.insert(id)
        }
        return ids
    }

    override func release() {
        wanted = nil
        execution.budget.giveBack(taken)
        taken = 0
    }
}

/// The documents of which at least one of several conditions holds, each once: with the first condition that does.
final class Union: Operator {
    private let branches: [(rows: Operator, condition: Evaluation)]
    private var current = 0

    init(_ node: SourceNode, _ branches: [(rows: Operator, condition: Evaluation)], _ execution: Execution) {
        self.branches = branches
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        current = 0
        for branch in branches { try branch.rows.open() }
    }

    override func next() throws(DatabaseError) -> Bool {
        while current < branches.count {
            while try branches[current].rows.next() {
                let first = branches[...current].firstIndex { Logic.holds($0.condition(frame)) }
                try frame.check()
                guard first == current else { continue }
                produced += 1
                return true
            }
            current += 1
        }
        return false
    }

    override func close() { for branch in branches { branch.rows.close() } }
}

// MARK: - Index entries

/// The rows of some ranges of an index, of each document one. Belongs to one thread.
final class IndexEntries {
    let ranges: IndexRanges
    private let execution: Execution
    /// How many rows to pass over.
    private let skipping: Int
    private let isReversed: Bool
    /// Whether rows have to come in the order of their keys.
    private let isInOrder: Bool
    /// How many ranges were begun.
    private var begun = 0
    private var cursor: IndexCursor?
    /// Whether the row that the cursor is at comes next.
    private var isHeld = false
    /// Rows that don't stand in the order of their keys, where that is wanted: they come before all others.
    private var cut: TruncatedKeyRows?
    /// The documents seen, where an index has several rows of one that do not stand together.
    private var seen: Set<[UInt8]>?
    /// The document seen last, where they stand together.
    private var last: [UInt8] = []
    private let isOfElements: Bool
    /// How many bytes of memory the documents seen take.
    private var taken = 0

    /// - Parameter skipping: how many rows to pass over before the first one: O(log n).
    init(_ ranges: IndexRanges, _ execution: Execution, skipping: Int = 0) {
        self.ranges = ranges
        self.execution = execution
        self.skipping = skipping
        let access = ranges.access
        isReversed = access.keys.isReversed
        isInOrder = access.keys.isOrdered || access.isGrouped
        isOfElements = access.index.array != nil
    }

    /// Begins with the first row.
    func open() throws(DatabaseError) {
        close()
        begun = 0
        isHeld = false
        last = []
        let access = ranges.access
        let areTogether =
            ranges.ranges.count == 1 && access.keys.equalities.count == access.index.columns.count
        if isOfElements, !areTogether { seen = [] }
        try skip(skipping)
    }

    /// Releases what is held for the rows.
    func close() {
        cursor = nil
        cut = nil
        seen = nil
        execution.budget.giveBack(taken)
        taken = 0
    }

    /// The next row, valid until the one after it is requested; `nil` after the last.
    func next() throws(DatabaseError) -> IndexRowView? {
        if let row = try cut?.next() { return row }
        cut = nil
        while let row = try nextStored() {
            if isOfElements, try !isNew(row.documentID.array) { continue }
            return isInOrder && row.isCut ? try first(of: row) : row
        }
        return nil
    }

    /// The next row as the index has them.
    private func nextStored() throws(DatabaseError) -> IndexRowView? {
        while true {
            if let cursor {
                if isHeld {
                    isHeld = false
                    return cursor.row
                }
                if try cursor.advance() {
                    execution.counter.entries += 1
                    if execution.counter.entries & 255 == 0 { try execution.counter.checkCancellation() }
                    return cursor.row
                }
                self.cursor = nil
            }
            guard let range = nextRange() else { return nil }
            cursor = execution.cursor(ranges, range)
        }
    }

    private func nextRange() -> KeyRange? {
        let count = ranges.ranges.count
        guard begun < count else { return nil }
        begun += 1
        return ranges.ranges[isReversed ? count - begun : begun - 1]
    }

    /// The first in order of a row whose key was cut and those after it that begin alike.
    private func first(of row: IndexRowView) throws(DatabaseError) -> IndexRowView? {
        let rows = TruncatedKeyRows(ranges.access.index, isReversed: isReversed, execution)
        let beginning = row.beginning.array
        try rows.add(row)
        while let next = try nextStored() {
            guard beginning.withView({ $0.compare(next.beginning) == 0 }) else {
                isHeld = true
                break
            }
            try rows.add(next)
        }
        cut = rows
        return try rows.next()
    }

    private func isNew(_ id: [UInt8]) throws(DatabaseError) -> Bool {
        guard seen != nil else {
            guard id != last else { return false }
            last = id
            return true
        }
        guard seen?.insert(id).inserted == true else { return false }
        taken += id.count + 32
        try execution.budget.take(id.count + 32)
        return true
    }

    /// Passes over `count` rows. O(log n) for each range, and all rows that begin alike where the keys at
    /// that place were cut.
    private func skip(_ count: Int) throws(DatabaseError) {
        var left = UInt64(clamping: count)
        do throws(StoreError) {
            while left > 0, let range = nextRange() {
                let rows = try ranges.reader.count(in: range)
                if rows <= left {
                    left -= rows
                    continue
                }
                let cursor = ranges.reader.cursor(range, isDescending: isReversed)
                try cursor.skip(left)
                self.cursor = cursor
                guard isInOrder, try cursor.next() else { return }
                execution.counter.entries += 1
                isHeld = true
                guard cursor.row.isCut else { return }
                // These rows stand in another order than the one that they are counted in.
                let alike = KeyRange(prefix: Key(cursor.row.beginning.array))
                let before =
                    isReversed
                    ? KeyRange(lower: alike.upper, upper: range.upper)
                    : KeyRange(lower: range.lower, upper: alike.lower)
                left -= min(left, try ranges.reader.count(in: before))
                isHeld = false
                self.cursor = ranges.reader.cursor(
                    isReversed
                        ? KeyRange(lower: range.lower, upper: alike.upper)
                        : KeyRange(lower: alike.lower, upper: range.upper), isDescending: isReversed)
                break
            }
        } catch {
            throw DatabaseError(derived: error)
        }
        while left > 0, try next() != nil { left -= 1 }
    }
}

extension IndexCursor {
    /// As ``countNearby()``.
    func counted() throws(DatabaseError) -> Int? {
        do throws(StoreError) { return try countNearby() } catch { throw DatabaseError(derived: error) }
    }

    /// Goes to the next row; `false` after the last.
    func advance() throws(DatabaseError) -> Bool {
        do throws(StoreError) { return try next() } catch { throw DatabaseError(derived: error) }
    }
}

// MARK: - Truncated key rows

/// Sorts rows of an index whose keys were too long to be kept, of which the beginnings are equal: by their values.
///
/// Belongs to one thread.
final class TruncatedKeyRows {
    private let sort: ExternalSort
    private let reader: RowReader
    private let key: IndexKey
    private let arena: Arena
    private let isReversed: Bool
    /// The row that was requested last.
    private let current = ByteBuffer()

    /// - Parameter isReversed: whether the last row comes first.
    init(_ index: CompiledIndex, isReversed: Bool, _ execution: Execution) {
        sort = ExternalSort(execution)
        arena = execution.frame.arena
        reader = RowReader(index, index.columns.indices, arena)
        key = IndexKey(index.columns)
        self.isReversed = isReversed
    }

    func add(_ row: IndexRowView) throws(DatabaseError) {
        let mark = arena.mark
        defer { arena.release(to: mark) }
        try reader.read(row)
        let values = reader.values
        key.set { values[$0] }
        let content = ByteBuffer(capacity: row.key.count + row.value.count + 8)
        content.append(prefixed: row.key)
        content.append(row.value)
        let whole = key.view.array
        // No key is the beginning of another one.
        try sort.add(isReversed ? whole.map { ~$0 } : whole, content.view.array)
    }

    /// The next row in order, valid until the one after it is requested; `nil` after the last. Nothing can be added once it was
    /// asked for.
    func next() throws(DatabaseError) -> IndexRowView? {
        guard let entry = try sort.next() else { return nil }
        current.reset()
        current.append(entry.value)
        do throws(MalformedBytes) {
            var reader = ByteReader(current.view)
            let key = try reader.prefixed()
            return try IndexRowView(key: key, current.view.dropFirst(reader.position))
        } catch {
            throw DatabaseError(derived: error)
        }
    }
}

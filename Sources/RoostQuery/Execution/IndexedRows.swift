import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostStorage

/// The rows of some ranges of an index, of each document one. Belongs to one thread.
final class IndexEntries {
    let choice: IndexChoice
    private let execution: Execution
    private let isReversed: Bool
    /// Whether rows have to come in the order of their keys.
    private let isInOrder: Bool
    /// How many ranges were begun.
    private var begun = 0
    private var cursor: IndexCursor?
    /// Whether the row that the cursor is at comes next.
    private var isHeld = false
    /// Rows that don't stand in the order of their keys, where that is wanted: they come before all others.
    private var cut: CutRows?
    /// The documents seen, where an index has several rows of one that do not stand together.
    private var seen: Set<[UInt8]>?
    /// The document seen last, where they stand together.
    private var last: [UInt8] = []
    private let isOfElements: Bool

    init(_ choice: IndexChoice, _ execution: Execution) {
        self.choice = choice
        self.execution = execution
        let access = choice.access
        isReversed = access.keys.isReversed
        isInOrder = access.keys.isOrdered || access.isGrouped
        isOfElements = access.index.array != nil
        let areTogether =
            choice.ranges.count == 1 && access.keys.equalities.count == access.index.columns.count
        if isOfElements, !areTogether { seen = [] }
    }

    /// The next row, valid until the one after it is asked for; `nil` after the last.
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
            cursor = choice.cursor(range)
        }
    }

    private func nextRange() -> KeyRange? {
        let count = choice.ranges.count
        guard begun < count else { return nil }
        begun += 1
        return choice.ranges[isReversed ? count - begun : begun - 1]
    }

    /// The first in order of a row whose key was cut and those after it that begin alike.
    private func first(of row: IndexRowView) throws(DatabaseError) -> IndexRowView? {
        let rows = CutRows(choice.access.index, isReversed: isReversed, execution)
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
        try execution.budget.take(id.count + 32)
        return true
    }

    /// Passes over `count` rows before the first one. O(log n) for each range, and all rows that begin alike where the keys at
    /// that place were cut.
    func skip(_ count: Int) throws(DatabaseError) {
        var left = UInt64(clamping: count)
        do throws(StoreError) {
            while left > 0, let range = nextRange() {
                let rows = try choice.reader.count(in: range)
                if rows <= left {
                    left -= rows
                    continue
                }
                let cursor = choice.reader.cursor(range, descending: isReversed)
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
                left -= min(left, try choice.reader.count(in: before))
                isHeld = false
                self.cursor = choice.reader.cursor(
                    isReversed
                        ? KeyRange(lower: range.lower, upper: alike.upper)
                        : KeyRange(lower: alike.lower, upper: range.upper), descending: isReversed)
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

/// The documents that rows of an index lead to; or what these rows have of them, where nothing else is asked for.
class IndexedRows: RowSource {
    private let number: Int
    private let lookup: DocumentLookup
    let entries: IndexEntries
    let counter: WorkCounter
    private let reader: RowReader?
    private let mark: Arena.Mark

    init(
        _ frame: Frame, _ number: Int, _ lookup: DocumentLookup, _ entries: IndexEntries,
        _ counter: WorkCounter
    ) {
        self.number = number
        self.lookup = lookup
        self.entries = entries
        self.counter = counter
        let access = entries.choice.access
        reader = access.covering.map { RowReader(access.index, $0.map(\.place), frame.arena) }
        mark = frame.arena.mark
        super.init(frame)
    }

    /// The row of the index that leads to the next document.
    func entry() throws(DatabaseError) -> IndexRowView? { try entries.next() }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        while let row = try entry() {
            if try reader == nil ? look(up: row) : take(row) { return true }
        }
        return false
    }

    /// Looks the document up.
    private func look(up row: IndexRowView) throws(DatabaseError) -> Bool {
        counter.documents += 1
        return try lookup.find(row.documentID)
    }

    /// Takes from the row what is asked of the document.
    private func take(_ row: IndexRowView) throws(DatabaseError) -> Bool {
        guard let reader, let covering = entries.choice.access.covering else { return false }
        frame.setRow(
            number, .missing, RowMetadata(id: frame.arena.copy(row.documentID), body: nil))
        try reader.read(row)
        for covered in covering { frame.setValue(reader.values[covered.place], ofPath: covered.path) }
        return true
    }
}

/// The documents that rows of two indexes lead to.
final class IntersectedRows: IndexedRows {
    private let others: IndexEntries
    private let budget: MemoryBudget
    /// The IDs of the other index that were not met yet.
    private var wanted: Set<[UInt8]>?

    init(
        _ frame: Frame, _ number: Int, _ lookup: DocumentLookup, _ first: IndexEntries,
        _ second: IndexEntries, _ counter: WorkCounter, _ budget: MemoryBudget
    ) {
        others = first
        self.budget = budget
        super.init(frame, number, lookup, second, counter)
    }

    override func entry() throws(DatabaseError) -> IndexRowView? {
        if wanted == nil { wanted = try read() }
        while wanted?.isEmpty == false, let row = try entries.next() {
            if wanted?.remove(row.documentID.array) != nil { return row }
        }
        return nil
    }

    private func read() throws(DatabaseError) -> Set<[UInt8]> {
        var ids: Set<[UInt8]> = []
        while let row = try others.next() {
            let id = row.documentID.array
            try budget.take(id.count + 32)
            ids.insert(id)
        }
        return ids
    }
}

/// The documents of which at least one of several conditions holds, each once: with the first condition that does.
final class UnitedRows: RowSource {
    private let branches: [(rows: RowSource, condition: Evaluation)]
    private var current = 0

    init(_ frame: Frame, _ branches: [(rows: RowSource, condition: Evaluation)]) {
        self.branches = branches
        super.init(frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        while current < branches.count {
            while try branches[current].rows.next() {
                let first = branches[...current].firstIndex { Logic.holds($0.condition(frame)) }
                try frame.check()
                if first == current { return true }
            }
            current += 1
        }
        return false
    }
}

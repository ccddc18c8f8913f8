import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostStorage

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

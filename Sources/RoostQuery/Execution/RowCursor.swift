import Fleece
import Roost
import RoostBytes
import RoostOrder

/// Yields the rows of a query, each a Fleece array of its columns. Belongs to one thread.
class RowCursor {
    let plan: SelectPlan
    let frame: Frame

    init(_ plan: SelectPlan, _ frame: Frame) {
        self.plan = plan
        self.frame = frame
    }

    /// The next row; `nil` after the last.
    func next() throws(DatabaseError) -> [UInt8]? { nil }

    /// What the last row is ordered by, for ``SortedCursor``: evaluated while its sources are at hand.
    func appendOrder(to encoder: OrderEncoder) { encoder.append(plan.order, frame) }

    /// A row as a dictionary by the names of the columns, in the frame's arena.
    func dictionary(of row: [UInt8], _ frame: Frame) -> Value {
        let names = plan.columnNames
        let node = FleeceNode(root: frame.arena.copy(row))
        return frame.collection { writer in
            writer.beginDictionary()
            for (index, name) in names.enumerated() {
                let value = Value(node[index])
                guard !value.isMissing else { continue }
                writer.key(name)
                writer.write(value)
            }
            writer.endDictionary()
        }
    }

    /// The columns of the present rows.
    func project() throws(DatabaseError) -> [UInt8] {
        // Evaluated first: what an expression makes may need the rest of the arena.
        let values = plan.columns.map { $0(frame) }
        var writer = FleeceWriter(capacity: 128)
        writer.beginArray()
        for value in values { if value.isMissing { writer.writeUndefined() } else { writer.write(value) } }
        writer.endArray()
        try frame.check()
        do throws(FleeceError) {
            return try writer.finish()
        } catch {
            throw DatabaseError(
                .limitExceeded, "A row of the result can't be made. \(error)", underlying: error)
        }
    }
}

/// A row for each combination of rows of the sources.
final class PlainCursor: RowCursor {
    private let rows: RowSource
    /// The end of the arena before the present row was made.
    private var mark: Arena.Mark?

    init(_ plan: SelectPlan, _ frame: Frame, _ rows: RowSource) {
        self.rows = rows
        super.init(plan, frame)
    }

    override func next() throws(DatabaseError) -> [UInt8]? {
        if let mark { frame.arena.release(to: mark) }
        guard try rows.next() else {
            try frame.check()
            return nil
        }
        mark = frame.arena.mark
        return try project()
    }
}

/// The one row of a query that counts a whole collection.
final class CountCursor: RowCursor {
    private let count: Int
    private var isDone: Bool

    init(_ plan: SelectPlan, _ frame: Frame, count: Int, skipping: Int, limit: Int) {
        self.count = count
        isDone = skipping > 0 || limit < 1
        super.init(plan, frame)
    }

    override func next() throws(DatabaseError) -> [UInt8]? {
        guard !isDone else { return nil }
        isDone = true
        var writer = FleeceWriter(capacity: 16)
        writer.beginArray()
        writer.write(count)
        writer.endArray()
        return try? writer.finish()
    }
}

/// Leaves rows away that came before.
final class DistinctCursor: RowCursor {
    private let rows: RowCursor
    private let budget: MemoryBudget
    private var seen: Set<[UInt8]> = []
    private let encoder = KeyEncoder(.binary)

    init(_ rows: RowCursor, _ budget: MemoryBudget) {
        self.rows = rows
        self.budget = budget
        super.init(rows.plan, rows.frame)
    }

    override func next() throws(DatabaseError) -> [UInt8]? {
        while let row = try rows.next() {
            encoder.reset()
            row.withView { encoder.append(Value(FleeceNode(root: $0))) }
            guard seen.insert(encoder.key).inserted else { continue }
            try budget.take(encoder.count + 32)
            return row
        }
        return nil
    }

    override func appendOrder(to encoder: OrderEncoder) { rows.appendOrder(to: encoder) }
}

/// Passes over the first rows, and ends early.
final class LimitedCursor: RowCursor {
    private let rows: RowCursor
    private var toSkip: Int
    private var left: Int

    init(_ rows: RowCursor, skipping: Int, limit: Int) {
        self.rows = rows
        toSkip = skipping
        left = limit
        super.init(rows.plan, rows.frame)
    }

    override func next() throws(DatabaseError) -> [UInt8]? {
        guard left > 0 else { return nil }
        while toSkip > 0 {
            guard try rows.next() != nil else { return nil }
            toSkip -= 1
        }
        left -= 1
        return try rows.next()
    }
}

import Fleece
import Roost
import RoostBytes
import RoostOrder

/// Yields the rows of a query, each a Fleece array of its columns. Belongs to one thread.
class RowCursor {
    let plan: QueryPlan
    let frame: Frame

    init(_ plan: QueryPlan, _ frame: Frame) {
        self.plan = plan
        self.frame = frame
    }

    /// Goes to the next row; `false` after the last.
    func advance() throws(DatabaseError) -> Bool { false }

    /// The row that the cursor is at. It is made when it is asked for: rows that are passed over are not.
    func row() throws(DatabaseError) -> [UInt8] { try project() }

    /// The next row; `nil` after the last.
    final func next() throws(DatabaseError) -> [UInt8]? { try advance() ? try row() : nil }

    /// What the row that the cursor is at is ordered by.
    ///
    /// - Returns: Whether it comes before the encoder's limit.
    func appendOrder(to encoder: OrderEncoder) -> Bool { encoder.append(frame) }

    /// A row as a dictionary by the names of the columns, in the frame's arena.
    func dictionary(of row: [UInt8], _ frame: Frame) -> Value {
        let node = FleeceNode(root: frame.arena.copy(row))
        return frame.collection { $0.writeDictionary(of: node, plan.columnNames) }
    }

    /// The columns of the present rows.
    func project() throws(DatabaseError) -> [UInt8] {
        var writer = frame.takeWriter()
        let row = try writer.row(of: plan.columns, frame)
        // One that has made a long row keeps much memory.
        if row.count <= Self.longestKept { frame.giveBack(writer) }
        return row
    }

    private static let longestKept = 1 << 16
}

extension FleeceWriter {
    /// A row: an array of its columns.
    fileprivate mutating func row(of columns: [Evaluation], _ frame: Frame) throws(DatabaseError) -> [UInt8] {
        beginArray()
        for column in columns {
            let value = column(frame)
            if value.isMissing { writeUndefined() } else { write(value) }
        }
        endArray()
        try frame.check()
        do throws(FleeceError) {
            return try finish()
        } catch {
            throw DatabaseError(
                .limitExceeded, "A row of the result can't be made. \(error)", underlying: error)
        }
    }

    /// Writes a row, an array of its columns, as a dictionary by their names; columns without a value are left out.
    mutating func writeDictionary(of row: FleeceNode, _ names: [String]) {
        beginDictionary()
        for (index, name) in names.enumerated() {
            let value = Value(row[index])
            guard !value.isMissing else { continue }
            key(name)
            write(value)
        }
        endDictionary()
    }
}

/// A row for each combination of rows of the sources.
final class PlainCursor: RowCursor {
    private let rows: RowSource
    /// The end of the arena before the present row was made.
    private var mark: Arena.Mark?

    init(_ plan: QueryPlan, _ frame: Frame, _ rows: RowSource) {
        self.rows = rows
        super.init(plan, frame)
    }

    override func advance() throws(DatabaseError) -> Bool {
        if let mark { frame.arena.release(to: mark) }
        guard try rows.next() else {
            try frame.check()
            return false
        }
        mark = frame.arena.mark
        return true
    }
}

/// The one row of a query that counts a whole collection.
final class CountCursor: RowCursor {
    private let count: Int
    private var isDone = false

    init(_ plan: QueryPlan, _ frame: Frame, count: Int) {
        self.count = count
        super.init(plan, frame)
    }

    override func advance() throws(DatabaseError) -> Bool {
        defer { isDone = true }
        return !isDone
    }

    override func row() throws(DatabaseError) -> [UInt8] {
        var writer = FleeceWriter(capacity: 16)
        writer.beginArray()
        writer.write(count)
        writer.endArray()
        // One number can be written.
        return (try? writer.finish()) ?? []
    }
}

/// Leaves rows away that came before. When those exceed the memory, the others are sorted on disk and come last.
final class DistinctCursor: RowCursor {
    private let rows: RowCursor
    private let execution: Execution
    private var seen: Set<[UInt8]> = []
    /// One for each column, by its collation.
    private let encoders: [KeyEncoder]
    private let order: OrderEncoder
    private var rest: ExternalSort?
    private var areRowsRead = false
    /// The row of the rest that came last, and what it is ordered by.
    private var last: (key: [UInt8], order: [UInt8])?
    private var current: [UInt8] = []

    init(_ rows: RowCursor, _ execution: Execution) {
        self.rows = rows
        self.execution = execution
        order = OrderEncoder(rows.plan.order)
        encoders = rows.plan.collations.map(KeyEncoder.init)
        super.init(rows.plan, rows.frame)
    }

    override func advance() throws(DatabaseError) -> Bool {
        guard let row = try nextDistinct() else { return false }
        current = row
        return true
    }

    override func row() throws(DatabaseError) -> [UInt8] { current }

    private func nextDistinct() throws(DatabaseError) -> [UInt8]? {
        while !areRowsRead {
            guard let row = try rows.next() else {
                areRowsRead = true
                break
            }
            let key = key(of: row)
            guard !seen.contains(key) else { continue }
            if rest == nil, execution.budget.fitsEasily(key.count + 32) {
                try execution.budget.take(key.count + 32)
                seen.insert(key)
                return row
            }
            try putAside(key, row)
        }
        return try nextOfRest()
    }

    /// The columns' keys, of which no one is the beginning of another.
    private func key(of row: [UInt8]) -> [UInt8] {
        var key: [UInt8] = []
        row.withView { bytes in
            let columns = FleeceNode(root: bytes)
            for (place, encoder) in encoders.enumerated() {
                encoder.reset()
                encoder.append(Value(columns[place]))
                key += encoder.view.array
            }
        }
        return key
    }

    private func putAside(_ key: [UInt8], _ row: [UInt8]) throws(DatabaseError) {
        let sort = rest ?? ExternalSort(execution)
        rest = sort
        _ = rows.appendOrder(to: order)
        let buffer = ByteBuffer(capacity: row.count + order.key.count + 8)
        order.key.withView { buffer.append(prefixed: $0) }
        buffer.append(row)
        try sort.add(key, buffer.view.array)
    }

    private func nextOfRest() throws(DatabaseError) -> [UInt8]? {
        while let entry = try rest?.next() {
            guard entry.key != last?.key else { continue }
            do throws(MalformedBytes) {
                let (order, row) = try entry.value.withView { (view) throws(MalformedBytes) in
                    var reader = ByteReader(view)
                    let order = try reader.prefixed().array
                    return (order, view.dropFirst(reader.position).array)
                }
                last = (entry.key, order)
                return row
            } catch {
                throw DatabaseError(derived: error)
            }
        }
        return nil
    }

    override func appendOrder(to encoder: OrderEncoder) -> Bool {
        last.map { encoder.set($0.order) } ?? rows.appendOrder(to: encoder)
    }
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

    override func advance() throws(DatabaseError) -> Bool {
        guard left > 0 else { return false }
        while toSkip > 0 {
            guard try rows.advance() else { return false }
            toSkip -= 1
        }
        left -= 1
        return try rows.advance()
    }

    override func row() throws(DatabaseError) -> [UInt8] { try rows.row() }
}

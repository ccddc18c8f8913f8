import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder
import RoostStorage

/// Each row of the sources before, with each row of one more source that matches.
struct JoinNode: PlanNode {
    let outer: any PlanNode
    let inner: SourceNode

    var inputs: [any PlanNode] { [outer, inner] }

    func make(_ execution: Execution) throws(DatabaseError) -> Operator {
        Join(self, try outer.make(execution), try inner.make(execution), execution)
    }

    func explain(_ writer: inout PlanWriter, rows: Int?) { writer.found(rows) }
}

final class Join: Operator {
    private let outer: Operator
    private let inner: Operator
    /// What rows of a LEFT JOIN match by.
    private let conditions: [Evaluation]
    private let isLeft: Bool
    private let number: Int
    private let counter: WorkCounter
    private var untilCheck = 0
    /// Whether the inner rows are those of the present outer row.
    private var isOpen = false
    private var hasMatched = false

    private static let checkInterval = 1024

    init(_ node: JoinNode, _ outer: Operator, _ inner: Operator, _ execution: Execution) {
        self.outer = outer
        self.inner = inner
        let source = node.inner.source
        conditions = source.on.map { unshared($0.holds) }
        isLeft = source.join == .left
        number = source.number
        counter = execution.counter
        super.init(node, outer.frame, [outer, inner])
    }

    override func open() throws(DatabaseError) {
        isOpen = false
        try outer.open()
    }

    override func next() throws(DatabaseError) -> Bool {
        while true {
            if isOpen {
                while try inner.next() {
                    // No scan checks for cancellation while rows come from memory.
                    if untilCheck == 0 {
                        try counter.checkCancellation()
                        untilCheck = Self.checkInterval
                    }
                    untilCheck -= 1
                    guard conditions.allSatisfy({ Logic.holds($0(frame)) }) else {
                        try frame.check()
                        continue
                    }
                    hasMatched = true
                    produced += 1
                    return true
                }
                isOpen = false
                if isLeft, !hasMatched {
                    frame.setRow(number, .missing, nil)
                    produced += 1
                    return true
                }
            }
            guard try outer.next() else { return false }
            hasMatched = false
            try inner.open()
            isOpen = true
        }
    }
}

// MARK: - Hash join

/// The rows of a source that match the present rows of those before by an equality: looked up by an index, until reading all of them
/// into a table would have taken less. So neither many nor few rows before make it slow.
final class HashJoin: Operator {
    private let source: SourceNode
    private let hash: HashJoinKey
    private let execution: Execution
    private let encoder: KeyEncoder
    private let known: JoinTable
    /// What the table was made from.
    private var tableRows: Operator?
    /// The rows that an index leads to.
    private var found: Operator?
    private var matches: HashTable.Matches?
    private var choice: AccessChoice
    private var mark: Arena.Mark

    init(_ node: SourceNode, _ hash: HashJoinKey, _ execution: Execution) {
        source = node
        self.hash = hash
        self.execution = execution
        encoder = KeyEncoder(hash.collation)
        choice = node.choice
        known = execution.joinTable(node.source.number)
        mark = execution.frame.arena.mark
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        (found, matches) = (nil, nil)
        if known.table == nil {
            choice = try execution.access(source.source)
            if let chosen = choice.chosen {
                known.spent += chosen.cost
                if known.spent < (try execution.tableCost(source.source)) {
                    let rows = try source.make(chosen, execution)
                    try rows.open()
                    found = rows
                    return
                }
            }
            let rows = try source.makeTableRows(execution)
            tableRows = rows
            try rows.open()
            known.table = try HashTable(rows, source.source, hash, execution)
            rows.close()
        }
        mark = frame.arena.mark
        let value = hash.outer(frame)
        guard value.isValued else { return }
        encoder.reset()
        encoder.append(value)
        matches = try known.table?.matches(encoder.key)
    }

    override func next() throws(DatabaseError) -> Bool {
        if let found {
            guard try found.next() else { return false }
        } else {
            frame.arena.release(to: mark)
            guard var matches, let table = known.table else { return false }
            self.matches = nil
            guard try table.next(&matches) else { return false }
            self.matches = matches
        }
        produced += 1
        return true
    }

    override func close() {
        found?.close()
        (found, matches) = (nil, nil)
    }

    override func explain(_ writer: inout PlanWriter) {
        source.explain(
            &writer, rows: produced, choice, hasTable: known.table != nil,
            within: (tableRows as? QueryRows).map { query in { query.explainQueries(&$0) } })
    }
}

/// A table of a source's rows, once there is one. An execution keeps it for all executions of a query within another one.
final class JoinTable {
    /// What looking rows up by an index has cost until now.
    var spent = 0.0
    var table: HashTable?
}

// MARK: - Hash table

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
            if sort == nil, !execution.budget.fitsEasily(rowSize) { sort = try spill() }
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
    private func spill() throws(DatabaseError) -> ExternalSort {
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

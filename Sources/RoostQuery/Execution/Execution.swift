import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder

/// One run of a query over one snapshot of the database. Belongs to one thread.
final class Execution: DocumentSource {
    let snapshot: DatabaseSnapshot
    let counter: WorkCounter
    let budget: MemoryBudget
    private(set) var frame: Frame!
    private let database: Database
    /// The indexes that were read, by name.
    var readers: [String: IndexReader] = [:]

    init(
        _ program: Program, _ parameters: [String: DocumentValue], _ database: Database,
        _ snapshot: DatabaseSnapshot,
        memoryLimit: Int, isCancelled: @escaping () -> Bool = { false }
    ) throws(DatabaseError) {
        self.snapshot = snapshot
        self.database = database
        counter = WorkCounter(isCancelled: isCancelled)
        budget = MemoryBudget(limit: memoryLimit)
        frame = try Frame(program, parameters: parameters)
        frame.reader = self
    }

    // MARK: Rows of sources

    /// The combinations of rows of all sources of a query, filtered.
    ///
    /// - Parameter first: the index by which the first source is read, if one was chosen.
    func rows(of plan: SelectPlan, first: IndexChoice? = nil) throws(DatabaseError) -> RowSource {
        var rows: RowSource = SingleRow(frame)
        for (number, source) in plan.sources.enumerated() {
            if number == 0, let first, case .documents(let collection, _) = source.origin {
                rows = indexed(first, collection, try snapshot[collection], source)
            } else {
                rows = try joined(rows, source)
            }
            if !source.filters.isEmpty { rows = FilteredRows(rows, source.filters) }
        }
        return rows
    }

    private func joined(_ outer: RowSource, _ source: SourcePlan) throws(DatabaseError) -> RowSource {
        if outer is SingleRow { return try open(source) }
        guard let hash = source.hash else {
            return JoinedRows(outer, source) { [self] () throws(DatabaseError) in try open(source) }
        }
        // Read when the first row asks for it.
        var table: HashTable?
        return JoinedRows(outer, source) { [self] () throws(DatabaseError) in
            let known: HashTable
            if let table {
                known = table
            } else {
                known = try HashTable(try open(source), source.number, hash, budget)
                table = known
            }
            return HashedRows(frame, source.number, known, hash)
        }
    }

    private func open(_ source: SourcePlan) throws(DatabaseError) -> RowSource {
        switch source.origin {
        case .elements(let value): return ElementRows(frame, source.number, value)
        case .select(let plan): return try QueryRows(frame, source.number, plan, self)
        case .documents(let collection, let access):
            if let choice = try choice(for: source) {
                return indexed(choice, collection, try snapshot[collection], source)
            }
            return try open(collection, access, source.number)
        }
    }

    private func indexed(
        _ choice: IndexChoice, _ collection: DocumentCollection, _ documents: CollectionSnapshot,
        _ source: SourcePlan
    ) -> RowSource {
        IndexedRows(frame, source.number, documents, choice, counter, budget)
    }

    private func open(
        _ collection: DocumentCollection, _ access: DocumentAccess, _ number: Int
    ) throws(DatabaseError) -> RowSource {
        let documents = try snapshot[collection]
        if let ids = access.ids {
            return LookedUpRows(frame, number, documents, access, sortedIDs(ids(frame)), counter)
        }
        var selection = DocumentSelection()
        selection.descending = access.descending
        selection.includesDeleted = access.includesDeleted
        selection.prefix = access.prefix
        if let lower = access.lower {
            // No ID is null, missing, or less than a number.
            guard let text = lower.value(frame).idBound(isLower: true) else { return RowSource(frame) }
            selection.from = text + (lower.isIncluded ? "" : "\0")
        }
        if let upper = access.upper {
            guard let text = upper.value(frame).idBound(isLower: false) else { return RowSource(frame) }
            selection.to = text
            selection.includesEnd = upper.isIncluded
        }
        return try DocumentRows(frame, number, documents, selection, counter)
    }

    /// The different strings among one value or the elements of an array, in order.
    private func sortedIDs(_ value: Value) -> [[UInt8]] {
        let values = value.arrayElements.map(Array.init) ?? [value]
        return Set(values.compactMap { $0.text?.array }).sorted { $0.lexicographicallyPrecedes($1) }
    }

    // MARK: Rows of queries

    /// A cursor over the rows that a query yields.
    func cursor(of plan: SelectPlan) throws(DatabaseError) -> RowCursor {
        let limit = try bound(plan.limit, "LIMIT") ?? .max
        let offset = try bound(plan.offset, "OFFSET") ?? 0
        if let collection = plan.countedCollection {
            return CountCursor(
                plan, frame, count: try snapshot[collection].count, skipping: offset, limit: limit)
        }
        let wanted = offset.addingReportingOverflow(limit)
        let mostRows = wanted.overflow ? Int.max : wanted.partialValue
        var choice: IndexChoice?
        if let first = plan.sources.first {
            choice = try self.choice(
                for: first, isSorted: !plan.order.isEmpty && plan.grouping == nil, wanted: mostRows,
                isCount: plan.isCount)
        }
        if plan.isCount, let choice, choice.access.isExact {
            return CountCursor(plan, frame, count: choice.count, skipping: offset, limit: limit)
        }
        var cursor: RowCursor
        if plan.grouping != nil {
            cursor = try GroupedCursor(plan, self, choice)
        } else {
            cursor = PlainCursor(plan, frame, try rows(of: plan, first: choice))
        }
        if plan.isDistinct { cursor = DistinctCursor(cursor, budget) }
        if !plan.order.isEmpty, !plan.isOrdered, choice?.access.isOrdered != true {
            cursor = SortedCursor(cursor, keeping: mostRows, budget)
        }
        if offset > 0 || limit < .max { cursor = LimitedCursor(cursor, skipping: offset, limit: limit) }
        return cursor
    }

    /// What LIMIT or OFFSET comes to; negative numbers are 0.
    private func bound(_ value: Evaluation?, _ name: String) throws(DatabaseError) -> Int? {
        guard let value else { return nil }
        let result = value(frame)
        guard let number = result.double, number < Double(Int.max) else {
            throw DatabaseError(
                .invalidQuery, "\(name) is a number, and the one given is none. Is its parameter set?")
        }
        return max(0, Int(number))
    }

    // MARK: DocumentSource

    func rows(of plan: SelectPlan, limit: Int) throws(DatabaseError) -> OwnedRows {
        let cursor = try cursor(of: plan)
        var rows: OwnedRows = []
        while rows.count < limit, let row = try cursor.next() {
            try budget.take(row.count)
            rows.append(row)
        }
        try frame.check()
        if plan.isCorrelated || limit != .max { budget.giveBack(rows.reduce(0) { $0 + $1.count }) }
        return rows
    }

    func blob(named node: FleeceNode, _ frame: Frame) -> Value {
        guard let digest = Value(node[frame.program.digestKey]).string,
            let reader = try? database.blobReader(digest), reader.length <= UInt64(Arena.limit),
            let content = try? reader.readAll()
        else { return .missing }
        return .data(frame.arena.copy(content))
    }
}

extension Value {
    /// The text that IDs are compared with; `nil` when none of them can be on the side asked for.
    fileprivate func idBound(isLower: Bool) -> String? {
        guard isValued else { return nil }
        if let string { return string }
        // Numbers and truth values come before all strings, collections and data after them.
        guard (rank < Value.string(.empty).rank) == isLower else { return nil }
        return isLower ? "" : "\u{10FFFF}\u{10FFFF}"
    }
}

/// Rows of a query, each a Fleece array of its columns.
typealias OwnedRows = [[UInt8]]

/// What expressions ask the database for.
protocol DocumentSource: AnyObject {
    func rows(of plan: SelectPlan, limit: Int) throws(DatabaseError) -> OwnedRows
    func blob(named node: FleeceNode, _ frame: Frame) -> Value
}

extension Frame {
    /// The rows of a query within the present one; `nil` after a failure. What depends on no row is computed once.
    func rows(of plan: SelectPlan, limit: Int) -> OwnedRows? {
        if !plan.isCorrelated, let known = subqueryResults[plan.number] { return known }
        guard failure == nil, let reader else { return nil }
        do throws(DatabaseError) {
            let rows = try reader.rows(of: plan, limit: limit)
            if !plan.isCorrelated { subqueryResults[plan.number] = rows }
            return rows
        } catch {
            fail(error)
            return nil
        }
    }

    /// The rows of a query as a value: see ``Planner/rows(_:_:)``.
    func value(of rows: OwnedRows, _ plan: SelectPlan) -> Value {
        if plan.isSingleValue {
            guard let row = rows.first else { return .missing }
            return Value(FleeceNode(root: arena.copy(row))[0])
        }
        let names = plan.columnNames
        return collection { writer in
            writer.beginArray()
            for row in rows {
                row.withView { bytes in
                    let node = FleeceNode(root: bytes)
                    guard names.count > 1 else { return writer.write(Value(node[0])) }
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
            writer.endArray()
        }
    }
}

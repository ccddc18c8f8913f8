import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder

/// One run of a query over one snapshot of the database. Belongs to one thread.
final class Execution: DocumentSource {
    let snapshot: DatabaseSnapshot
    let moment: QueryMoment
    let counter: WorkCounter
    private(set) lazy var budget = MemoryBudget(limit: options.memoryLimit)
    let frame: Frame
    let database: Database
    /// The values of the parameters by name.
    let parameters: [String: DocumentValue]
    let options: QueryOptions
    /// The documents of the first source that this execution reads, where others read the rest; see ``ScanParts``.
    let part: DocumentSelection?
    /// The documents that are read, where not all are visible.
    let visible: (any VisibleDocuments)?
    private var madeSpill: Spill?
    /// The rows of sources by what they are joined by, and by the sources' numbers.
    var joinTables: [Int: JoinTable] = [:]
    /// What was found in full-text indexes.
    var matches: [TextMatchKey: TextMatches] = [:]
    /// What visible documents are searched for, one by one.
    var textQueries: [TextMatchKey: CompiledTextQuery] = [:]
    /// What indexes of trigrams lead to.
    var gramMatches: [ObjectIdentifier: GramMatches] = [:]

    /// - Parameter frame: one without values, of the program that is executed.
    init(
        _ frame: Frame, _ parameters: [String: DocumentValue], _ database: Database,
        _ snapshot: DatabaseSnapshot, _ moment: QueryMoment, _ options: QueryOptions,
        part: DocumentSelection? = nil, visible: (any VisibleDocuments)? = nil,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(DatabaseError) {
        self.snapshot = snapshot
        self.moment = moment
        self.database = database
        self.parameters = parameters
        self.options = options
        self.part = part
        self.visible = visible
        counter = WorkCounter(isCancelled: isCancelled)
        self.frame = frame
        try frame.setParameters(parameters)
        frame.reader = self
    }

    /// Where rows are put aside.
    var spill: Spill {
        get throws(DatabaseError) {
            if let madeSpill { return madeSpill }
            let made = try Spill(database)
            madeSpill = made
            return made
        }
    }

    /// A collection as of the moment of the execution.
    func documents(of collection: DocumentCollection) throws(DatabaseError) -> QueryMoment.Documents {
        try moment.documents(of: collection, in: snapshot)
    }

    /// Runs `body`, which reads. What goes wrong may lie at an index, which the next query looks up anew.
    func reading<R>(_ body: () throws(DatabaseError) -> R) throws(DatabaseError) -> R {
        do throws(DatabaseError) {
            return try body()
        } catch {
            moment.forgetReaders()
            throw error
        }
    }

    // MARK: Rows of sources

    /// The combinations of rows of all sources of a query, filtered.
    ///
    /// - Parameters:
    ///   - first: how the first source is read, if that is not all of it.
    ///   - skipping: how many rows of it are passed over, where the index is exact.
    func rows(
        of sources: [SourcePlan], first: AccessChoice? = nil, skipping: Int = 0
    ) throws(DatabaseError) -> RowSource {
        var rows = RowSource(frame)
        for (number, source) in sources.enumerated() {
            if number > 0 {
                rows = JoinedRows(rows, source, counter) { [self] () throws(DatabaseError) in try open(source)
                }
            } else if source.hash == nil, case .documents(let collection, let access) = source.origin {
                // As it was decided, by what is wanted of the rows.
                if let first {
                    rows = try self.rows(first, try documents(of: collection), source, skipping: skipping)
                } else {
                    rows = try open(collection, access, source.number)
                }
            } else {
                rows = try open(source)
            }
            // What an index answers whole need not be asked again.
            let isAnswered = number == 0 && first?.exact != nil
            if !source.filters.isEmpty, !isAnswered {
                rows = FilteredRows(rows, source.filters.map(\.holds))
            }
            if counter.countsRows { rows = CountedRows(rows, source.number, counter) }
        }
        return rows
    }

    private func open(_ source: SourcePlan) throws(DatabaseError) -> RowSource {
        if let hash = source.hash { return try joined(source, by: hash) }
        switch source.origin {
        case .elements(let value): return ElementRows(frame, source.number, value)
        case .select(let plan): return try QueryRows(frame, source.number, plan, self)
        case .documents(let collection, let access):
            if let choice = try decide(source).choice {
                return try rows(choice, try documents(of: collection), source)
            }
            return try open(collection, access, source.number)
        }
    }

    func open(
        _ collection: DocumentCollection, _ access: DocumentAccess, _ number: Int
    ) throws(DatabaseError) -> RowSource {
        let documents = try self.documents(of: collection)
        let ids = access.ids.map { sortedIDs($0(frame)) }
        if let ids, visible == nil {
            return LookedUpRows(frame, number, documents, access, ids, counter)
        }
        var selection = part ?? DocumentSelection()
        selection.descending = access.keys.isOrdered && access.keys.isReversed
        selection.includesDeleted = access.includesDeleted
        selection.prefix = access.keys.prefix
        if let lower = access.keys.lower {
            // No ID is null, missing, or less than a number.
            guard let text = lower.value(frame).idBound(isLower: true) else { return RowSource(frame) }
            selection.from = text + (lower.isIncluded ? "" : "\0")
        }
        if let upper = access.keys.upper {
            guard let text = upper.value(frame).idBound(isLower: false) else { return RowSource(frame) }
            selection.to = text
            selection.includesEnd = upper.isIncluded
        }
        if let visible { return try visibleRows(visible, of: collection, number, selection, ids: ids) }
        return try DocumentRows(frame, number, documents.snapshot, selection, access.metadata, counter)
    }

    /// The different strings among one value or the elements of an array, in order.
    private func sortedIDs(_ value: Value) -> [[UInt8]] {
        let values = value.arrayElements.map(Array.init) ?? [value]
        return Set(values.compactMap { $0.text?.array }).sorted { $0.lexicographicallyPrecedes($1) }
    }

    // MARK: Rows of queries

    /// A cursor over the rows that a query yields.
    func cursor(of plan: QueryPlan) throws(DatabaseError) -> RowCursor {
        try cursor(of: plan, try strategy(of: plan))
    }

    func cursor(of plan: QueryPlan, _ strategy: PlanChoice) throws(DatabaseError) -> RowCursor {
        var cursor: RowCursor
        if let known = strategy.known {
            cursor = known
        } else if strategy.streamsGroups, let choice = strategy.decision.choice {
            cursor = StreamedGroupCursor(plan, self, try rows(of: strategy.sources, first: choice))
        } else if plan.grouping != nil {
            cursor = GroupedCursor(
                plan, self, try rows(of: strategy.sources, first: strategy.decision.choice),
                threads: strategy.threads)
        } else {
            let skipping = strategy.skipsByRank ? strategy.offset : 0
            cursor = PlainCursor(
                plan, frame,
                try rows(of: strategy.sources, first: strategy.decision.choice, skipping: skipping))
        }
        if plan.isDistinct { cursor = DistinctCursor(cursor, self) }
        if strategy.isSorted {
            let threads = plan.grouping == nil ? strategy.threads : 1
            cursor = SortedCursor(cursor, keeping: strategy.most, threads: threads, self)
        }
        let skipping = strategy.skipsByRank ? 0 : strategy.offset
        if skipping > 0 || strategy.limit < .max {
            cursor = LimitedCursor(cursor, skipping: skipping, limit: strategy.limit)
        }
        return cursor
    }

    /// How the rows of a query are found now, by the parameters and what the indexes hold.
    func strategy(of plan: QueryPlan) throws(DatabaseError) -> PlanChoice {
        var strategy = PlanChoice(
            try cheapestOrder(of: plan), limit: try bound(plan.limit, "LIMIT") ?? .max,
            offset: try bound(plan.offset, "OFFSET") ?? 0)
        strategy.isSorted = !plan.order.isEmpty
        if visible == nil, let known = try known(plan) {
            strategy.known = known
            return strategy
        }
        // Rows of a query within another one that are found by a row of that come in no order.
        guard let first = strategy.sources.first, first.hash == nil else { return strategy }
        let isScanOrdered = first.isScanOrdered
        let isPlain = plan.sources.count == 1 && plan.grouping == nil && !plan.isDistinct
        let wish = RowWish(
            isSorted: strategy.isSorted && plan.grouping == nil, isScanSorted: isScanOrdered,
            isRanked: plan.isRanked,
            isGrouped: plan.grouping?.keys.isEmpty == false,
            most: isPlain ? strategy.most : .max)
        strategy.decision = try decide(first, wish)
        if let choice = strategy.decision.choice {
            if choice.isOrdered { strategy.isSorted = false }
            strategy.streamsGroups = choice.isGrouped
            strategy.skipsByRank = isPlain && choice.exact != nil && !strategy.isSorted && strategy.offset > 0
        } else if isScanOrdered {
            strategy.isSorted = false
        }
        strategy.threads = try threads(for: plan, strategy)
        return strategy
    }

    /// The rows of a query that counts of a collection, a search or an index answer without documents being read.
    private func known(_ plan: QueryPlan) throws(DatabaseError) -> RowCursor? {
        switch plan.counted {
        case .documents(let collection):
            return CountCursor(plan, frame, count: try documents(of: collection).count)
        case .found(let search): return CountCursor(plan, frame, count: try matches(of: search).count)
        case nil: return try totals(of: plan)
        }
    }

    /// The groups as an index tells them without its rows being read; `nil` when none does, or reading takes less.
    private func totals(of plan: QueryPlan) throws(DatabaseError) -> TotalsCursor? {
        guard let grouping = plan.grouping, let source = plan.sources.first,
            case .documents(let collection, _) = source.origin
        else { return nil }
        for totals in plan.totals {
            guard let choice = try choice(totals.access, collection, try documents(of: collection)),
                let cursor = try TotalsCursor(plan, grouping, totals, choice, self)
            else { continue }
            return cursor
        }
        return nil
    }

    /// What LIMIT or OFFSET comes to: negative numbers are 0, and what no `Int` can be is the greatest.
    private func bound(_ value: Evaluation?, _ name: String) throws(DatabaseError) -> Int? {
        guard let value else { return nil }
        guard let number = value(frame).double else {
            throw DatabaseError(
                .invalidQuery, "\(name) is a number, and the one given is none. Is its parameter set?")
        }
        return number < Double(Int.max) ? Int(max(0, number)) : .max
    }

    // MARK: DocumentSource

    func rows(of plan: QueryPlan, limit: Int) throws(DatabaseError) -> OwnedRows {
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

    func document(
        _ id: String, of collection: DocumentCollection?
    ) throws(DatabaseError) -> (document: Document, moment: CollectionSnapshot)? {
        guard let collection else { return nil }
        let moment = try documents(of: collection).snapshot
        guard let visible else { return try moment.get(id).map { ($0, moment) } }
        return try visible.find(id, of: collection).map { ($0, moment) }
    }

    func blob(named node: FleeceNode, _ frame: Frame) -> Value {
        // A digest may be that of content that no visible document has.
        guard visible == nil, let digest = Value(node[frame.program.digestKey]).string,
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
    func rows(of plan: QueryPlan, limit: Int) throws(DatabaseError) -> OwnedRows
    /// The document of a row, and a moment that has it, for what is not read with its properties.
    func document(
        _ id: String, of collection: DocumentCollection?
    ) throws(DatabaseError) -> (document: Document, moment: CollectionSnapshot)?
    func blob(named node: FleeceNode, _ frame: Frame) -> Value
    /// The rank of a document in a search; `nil` when it is not found.
    func rank(_ id: ByteView, in search: TextSearch) throws(DatabaseError) -> Double?
}

extension Frame {
    /// The rows of a query within the present one; `nil` after a failure. What depends on no row is computed once.
    func rows(of plan: QueryPlan, limit: Int) -> OwnedRows? {
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
    func value(of rows: OwnedRows, _ plan: QueryPlan) -> Value {
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
                    writer.writeDictionary(of: node, names)
                }
            }
            writer.endArray()
        }
    }
}

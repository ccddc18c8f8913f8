import Roost
import RoostOrder

/// The planning of one query.
final class SelectPlanning {
    let select: Select
    let planner: Planner
    let compiler: Compiler
    let plan: SelectPlan
    /// The conditions that AND joins in WHERE.
    private(set) var conditions: [Expression] = []
    /// What ORDER BY orders by, with the columns that it names.
    private(set) var orderExpressions: [Expression] = []

    init(_ select: Select, _ planner: Planner, _ compiler: Compiler) {
        self.select = select
        self.planner = planner
        self.compiler = compiler
        plan = SelectPlan(select, number: compiler.program.addSelect())
    }

    /// The plan.
    func planned() throws(QueryError) -> SelectPlan {
        if let condition = select.condition { conditions = condition.conjuncts }
        // LIMIT and OFFSET are the same for all rows, so no source is known yet.
        let scope = compiler.scope
        plan.limit = try select.limit.map { (value) throws(QueryError) in try compiler.compile(value) }
        plan.offset = try select.offset.map { (value) throws(QueryError) in try compiler.compile(value) }
        compiler.scope = scope
        try planSources()
        try planFilters()
        for index in plan.sources.indices { planTable(index) }
        try planGroups()
        let columns = try namedColumns()
        plan.columns = try columns.map { (column) throws(QueryError) in try compiler.compile(column.value) }
        plan.collations = try columns.map { (column) throws(QueryError) in
            try compiler.collation(of: column.value)
        }
        plan.columnNames = columns.map(\.name)
        try planOrder(columns)
        plan.isDistinct = select.isDistinct
        for index in plan.sources.indices {
            noteDeleted(index)
            try planIndexes(index)
        }
        planTotals()
        noteCount()
        noteUses()
        return plan
    }

    /// Notes what each source is asked for, once all was compiled that may ask.
    private func noteUses() {
        for source in plan.sources {
            let paths = compiler.uses[source.number]?.paths ?? []
            source.properties = Set(paths.compactMap(compiler.program.property(ofPath:))).sorted()
            // A row of a table that is joined is looked up again by its ID, if the table exceeds the memory.
            guard source.hash == nil, case .documents(_, let access) = source.origin else {
                continue
            }
            access.metadata = compiler.uses[source.number]?.metadata ?? .none
        }
    }

    // MARK: FROM

    private func planSources() throws(QueryError) {
        let sources =
            select.sources.isEmpty
            ? [Select.Source(origin: .collection("_", scope: "_default"), alias: "_doc")] : select.sources
        var aliases: Set<ByteKey> = []
        for source in sources {
            guard aliases.insert(ByteKey(source.alias.lowercased())).inserted else {
                throw QueryError(
                    "Two sources are called \(source.alias); give one of them another name with AS",
                    at: source.place.offset)
            }
            try add(source)
        }
    }

    private func add(_ source: Select.Source) throws(QueryError) {
        var notes = SourceNotes()
        let origin: SourcePlan.Origin
        let kind: Compiler.SourceKind
        switch source.origin {
        case .collection(let name, let scope):
            let collection = try planner.collection(name, scope: scope, source.place)
            origin = .documents(collection, DocumentAccess())
            kind = .collection
            notes.name = collection.queryName
        case .select(let inner):
            origin = .select(try planner.inner(inner, compiler))
            kind = .select
            notes.name = "a query"
        case .elements(let value):
            origin = .elements(try compiler.compile(value))
            kind = .elements
            notes.name = value.sqlText
        }
        let number = compiler.program.addSource()
        compiler.sourceKinds.append(kind)
        if case .documents(let collection, _) = origin { compiler.sourceCollections[number] = collection }
        compiler.scope.addSource(source.alias, number, takesProperties: kind != .elements)
        let planned = SourcePlan(
            number: number, alias: source.alias, origin: origin, join: source.join, notes: notes)
        if let condition = source.condition {
            planned.condition = try compiler.compile(condition)
            planned.notes.on = condition.sqlText
            if case .documents(_, let access) = origin {
                for condition in condition.conjuncts { narrow(access, condition, number, &planned.notes) }
            }
        }
        plan.sources = plan.sources + [planned]
    }

    // MARK: WHERE

    private func planFilters() throws(QueryError) {
        let own = plan.sources.map(\.number)
        var filters = own.map { _ in [Evaluation]() }
        for condition in conditions {
            let (filter, touched) = try compiler.tracking { () throws(QueryError) in
                try compiler.compile(condition)
            }
            // Answered as soon as the last source that it speaks of has a row.
            let level = own.lastIndex { touched.contains($0) } ?? 0
            filters[level].append(filter)
            plan.sources[level].notes.conditions.append(condition.sqlText)
            guard plan.sources[level].join != .left,
                case .documents(_, let access) = plan.sources[level].origin
            else { continue }
            narrow(access, condition, own[level], &plan.sources[level].notes)
            planSearch(condition, level, touched)
        }
        for (source, filters) in zip(plan.sources, filters) { source.filters = filters }
    }

    private func noteDeleted(_ index: Int) {
        let source = plan.sources[index]
        guard compiler.sourcesWithDeleted.contains(source.number),
            case .documents(_, let access) = source.origin
        else { return }
        access.includesDeleted = true
    }

    // MARK: GROUP BY

    private func planGroups() throws(QueryError) {
        let parts =
            select.columns.map(\.value) + select.order.map(\.value) + (select.having.map { [$0] } ?? [])
        let hasAggregates = parts.contains { $0.hasAggregate }
        guard !select.groups.isEmpty || hasAggregates else { return }
        let grouping = Grouping(sources: Set(plan.sources.map(\.number)))
        for group in select.groups {
            let expression = columnNamed(group) ?? group
            guard !expression.hasAggregate else { throw QueryError("GROUP BY can't group by an aggregate") }
            let (value, collation) = (
                try compiler.compile(expression), try compiler.collation(of: expression)
            )
            grouping.addKey(expression, value, collation, compiler)
        }
        compiler.grouping = grouping
        plan.grouping = grouping
        plan.isSingleValue = select.groups.isEmpty && select.columns.count == 1 && select.having == nil
        plan.having = try select.having.map { (having) throws(QueryError) in try compiler.compile(having) }
    }

    /// The column that a single name means, unless a source has that name: GROUP BY may name aliases.
    private func columnNamed(_ expression: Expression) -> Expression? {
        guard case .path(let steps, _) = expression, steps.count == 1, case .key(let name) = steps[0],
            compiler.scope.meaning(of: name) == nil
        else { return nil }
        return select.columns.first { $0.alias.map { ByteKey($0) } == ByteKey(name) }?.value
    }

    // MARK: SELECT

    private struct NamedColumn {
        let value: Expression
        let name: String
    }

    private func namedColumns() throws(QueryError) -> [NamedColumn] {
        var columns: [(value: Expression, name: String?, isExplicit: Bool)] = []
        if select.columns.isEmpty {
            for field in [MetaField.id, .sequence] {
                columns.append(
                    (.meta(field, alias: plan.sources[0].alias, .unknown), field.propertyName, false))
            }
        }
        for column in select.columns {
            if case .path(let steps, let place) = column.value, steps.isEmpty, column.alias == nil {
                // All of a row: a column for each source.
                for source in plan.sources {
                    columns.append(
                        (
                            .path([.key(source.alias)], place), source.alias == "_doc" ? "_" : source.alias,
                            false
                        ))
                }
                continue
            }
            columns.append((column.value, column.alias ?? column.value.columnName, column.alias != nil))
        }
        var taken: [ByteKey: Int] = [:]
        var explicit: Set<ByteKey> = []
        var result: [NamedColumn] = []
        var unnamed = 0
        for column in columns {
            if column.isExplicit, let name = column.name, !explicit.insert(ByteKey(name)).inserted {
                throw QueryError("Two columns are called \(name.debugDescription)")
            }
            if column.name == nil { unnamed += 1 }
            let name = column.name ?? "$\(unnamed)"
            let count = taken[ByteKey(name), default: 0] + 1
            taken[ByteKey(name)] = count
            result.append(NamedColumn(value: column.value, name: count == 1 ? name : "\(name) #\(count)"))
        }
        return result
    }

    // MARK: ORDER BY

    private func planOrder(_ columns: [NamedColumn]) throws(QueryError) {
        plan.order = try select.order.map { (ordering) throws(QueryError) in
            let expression = columnNamed(stripped: ordering.value) ?? ordering.value
            orderExpressions.append(expression)
            return OrderPlan(
                value: try compiler.compile(expression), collation: try compiler.collation(of: expression),
                isDescending: ordering.isDescending, text: ordering.value.sqlText)
        }
        // Documents are read in the order of their IDs, either way.
        guard plan.sources.count == 1, plan.grouping == nil, !select.isDistinct, select.order.count == 1,
            case .documents(_, let access) = plan.sources[0].origin, access.ids == nil,
            isID(select.order[0].value, plan.sources[0].number), compiler.collation == .binary,
            plan.sources[0].search == nil
        else { return planRanking() }
        access.descending = select.order[0].isDescending
        plan.isOrdered = true
    }

    /// ORDER BY may name a column, also within COLLATE.
    private func columnNamed(stripped expression: Expression) -> Expression? {
        if case .collate(let options, let inner) = expression {
            return columnNamed(stripped: inner).map { .collate(options, $0) }
        }
        return columnNamed(expression)
    }

    // MARK: Counting

    /// `SELECT count(*)` of a whole collection, or of what a search finds, is known without reading documents.
    private func noteCount() {
        guard plan.sources.count == 1, select.groups.isEmpty, select.having == nil, select.columns.count == 1,
            case .aggregate(.count, nil, _) = select.columns[0].value,
            case .documents(let collection, let access) = plan.sources[0].origin, access.isScan,
            !access.includesDeleted, select.order.isEmpty
        else { return }
        if conditions.isEmpty { plan.countedCollection = collection }
        if conditions.count == 1 { plan.countedSearch = plan.sources[0].search }
    }
}

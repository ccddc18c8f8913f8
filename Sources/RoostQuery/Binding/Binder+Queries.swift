import Roost
import RoostOrder

extension Binder {
    /// Binds a query that an expression or FROM has. Variables around it remain known; aggregates within it are its own.
    func inner(_ select: Select) throws(QueryError) -> BoundQuery {
        let saved = (aggregateProblem, windowProblem, columnUse, namedWindows)
        defer { (aggregateProblem, windowProblem, columnUse, namedWindows) = saved }
        return try query(select)
    }

    func query(_ select: Select) throws(QueryError) -> BoundQuery {
        var query = BoundQuery(number: try beginQuery())
        defer { endQuery() }
        query.isDistinct = select.isDistinct
        query.isRaw = select.isRaw
        windowProblem = Self.misplacedWindow
        namedWindows = [:]
        for (name, window) in select.windows.map({ ($0.name, $0.window) }) {
            // Each continues none but one before it.
            guard namedWindows.updateValue(try named(window), forKey: ByteKey(name)) == nil else {
                throw QueryError("Two windows are called \(name)", at: window.place.offset)
            }
        }
        query.indexUse = select.indexUse
        scope.begin(select.columns)
        columnUse = .none
        // LIMIT and OFFSET are the same for all rows, so no source is known yet.
        aggregateProblem = "looks at many rows, and can't stand in LIMIT and OFFSET"
        query.limit = try bound(select.limit, "LIMIT", select.limitPlace)
        query.offset = try bound(select.offset, "OFFSET", select.offsetPlace)
        aggregateProblem = Self.misplacedAggregate
        try bindSources(select, &query)
        scope.nameColumns()
        columnUse = .ofRows
        query.conditions = try conditions(select.condition)
        let keys = try select.groups.map { (group) throws(QueryError) in try groupKey(group) }
        columnUse = .none
        aggregateProblem = nil
        let columns = try namedColumns(select, query)
        columnUse = .all
        query.having = try select.having.map { (having) throws(QueryError) in
            BoundCondition(value: try bind(having), written: having)
        }
        windowProblem = nil
        query.columns = try columns.map { (column) throws(QueryError) in
            columnUse = .none
            return BoundColumn(
                name: column.name, isStar: column.isStar, expression: try collated(column.value))
        }
        columnUse = .all
        query.order = try orderings(select.order)
        query.isCorrelated = scope.end()
        bindGroups(keys, &query)
        try bindWindows(&query)
        return query
    }

    // MARK: FROM

    private func bindSources(_ select: Select, _ query: inout BoundQuery) throws(QueryError) {
        let sources =
            select.sources.isEmpty
            ? [Select.Source(origin: .collection("_", scope: "_default"), alias: "_doc")] : select.sources
        scope.nameScopes(of: sources)
        guard sources.count <= Self.mostSources else {
            throw QueryError(
                "A query has at most \(Self.mostSources) sources", at: sources[Self.mostSources].place.offset)
        }
        var aliases: Set<ByteKey> = []
        for source in sources {
            guard aliases.insert(ByteKey(source.alias.lowercased())).inserted else {
                throw QueryError(
                    "Two sources are called \(source.alias); give one of them another name with AS",
                    at: source.place.offset)
            }
            query.sources.append(try bind(source))
        }
    }

    /// Sources are within each other when they are read.
    private static let mostSources = 64

    private func bind(_ source: Select.Source) throws(QueryError) -> BoundSource {
        let origin: BoundSource.Origin
        let known: (kind: Scope.Source.Kind, collection: DocumentCollection?, name: String)
        switch source.origin {
        case .collection(let name, let scope):
            let collection = try schema.collection(name, scope: scope, source.place)
            origin = .collection(collection)
            known = (.collection, collection, collection.queryName)
        case .select(let select):
            origin = .query(try inner(select))
            known = (.query, nil, "a query")
        case .combined(let first, let operation, let second):
            let (left, right) = (try inner(first), try inner(second))
            guard left.columns.count == right.columns.count else {
                throw QueryError(
                    "\(operation.rawValue) takes queries of as many columns, and these have \(left.columns.count) and \(right.columns.count)",
                    at: source.place.offset)
            }
            origin = .combined(left, operation, right)
            known = (.query, nil, operation.rawValue)
        case .elements(let array):
            origin = .elements(try bind(array))
            known = (.elements, nil, array.sqlText)
        }
        let number = addSource(known.collection)
        scope.add(
            Scope.Source(
                alias: source.alias, number: number, kind: known.kind, collection: known.collection))
        return BoundSource(
            number: number, alias: source.alias, origin: origin, join: source.join,
            conditions: try conditions(source.condition), name: known.name)
    }

    // MARK: Conditions

    /// The conditions that AND joins.
    private func conditions(_ condition: Expression?) throws(QueryError) -> [BoundCondition] {
        try (condition?.conjuncts ?? []).map { (part) throws(QueryError) in
            BoundCondition(value: try bind(part), written: part)
        }
    }

    /// LIMIT or OFFSET.
    private func bound(_ value: Expression?, _ name: String, _ place: Place) throws(QueryError)
        -> BoundCondition?
    {
        guard let value else { return nil }
        if case .path(let steps, let place) = value, case .key(let word)? = steps.first,
            scope.meaning(of: word) == nil
        {
            throw QueryError(
                "\(name) is a number, and \(word) names a property: no document is meant here. Write a number or a $parameter",
                at: place.offset)
        }
        let bound = try bind(value)
        if case .literal(let constant) = bound, constant.double == nil {
            throw QueryError("\(name) is a number, and \(value.sqlText) is none", at: place.offset)
        }
        return BoundCondition(value: bound, written: value)
    }

    // MARK: GROUP BY

    private func groupKey(_ group: Expression) throws(QueryError) -> BoundGroups.Key {
        let column = scope.columnAlone(group)?.value
        return BoundGroups.Key(expression: try collated(group, as: column), written: group, slot: addSlot())
    }

    /// An expression, or the column that it names.
    private func collated(
        _ expression: Expression, as column: Expression?
    ) throws(QueryError) -> CollatedExpression {
        guard let column else { return try collated(expression) }
        let saved = columnUse
        columnUse = .none
        defer { columnUse = saved }
        return try collated(column)
    }

    private func bindGroups(_ keys: [BoundGroups.Key], _ query: inout BoundQuery) {
        let parts =
            query.columns.map(\.expression.value) + query.order.map(\.expression.value)
            + [query.having].compactMap { $0?.value }
        guard !keys.isEmpty || parts.contains(where: \.hasAggregate) else { return }
        let groups = GroupBinder(BoundGroups(sources: Set(query.sources.map(\.number)), keys: keys), self)
        query.having = query.having.map {
            BoundCondition(value: groups.grouped($0.value), written: $0.written)
        }
        query.columns = query.columns.map {
            $0.mapped(groups.grouped)
        }
        query.order = query.order.map { $0.mapped(groups.grouped) }
        query.groups = groups.groups
    }

    // MARK: Windows

    private func bindWindows(_ query: inout BoundQuery) throws(QueryError) {
        let parts = query.columns.map(\.expression.value) + query.order.map(\.expression.value)
        guard parts.contains(where: \.hasWindow) else { return }
        let windows = WindowBinder(self)
        query.columns = query.columns.map { $0.mapped(windows.replaced) }
        query.order = query.order.map { $0.mapped(windows.replaced) }
        query.windows = windows.windows
        guard query.windows.windows.count <= SQLParser.deepest else {
            throw QueryError("The query orders rows for more than \(SQLParser.deepest) different windows")
        }
    }

    // MARK: SELECT

    private struct NamedColumn {
        let value: Expression
        let name: String
        let isStar: Bool
    }

    private func namedColumns(_ select: Select, _ query: BoundQuery) throws(QueryError) -> [NamedColumn] {
        var columns: [(value: Expression, name: String?, explicit: Place?, isStar: Bool)] = []
        if case .combined(let first, _, _)? = query.sources.first?.origin {
            for column in first.columns {
                let value = Expression.path([.key(query.sources[0].alias), .key(column.name)], .unknown)
                columns.append((value, column.name, nil, column.isStar))
            }
        } else if select.columns.isEmpty {
            for field in [MetaField.id, .sequence] {
                let value = Expression.meta(field, alias: query.sources[0].alias, .unknown)
                columns.append((value, field.propertyName, nil, false))
            }
        }
        for column in select.columns {
            if case .path(let steps, let place) = column.value, steps.isEmpty, column.alias == nil {
                // All of a row: a column for each source.
                for source in query.sources {
                    let name = ByteKey(source.alias) == ByteKey("_doc") ? "_" : source.alias
                    columns.append((.path([.key(source.alias)], place), name, nil, column.isStar))
                }
                continue
            }
            let name = column.alias ?? column.value.columnName
            columns.append((column.value, name, column.alias.map { _ in column.place }, column.isStar))
        }
        var taken: [ByteKey: Int] = [:]
        var explicit: Set<ByteKey> = []
        var result: [NamedColumn] = []
        var unnamed = 0
        for column in columns {
            if let place = column.explicit, let name = column.name, !explicit.insert(ByteKey(name)).inserted {
                throw QueryError("Two columns are called \(name.debugDescription)", at: place.offset)
            }
            if column.name == nil { unnamed += 1 }
            let name = column.name ?? "$\(unnamed)"
            let count = taken[ByteKey(name), default: 0] + 1
            taken[ByteKey(name)] = count
            result.append(
                NamedColumn(
                    value: column.value, name: count == 1 ? name : "\(name) #\(count)", isStar: column.isStar)
            )
        }
        return result
    }

    // MARK: ORDER BY

    /// What rows are ordered by, in the present query or in a window of it.
    func orderings(_ orderings: [Select.Ordering]) throws(QueryError) -> [BoundOrdering] {
        var result: [BoundOrdering] = []
        for ordering in orderings {
            let column = columnUse == .none ? nil : columnNamed(ordering.value)
            let expression = try collated(ordering.value, as: column)
            // Null and missing are the least of all values.
            if let nulls = ordering.nulls, (nulls == .first) == ordering.isDescending {
                result.append(
                    BoundOrdering(
                        expression: CollatedExpression(
                            value: .test(expression.value, .valued, isNegated: false), collation: .binary),
                        isDescending: nulls == .last,
                        written: .test(ordering.value, .valued, isNegated: false)))
            }
            result.append(
                BoundOrdering(
                    expression: expression, isDescending: ordering.isDescending, written: ordering.value))
        }
        return result
    }

    /// The column that ORDER BY names, also within COLLATE.
    private func columnNamed(_ expression: Expression) -> Expression? {
        if case .collate(let options, let inner) = expression {
            return columnNamed(inner).map { .collate(options, $0) }
        }
        return scope.columnAlone(expression)?.value
    }
}

/// Finds what is asked of the groups of a query, and puts the places of these values into expressions.
private final class GroupBinder {
    private(set) var groups: BoundGroups
    private let binder: Binder
    /// The places of the expressions of GROUP BY, and of what is gathered.
    private var keySlots: [BoundExpression: Int] = [:]
    private var slots: [Gathered: Int] = [:]

    private struct Gathered: Hashable {
        let accumulator: Accumulator
        let value: BoundExpression?
    }

    init(_ groups: BoundGroups, _ binder: Binder) {
        self.groups = groups
        self.binder = binder
        for key in groups.keys where keySlots[key.expression.value] == nil {
            keySlots[key.expression.value] = key.slot
        }
    }

    /// An expression of groups: what GROUP BY has and aggregates become their places. What else is asked of a row, also by a query
    /// within the expression, is asked of the first one.
    func grouped(_ expression: BoundExpression) -> BoundExpression {
        if let key = keySlots[expression] { return .slot(key) }
        if case .aggregate(let aggregate, let value, let isDistinct, let collation) = expression {
            return slot(.aggregate(aggregate, isDistinct: isDistinct), value, collation)
        }
        if let source = expression.source, groups.sources.contains(source) {
            return slot(.first, expression, .binary)
        }
        return expression.mapped { grouped($0) }
    }

    private func slot(_ kind: Accumulator.Kind, _ value: BoundExpression?, _ collation: Collation)
        -> BoundExpression
    {
        let accumulator = Accumulator(kind: kind, collation: collation)
        let gathered = Gathered(accumulator: accumulator, value: value)
        if let known = slots[gathered] { return .slot(known) }
        let slot = binder.addSlot()
        slots[gathered] = slot
        groups.measures.append(BoundGroups.Measure(accumulator: accumulator, value: value, slot: slot))
        return .slot(slot)
    }
}

/// Finds what window functions need of each row, and puts the places of their values into expressions.
private final class WindowBinder {
    private(set) var windows = BoundWindows()
    private let binder: Binder
    /// The places of what is asked of rows, and of window functions.
    private var slots: [BoundExpression: Int] = [:]

    init(_ binder: Binder) { self.binder = binder }

    /// An expression of rows that windows have gone through: window functions, and what is asked of the rows besides, become places.
    func replaced(_ expression: BoundExpression) -> BoundExpression {
        if case .window(let call) = expression { return slot(call, as: expression) }
        return expression.hasWindow ? expression.mapped { replaced($0) } : input(expression)
    }

    /// The place of a value of each row.
    private func input(_ expression: BoundExpression) -> BoundExpression {
        if expression.isGiven || expression == .missing { return expression }
        if let known = slots[expression] { return .slot(known) }
        let slot = binder.addSlot()
        slots[expression] = slot
        windows.inputs.append((expression, slot))
        return .slot(slot)
    }

    private func slot(_ call: BoundWindowCall, as expression: BoundExpression) -> BoundExpression {
        if let known = slots[expression] { return .slot(known) }
        let slot = binder.addSlot()
        slots[expression] = slot
        let ofInputs = call.mapped(input)
        let place = windows.windows.firstIndex {
            $0.partition == ofInputs.partition && $0.order == ofInputs.order
        }
        if let place {
            windows.windows[place].calls.append((ofInputs, slot))
        } else {
            windows.windows.append(
                BoundWindow(
                    partition: ofInputs.partition, order: ofInputs.order, calls: [(ofInputs, slot)]))
        }
        return .slot(slot)
    }
}

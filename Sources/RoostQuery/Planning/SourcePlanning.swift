import Roost
import RoostOrder

/// Plans one source of a query at its place in an order of the sources: which conditions are answered there, and what finds its rows.
struct SourcePlanning {
    private let planner: Planner
    private let query: BoundQuery
    private let source: BoundSource
    private let isFirst: Bool
    /// The sources whose rows are known before this one's: those before it, and those of queries around.
    private let known: Set<Int>
    private let conditions: QueryConditions
    /// What is answered once the source has a row.
    private let filters: [QueryConditions.Condition]
    private var compiler: Compiler { planner.compiler }

    init(
        _ planner: Planner, _ query: BoundQuery, _ place: Int, isFirst: Bool, known: Set<Int>,
        _ conditions: QueryConditions, filters: [QueryConditions.Condition]
    ) {
        self.planner = planner
        self.query = query
        self.source = query.sources[place]
        self.isFirst = isFirst
        self.known = known
        self.conditions = conditions
        self.filters = filters
    }

    /// The conditions that rows of the source meet.
    private var own: [QueryConditions.Condition] {
        source.join == .left ? conditions.ofLeftJoins[source.number] ?? [] : conditions.all
    }

    /// As `explain` names it.
    private var shownName: String {
        if case .combined = source.origin { return source.name }
        return source.alias == source.name ? source.alias : "\(source.name) AS \(source.alias)"
    }

    func plan() throws(QueryError) -> SourcePlan {
        var candidates = Candidates()
        let origin: SourcePlan.Origin
        switch source.origin {
        case .elements(let array): origin = .elements(try compiler.compile(array))
        case .query(let inner): origin = .select(try planner.plan(inner))
        case .combined(let first, let operation, let second):
            origin = .combined(try planner.plan(first), operation, try planner.plan(second))
        case .collection(let collection):
            let matching = try matching(own)
            let access = documents(matching)
            if access.isScan { candidates.search = try search() }
            if access.isScan, !access.includesDeleted { try find(&candidates, collection, matching) }
            origin = .documents(collection, access)
        }
        let hash = try table(origin, candidates.search)
        if hash != nil { candidates.table = try tableIndexes(candidates.usable) }
        return SourcePlan(
            number: source.number,
            name: shownName,
            origin: readWhole(origin, by: hash),
            join: isFirst ? .first : source.join == .first ? .inner : source.join,
            on: conditions.ofLeftJoins[source.number]?.map(\.planned) ?? [],
            filters: filters.map(\.planned), hash: hash, tableIndexes: candidates.table,
            search: candidates.search, trigrams: candidates.trigrams,
            prefersIndexes: query.indexUse != .cheapest, indexes: candidates.indexes,
            unions: candidates.unions, unusedIndexes: candidates.unused,
            properties: planner.uses[source.number]?.properties ?? [])
    }

    /// What may find the rows of a source.
    private struct Candidates {
        var search: TextSearch?
        var trigrams: [TrigramSearch] = []
        /// The indexes that the query may use.
        var usable: [CompiledIndex] = []
        var indexes: [IndexAccess] = []
        var unions: [UnionAccess] = []
        var unused: [(name: String, reason: String)] = []
        var table: [IndexAccess] = []
    }

    private func matching(
        _ conditions: [QueryConditions.Condition], ofConstants: Bool = false
    ) throws(QueryError) -> IndexMatching {
        let answered = Set(filters.map(\.number))
        return try IndexMatching(
            conditions.map { ($0.value, $0.text) } + elementConditions,
            exact: source.join == .left
                ? nil : Set(conditions.indices.filter { answered.contains(conditions[$0].number) }),
            source.number, known: ofConstants ? [] : known, planner.uses[source.number], compiler)
    }

    /// The documents that are read where no index is: a range of their IDs.
    private func documents(_ matching: IndexMatching) -> DocumentAccess {
        let use = planner.uses[source.number] ?? SourceUse()
        return DocumentAccess(
            keys: matching.documentKeys(order: wantedOrder), includesDeleted: use.asksDeleted,
            metadata: use.metadata)
    }

    /// A row of a table that is joined is looked up again by its ID, if the table exceeds the memory.
    private func readWhole(_ origin: SourcePlan.Origin, by hash: HashJoinKey?) -> SourcePlan.Origin {
        guard hash != nil, case .documents(let collection, let access) = origin else { return origin }
        return .documents(
            collection,
            DocumentAccess(keys: access.keys, includesDeleted: access.includesDeleted, metadata: .all))
    }

    /// The search that a condition asks for in any case.
    private func search() throws(QueryError) -> TextSearch? {
        guard source.join != .left else { return nil }
        for filter in filters {
            if case .match(let search) = filter.value, filter.sources == [source.number] {
                return try compiler.search(search)
            }
        }
        return nil
    }

    /// Finds the indexes that can answer conditions on the source, or give its rows the required order.
    private func find(
        _ candidates: inout Candidates, _ collection: DocumentCollection, _ matching: IndexMatching
    ) throws(QueryError) {
        candidates.trigrams = try Trigrams(planner, source.number, collection).searches(own)
        candidates.usable = try planner.schema.indexes(of: collection).filter {
            query.indexUse.allows($0.description)
        }
        let grouping = Totals(query)
        let wantedOrder = wantedOrder
        var accesses: [IndexAccess] = []
        for index in candidates.usable {
            switch matching.access(index, order: wantedOrder) {
            case .success(var access):
                access.isGrouped = isFirst && grouping?.isGrouped(by: access, source.number) ?? false
                accesses.append(access)
            case .failure(let problem): candidates.unused.append((index.description.name, problem.reason))
            }
        }
        // Of two that cost the same, the one with fewer columns is taken.
        candidates.indexes = accesses.sorted { $0.index.columns.count < $1.index.columns.count }
        let own = own
        for (place, condition) in own.enumerated() where candidates.unions.count < Self.mostUnions {
            // Each part is matched together with all other conditions.
            guard case .any(let parts) = condition.value, parts.count * own.count <= Self.mostMatched else {
                continue
            }
            var others = own
            others.remove(at: place)
            if let union = try union(parts, others, condition.written, candidates.usable) {
                candidates.unions.append(union)
            }
        }
    }

    private static let mostUnions = 8
    private static let mostMatched = 100_000

    private func tableIndexes(_ indexes: [CompiledIndex]) throws(QueryError) -> [IndexAccess] {
        let constant = try matching(own, ofConstants: true)
        return indexes.compactMap { index in
            guard case .success(var access) = constant.access(index, order: []), access.keys.isNarrowed
            else { return nil }
            // The table keeps whole rows.
            access.covering = nil
            return access
        }
    }

    /// The indexes for each of the conditions that OR joins; `nil` when there is none for one of them.
    private func union(
        _ parts: [BoundExpression], _ others: [QueryConditions.Condition], _ written: Expression,
        _ indexes: [CompiledIndex]
    ) throws(QueryError) -> UnionAccess? {
        var branches: [UnionAccess.Branch] = []
        let texts = written.disjunctTexts(count: parts.count)
        for (part, text) in zip(parts, texts) {
            let matching = try IndexMatching(
                part.conjuncts.map { ($0, text) } + others.map { ($0.value, $0.text) },
                exact: nil, source.number, known: known, planner.uses[source.number], compiler)
            let accesses = indexes.compactMap { index -> IndexAccess? in
                guard case .success(let access) = matching.access(index, order: []), access.keys.isNarrowed
                else { return nil }
                return access
            }
            guard !accesses.isEmpty else { return nil }
            branches.append(UnionAccess.Branch(condition: try compiler.compile(part), accesses: accesses))
        }
        return UnionAccess(branches: branches)
    }

    /// What the conditions on the elements of a document's array, which UNNEST makes rows of, say of the document.
    private var elementConditions: [(BoundExpression, String)] {
        var result: [(BoundExpression, String)] = []
        for other in query.sources {
            guard case .elements(let array) = other.origin, array.relative(to: source.number) != nil else {
                continue
            }
            let parts = conditions.all.compactMap { condition -> (BoundExpression, String)? in
                guard case .comparison(let comparison, let left, let right, let collation) = condition.value
                else { return nil }
                if case .path(other.number, let steps) = left, !right.sources.contains(other.number) {
                    return (.comparison(comparison, .variable(0, steps), right, collation), condition.text)
                }
                if case .path(other.number, let steps) = right, !left.sources.contains(other.number) {
                    let turned = comparison.mirrored
                    return (.comparison(turned, .variable(0, steps), left, collation), condition.text)
                }
                return nil
            }
            guard !parts.isEmpty else { continue }
            result.append(
                (
                    .quantified(.any, array, satisfies: .all(parts.map(\.0))),
                    parts.map(\.1).joined(separator: " AND ")
                ))
        }
        return result
    }

    /// What the rows of the only source are to be ordered by, if its order is that of the answer.
    private var wantedOrder: [WantedOrder] {
        guard query.sources.count == 1, query.groups == nil, !query.isDistinct else { return [] }
        var order: [WantedOrder] = []
        for ordering in query.order {
            guard let own = ordering.expression.value.relative(to: source.number) else { return [] }
            order.append(
                WantedOrder(
                    expression: own, collation: ordering.expression.collation,
                    isDescending: ordering.isDescending))
        }
        return order
    }

    /// What rows of the source can be looked up by, so that not every one is compared with every row of the sources before, or, in a
    /// query within another one, with every row of that.
    private func table(_ origin: SourcePlan.Origin, _ search: TextSearch?) throws(QueryError) -> HashJoinKey?
    {
        guard search == nil else { return nil }
        switch origin {
        case .elements, .combined: return nil
        case .select(let inner): guard !inner.isCorrelated else { return nil }
        // What is looked up by its ID needs no table.
        case .documents(_, let access):
            guard !access.keys.dependsOnRows, access.ids == nil else { return nil }
        }
        for condition in own {
            guard case .comparison(.equal, let left, let right, let collation) = condition.value else {
                continue
            }
            for (inner, outer, isLeft) in [(left, right, true), (right, left, false)] {
                guard inner.sources == [source.number], case let others = outer.sources, !others.isEmpty,
                    others.isSubset(of: known)
                else { continue }
                return HashJoinKey(
                    outer: try compiler.compile(outer), inner: try compiler.compile(inner),
                    collation: collation, text: condition.written.sideText(isLeft: isLeft))
            }
        }
        return nil
    }
}

extension Expression {
    /// One side of a comparison as it was written; all of another expression.
    fileprivate func sideText(isLeft: Bool) -> String {
        guard case .comparison(_, let left, let right) = uncollated else { return sqlText }
        return (isLeft ? left : right).sqlText
    }

    /// The conditions that OR joins, as they were written.
    fileprivate func disjunctTexts(count: Int) -> [String] {
        guard case .any(let parts) = uncollated, parts.count == count else {
            return Array(repeating: sqlText, count: count)
        }
        return parts.map(\.sqlText)
    }
}

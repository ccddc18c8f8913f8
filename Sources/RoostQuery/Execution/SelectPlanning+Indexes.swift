import RoostOrder

extension SelectPlanning {
    /// Finds the indexes that can answer conditions on a source, or give its rows the order asked for.
    func planIndexes(_ number: Int) throws(QueryError) {
        let source = plan.sources[number]
        guard case .documents(let collection, let access) = source.origin, access.isScan,
            !access.includesDeleted
        else { return }
        // What values are compared with is known before there are groups.
        let grouping = compiler.grouping
        compiler.grouping = nil
        defer { compiler.grouping = grouping }
        let on = number < select.sources.count ? select.sources[number].condition?.conjuncts ?? [] : []
        let own = source.join == .left ? on : conditions + on
        plan.sources[number].grams = try gramSearches(own, source.number, collection)
        let matching = IndexMatching(own + elementConditions(of: source.number), source.number, compiler)
        let order = try wantedOrder(of: source.number)
        plan.sources[number].prefersIndexes = select.indexUse != .cheapest
        let indexes = try planner.indexes(of: collection).filter {
            select.indexUse.allows($0.description)
        }
        var accesses: [IndexAccess] = []
        for index in indexes {
            switch matching.access(index, order: order) {
            case .success(let access): accesses.append(access)
            case .failure(let problem):
                plan.sources[number].unusedIndexes.append((index.description.name, problem.reason))
            }
        }
        // Of two that cost the same, the one with fewer columns is taken.
        plan.sources[number].indexes = accesses.sorted { $0.index.columns.count < $1.index.columns.count }
        if source.hash != nil {
            let constant = IndexMatching(own, source.number, compiler, ofConstants: true)
            plan.sources[number].tableIndexes = indexes.compactMap { index in
                guard case .success(let access) = constant.access(index, order: []), access.isNarrowed
                else { return nil }
                // The table keeps whole rows.
                access.covering = nil
                return access
            }
        }
        var unions: [UnionAccess] = []
        for (place, condition) in own.enumerated() {
            guard let parts = condition.disjuncts else { continue }
            let others = own.enumerated().filter { $0.offset != place }.map(\.element)
            if let union = try union(parts, others, source.number, indexes) { unions.append(union) }
        }
        plan.sources[number].unions = unions
    }

    /// What the conditions on the elements of a document's array, which UNNEST makes rows of, say of the document.
    private func elementConditions(of number: Int) -> [Expression] {
        var result: [Expression] = []
        for source in select.sources {
            guard case .elements(let array) = source.origin, compiler.relative(array, to: number) != nil
            else {
                continue
            }
            let own = conditions.filter { condition in
                if case .comparison(_, let left, let right) = condition {
                    return [left, right].contains { $0.uncollated.begins(with: source.alias) }
                }
                return false
            }
            guard !own.isEmpty else { continue }
            result.append(.quantified(.any, variable: source.alias, array, satisfies: .all(own)))
        }
        return result
    }

    /// The indexes for each of the conditions that OR joins; `nil` when there is none for one of them.
    private func union(
        _ parts: [Expression], _ others: [Expression], _ source: Int, _ indexes: [CompiledIndex]
    ) throws(QueryError) -> UnionAccess? {
        var branches: [UnionAccess.Branch] = []
        for part in parts {
            let matching = IndexMatching(part.conjuncts + others, source, compiler)
            let accesses = indexes.compactMap { index -> IndexAccess? in
                guard case .success(let access) = matching.access(index, order: []), access.isNarrowed else {
                    return nil
                }
                return access
            }
            guard !accesses.isEmpty else { return nil }
            branches.append(UnionAccess.Branch(condition: try compiler.compile(part), accesses: accesses))
        }
        return UnionAccess(branches: branches)
    }

    /// What the rows of the only source are to be ordered by, if its order is that of the answer.
    private func wantedOrder(of source: Int) throws(QueryError) -> [WantedOrder] {
        guard plan.sources.count == 1, plan.grouping == nil, !plan.isDistinct else { return [] }
        var order: [WantedOrder] = []
        for (expression, ordering) in zip(orderExpressions, plan.order) {
            guard let own = compiler.relative(expression.uncollated, to: source) else { return [] }
            order.append(
                WantedOrder(
                    expression: own, collation: ordering.collation, isDescending: ordering.isDescending))
        }
        return order
    }
}

extension Expression {
    /// The conditions that OR joins; `nil` for any other expression.
    fileprivate var disjuncts: [Expression]? {
        switch self {
        case .any(let parts): parts
        case .collate(let options, .any(let parts)): parts.map { .collate(options, $0) }
        default: nil
        }
    }

    /// Whether it is a path that begins with `name`.
    fileprivate func begins(with name: String) -> Bool {
        if case .path(let steps, _) = self { steps.first == .key(name) } else { false }
    }
}

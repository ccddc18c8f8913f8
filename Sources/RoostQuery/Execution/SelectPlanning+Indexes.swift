import RoostOrder

extension SelectPlanning {
    /// Finds the indexes that can answer conditions on a source, or give its rows the order asked for.
    func planIndexes(_ number: Int) throws(QueryError) {
        let source = plan.sources[number]
        guard case .documents(let collection, let access) = source.origin, access.isScan,
            !access.includesDeleted,
            source.hash == nil
        else { return }
        // What values are compared with is known before there are groups.
        let grouping = compiler.grouping
        compiler.grouping = nil
        defer { compiler.grouping = grouping }
        let on = number < select.sources.count ? select.sources[number].condition?.conjuncts ?? [] : []
        let conditions = source.join == .left ? on : conditions + on
        let matching = IndexMatching(conditions, source.number, compiler)
        let order = try wantedOrder(of: source.number)
        for index in try planner.indexes(of: collection) {
            switch matching.access(index, order: order) {
            case .success(let access): plan.sources[number].indexes.append(access)
            case .failure(let problem):
                plan.sources[number].unusedIndexes.append((index.description.name, problem.reason))
            }
        }
    }

    /// What the rows of the only source are to be ordered by, if its order is that of the answer.
    private func wantedOrder(
        of source: Int
    ) throws(QueryError) -> [(expression: Expression, collation: Collation, isDescending: Bool)] {
        guard plan.sources.count == 1, plan.grouping == nil, !plan.isDistinct, !plan.isOrdered else {
            return []
        }
        var order: [(expression: Expression, collation: Collation, isDescending: Bool)] = []
        for (expression, ordering) in zip(orderExpressions, plan.order) {
            guard let own = compiler.relative(expression.uncollated, to: source) else { return [] }
            order.append((own, ordering.collation, ordering.isDescending))
        }
        return order
    }
}

/// The rule for ranked search: the best documents of a search come first, so that few have to be read.
enum Ranking {
    /// Whether a query's only condition is a search, by whose rank its rows are ordered.
    static func isOrder(of query: BoundQuery, _ search: TextSearch?) -> Bool {
        guard let search, query.groups == nil, !query.isDistinct, query.conditions.count == 1,
            query.order.count == 1,
            query.order[0].isDescending, case .rank(let ranked) = query.order[0].expression.value
        else { return false }
        return ranked.number == search.number
    }
}

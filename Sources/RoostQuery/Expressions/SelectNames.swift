import Roost

/// Names in a query that stand for something else, as LiteCore has them: those of columns, and of collections with their scopes.
///
/// A column's name stands for the column in WHERE, GROUP BY, HAVING and ORDER BY; but not that of a column which is made of a
/// property of this name, so that `SELECT lower(name) AS name … WHERE name = 'Ada'` asks for the property.
struct SelectNames {
    private var columns: [ByteKey: Expression] = [:]
    /// The aliases of collections that are named with their scopes, by these.
    private var collections: [[ByteKey]: String] = [:]

    init(_ select: Select) {
        let aliases = Set(select.sources.map { ByteKey($0.alias.lowercased()) })
        for case .collection(let name, let collectionScope) in select.sources.map(\.origin)
        where !aliases.contains(ByteKey(collectionScope.lowercased())) {
            let isNamed = select.sources.contains { $0.alias == name }
            if isNamed { collections[[ByteKey(collectionScope), ByteKey(name)]] = name }
        }
        for column in select.columns {
            guard let alias = column.alias, !aliases.contains(ByteKey(alias.lowercased())),
                !column.value.mentions(alias)
            else { continue }
            columns[ByteKey(alias)] = columns[ByteKey(alias)] ?? column.value
        }
    }

    /// The query with what the names stand for.
    func resolved(_ select: Select) -> Select {
        guard !columns.isEmpty || !collections.isEmpty else { return select }
        var select = select
        for index in select.columns.indices {
            select.columns[index].value = withCollections(select.columns[index].value)
        }
        for index in select.sources.indices {
            select.sources[index].condition = select.sources[index].condition.map(withCollections)
            if case .elements(let array) = select.sources[index].origin {
                select.sources[index].origin = .elements(withCollections(array))
            }
        }
        select.condition = select.condition.map { withColumns($0, aggregates: false) }
        select.having = select.having.map { withColumns($0, aggregates: true) }
        // Those that are a column's name and nothing else are looked for later, with the columns at hand.
        select.groups = select.groups.map { $0.isName ? $0 : withColumns($0, aggregates: false) }
        for index in select.order.indices where !select.order[index].value.uncollated.isName {
            select.order[index].value = withColumns(select.order[index].value, aggregates: true)
        }
        return select
    }

    private func withCollections(_ expression: Expression) -> Expression {
        guard !collections.isEmpty else { return expression }
        return expression.replacing { part, variables in collection(part, variables) }
    }

    /// - Parameter aggregates: whether there are groups to ask for; where there are none, a name is that of a property.
    private func withColumns(
        _ expression: Expression, _ variables: Set<String> = [], aggregates: Bool
    ) -> Expression {
        expression.replacing(variables) { part, variables in
            if let path = collection(part, variables) { return path }
            if case .aggregate(let aggregate, let value?, let isDistinct) = part {
                // What is asked of the documents of a group.
                let value = withColumns(value, variables, aggregates: false)
                return .aggregate(aggregate, value, isDistinct: isDistinct)
            }
            guard case .path(let steps, _) = part, case .key(let name)? = steps.first,
                !variables.contains(name), let column = columns[ByteKey(name)],
                aggregates || !column.hasAggregate
            else { return nil }
            return withCollections(column).reaching(Array(steps.dropFirst()))
        }
    }

    private func collection(_ part: Expression, _ variables: Set<String>) -> Expression? {
        switch part {
        case .path(let steps, let place):
            guard steps.count >= 2, case .key(let scope) = steps[0], case .key(let name) = steps[1],
                !variables.contains(scope), let alias = collections[[ByteKey(scope), ByteKey(name)]]
            else { return nil }
            return .path([.key(alias)] + steps.dropFirst(2), place)
        case .meta(let field, let name?, let place):
            let parts = name.split(separator: ".", maxSplits: 1).map { ByteKey(String($0)) }
            return collections[parts].map { .meta(field, alias: $0, place) }
        default: return nil
        }
    }
}

extension Expression {
    /// Whether it is a name alone.
    fileprivate var isName: Bool { if case .path(let steps, _) = self { steps.count == 1 } else { false } }

    /// Whether a path in it begins with a name.
    fileprivate func mentions(_ name: String) -> Bool {
        if case .path(let steps, _) = self, steps.first == .key(name) { return true }
        return children.contains { $0.mentions(name) }
    }
}

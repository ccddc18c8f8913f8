extension Expression {
    /// The conditions that AND joins, or this one alone.
    var conjuncts: [Expression] {
        switch self {
        case .all(let parts): parts.flatMap(\.conjuncts)
        case .collate(let options, .all(let parts)):
            parts.flatMap { Expression.collate(options, $0).conjuncts }
        default: [self]
        }
    }

    /// Whether an aggregate is in it, those of queries within it aside.
    var hasAggregate: Bool {
        if case .aggregate = self { return true }
        return children.contains(where: \.hasAggregate)
    }

    /// Whether a window function is in it, those of queries within it aside.
    var hasWindow: Bool {
        if case .window = self { return true }
        return children.contains(where: \.hasWindow)
    }

    /// Whether words are looked for in it.
    var hasMatch: Bool {
        if case .match = self { return true }
        return children.contains(where: \.hasMatch)
    }

    /// Whether it is about a field of META() by name.
    func mentions(_ field: MetaField) -> Bool {
        switch self {
        case .meta(let named, _, _): named == field
        case .path(let steps, _): steps.first == .key(field.propertyName)
        default: children.contains { $0.mentions(field) }
        }
    }

    /// The expressions directly within this one; those of queries aside.
    var children: [Expression] {
        switch self {
        case .literal, .missing, .path, .variable, .meta, .parameter, .exists, .select, .rank: []
        case .member(let value, _), .negative(let value), .test(let value, _, _), .not(let value),
            .collate(_, let value),
            .match(_, let value, _):
            [value]
        case .array(let values), .concatenation(let values), .all(let values), .any(let values),
            .call(_, let values):
            values
        case .dictionary(let pairs): pairs.map(\.value)
        case .arithmetic(let first, let operations): [first] + operations.map(\.operand)
        case .comparison(_, let left, let right), .collation(_, let left, let right),
            .identity(let left, let right, _), .membership(let left, let right, _),
            .like(let left, let right, _),
            .quantified(_, _, let left, let right):
            [left, right]
        case .choice(let base, let branches, let otherwise):
            (base.map { [$0] } ?? []) + branches.flatMap { [$0.condition, $0.value] }
                + (otherwise.map { [$0] } ?? [])
        case .aggregate(_, let value, _, _): value.map { [$0] } ?? []
        case .window(let call):
            call.arguments + call.window.partition + call.window.order.map(\.value)
                + (call.window.frame?.offsets ?? [])
        }
    }

    /// Whether a path in it begins with a name.
    func mentions(_ name: String) -> Bool {
        if case .path(let steps, _) = self, steps.first == .key(name) { return true }
        return children.contains { $0.mentions(name) }
    }

    /// The expression without COLLATE around it.
    var uncollated: Expression {
        if case .collate(_, let inner) = self { return inner.uncollated }
        return self
    }

    /// What lies at `steps` within the value.
    func reaching(_ steps: [Step]) -> Expression {
        guard let first = steps.first else { return self }
        switch self {
        case .path(let before, let place): return .path(before + steps, place)
        case .meta(nil, let alias, let place):
            guard case .key(let name) = first,
                let field = MetaField.whole.first(where: { $0.rawValue == name })
            else { break }
            return Expression.meta(field, alias: alias, place).reaching(Array(steps.dropFirst()))
        default: break
        }
        return .member(self, steps)
    }
}

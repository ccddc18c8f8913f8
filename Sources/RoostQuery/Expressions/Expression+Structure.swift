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

    /// Whether words are looked for in it.
    var hasMatch: Bool {
        if case .match = self { return true }
        return children.contains(where: \.hasMatch)
    }

    /// Whether it may depend on what no index has of documents: when they are to be purged, and what is looked up beside them.
    var hasUnindexed: Bool {
        switch self {
        case .meta(let field, _, _): field?.isUnindexed ?? true
        case .path(let steps, _):
            if case .key(let name)? = steps.first {
                MetaField(propertyName: name)?.isUnindexed == true
            } else {
                false
            }
        default: children.contains(where: \.hasUnindexed)
        }
    }

    /// Whether it is about a field of META() by name.
    func mentions(_ field: MetaField) -> Bool {
        switch self {
        case .meta(let named, _, _): named == field
        case .path(let steps, _): steps.first == .key(field.propertyName)
        default: children.contains { $0.mentions(field) }
        }
    }

    /// Whether it speaks of no row, but for what variables are set to.
    var isOfVariables: Bool {
        switch self {
        case .path, .meta, .exists, .select, .match, .rank, .aggregate: false
        default: children.allSatisfy(\.isOfVariables)
        }
    }

    /// Whether it may depend on the time zone of whoever computes it.
    var hasLocalTime: Bool {
        if case .call(let function, _) = self, function.isOfLocalTime { return true }
        return children.contains(where: \.hasLocalTime)
    }

    /// The expressions directly within this one; those of queries aside.
    var children: [Expression] {
        switch self {
        case .literal, .missing, .path, .variable, .meta, .parameter, .exists, .select, .rank: []
        case .member(let value, _), .negative(let value), .test(let value, _, _), .not(let value),
            .collate(_, let value),
            .match(_, let value):
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
        case .aggregate(_, let value, _): value.map { [$0] } ?? []
        }
    }
}

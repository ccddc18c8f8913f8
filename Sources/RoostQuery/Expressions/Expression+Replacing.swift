extension Expression {
    /// The expression with others in the place of those of its parts for which `replacement` has one. Queries within it stay as
    /// they are.
    ///
    /// - Parameters:
    ///   - variables: the names that ANY and EVERY have given to elements.
    ///   - replacement: called with a part, and with these names.
    func replacing(
        _ variables: Set<String> = [], by replacement: (Expression, Set<String>) -> Expression?
    ) -> Expression {
        if let replaced = replacement(self, variables) { return replaced }
        func within(_ part: Expression) -> Expression { part.replacing(variables, by: replacement) }
        switch self {
        case .literal, .missing, .path, .variable, .meta, .parameter, .exists, .select, .rank: return self
        case .member(let value, let steps): return .member(within(value), steps)
        case .array(let parts): return .array(parts.map(within))
        case .dictionary(let pairs):
            return .dictionary(pairs.map { Pair(name: $0.name, value: within($0.value)) })
        case .arithmetic(let first, let operations):
            return .arithmetic(
                within(first),
                operations.map { Operation(arithmetic: $0.arithmetic, operand: within($0.operand)) })
        case .negative(let value): return .negative(within(value))
        case .concatenation(let parts): return .concatenation(parts.map(within))
        case .comparison(let comparison, let left, let right):
            return .comparison(comparison, within(left), within(right))
        case .collation(let comparison, let left, let right):
            return .collation(comparison, within(left), within(right))
        case .identity(let left, let right, let isNegated):
            return .identity(within(left), within(right), isNegated: isNegated)
        case .test(let value, let test, let isNegated):
            return .test(within(value), test, isNegated: isNegated)
        case .membership(let left, let right, let isNegated):
            return .membership(within(left), within(right), isNegated: isNegated)
        case .like(let left, let right, let isNegated):
            return .like(within(left), within(right), isNegated: isNegated)
        case .all(let parts): return .all(parts.map(within))
        case .any(let parts): return .any(parts.map(within))
        case .not(let value): return .not(within(value))
        case .choice(let base, let branches, let otherwise):
            return .choice(
                base.map(within),
                branches.map { Branch(condition: within($0.condition), value: within($0.value)) },
                otherwise: otherwise.map(within))
        case .quantified(let quantifier, let variable, let collection, let condition):
            return .quantified(
                quantifier, variable: variable, within(collection),
                satisfies: condition.replacing(variables.union([variable]), by: replacement))
        case .collate(let options, let value): return .collate(options, within(value))
        case .call(let function, let parts): return .call(function, parts.map(within))
        case .aggregate(let aggregate, let value, let isDistinct):
            return .aggregate(aggregate, value.map(within), isDistinct: isDistinct)
        case .match(let index, let text): return .match(index: index, within(text))
        }
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

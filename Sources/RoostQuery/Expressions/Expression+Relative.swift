import Roost

extension Compiler {
    /// An expression of the row of one source as it would be written if there were no other source: paths without the
    /// source's alias. `nil` for one that refers to anything else.
    ///
    /// So an expression in a query is recognized as the column of an index, whatever the source is called.
    func relative(_ expression: Expression, to source: Int) -> Expression? {
        func all(_ parts: [Expression]) -> [Expression]? {
            let relative = parts.compactMap { self.relative($0, to: source) }
            return relative.count == parts.count ? relative : nil
        }
        switch expression {
        case .literal, .missing: return expression
        case .path:
            guard let (number, steps) = sourcePath(expression), number == source else { return nil }
            if sourceKinds[source] == .collection, steps.count == 1, case .key(let name) = steps[0],
                let field = MetaField(propertyName: name)
            {
                return .meta(field, alias: nil, .unknown)
            }
            return .path(steps, .unknown)
        case .meta(let field, let alias, let place):
            return (try? self.source(alias, place)) == source ? .meta(field, alias: nil, .unknown) : nil
        case .member(let value, let steps): return relative(value, to: source).map { .member($0, steps) }
        case .negative(let value): return relative(value, to: source).map { .negative($0) }
        case .not(let value): return relative(value, to: source).map { .not($0) }
        case .collate(let options, let value):
            return relative(value, to: source).map { .collate(options, $0) }
        case .test(let value, let test, let isNegated):
            return relative(value, to: source).map { .test($0, test, isNegated: isNegated) }
        case .array(let parts): return all(parts).map { .array($0) }
        case .concatenation(let parts): return all(parts).map { .concatenation($0) }
        case .all(let parts): return all(parts).map { .all($0) }
        case .any(let parts): return all(parts).map { .any($0) }
        case .call(let function, let parts): return all(parts).map { .call(function, $0) }
        case .arithmetic(let first, let operations):
            return all([first] + operations.map(\.operand)).map { parts in
                .arithmetic(
                    parts[0],
                    zip(operations, parts.dropFirst()).map {
                        Operation(arithmetic: $0.arithmetic, operand: $1)
                    })
            }
        case .comparison(let comparison, let left, let right):
            return all([left, right]).map { .comparison(comparison, $0[0], $0[1]) }
        case .collation(let comparison, let left, let right):
            return all([left, right]).map { .collation(comparison, $0[0], $0[1]) }
        case .like(let left, let right, let isNegated):
            return all([left, right]).map { .like($0[0], $0[1], isNegated: isNegated) }
        case .membership(let left, let right, let isNegated):
            return all([left, right]).map { .membership($0[0], $0[1], isNegated: isNegated) }
        case .quantified(let quantifier, let variable, let value, let condition)
        where condition.isOfVariables:
            return relative(value, to: source).map {
                .quantified(quantifier, variable: variable, $0, satisfies: condition)
            }
        default: return nil
        }
    }
}

extension Expression {
    /// The expression without COLLATE around it.
    var uncollated: Expression {
        if case .collate(_, let inner) = self { return inner.uncollated }
        return self
    }
}

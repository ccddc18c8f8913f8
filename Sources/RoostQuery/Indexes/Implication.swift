import Roost
import RoostOrder

/// Whether conditions of a query imply the condition of a partial index.
struct Implication {
    /// The conditions of the query, as an index's own would be written.
    let conditions: [Expression]
    let compiler: Compiler

    /// Whether `wanted` holds wherever all of the conditions do.
    func implies(_ wanted: Expression) -> Bool { conditions.contains { implies($0, wanted) } }

    private func implies(_ condition: Expression, _ wanted: Expression) -> Bool {
        if condition == wanted { return true }
        switch wanted {
        case .test(let value, .valued, isNegated: false),
            .test(let value, .missing, isNegated: true), .test(let value, .null, isNegated: true):
            return compared(by: condition) == value
        case .comparison(let comparison, let value, .literal(let limit)):
            guard let (own, mine, given) = bound(condition), own == value else { return false }
            return implies(mine, given, comparison, limit)
        default: return false
        }
    }

    /// What has to have a value for a condition to hold.
    private func compared(by condition: Expression) -> Expression? {
        switch condition {
        case .comparison(_, let value, .literal), .comparison(_, let value, .parameter),
            .like(let value, _, isNegated: false), .membership(let value, _, isNegated: false):
            value
        default: nil
        }
    }

    private func bound(_ condition: Expression) -> (Expression, Comparison, DocumentValue)? {
        guard case .comparison(let comparison, let value, .literal(let limit)) = condition else { return nil }
        return (value, comparison, limit)
    }

    /// Whether what compares so with one value compares so with another one.
    private func implies(
        _ mine: Comparison, _ given: DocumentValue, _ wanted: Comparison, _ limit: DocumentValue
    ) -> Bool {
        // How strings compare is another matter: the conditions may stand within a COLLATE.
        guard let own = try? compiler.constant(given).value, let other = try? compiler.constant(limit).value,
            own.double != nil, other.double != nil
        else { return false }
        let order = own.compare(other, .binary)
        return switch (mine, wanted) {
        case (.equal, _): wanted.holds(order)
        case (.greater, .greater), (.greaterOrEqual, .greaterOrEqual), (.greater, .greaterOrEqual): order >= 0
        case (.greaterOrEqual, .greater): order > 0
        case (.less, .less), (.lessOrEqual, .lessOrEqual), (.less, .lessOrEqual): order <= 0
        case (.lessOrEqual, .less): order < 0
        default: false
        }
    }
}

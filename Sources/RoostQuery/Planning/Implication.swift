import Roost
import RoostOrder

/// The rule for partial indexes: whether conditions of a query imply the condition of an index.
struct Implication {
    /// The conditions of the query, as an index's own are bound.
    let conditions: [BoundExpression]

    /// Whether `wanted` holds wherever all of the conditions do.
    func implies(_ wanted: BoundExpression) -> Bool { conditions.contains { implies($0, wanted) } }

    private func implies(_ condition: BoundExpression, _ wanted: BoundExpression) -> Bool {
        if condition == wanted { return true }
        switch wanted {
        case .test(let value, .valued, isNegated: false),
            .test(let value, .missing, isNegated: true), .test(let value, .null, isNegated: true):
            return compared(by: condition) == value
        case .comparison(let comparison, let value, .literal(let limit), _):
            guard case .comparison(let mine, let own, .literal(let given), _) = condition, own == value else {
                return false
            }
            return implies(mine, given, comparison, limit)
        default: return false
        }
    }

    /// What has to have a value for a condition to hold.
    private func compared(by condition: BoundExpression) -> BoundExpression? {
        switch condition {
        case .comparison(_, let value, .literal, _), .comparison(_, let value, .parameter, _),
            .like(let value, _, _, isNegated: false), .membership(let value, _, _, isNegated: false):
            value
        default: nil
        }
    }

    /// Whether what compares so with one number compares so with another one. How texts compare is another matter.
    private func implies(
        _ mine: Comparison, _ given: DocumentValue, _ wanted: Comparison, _ limit: DocumentValue
    ) -> Bool {
        let constants = ConstantPool()
        guard given.double != nil, limit.double != nil, let own = try? constants.value(given),
            let other = try? constants.value(limit)
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

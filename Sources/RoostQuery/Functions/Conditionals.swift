import RoostOrder

/// Functions that look for what is null or missing.
enum Conditionals {
    static func evaluation(_ function: Function, _ values: [Evaluation], _ collation: Collation)
        -> Evaluation?
    {
        switch function {
        case .ifMissing: first(of: values, otherwise: .missing) { !$0.isMissing }
        case .ifNull: first(of: values, otherwise: .null) { !$0.isNull }
        case .ifMissingOrNull: first(of: values, otherwise: .null) { $0.isValued }
        case .missingIf: unless(values, .missing, collation)
        case .nullIf: unless(values, .null, collation)
        case .greatest: extreme(values, collation) { $0 > 0 }
        case .least: extreme(values, collation) { $0 < 0 }
        default: nil
        }
    }

    private static func first(
        of values: [Evaluation], otherwise: @autoclosure @escaping @Sendable () -> Value,
        where isWanted: @escaping @Sendable (Value) -> Bool
    ) -> Evaluation {
        { frame in
            for value in values {
                let value = value(frame)
                if isWanted(value) { return value }
            }
            return otherwise()
        }
    }

    /// The first value, or `replacement` where it is equal to the second.
    private static func unless(
        _ values: [Evaluation], _ replacement: @autoclosure @escaping @Sendable () -> Value,
        _ collation: Collation
    ) -> Evaluation {
        Arguments.two(values) { a, b, _ in a.compare(b, collation) == 0 ? replacement() : a }
    }

    /// The greatest or least of the values that are neither null nor missing.
    private static func extreme(
        _ values: [Evaluation], _ collation: Collation, _ isBetter: @escaping @Sendable (Int) -> Bool
    ) -> Evaluation {
        { frame in
            var best = Value.null
            for value in values {
                let value = value(frame)
                if value.isValued, !best.isValued || isBetter(value.compare(best, collation)) { best = value }
            }
            return best
        }
    }
}

import RoostOrder

/// Functions of arrays. Of anything else they yield null.
enum Arrays {
    static func evaluation(_ function: Function, _ values: [Evaluation], _ collation: Collation)
        -> Evaluation?
    {
        switch function {
        case .arraySum: ofElements(values[0]) { elements, _ in sum(elements).total }
        case .arrayAvg: ofElements(values[0]) { elements, _ in average(elements) }
        case .arrayMin: ofElements(values[0]) { elements, _ in extreme(elements, collation) { $0 < 0 } }
        case .arrayMax: ofElements(values[0]) { elements, _ in extreme(elements, collation) { $0 > 0 } }
        case .arrayCount:
            ofElements(values[0]) { elements, _ in
                .integer(Int64(elements.reduce(0) { $0 + ($1.isNull ? 0 : 1) }))
            }
        case .arrayLength: ofElements(values[0]) { elements, _ in .integer(Int64(elements.count)) }
        case .arrayIfNull: ofElements(values[0]) { elements, _ in elements.first { !$0.isNull } ?? .null }
        case .arrayContains:
            Arguments.two(values) { list, value, _ in
                guard let elements = list.arrayElements else { return .null }
                return .bool(Comparisons.contains(elements, value, collation))
            }
        case .arrayOf: { frame in frame.array(values.map { $0(frame) }) }
        default: nil
        }
    }

    private static func ofElements(
        _ value: @escaping Evaluation, _ body: @escaping @Sendable (Value.Elements, Frame) -> Value
    ) -> Evaluation {
        Arguments.one(value) { value, frame in value.arrayElements.map { body($0, frame) } ?? .null }
    }

    /// The sum and number of the elements that are numbers.
    private static func sum(_ elements: Value.Elements) -> (total: Value, count: Int) {
        var (total, count) = (Value.integer(0), 0)
        for element in elements where element.double != nil {
            total = Arithmetics.add(total, element)
            count += 1
        }
        return (total, count)
    }

    private static func average(_ elements: Value.Elements) -> Value {
        let (total, count) = sum(elements)
        guard count > 0, let total = total.double else { return .null }
        return .number(total / Double(count))
    }

    private static func extreme(_ elements: Value.Elements, _ collation: Collation, _ isBetter: (Int) -> Bool)
        -> Value
    {
        var best = Value.null
        for element in elements
        where element.isValued && (!best.isValued || isBetter(element.compare(best, collation))) {
            best = element
        }
        return best
    }
}

import Fleece
import RoostBytes
import RoostOrder

/// Functions of arrays and objects. Of anything else they yield null.
enum Arrays {
    static func evaluation(_ function: Function, _ values: [Evaluation], _ collation: Collation)
        -> Evaluation?
    {
        switch function {
        case .arraySum: ofElements(values[0]) { elements, _ in sum(elements).total }
        case .arrayAvg: ofElements(values[0]) { elements, _ in sum(elements).average }
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
        case .objectNames: ofMembers(values[0]) { members in members.map { .string($0.key) } }
        case .objectValues: ofMembers(values[0]) { members in members.map { Value($0.value) } }
        case .arrayOf: { frame in frame.array(values.map { $0(frame) }) }
        default: nil
        }
    }

    private static func ofElements(
        _ value: @escaping Evaluation, _ body: @escaping @Sendable (Value.Elements, Frame) -> Value
    ) -> Evaluation {
        Arguments.one(value) { value, frame in value.arrayElements.map { body($0, frame) } ?? .null }
    }

    private static func ofMembers(
        _ value: @escaping Evaluation,
        _ body: @escaping @Sendable ([(key: ByteView, value: FleeceNode)]) -> [Value]
    ) -> Evaluation {
        Arguments.one(value) { value, frame in
            guard case .dictionary(let node) = value else { return .null }
            return frame.array(body((0..<node.elementCount).compactMap { node.member($0) }))
        }
    }

    private static func sum(_ elements: Value.Elements) -> NumberSum {
        var sum = NumberSum()
        for element in elements { sum.add(element) }
        return sum
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

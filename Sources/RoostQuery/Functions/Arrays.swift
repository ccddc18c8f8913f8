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

// MARK: - Selectors

/// The conditions of Mango that have no counterpart elsewhere. None of them holds of what is missing.
enum Selectors {
    static func evaluation(_ function: Function, _ values: [Evaluation], _ collation: Collation) -> Evaluation
    {
        let (field, argument) = (values[0], values[1])
        switch function {
        case .keysOf: return { keys(of: field($0), $0) }
        case .at:
            return { frame in
                (argument(frame).arrayElements.map(Array.init) ?? []).reduce(field(frame)) {
                    member($1, of: $0)
                }
            }
        default: break
        }
        let holds: @Sendable (Value, Value) -> Bool =
            switch function {
            case .holdsAll: { holdsAll($0, $1, collation) }
            case .hasSize:
                { value, size in
                    guard let elements = value.arrayElements else { return false }
                    return Int64(elements.count) == size.wholeNumber
                }
            case .hasRemainder: { hasRemainder($0, $1) }
            case .beginsWith:
                { value, prefix in
                    guard let text = value.text, let prefix = prefix.text else { return false }
                    return text.count >= prefix.count && text.slice(0, prefix.count).compare(prefix) == 0
                }
            case .hasType: { value, name in name.string == typeName(value) }
            default: { isAmong($0, $1, collation) }
            }
        return { frame in
            let value = field(frame)
            return .bool(!value.isMissing && holds(value, argument(frame)))
        }
    }

    private static func equals(_ a: Value, _ b: Value, _ collation: Collation) -> Bool {
        a.rank == b.rank && a.compare(b, collation) == 0
    }

    /// `$in`: equal to one of the arguments; of an array, one of whose elements is, which the array itself is not.
    private static func isAmong(_ value: Value, _ arguments: Value, _ collation: Collation) -> Bool {
        guard let arguments = arguments.arrayElements else { return false }
        guard var elements = value.arrayElements else {
            return Comparisons.contains(arguments, value, collation)
        }
        while let element = elements.next() {
            if Task.isCancelled { return false }
            if Comparisons.contains(arguments, element, collation) { return true }
        }
        return false
    }

    /// `$all`: an array with every argument; a single argument that is an array may also be the array itself.
    private static func holdsAll(_ value: Value, _ arguments: Value, _ collation: Collation) -> Bool {
        guard let elements = value.arrayElements, let arguments = arguments.arrayElements, arguments.count > 0
        else {
            return false
        }
        var wanted = arguments
        if arguments.count == 1, let only = wanted.next(), case .array = only, equals(value, only, collation)
        {
            return true
        }
        for argument in arguments {
            guard !Task.isCancelled, Comparisons.contains(elements, argument, collation) else { return false }
        }
        return true
    }

    /// `$mod`: [divisor, remainder], of integers, the remainder with the sign of the dividend.
    private static func hasRemainder(_ value: Value, _ arguments: Value) -> Bool {
        guard let number = value.whole, case .array(let node) = arguments,
            let divisor = Value(node[0]).whole, let remainder = Value(node[1]).whole, divisor != 0
        else { return false }
        return number % divisor == remainder
    }

    /// The member of an object by its name, or the element of an array whose place, counted from 0, the name is.
    private static func member(_ name: Value, of value: Value) -> Value {
        guard let name = name.text else { return .missing }
        switch value {
        case .dictionary(let node): return Value(node[name])
        case .array(let node):
            guard let place = Int(name.string), 0..<node.elementCount ~= place else { return .missing }
            return Value(node[place])
        default: return .missing
        }
    }

    /// The names of an object's members.
    private static func keys(of value: Value, _ frame: Frame) -> Value {
        guard case .dictionary(let node) = value else { return .null }
        return frame.array((0..<node.elementCount).compactMap { node.member($0).map { .string($0.key) } })
    }

    private static func typeName(_ value: Value) -> String {
        switch value {
        case .missing: "missing"
        case .null: "null"
        case .bool: "boolean"
        case .integer, .unsigned, .double, .decimal: "number"
        case .string, .data: "string"
        case .array: "array"
        case .dictionary: "object"
        }
    }
}

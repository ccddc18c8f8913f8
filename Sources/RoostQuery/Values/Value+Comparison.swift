import Fleece
import RoostBytes
import RoostOrder

extension Value {
    /// The place of a value's kind in the order of all values: null, truth values, numbers, strings, arrays, dictionaries,
    /// data; as CouchDB orders JSON.
    @inline(__always)
    var rank: Int {
        switch self {
        case .missing: 0
        case .null: 1
        case .bool: 2
        case .integer, .unsigned, .double, .decimal: 3
        case .string: 4
        case .array: 5
        case .dictionary: 6
        case .data: 7
        }
    }

    /// How two values of any kinds are ordered: negative, zero or positive. Integers and floating-point numbers compare by
    /// what they are worth, exactly; strings as `order` says.
    @inline(__always)
    func compare(_ other: Value, _ order: Collation) -> Int {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.double(let a), .double(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.string(let a), .string(let b)): order.compare(texts: a, b)
        default: compareMixed(other, order)
        }
    }

    private func compareMixed(_ other: Value, _ order: Collation) -> Int {
        let ranks = rank - other.rank
        guard ranks == 0 else { return ranks }
        switch (self, other) {
        case (.bool(let a), .bool(let b)): return (a ? 1 : 0) - (b ? 1 : 0)
        case (.data(let a), .data(let b)): return a.compare(b)
        case (.array, .array):
            return compareElements(elements, other.elements, order)
        case (.dictionary(let a), .dictionary(let b)):
            return Self.compareMembers(a, b, order)
        default: return compareNumbers(other)
        }
    }

    private func compareElements(_ mine: Elements?, _ others: Elements?, _ order: Collation) -> Int {
        guard var mine, var others else { return 0 }
        while let value = mine.next() {
            guard let otherValue = others.next() else { return 1 }
            let result = value.compare(otherValue, order)
            if result != 0 { return result }
        }
        return others.next() == nil ? 0 : -1
    }

    /// Member by member, the name before the value; the shorter first when all of it is alike.
    private static func compareMembers(_ a: FleeceNode, _ b: FleeceNode, _ order: Collation) -> Int {
        for index in 0..<min(a.elementCount, b.elementCount) {
            guard let left = a.member(index), let right = b.member(index) else { continue }
            let names = order.compare(texts: left.key, right.key)
            if names != 0 { return names }
            let values = Value(left.value).compare(Value(right.value), order)
            if values != 0 { return values }
        }
        return a.elementCount - b.elementCount
    }

    private func compareNumbers(_ other: Value) -> Int {
        switch (self, other) {
        case (.unsigned(let a), .unsigned(let b)): return a < b ? -1 : a > b ? 1 : 0
        case (.integer, .unsigned): return -1
        case (.unsigned, .integer): return 1
        case (.integer(let a), .double(let b)): return Self.compare(Double(a), b) { Self.exact(a, b) }
        case (.double(let a), .integer(let b)): return Self.compare(a, Double(b)) { -Self.exact(b, a) }
        case (.unsigned(let a), .double(let b)): return Self.compare(Double(a), b) { Self.exact(a, b) }
        case (.double(let a), .unsigned(let b)): return Self.compare(a, Double(b)) { -Self.exact(b, a) }
        case (.decimal, _): return computable.compare(other, .binary)
        case (_, .decimal): return compare(other.computable, .binary)
        default: return 0
        }
    }

    /// Rounding never turns an order around; where both come out alike, `exact` decides.
    private static func compare(_ a: Double, _ b: Double, exact: () -> Int) -> Int {
        a < b ? -1 : a > b ? 1 : exact()
    }

    /// Compares an integer with a double that it rounds to, and which is whole therefore or below 2⁵³.
    private static func exact<T: FixedWidthInteger>(_ integer: T, _ double: Double) -> Int {
        // Only 2⁶³ and 2⁶⁴ don't fit, and are beyond every integer that rounds to them.
        guard let other = T(exactly: double) else { return -1 }
        return integer < other ? -1 : integer > other ? 1 : 0
    }
}

extension UInt8 {
    /// The lowercase letter for one of A to Z; anything else as it is.
    var asciiLowercased: UInt8 { self &- 65 < 26 ? self | 0x20 : self }
}

extension KeyEncoder {
    /// Appends the key of a value. What is nested deeper than a body may be, as damage leaves it, counts as null.
    func append(_ value: Value) {
        switch value {
        case .missing: appendMissing()
        case .null: appendNull()
        case .bool(let value): append(value)
        case .integer(let value): append(value)
        case .unsigned(let value): append(value)
        case .double(let value): append(value)
        case .string(let text): append(text: text)
        case .data(let bytes): append(data: bytes)
        case .array(let node), .dictionary(let node), .decimal(let node): append(cutting: node)
        }
    }
}

import Fleece
import Roost
import RoostBytes
import RoostOrder

/// A value while a row is looked at: a scalar, or a place in bytes that another object owns.
///
/// Trivial to copy. Strings and collections point into a document's body, the ``Arena``, or the constants of a program,
/// and are good for as long as these are: until the next row.
enum Value {
    /// No value at all: a property that is not there. Different from null, which is a value.
    case missing
    case null
    case bool(Bool)
    case integer(Int64)
    /// A whole number beyond `Int64`.
    case unsigned(UInt64)
    /// A finite number.
    case double(Double)
    /// A decimal whose digits no number carries, and a dictionary has. It compares as the floating-point number nearest to it.
    case decimal(FleeceNode)
    /// Well-formed UTF-8.
    case string(ByteView)
    case data(ByteView)
    case array(FleeceNode)
    case dictionary(FleeceNode)

    /// What a node in a body holds.
    @inline(__always)
    init(_ node: FleeceNode) {
        switch node.content {
        case .undefined: self = .missing
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .data(let value): self = .data(value)
        case .array: self = .array(node)
        case .dictionary: self = Self.isDecimal(node) ? .decimal(node) : .dictionary(node)
        }
    }

    /// Most dictionaries have not two members, and are no decimals.
    @inline(__always)
    private static func isDecimal(_ node: FleeceNode) -> Bool {
        node.elementCount == 2 && node.nearestToDecimal != nil
    }

    /// What a place in a collection holds, missing where there is none.
    @inline(__always)
    init(_ node: FleeceNode?) { self = node.map { Value($0) } ?? .missing }

    /// The number, or null when it is not finite: queries know no infinity.
    @inline(__always)
    static func number(_ value: Double) -> Value { value.isFinite ? .double(value) : .null }

    /// The truth value, where `nil` is null.
    @inline(__always)
    static func truth(_ value: Bool?) -> Value { value.map(Value.bool) ?? .null }

    var isMissing: Bool { if case .missing = self { true } else { false } }
    var isNull: Bool { if case .null = self { true } else { false } }
    /// Whether this is neither null nor missing.
    @inline(__always)
    var isValued: Bool {
        switch self {
        case .missing, .null: false
        default: true
        }
    }

    /// Whether this is true for certain: what WHERE, HAVING and ON keep.
    @inline(__always)
    var isTrue: Bool { if case .bool(true) = self { true } else { false } }
}

extension Value {
    /// The number as floating point; `nil` for anything else.
    @inline(__always)
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .double(let value): value
        case .decimal(let node): node.nearestToDecimal
        default: nil
        }
    }

    /// The value to compute with: of a decimal the number that is nearest to it.
    @inline(__always)
    var computable: Value {
        if case .decimal(let node) = self { .number(node.nearestToDecimal ?? 0) } else { self }
    }

    /// The number as an integer, if it is whole and fits; `nil` for anything else.
    var wholeNumber: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number where it is whole and not floating point; `nil` for anything else.
    var whole: Int128? {
        switch self {
        case .integer(let value): Int128(value)
        case .unsigned(let value): Int128(value)
        default: nil
        }
    }

    /// A whole number; floating point where it doesn't fit in 64 bits.
    static func whole(_ number: Int128) -> Value {
        if let integer = Int64(exactly: number) { return .integer(integer) }
        return UInt64(exactly: number).map(Value.unsigned) ?? .double(Double(number))
    }

    /// The UTF-8 of a string; `nil` for anything else.
    @inline(__always)
    var text: ByteView? { if case .string(let text) = self { text } else { nil } }

    /// The string; `nil` for anything else. Copies it.
    var string: String? { text?.string }

    /// The elements of an array, or the values of a dictionary, in order; `nil` for anything else.
    var elements: Elements? {
        switch self {
        case .array(let node): Elements(node: node, isDictionary: false)
        case .dictionary(let node): Elements(node: node, isDictionary: true)
        default: nil
        }
    }

    /// The elements of an array; `nil` for anything else.
    var arrayElements: Elements? {
        if case .array(let node) = self { Elements(node: node, isDictionary: false) } else { nil }
    }

    /// The values in a collection.
    struct Elements: Sequence, IteratorProtocol {
        let node: FleeceNode
        let isDictionary: Bool
        let count: Int
        private var index = 0

        init(node: FleeceNode, isDictionary: Bool) {
            self.node = node
            self.isDictionary = isDictionary
            count = node.elementCount
        }

        mutating func next() -> Value? {
            guard index < count else { return nil }
            defer { index += 1 }
            // An undefined element, which no JSON makes, counts as null.
            let value = isDictionary ? Value(node.member(index)?.value) : Value(node[index])
            return value.isMissing ? .null : value
        }
    }
}

extension ByteView {
    /// The text that the bytes are the UTF-8 of.
    var string: String { unsafe String(decoding: buffer, as: UTF8.self) }
}

extension FleeceWriter {
    /// Writes a value; missing as null.
    mutating func write(_ value: Value) {
        switch value {
        case .missing, .null: writeNull()
        case .bool(let value): write(value)
        case .integer(let value): write(value)
        case .unsigned(let value): write(value)
        case .double(let value): write(value)
        case .string(let text): write(utf8: text)
        case .data(let bytes): write(data: bytes)
        case .array(let node), .dictionary(let node), .decimal(let node): write(node)
        }
    }
}

// MARK: - Comparison

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

// MARK: - Owned value

/// A value that stays when the row it came from is gone.
enum OwnedValue {
    /// A scalar without bytes.
    case scalar(Value)
    case string([UInt8])
    case data([UInt8])
    /// A collection, as a Fleece body.
    case collection([UInt8])

    init(_ value: Value) {
        switch value {
        case .string(let text): self = .string(text.array)
        case .data(let bytes): self = .data(bytes.array)
        case .array, .dictionary, .decimal:
            var writer = FleeceWriter()
            writer.write(value)
            // A collection of a stored body can be written; should damage make it deeper than allowed, it is null.
            self = (try? writer.finish()).map(OwnedValue.collection) ?? .scalar(.null)
        default: self = .scalar(value)
        }
    }

    /// The value, whose bytes are kept in `arena`.
    func value(in arena: Arena) -> Value {
        switch self {
        case .scalar(let value): value
        case .string(let bytes): .string(arena.copy(bytes))
        case .data(let bytes): .data(arena.copy(bytes))
        case .collection(let body): Value(FleeceNode(root: arena.copy(body)))
        }
    }

    /// About how many bytes of memory it takes.
    var size: Int {
        switch self {
        case .scalar: 32
        case .string(let bytes), .data(let bytes), .collection(let bytes): 64 + bytes.count
        }
    }
}

// MARK: - Number sum

/// Adds numbers up, whole ones exactly: their sum depends neither on their order nor on where some of them were added before.
struct NumberSum {
    /// How many numbers there are, and how many of these are whole.
    var count: UInt64 = 0
    var whole: UInt64 = 0
    /// The sum of the whole ones, which 2⁶³ of them don't exceed.
    var sum: Int128 = 0
    /// The sum of the others.
    var rest = 0.0

    /// Adds a value, if it is a number.
    @inline(__always)
    mutating func add(_ value: Value) {
        switch value {
        case .integer(let number):
            whole &+= 1
            sum &+= Int128(number)
        case .unsigned(let number):
            whole &+= 1
            sum &+= Int128(number)
        case .double(let number): rest += number
        case .decimal: rest += value.double ?? 0
        default: return
        }
        count &+= 1
    }

    mutating func add(_ other: Self) {
        count &+= other.count
        whole &+= other.whole
        sum &+= other.sum
        rest += other.rest
    }

    /// The sum: whole where all numbers are and it fits in 64 bits; 0 of none.
    var total: Value { whole == count ? .whole(sum) : .number(Double(sum) + rest) }

    /// The total; null of none.
    var totalOfAny: Value { count == 0 ? .null : total }

    /// Null of no numbers.
    var average: Value {
        guard count > 0, let total = total.double else { return .null }
        return .number(total / Double(count))
    }
}

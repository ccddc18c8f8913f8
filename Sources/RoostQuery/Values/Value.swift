import Fleece
import Roost
import RoostBytes

/// A value while a row is looked at: a scalar, or a place in bytes that somebody else keeps.
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

import Fleece
import RoostBytes

/// Functions that ask for a value's kind, or make another kind of it.
enum Kinds {
    static func evaluation(_ function: Function, _ values: [Evaluation]) -> Evaluation? {
        let value = values.first ?? { _ in .missing }
        switch function {
        case .type: return Arguments.one(value) { value, frame in frame.string(name(of: value)) }
        case .isArray: return test(value) { if case .array = $0 { true } else { false } }
        case .isObject: return test(value) { if case .dictionary = $0 { true } else { false } }
        case .isString: return test(value) { $0.text != nil }
        case .isNumber: return test(value) { $0.double != nil }
        case .isBoolean: return test(value) { if case .bool = $0 { true } else { false } }
        case .isAtom: return test(value) { isAtom($0) }
        case .toArray:
            return Arguments.one(value) { value, frame in
                if case .array = value { value } else { frame.array([value]) }
            }
        case .toObject:
            return Arguments.one(value) { value, frame in
                if case .dictionary = value { return value }
                return frame.collection { writer in
                    writer.beginDictionary()
                    writer.endDictionary()
                }
            }
        case .toAtom: return Arguments.one(value) { value, _ in atom(value) }
        case .toBoolean: return Arguments.one(value) { value, _ in .bool(isTruthy(value)) }
        case .toNumber: return Arguments.one(value) { value, _ in number(value) }
        case .toString: return Arguments.one(value) { value, frame in text(value).map(frame.string) ?? .null }
        case .castInteger: return Arguments.one(value) { value, _ in integer(value) }
        case .castDouble:
            return Arguments.one(value) { value, _ in number(value).double.map(Value.number) ?? .null }
        case .castBoolean: return Arguments.one(value) { value, _ in truth(value) }
        default: return nil
        }
    }

    /// A number, or what is one as text, without its fraction.
    private static func integer(_ value: Value) -> Value {
        let whole = Numbers.cut(number(value))
        if case .double = whole { return .null }
        return whole
    }

    private static let truths: [String: Bool] = [
        "true": true, "t": true, "yes": true, "y": true, "on": true, "1": true,
        "false": false, "f": false, "no": false, "n": false, "off": false, "0": false,
    ]

    /// A truth value, or what is one as a number or text.
    private static func truth(_ value: Value) -> Value {
        switch value {
        case .bool: value
        case .string(let text): .truth(text.count <= 5 ? truths[text.string.lowercased()] : nil)
        default: .truth(value.double.map { $0 != 0 })
        }
    }

    private static func test(_ value: @escaping Evaluation, _ body: @escaping @Sendable (Value) -> Bool)
        -> Evaluation
    {
        Arguments.one(value) { value, _ in .bool(body(value)) }
    }

    private static func name(of value: Value) -> String {
        switch value {
        case .missing: "missing"
        case .null: "null"
        case .bool: "boolean"
        case .integer, .unsigned, .double, .decimal: "number"
        case .string: "string"
        case .array: "array"
        case .dictionary: "object"
        case .data: "binary"
        }
    }

    private static func isAtom(_ value: Value) -> Bool {
        switch value {
        case .bool, .integer, .unsigned, .double, .decimal, .string: true
        default: false
        }
    }

    /// A scalar as it is; of a collection with one element, that element, unwrapped as well.
    private static func atom(_ value: Value) -> Value {
        var value = value
        // No deeper than a body may be.
        for _ in 0...FleeceLimits.maximumDepth {
            if isAtom(value) { return value }
            guard var elements = value.elements, elements.count == 1, let only = elements.next() else {
                return .null
            }
            value = only
        }
        return .null
    }

    private static func isTruthy(_ value: Value) -> Bool {
        switch value {
        case .bool(let value): value
        case .string(let text): text.count > 0
        case .array(let node), .dictionary(let node): node.elementCount > 0
        default: value.double.map { $0 != 0 } ?? true
        }
    }

    private static func number(_ value: Value) -> Value {
        switch value {
        case .integer, .unsigned, .double: return value
        case .decimal: return value.computable
        case .bool(let value): return .integer(value ? 1 : 0)
        case .string(let text):
            // What Swift reads besides JSON's numbers, such as "0x10" and "inf", is none.
            guard text.count <= 400, (0..<text.count).allSatisfy({ isNumeric(text[$0]) }) else {
                return .null
            }
            let string = text.string
            if let integer = Int64(string) { return .integer(integer) }
            if let unsigned = UInt64(string) { return .unsigned(unsigned) }
            return Double(string).map(Value.number) ?? .null
        default: return .null
        }
    }

    private static func isNumeric(_ byte: UInt8) -> Bool {
        byte &- 48 < 10 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
            || byte | 0x20 == UInt8(ascii: "e")
    }

    /// A scalar as text; `nil` for anything else.
    static func text(_ value: Value) -> String? {
        switch value {
        case .string(let text): return text.string
        case .bool(let value): return value ? "true" : "false"
        case .integer(let number): return "\(number)"
        case .unsigned(let number): return "\(number)"
        case .double(let number): return number.javaScriptText
        case .decimal(let node): return node.decimalDigits?.string
        default: return nil
        }
    }
}

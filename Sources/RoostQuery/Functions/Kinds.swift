import Fleece
import RoostBytes
import RoostOrder

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

// MARK: - Conditionals

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

// MARK: - Function

/// A function of expressions. ``FunctionTable`` has the names of those that queries can call, and what they take.
enum Function: String, Hashable, Sendable, CaseIterable {
    // Arrays and objects.
    case arrayAvg = "array_avg", arraySum = "array_sum", arrayMin = "array_min", arrayMax = "array_max"
    case arrayCount = "array_count", arrayLength = "array_length", arrayContains = "array_contains"
    case arrayIfNull = "array_ifnull", arrayOf = "array_of"
    case objectNames = "object_names", objectValues = "object_values"
    // Null and missing.
    case ifMissing = "ifmissing", ifNull = "ifnull", ifMissingOrNull = "ifmissingornull"
    case missingIf = "missingif", nullIf = "nullif", greatest, least
    // Numbers.
    case abs, acos, asin, atan, atan2, ceil, cos, degrees, div, idiv, e, exp, floor, ln, log, log2, mod, pi
    case power, radians, round, roundEven = "round_even", sign, sin, sqrt, tan, trunc
    // Strings.
    case concat, contains, length, lower, upper, ltrim, rtrim, trim
    case substr, left, right, instr, replace, reverse, split, lpad, rpad
    case repeated = "repeat", startsWith = "starts_with", endsWith = "ends_with"
    case regexpContains = "regexp_contains", regexpLike = "regexp_like"
    case regexpPosition = "regexp_position", regexpReplace = "regexp_replace"
    // Kinds.
    case isArray = "isarray", isAtom = "isatom", isBoolean = "isboolean", isNumber = "isnumber"
    case isObject = "isobject", isString = "isstring", type
    case toArray = "toarray", toAtom = "toatom", toBoolean = "toboolean", toNumber = "tonumber"
    case toObject = "toobject", toString = "tostring"
    case castInteger = "cast_integer", castDouble = "cast_double", castBoolean = "cast_boolean"
    case castDate = "cast_date", castTimestamp = "cast_timestamp"
    // Dates.
    case millisToStr = "millis_to_str", millisToUTC = "millis_to_utc", millisToTZ = "millis_to_tz"
    case strToMillis = "str_to_millis", strToUTC = "str_to_utc", strToTZ = "str_to_tz"
    case dateDiffStr = "date_diff_str", dateDiffMillis = "date_diff_millis"
    case dateAddStr = "date_add_str", dateAddMillis = "date_add_millis"
    case datePart = "date_part", dateTrunc = "date_trunc"
    /// The content of a blob that a property names.
    case blob
    // Mango's conditions; no text of a query reaches them.
    case holdsAll = "$all", hasSize = "$size", hasRemainder = "$mod", matches = "$regex"
    case beginsWith = "$beginsWith", hasType = "$type", isAmong = "$in"
    case keysOf = "$keys", at = "$at"

    /// The function of that name, in letters of any case.
    init?(name: String) {
        guard case .function(let function)? = FunctionTable.entry(named: name)?.target else { return nil }
        self = function
    }

    /// Whether it takes texts without a zone for local time, or makes such texts.
    var isOfLocalTime: Bool {
        switch self {
        case .millisToStr, .strToMillis, .strToUTC, .strToTZ, .dateDiffStr, .dateAddStr: true
        default: false
        }
    }
}

/// A function of expressions, by the name that all languages know it under.
enum Function: String, Hashable, Sendable, CaseIterable {
    // Arrays.
    case arrayAvg = "array_avg", arraySum = "array_sum", arrayMin = "array_min", arrayMax = "array_max"
    case arrayCount = "array_count", arrayLength = "array_length", arrayContains = "array_contains"
    case arrayIfNull = "array_ifnull", arrayOf = "array_of"
    // Null and missing.
    case ifMissing = "ifmissing", ifNull = "ifnull", ifMissingOrNull = "ifmissingornull"
    case missingIf = "missingif", nullIf = "nullif", greatest, least
    // Numbers.
    case abs, acos, asin, atan, atan2, ceil, cos, degrees, div, idiv, e, exp, floor, ln, log, pi, power
    case radians, round, roundEven = "round_even", sign, sin, sqrt, tan, trunc
    // Strings.
    case concat, contains, length, lower, upper, ltrim, rtrim, trim
    case regexpContains = "regexp_contains", regexpLike = "regexp_like"
    case regexpPosition = "regexp_position", regexpReplace = "regexp_replace"
    // Kinds.
    case isArray = "isarray", isAtom = "isatom", isBoolean = "isboolean", isNumber = "isnumber"
    case isObject = "isobject", isString = "isstring", type
    case toArray = "toarray", toAtom = "toatom", toBoolean = "toboolean", toNumber = "tonumber"
    case toObject = "toobject", toString = "tostring"
    // Dates.
    case millisToStr = "millis_to_str", millisToUTC = "millis_to_utc", millisToTZ = "millis_to_tz"
    case strToMillis = "str_to_millis", strToUTC = "str_to_utc", strToTZ = "str_to_tz"
    case dateDiffStr = "date_diff_str", dateDiffMillis = "date_diff_millis"
    case dateAddStr = "date_add_str", dateAddMillis = "date_add_millis"
    /// The content of a blob that a property names.
    case blob
    // Mango's conditions; no text of a query reaches them.
    case holdsAll = "$all", hasSize = "$size", hasRemainder = "$mod", matches = "$regex"
    case beginsWith = "$beginsWith", hasType = "$type", isAmong = "$in"
    case keysOf = "$keys", at = "$at"

    /// Other names for some of them.
    private static let aliases: [String: Function] = [
        "typename": .type, "is_array": .isArray, "is_atom": .isAtom, "is_boolean": .isBoolean,
        "is_number": .isNumber, "is_object": .isObject, "is_string": .isString, "to_array": .toArray,
        "to_atom": .toAtom, "to_boolean": .toBoolean, "to_number": .toNumber, "to_object": .toObject,
        "to_string": .toString, "pow": .power,
    ]

    /// The function of that name, in letters of any case.
    init?(name: String) {
        let name = name.lowercased()
        guard let function = Function(rawValue: name) ?? Self.aliases[name], !function.isHidden else {
            return nil
        }
        self = function
    }

    private var isHidden: Bool { rawValue.hasPrefix("$") }

    /// The names that a text may use.
    static var names: [String] { allCases.filter { !$0.isHidden }.map { $0.rawValue.uppercased() } }

    /// How many arguments it takes.
    var argumentCount: ClosedRange<Int> {
        switch self {
        case .e, .pi: 0...0
        case .arrayContains, .missingIf, .nullIf, .atan2, .div, .idiv, .power, .contains, .regexpContains,
            .regexpLike, .regexpPosition, .holdsAll, .hasSize, .hasRemainder, .matches, .beginsWith, .hasType,
            .isAmong, .keysOf, .at:
            2...2
        case .arrayOf, .concat: 0...Self.mostArguments
        case .ifMissing, .ifNull, .ifMissingOrNull, .greatest, .least: 1...Self.mostArguments
        case .round, .roundEven, .trunc, .ltrim, .rtrim, .trim, .millisToStr, .millisToUTC, .strToUTC: 1...2
        case .regexpReplace: 3...4
        case .millisToTZ, .strToTZ: 2...3
        case .dateDiffStr, .dateDiffMillis, .dateAddMillis: 3...3
        case .dateAddStr: 3...4
        default: 1...1
        }
    }

    private static let mostArguments = 1000

    /// Whether it takes texts without a zone for local time, or makes such texts.
    var isOfLocalTime: Bool {
        switch self {
        case .millisToStr, .strToMillis, .strToUTC, .strToTZ, .dateDiffStr, .dateAddStr: true
        default: false
        }
    }

    /// What is wrong with a call with `count` arguments; `nil` when nothing is.
    func problem(withArguments count: Int) -> String? {
        guard !argumentCount.contains(count) else { return nil }
        let (least, most) = (argumentCount.lowerBound, argumentCount.upperBound)
        let wanted =
            least == most
            ? "\(least)" : most == Self.mostArguments ? "at least \(least)" : "\(least) to \(most)"
        return "\(rawValue)() takes \(wanted) argument\(wanted == "1" ? "" : "s"), and \(count) are given"
    }
}

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

import Roost

/// All functions that queries can call: what queries are read by, `help functions` prints, and the documentation lists.
package enum FunctionTable {
    /// What a function is about.
    package enum Topic: String, Sendable, CaseIterable {
        case text = "Text"
        case numbers = "Numbers"
        case dates = "Dates"
        case conditions = "Null and missing"
        case kinds = "Kinds"
        case collections = "Arrays and objects"
        case aggregates = "Aggregates"
        case windows = "Windows"
        case documents = "Documents and indexes"
    }

    /// A function.
    package struct Entry: Sendable {
        /// The name that this documentation uses, in small letters; all names may be in letters of any case.
        package let name: String
        /// Names that mean the same.
        package let aliases: [String]
        /// What it takes, parted by commas: `?` is behind what can be omitted, and `…` stands for any number of values.
        package let arguments: String
        /// What it yields.
        package let meaning: String
        /// What it is about.
        package let topic: Topic
        let target: Target

        /// How it is called: `substr(text, start, length?)`.
        package var usage: String { target.isForm ? arguments : "\(name)(\(arguments))" }
    }

    /// What calls of a name become.
    enum Target: Sendable, Hashable {
        case function(Function)
        case aggregate(Aggregate.Name)
        case window(WindowFunction.Name)
        /// date_part() of this part.
        case part(DateField)
        /// Something with a grammar of its own, which the parser knows.
        case form

        var isForm: Bool { self == .form }
    }

    /// The functions of a topic, in the order of the documentation.
    package static func entries(of topic: Topic) -> [Entry] { all.filter { $0.topic == topic } }

    /// The function with that name, in letters of any case.
    package static func entry(named name: String) -> Entry? { byName[name.lowercased()].map { all[$0] } }

    /// All names, in capitals.
    static let names = byName.filter { !all[$0.value].target.isForm }.keys.map { $0.uppercased() }.sorted()

    private static let byName: [String: Int] = {
        var places: [String: Int] = [:]
        for (place, entry) in all.enumerated() {
            for name in [entry.name] + entry.aliases { places[name] = place }
        }
        return places
    }()

    /// What is said of a function that there is not.
    static func unknown(_ name: String) -> String {
        "There is no function \(name)()\(Suggestion.text(for: name, among: names))"
    }

    private static let mostArguments = 1000

    /// What is wrong with a call with `count` arguments; `nil` when nothing is.
    static func problem(of entry: Entry, withArguments count: Int) -> String? {
        let arguments = entry.arguments.split(separator: ",").map { $0.trimmingPrefix(" ") }
        let isOpen = arguments.last == "…"
        let named = isOpen ? arguments.dropLast() : arguments[...]
        let least = named.count { !$0.hasSuffix("?") }
        let most = isOpen ? mostArguments : named.count
        guard !(least...most).contains(count) else { return nil }
        let wanted = least == most ? "\(least)" : isOpen ? "at least \(least)" : "\(least) to \(most)"
        return
            "\(entry.name)() takes \(wanted) argument\(wanted == "1" ? "" : "s"), and \(count) are given"
    }

    // MARK: The list

    private static func list(
        _ topic: Topic, _ functions: [(Target, arguments: String, aliases: String, meaning: String)]
    ) -> [Entry] {
        functions.map { target, arguments, aliases, meaning in
            let name =
                switch target {
                case .function(let function): function.rawValue
                case .aggregate(let aggregate): aggregate.rawValue
                case .window(let function): function.rawValue
                case .part(let field): field.rawValue
                case .form: String(arguments.prefix { $0 != "(" }).lowercased()
                }
            return Entry(
                name: name, aliases: aliases.split(separator: " ").map(String.init), arguments: arguments,
                meaning: meaning, topic: topic, target: target)
        }
    }

    package static let all =
        list(.text, text) + list(.numbers, numbers) + list(.dates, dates) + list(.conditions, conditions)
        + list(.kinds, kinds) + list(.collections, collections) + list(.aggregates, aggregates)
        + list(.windows, windows) + list(.documents, documents)

    private typealias Row = (Target, arguments: String, aliases: String, meaning: String)

    private static let text: [Row] = [
        (.function(.concat), "…", "", "the texts, numbers and truth values one after the other, as `||`"),
        (.function(.contains), "text, part", "", "whether the text has the part in it, as COLLATE compares"),
        (.function(.startsWith), "text, part", "prefix", "whether the text begins with the part"),
        (.function(.endsWith), "text, part", "suffix", "whether the text ends with the part"),
        (
            .function(.instr), "text, part", "strpos",
            "where the part begins, counted from 1; 0 where it is not there"
        ),
        (
            .function(.length), "text", "char_length character_length",
            "how many characters (Unicode scalars) the text has"
        ),
        (.function(.lower), "text", "lcase", "the text in small letters"),
        (.function(.upper), "text", "ucase", "the text in capitals"),
        (
            .function(.substr), "text, start, length?", "substring",
            "a part of the text: positions count from 1, negative ones from the end; a negative length takes what is before"
        ),
        (
            .function(.left), "text, count", "",
            "the first characters; with a negative count, all but so many of the last"
        ),
        (
            .function(.right), "text, count", "",
            "the last characters; with a negative count, all but so many of the first"
        ),
        (
            .function(.trim), "text, characters?", "btrim",
            "the text without white space, or the characters, at both ends"
        ),
        (.function(.ltrim), "text, characters?", "", "the same at the beginning"),
        (.function(.rtrim), "text, characters?", "", "the same at the end"),
        (
            .function(.lpad), "text, length, filler?", "",
            "the text with spaces, or the filler, before it up to a length; cut to it where longer"
        ),
        (.function(.rpad), "text, length, filler?", "", "the same with what fills behind it"),
        (.function(.replace), "text, part, other", "", "the text with another one for each part"),
        (.function(.repeated), "text, count", "", "the text so many times"),
        (.function(.reverse), "text", "", "the text from its last character to its first"),
        (
            .function(.split), "text, separator?", "string_split str_split",
            "an array of what is between separators; between white space without one"
        ),
        (
            .function(.regexpContains), "text, expression", "regexp_matches",
            "whether a regular expression matches somewhere in the text"
        ),
        (.function(.regexpLike), "text, expression", "", "the same"),
        (
            .function(.regexpPosition), "text, expression", "",
            "where the first match begins, counted from 0; -1 where there is none"
        ),
        (
            .function(.regexpReplace), "text, expression, other, count?", "",
            "the text with another one for each match; in it `$1` is what the first group took"
        ),
    ]

    private static let numbers: [Row] = [
        (.function(.abs), "number", "", "the number without its sign"),
        (.function(.sign), "number", "", "-1, 0 or 1"),
        (.function(.ceil), "number", "ceiling", "the next whole number up"),
        (.function(.floor), "number", "", "the next whole number down"),
        (
            .function(.round), "number, digits?", "",
            "rounded to so many digits behind the point, halves away from 0"
        ),
        (.function(.roundEven), "number, digits?", "", "the same, halves to the even neighbour"),
        (.function(.trunc), "number, digits?", "", "the same, towards 0"),
        (
            .function(.div), "a, b", "fdiv",
            "the quotient as floating point; `/` of two integers is an integer"
        ),
        (.function(.idiv), "a, b", "", "the quotient of the numbers without their fractions, as an integer"),
        (.function(.mod), "a, b", "", "the remainder, as `%`"),
        (.function(.power), "base, exponent", "pow", "the power"),
        (.function(.sqrt), "number", "", "the square root"),
        (.function(.exp), "number", "", "e to the power of the number"),
        (.function(.ln), "number", "", "the natural logarithm"),
        (.function(.log), "number", "log10", "the logarithm to the base 10"),
        (.function(.log2), "number", "", "the logarithm to the base 2"),
        (.function(.sin), "angle", "", "the sine of an angle in radians"),
        (.function(.cos), "angle", "", "the cosine"),
        (.function(.tan), "angle", "", "the tangent"),
        (.function(.asin), "number", "", "the angle with that sine"),
        (.function(.acos), "number", "", "the angle with that cosine"),
        (.function(.atan), "number", "", "the angle with that tangent"),
        (.function(.atan2), "y, x", "", "the angle of a point"),
        (.function(.degrees), "angle", "", "radians in degrees"),
        (.function(.radians), "angle", "", "degrees in radians"),
        (.function(.pi), "", "", "3.14159…"),
        (.function(.e), "", "", "2.71828…"),
    ]

    private static let dates: [Row] = [
        (
            .function(.datePart), "part, when", "datepart date_part_str date_part_millis",
            "a part of a date as a number: see below for the parts; in either order"
        ),
        (
            .function(.dateTrunc), "part, when", "date_trunc_str date_trunc_millis",
            "the beginning of the year, month, week … that a date is in; in either order"
        ),
        (.form, "EXTRACT(part FROM when)", "", "as `date_part`"),
        (.part(.year), "when", "", "the year of a date, as `date_part('year', when)`"),
        (.part(.quarter), "when", "", "the quarter, 1 to 4"),
        (.part(.month), "when", "", "the month, 1 to 12"),
        (.part(.week), "when", "weekofyear", "the week of ISO 8601, 1 to 53"),
        (.part(.day), "when", "dayofmonth", "the day of the month"),
        (.part(.dayOfYear), "when", "dayofyear", "the day of the year, 1 to 366"),
        (.part(.dayOfWeek), "when", "dayofweek weekday", "the day of the week, 0 for Sunday to 6"),
        (.part(.isoDayOfWeek), "when", "", "the day of the week, 1 for Monday to 7"),
        (.part(.hour), "when", "", "the hour, 0 to 23"),
        (.part(.minute), "when", "", "the minute"),
        (.part(.second), "when", "", "the second"),
        (
            .function(.strToMillis), "text", "epoch_ms",
            "a date as milliseconds since 1970"
        ),
        (.function(.strToUTC), "text, format?", "", "a date in UTC"),
        (.function(.strToTZ), "text, minutes, format?", "", "a date in a zone so many minutes ahead of UTC"),
        (.function(.millisToStr), "millis, format?", "", "milliseconds since 1970 as a date in local time"),
        (.function(.millisToUTC), "millis, format?", "", "the same in UTC"),
        (.function(.millisToTZ), "millis, minutes, format?", "", "the same in a zone"),
        (.function(.dateAddStr), "text, count, part, format?", "", "a date moved by so many years, days …"),
        (.function(.dateAddMillis), "millis, count, part", "", "the same for milliseconds"),
        (
            .function(.dateDiffStr), "text, text, part", "",
            "how many times a unit begins between the second date and the first"
        ),
        (.function(.dateDiffMillis), "millis, millis, part", "", "the same for milliseconds"),
    ]

    private static let conditions: [Row] = [
        (
            .function(.ifMissingOrNull), "value, …", "coalesce nvl",
            "the first value that is neither missing nor null"
        ),
        (.function(.ifMissing), "value, …", "", "the first value that is not missing"),
        (.function(.ifNull), "value, …", "", "the first value that is not null"),
        (.function(.nullIf), "a, b", "", "the first value; null where both are equal"),
        (.function(.missingIf), "a, b", "", "the first value; missing where both are equal"),
        (.form, "IIF(condition, value, other?)", "if", "as `CASE WHEN condition THEN value ELSE other END`"),
        (.function(.greatest), "value, …", "", "the greatest of the values that are there"),
        (.function(.least), "value, …", "", "the least of the values that are there"),
    ]

    private static let kinds: [Row] = [
        (
            .form, "CAST(value AS type)", "try_cast",
            "the value as INTEGER, DOUBLE, NUMERIC, TEXT, BOOLEAN, DATE or TIMESTAMP, also as `value::type`; null where it is none"
        ),
        (
            .function(.castInteger), "value", "",
            "a number, text or truth value as an integer, its fraction cut off"
        ),
        (.function(.castDouble), "value", "", "the same as floating point"),
        (
            .function(.castBoolean), "value", "",
            "a number, or a text such as 'true', 'no' and '1', as a truth value"
        ),
        (.function(.castDate), "when", "", "the date as 'YYYY-MM-DD'"),
        (.function(.castTimestamp), "when", "", "the date with its time, as in ISO 8601"),
        (
            .function(.type), "value", "typename typeof",
            "'string', 'number', 'boolean', 'array', 'object', 'binary'; null of null"
        ),
        (.function(.isArray), "value", "is_array", "whether it is an array"),
        (.function(.isAtom), "value", "is_atom", "whether it is a text, number or truth value"),
        (.function(.isBoolean), "value", "is_boolean", "whether it is a truth value"),
        (.function(.isNumber), "value", "is_number", "whether it is a number"),
        (.function(.isObject), "value", "is_object", "whether it is an object"),
        (.function(.isString), "value", "is_string", "whether it is a text"),
        (.function(.toArray), "value", "to_array", "an array as it is, anything else in an array"),
        (.function(.toAtom), "value", "to_atom", "the only element of an array, as far as there is one"),
        (.function(.toBoolean), "value", "to_boolean", "false for 0, '', [] and {}"),
        (.function(.toNumber), "value", "to_number", "a text as a number"),
        (.function(.toObject), "value", "to_object", "an object as it is, {} for anything else"),
        (.function(.toString), "value", "to_string", "a number or truth value as text"),
    ]

    private static let collections: [Row] = [
        (.function(.arrayOf), "…", "list_value json_array", "an array of the values"),
        (
            .function(.arrayLength), "array", "len cardinality json_array_length",
            "how many elements there are"
        ),
        (.function(.arrayCount), "array", "", "how many elements are not null"),
        (
            .function(.arrayContains), "array, value", "list_contains list_has",
            "whether a value is among the elements"
        ),
        (.function(.arraySum), "array", "list_sum", "the sum of the numbers in it"),
        (.function(.arrayAvg), "array", "list_avg", "their average"),
        (.function(.arrayMin), "array", "list_min", "the least element"),
        (.function(.arrayMax), "array", "list_max", "the greatest element"),
        (.function(.arrayIfNull), "array", "", "the first element that is not null"),
        (.function(.objectNames), "object", "json_keys", "an array of the names in an object"),
        (.function(.objectValues), "object", "", "an array of the values in an object"),
    ]

    private static let aggregates: [Row] = [
        (.aggregate(.count), "value?", "", "how many values there are; of `*` or nothing, how many rows"),
        (.aggregate(.sum), "number", "", "the sum; null of none"),
        (.aggregate(.avg), "number", "mean", "the average"),
        (.aggregate(.min), "value", "", "the least value"),
        (.aggregate(.max), "value", "", "the greatest value"),
        (.aggregate(.median), "number", "", "the value in the middle, or between the two there"),
        (
            .aggregate(.percentileCont), "number, fraction", "quantile_cont",
            "the value that a fraction of the numbers, such as 0.9, is at most; interpolated"
        ),
        (
            .aggregate(.percentileDisc), "number, fraction", "quantile quantile_disc",
            "the same, as one of the numbers"
        ),
        (
            .aggregate(.standardDeviation), "number", "stddev stdev",
            "the standard deviation of a sample; null of fewer than two"
        ),
        (.aggregate(.populationDeviation), "number", "", "that of a population"),
        (.aggregate(.variance), "number", "variance", "the variance of a sample"),
        (.aggregate(.populationVariance), "number", "", "that of a population"),
        (
            .aggregate(.joined), "text, separator?", "string_agg listagg",
            "the texts one after the other, with commas or the separator between them"
        ),
        (.aggregate(.arrayAggregate), "value", "list group_array json_group_array", "an array of the values"),
    ]

    private static let windows: [Row] = [
        (.window(.rowNumber), "", "", "the number of the row in its partition, from 1"),
        (
            .window(.denseRank), "", "",
            "as `rank()`, without gaps: how many different values there are up to the row's"
        ),
        (.window(.percentRank), "", "", "`rank()` from 0 to 1"),
        (
            .window(.cumulativeDistribution), "", "",
            "the part of the partition that does not come after the row or its peers"
        ),
        (.window(.ntile), "count", "", "the number of the row's part, of so many equally large ones"),
        (
            .window(.lag), "value, rows?, otherwise?", "",
            "the value of the row before, or so many before; null, or the other value, where there is none"
        ),
        (.window(.lead), "value, rows?, otherwise?", "", "the same of a row behind"),
        (.window(.firstValue), "value", "", "the value of the first row of the frame"),
        (.window(.lastValue), "value", "", "that of the last one"),
        (.window(.nthValue), "value, number", "", "that of the row with a number in the frame, from 1"),
    ]

    private static let documents: [Row] = [
        (
            .form, "META(source?)", "",
            "`.id`, `.revisionID`, `.sequence`, `.deleted` and `.expiration` of a document"
        ),
        (.function(.blob), "property", "", "the content of a blob, as data"),
        (.form, "MATCH(index, text)", "", "whether a full-text index finds the document"),
        (
            .form, "RANK(index)", "",
            "how well the document fits what MATCH looked for; `rank() OVER (…)`, without an index, is the number of the first row that is "
                + "equal in the window's order"
        ),
    ]
}

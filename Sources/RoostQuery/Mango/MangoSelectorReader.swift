import Roost

/// Brings a selector to its normal form.
struct MangoSelectorReader {
    private typealias Condition = MangoSelector.Condition
    private typealias Test = MangoSelector.Test

    private var depth = 0
    /// How many conditions on elements this one is in.
    private var elementDepth = 0
    private static let deepest = SQLParser.deepest

    private static let operators =
        Array(MangoSelector.comparisons.keys.sorted()) + MangoSelector.Elements.allCases.map(\.rawValue) + [
            "$exists", "$type", "$in", "$nin", "$size", "$mod", "$regex", "$beginsWith", "$all", "$and",
            "$or",
            "$nor", "$not", "$text",
        ]
    /// Operators of MongoDB that CouchDB knows and does not have.
    private static let unsupported = ["$where", "$geoWithin", "$geoIntersects", "$near", "$nearSphere"]
    private static let kinds = ["null", "boolean", "number", "string", "array", "object"]

    // MARK: Structure

    /// All members of an object, which is not empty: fields, operators and combinations.
    mutating func object(
        _ members: NamedValues<DocumentValue>, _ path: [Step], isNegated: Bool
    ) throws(QueryError) -> MangoSelector.Condition {
        guard depth < Self.deepest else {
            throw QueryError("The selector is nested more than \(Self.deepest) deep", word: "bad_field")
        }
        depth += 1
        defer { depth -= 1 }
        var parts: [Condition] = []
        for (name, value) in members { parts.append(try member(name, value, path, isNegated)) }
        return parts.count == 1 ? parts[0] : isNegated ? .any(parts) : .all(parts)
    }

    private mutating func member(
        _ name: String, _ value: DocumentValue, _ path: [Step], _ isNegated: Bool
    ) throws(QueryError) -> Condition {
        guard name.hasPrefix("$") else {
            return try condition(value, path + (try MangoSelector.steps(name)), isNegated)
        }
        switch name {
        case "$and", "$or", "$nor":
            guard case .array(let items) = value else {
                throw Self.badArgument("\(name) takes an array of selectors")
            }
            return try combination(name, items, path, isNegated)
        case "$not":
            guard case .dictionary = value else { throw Self.badArgument("$not takes a selector") }
            guard elementDepth > 0 else { return try condition(value, path, !isNegated) }
            return .not(try condition(value, path, false))
        case "$text":
            guard path.isEmpty, elementDepth == 0 else {
                throw QueryError(
                    "$text searches whole documents: it stands at the top of a selector, not in a field. For "
                        + "words of a column, write {\"$text\": \"title: owl\"}", word: "bad_field")
            }
            return .text(value, isNegated: isNegated)
        default:
            let test = try test(name, value)
            if path.isEmpty, elementDepth == 0 {
                throw QueryError("\(name) must be said of a field", word: "invalid_selector")
            }
            return .field(path, isNegated ? test.negated : test)
        }
    }

    private mutating func combination(
        _ name: String, _ items: [DocumentValue], _ path: [Step], _ isNegated: Bool
    ) throws(QueryError) -> Condition {
        let isInElement = elementDepth > 0
        let negatesItems = isNegated != (name == "$nor" && !isInElement)
        var parts: [Condition] = []
        for item in items { parts.append(try condition(item, path, negatesItems)) }
        if isInElement, name == "$nor" { return parts.isEmpty ? .all([]) : .not(.any(parts)) }
        return (name == "$and") != negatesItems ? .all(parts) : .any(parts)
    }

    /// What is said of a field: an object with operators or further fields, or a value that it is equal to.
    private mutating func condition(
        _ value: DocumentValue, _ path: [Step], _ isNegated: Bool
    ) throws(QueryError) -> Condition {
        if case .dictionary(let members) = value, !members.isEmpty {
            return try object(members, path, isNegated: isNegated)
        }
        guard !path.isEmpty || elementDepth > 0 || value == [:] else {
            throw QueryError("A selector is expected, and \(value) was found", word: "invalid_selector")
        }
        return .field(path, .comparison(isNegated ? .unequal : .equal, value))
    }

    // MARK: Operators

    private static func badArgument(_ message: String) -> QueryError { QueryError(message, word: "bad_arg") }

    private mutating func test(_ name: String, _ value: DocumentValue) throws(QueryError) -> Test {
        if let comparison = MangoSelector.comparisons[name] { return .comparison(comparison, value) }
        if let elements = MangoSelector.Elements(rawValue: name) {
            guard case .dictionary = value else { throw Self.badArgument("\(name) takes a selector") }
            elementDepth += 1
            defer { elementDepth -= 1 }
            return .elements(elements, try condition(value, [], false), isNegated: false)
        }
        switch name {
        case "$exists":
            guard case .bool(let exists) = value else {
                throw Self.badArgument("$exists takes true or false")
            }
            return .exists(exists)
        case "$in", "$nin":
            guard case .array = value else { throw Self.badArgument("\(name) takes an array") }
            return .among(value, isNegated: name == "$nin")
        default:
            return .operation(try operation(name, value), value, isNegated: false)
        }
    }

    /// The function that an operator without an opposite is.
    private func operation(_ name: String, _ value: DocumentValue) throws(QueryError) -> Function {
        switch name {
        case "$type":
            guard let kind = value.string, Self.kinds.contains(kind) else {
                throw Self.badArgument("$type takes one of \(Self.kinds.joined(separator: ", "))")
            }
            return .hasType
        case "$size":
            guard let size = value.int, size >= 0 else {
                throw Self.badArgument("$size takes a whole number, not negative")
            }
            return .hasSize
        case "$mod":
            guard case .array(let parts) = value, parts.count == 2, case .integer(let divisor) = parts[0],
                case .integer = parts[1], divisor != 0
            else {
                throw Self.badArgument(
                    "$mod takes [divisor, remainder], both whole numbers and the divisor not 0")
            }
            return .hasRemainder
        case "$all":
            guard case .array = value else { throw Self.badArgument("$all takes an array") }
            return .holdsAll
        case "$regex":
            guard let pattern = value.string else { throw Self.badArgument("$regex takes a string") }
            do throws(QueryError) {
                _ = try RegularExpression(pattern)
            } catch {
                throw Self.badArgument(error.message)
            }
            return .matches
        case "$beginsWith":
            guard value.string != nil else {
                throw QueryError("$beginsWith takes a string", word: "invalid_operator")
            }
            return .beginsWith
        default:
            throw QueryError(
                "There is no operator \(name)\(Suggestion.text(for: name, among: Self.operators))",
                word: Self.unsupported.contains(name) ? "not_supported" : "invalid_operator")
        }
    }
}

import Roost

/// What a selector says, in the normal form that CouchDB gives it before it looks at documents: implicit conditions are written out, paths
/// are whole, and negations are moved to the conditions that they negate.
struct MangoSelector {
    /// `nil` for the empty selector, which every document matches.
    let condition: Condition?

    /// What must hold of a document, or of an element of an array.
    indirect enum Condition {
        /// All of these hold. An empty list holds, here and in ``any(_:)``.
        case all([Condition])
        case any([Condition])
        /// Of an element, the condition does not hold, whatever the reason. In documents negations are moved inwards.
        case not(Condition)
        /// A test of the value that a path leads to. Without steps it is of the document or the element itself.
        case field([Step], Test)
        /// Words are found by a full-text index.
        case text(DocumentValue, isNegated: Bool)
    }

    /// What is said of one value. A test of a field holds only where the field exists, but for `exists(false)`.
    enum Test {
        case comparison(Comparison, DocumentValue)
        /// `$in`, and `$nin`.
        case among(DocumentValue, isNegated: Bool)
        case exists(Bool)
        /// An operator that has no opposite.
        case operation(Function, DocumentValue, isNegated: Bool)
        /// A condition on elements of an array or keys of an object.
        case elements(Elements, Condition, isNegated: Bool)

        var negated: Test {
            switch self {
            case .comparison(let comparison, let value): .comparison(comparison.negated, value)
            case .among(let values, let isNegated): .among(values, isNegated: !isNegated)
            case .exists(let exists): .exists(!exists)
            case .operation(let function, let value, let isNegated):
                .operation(function, value, isNegated: !isNegated)
            case .elements(let elements, let condition, let isNegated):
                .elements(elements, condition, isNegated: !isNegated)
            }
        }
    }

    /// What a condition on elements asks of how many of them.
    enum Elements: String, CaseIterable {
        case someElement = "$elemMatch"
        case everyElement = "$allMatch"
        case someKey = "$keyMapMatch"
    }

    /// Whether it is an empty list of conditions and nothing else. CouchDB's `_find` finds no document by one, though each of them matches.
    var isEmptyList: Bool {
        switch condition {
        case .all(let parts), .any(let parts): parts.isEmpty
        case .not, .field, .text, nil: false
        }
    }

    /// - Throws: `QueryError` for a selector that is malformed.
    init(_ selector: DocumentValue) throws(QueryError) {
        guard case .dictionary(let members) = selector else {
            throw QueryError(
                "A selector is an object, such as {\"stars\": {\"$gt\": 3}}", word: "invalid_selector_json")
        }
        guard !members.isEmpty else {
            condition = nil
            return
        }
        var reader = MangoSelectorReader()
        let condition = try reader.object(members, [], isNegated: false)
        if case .field([], _) = condition {
            throw QueryError("A condition has no field: write {\"field\": {…}}", word: "invalid_selector")
        }
        self.condition = condition
    }

    static let comparisons: [String: Comparison] = [
        "$eq": .equal, "$ne": .unequal, "$lt": .less, "$lte": .lessOrEqual, "$gt": .greater,
        "$gte": .greaterOrEqual,
    ]

    /// `a.b\.c`, each step a name; a leading `\$` is a dollar sign.
    static func steps(_ name: String) throws(QueryError) -> [Step] {
        let names = names(name)
        guard names.allSatisfy({ !$0.isEmpty }) else {
            throw QueryError("The field name \(name.debugDescription) has an empty part", word: "bad_field")
        }
        guard names.count <= 512 else {
            throw QueryError("A field's path has more than 512 steps", word: "bad_field")
        }
        return names.map(Step.key)
    }

    /// The names that dots part. By scalars: a dot that a combining character follows is a dot.
    static func names(_ name: String) -> [String] {
        var names: [String.UnicodeScalarView] = [.init()]
        var isEscaped = false
        for scalar in name.unicodeScalars {
            let last = names.count - 1
            if isEscaped {
                if scalar != ".", scalar != "$", scalar != "\\" { names[last].append("\\") }
                names[last].append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "." {
                names.append(.init())
            } else {
                names[last].append(scalar)
            }
        }
        if isEscaped { names[names.count - 1].append("\\") }
        return names.map { String($0) }
    }

    /// A path as a selector names it.
    static func name(_ path: [Step]) -> String {
        let name = path.names.map { $0.replacing("\\", with: "\\\\").replacing(".", with: "\\.") }.joined(
            separator: ".")
        return name.hasPrefix("$") ? "\\\(name)" : name
    }
}

extension [Step] {
    /// The names of a path that has no indexes.
    var names: [String] { compactMap { step in if case .key(let name) = step { name } else { nil } } }

    static let documentID: [Step] = [.key("_id")]
    static let revision: [Step] = [.key("_rev")]
}

// MARK: Writing

extension MangoSelector {
    /// The normal form as a selector, which has this same normal form.
    var json: DocumentValue { condition?.json ?? [:] }
}

extension MangoSelector.Condition {
    fileprivate var json: DocumentValue {
        switch self {
        case .all(let parts): return ["$and": .array(parts.map(\.json))]
        case .any(let parts): return ["$or": .array(parts.map(\.json))]
        case .not(let condition): return ["$not": condition.json]
        case .text(let words, let isNegated):
            return isNegated ? ["$not": ["$text": words]] : ["$text": words]
        case .field(let path, let test):
            guard !path.isEmpty else { return test.json }
            var field: NamedValues<DocumentValue> = [:]
            field[MangoSelector.name(path)] = test.json
            return .dictionary(field)
        }
    }
}

extension MangoSelector.Test {
    fileprivate var json: DocumentValue {
        func named(_ name: String, _ value: DocumentValue, isNegated: Bool = false) -> DocumentValue {
            var members: NamedValues<DocumentValue> = [:]
            members[name] = value
            return isNegated ? ["$not": .dictionary(members)] : .dictionary(members)
        }
        switch self {
        case .comparison(let comparison, let value):
            let name = MangoSelector.comparisons.first { $0.value == comparison }?.key ?? ""
            return named(name, value)
        case .among(let values, let isNegated): return named(isNegated ? "$nin" : "$in", values)
        case .exists(let exists): return ["$exists": .bool(exists)]
        case .operation(let function, let value, let isNegated):
            return named(function.rawValue, value, isNegated: isNegated)
        case .elements(let elements, let condition, let isNegated):
            return named(elements.rawValue, condition.json, isNegated: isNegated)
        }
    }
}

// MARK: - Mango selector reader

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

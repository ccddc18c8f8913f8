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

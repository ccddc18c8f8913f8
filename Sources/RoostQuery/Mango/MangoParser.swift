import Fleece
import Roost

/// Reads CouchDB's Mango selectors, with the meaning that CouchDB's tests and documentation (`/db/_find`) give them.
///
/// Negations are pushed down to the conditions before anything is evaluated, so that a condition on a field that is not
/// there never holds, negated or not.
struct MangoParser {
    private var depth = 0
    private var variableCount = 0
    private static let deepest = SQLParser.deepest

    /// The condition that a selector is.
    static func condition(_ selector: DocumentValue) throws(QueryError) -> Expression {
        guard case .dictionary(let members) = selector else {
            throw QueryError("A selector is an object, such as {\"stars\": {\"$gt\": 3}}")
        }
        var parser = MangoParser()
        let condition = try parser.object(members, .document, isNegated: false)
        return .collate(CollationOptions(isUnicode: true), condition)
    }

    /// What a condition is about.
    private indirect enum Field {
        case document
        /// A variable of `$elemMatch` and its like.
        case variable(String)
        case member(Field, [Step])

        var expression: Expression {
            switch self {
            case .document: .path([], .unknown)
            case .variable(let name): .variable(name, [], .unknown)
            case .member(.document, let steps): MangoParser.path(steps) { .path($0, .unknown) }
            case .member(.variable(let name), let steps):
                MangoParser.path(steps) { .variable(name, $0, .unknown) }
            case .member(.member(let field, let first), let rest):
                Field.member(field, first + rest).expression
            }
        }

        /// The fields that this one is within.
        var ancestors: [Field] {
            switch self {
            case .document, .variable: []
            case .member(.member(let field, let first), let rest): Field.member(field, first + rest).ancestors
            case .member(let base, let steps):
                steps.indices.dropFirst().map { .member(base, Array(steps[..<$0])) }
            }
        }
    }

    /// A path from where `base` begins. A name that is a number is a member's, or the place of an element of an array.
    static func path(_ steps: [Step], _ base: ([Step]) -> Expression) -> Expression {
        let names = steps.map { step in if case .key(let name) = step { name } else { "" } }
        guard let place = names.firstIndex(where: { $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else {
            return base(steps)
        }
        let rest = DocumentValue.array(names[place...].map { .string($0) })
        return .call(.at, [base(Array(steps[..<place])), .literal(rest)])
    }

    // MARK: Structure

    /// All members of an object: fields and combinations.
    private mutating func object(
        _ members: NamedValues<DocumentValue>, _ field: Field, isNegated: Bool
    ) throws(QueryError) -> Expression {
        guard depth < Self.deepest else {
            throw QueryError("The selector is nested more than \(Self.deepest) deep")
        }
        depth += 1
        defer { depth -= 1 }
        var parts: [Expression] = []
        for (name, value) in members {
            parts.append(try member(name, value, field, isNegated))
        }
        return Self.combine(parts, all: !isNegated)
    }

    private static func combine(_ parts: [Expression], all: Bool) -> Expression {
        if parts.count == 1 { return parts[0] }
        if parts.isEmpty { return .literal(.bool(all)) }
        return all ? .all(parts) : .any(parts)
    }

    private mutating func member(
        _ name: String, _ value: DocumentValue, _ field: Field, _ isNegated: Bool
    ) throws(QueryError) -> Expression {
        guard name.hasPrefix("$") else {
            return try condition(value, .member(field, try Self.steps(name)), isNegated)
        }
        switch name {
        case "$and", "$or", "$nor":
            guard case .array(let items) = value else {
                throw QueryError("\(name) takes an array of selectors")
            }
            // An empty list holds, whichever it is.
            guard !items.isEmpty else { return .literal(.bool(!isNegated)) }
            let negated = isNegated != (name == "$nor")
            var parts: [Expression] = []
            for item in items { parts.append(try condition(item, field, negated)) }
            return Self.combine(parts, all: (name == "$and") != negated)
        case "$not": return try condition(value, field, !isNegated)
        default: return try operation(name, value, field, isNegated)
        }
    }

    /// What is said of a field: an object with operators or further fields, or a value that it is equal to.
    private mutating func condition(
        _ value: DocumentValue, _ field: Field, _ isNegated: Bool
    ) throws(QueryError) -> Expression {
        guard case .dictionary(let members) = value, !members.isEmpty else {
            if case .document = field {
                guard value == [:] else { throw QueryError("A selector is expected, and \(value) was found") }
                return .literal(.bool(!isNegated))
            }
            return comparison(isNegated ? .unequal : .equal, value, field)
        }
        return try object(members, field, isNegated: isNegated)
    }

    /// `a.b\.c`, each step a name; a leading `\$` is a dollar sign.
    static func steps(_ name: String) throws(QueryError) -> [Step] {
        var names: [String] = [""]
        var characters = name.makeIterator()
        while let character = characters.next() {
            switch character {
            case ".": names.append("")
            case "\\":
                guard let next = characters.next() else { names[names.count - 1] += "\\"; continue }
                names[names.count - 1] += next == "." || next == "$" || next == "\\" ? "\(next)" : "\\\(next)"
            default: names[names.count - 1].append(character)
            }
        }
        guard names.allSatisfy({ !$0.isEmpty }) else {
            throw QueryError("The field name \(name.debugDescription) has an empty part")
        }
        guard names.count <= 512 else { throw QueryError("A field's path has more than 512 steps") }
        return names.map(Step.key)
    }

    // MARK: Operators

    private static let operators = [
        "$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$exists", "$type", "$in", "$nin", "$size", "$mod",
        "$regex",
        "$beginsWith", "$all", "$elemMatch", "$allMatch", "$keyMapMatch", "$and", "$or", "$nor", "$not",
        "$text",
    ]
    static let comparisons: [String: Comparison] = [
        "$eq": .equal, "$ne": .unequal, "$lt": .less, "$lte": .lessOrEqual, "$gt": .greater,
        "$gte": .greaterOrEqual,
    ]

    private func comparison(_ comparison: Comparison, _ value: DocumentValue, _ field: Field) -> Expression {
        // To CouchDB, IDs are greater than whatever is no string.
        if Self.isID(field), value.string == nil {
            return .literal(.bool([.greater, .greaterOrEqual, .unequal].contains(comparison)))
        }
        return Self.collated(.collation(comparison, field.expression, .literal(value)), field)
    }

    /// A condition on a field: IDs are ordered by their bytes, as they are stored.
    private static func collated(_ condition: Expression, _ field: Field) -> Expression {
        isID(field) ? .collate(CollationOptions(isUnicode: false), condition) : condition
    }

    private static func isID(_ field: Field) -> Bool {
        if case .path([.key("_id")], _) = field.expression { true } else { false }
    }

    private mutating func operation(
        _ name: String, _ value: DocumentValue, _ field: Field, _ isNegated: Bool
    ) throws(QueryError) -> Expression {
        if let comparison = Self.comparisons[name] {
            if case .document = field { throw QueryError("\(name) must be said of a field") }
            return self.comparison(isNegated ? comparison.negated : comparison, value, field)
        }
        switch name {
        case "$exists":
            guard case .bool(let exists) = value else { throw QueryError("$exists takes true or false") }
            return exists != isNegated
                ? .test(field.expression, .missing, isNegated: true) : absence(of: field)
        case "$in", "$nin":
            guard case .array = value else { throw QueryError("\(name) takes an array") }
            return test(.isAmong, value, field, isNegated != (name == "$nin"))
        case "$type":
            let kinds = ["null", "boolean", "number", "string", "array", "object"]
            guard let kind = value.string, kinds.contains(kind) else {
                throw QueryError("$type takes one of \(kinds.joined(separator: ", "))")
            }
            return test(.hasType, value, field, isNegated)
        case "$size":
            guard let size = value.int, size >= 0 else {
                throw QueryError("$size takes a whole number, not negative")
            }
            return test(.hasSize, value, field, isNegated)
        case "$mod":
            guard case .array(let parts) = value, parts.count == 2, case .integer(let divisor) = parts[0],
                case .integer = parts[1], divisor != 0
            else {
                throw QueryError("$mod takes [divisor, remainder], both whole numbers and the divisor not 0")
            }
            return test(.hasRemainder, value, field, isNegated)
        case "$all":
            guard case .array = value else { throw QueryError("$all takes an array") }
            return test(.holdsAll, value, field, isNegated)
        case "$regex":
            guard value.string != nil else { throw QueryError("$regex takes a string") }
            return test(.matches, value, field, isNegated)
        case "$beginsWith":
            guard value.string != nil else { throw QueryError("$beginsWith takes a string") }
            return test(.beginsWith, value, field, isNegated)
        case "$elemMatch", "$allMatch", "$keyMapMatch": return try elements(name, value, field, isNegated)
        case "$text":
            guard case .document = field else {
                throw QueryError(
                    "$text searches whole documents: it stands at the top of a selector, not in a field. For "
                        + "words of a column, write {\"$text\": \"title: owl\"}")
            }
            let search = try Self.search(value)
            return isNegated ? .not(search) : search
        default:
            throw QueryError(
                "There is no operator \(name)\(Suggestion.text(for: name, among: Self.operators))")
        }
    }

    /// That a field is not there, where it could be: what it is within is an object, or not there either.
    private func absence(of field: Field) -> Expression {
        var parts = [Expression.test(field.expression, .missing, isNegated: false)]
        let path = field.ancestors + [field]
        for (outer, inner) in zip(path, path.dropFirst()) {
            parts.append(
                .any([
                    .test(outer.expression, .missing, isNegated: false),
                    .test(inner.expression, .missing, isNegated: true),
                    .call(.hasType, [outer.expression, .literal("object")]),
                ]))
        }
        return Self.combine(parts, all: true)
    }

    /// A condition that its negation is the exact opposite of, but for fields that are not there.
    private func test(
        _ function: Function, _ value: DocumentValue, _ field: Field, _ isNegated: Bool
    ) -> Expression {
        let holds = Self.collated(.call(function, [field.expression, .literal(value)]), field)
        guard isNegated else { return holds }
        return .all([.test(field.expression, .missing, isNegated: true), .not(holds)])
    }

    /// `"owl NOT barn"`, or `{"$search": "owl NOT barn", "$index": "text"}` where there are several full-text indexes.
    private static func search(_ value: DocumentValue) throws(QueryError) -> Expression {
        if case .string = value { return .match(index: nil, .literal(value)) }
        guard case .dictionary(let members) = value, let text = members["$search"], text.string != nil,
            members.allSatisfy({ $0.key == "$search" || $0.key == "$index" && $0.value.string != nil })
        else {
            throw QueryError("$text takes a string, or {\"$search\": a string, \"$index\": a name}")
        }
        return .match(index: members["$index"]?.string, .literal(text))
    }

    /// A selector of an array's elements or an object's keys.
    private mutating func elements(
        _ name: String, _ value: DocumentValue, _ field: Field, _ isNegated: Bool
    ) throws(QueryError) -> Expression {
        guard case .dictionary = value else { throw QueryError("\(name) takes a selector") }
        variableCount += 1
        let variable = "$\(variableCount)"
        let inner = try condition(value, .variable(variable), false)
        let isArray = Expression.call(.hasType, [field.expression, .literal("array")])
        let holds: Expression
        switch name {
        case "$elemMatch":
            holds = .all([isArray, .quantified(.any, variable: variable, field.expression, satisfies: inner)])
        case "$allMatch":
            holds = .all([
                isArray, .quantified(.anyAndEvery, variable: variable, field.expression, satisfies: inner),
            ])
        default:
            holds = .quantified(
                .any, variable: variable, .call(.keysOf, [field.expression, .literal(.null)]),
                satisfies: inner)
        }
        guard isNegated else { return holds }
        return .all([.test(field.expression, .missing, isNegated: true), .not(holds)])
    }
}

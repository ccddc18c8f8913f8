import Roost
import RoostIndex

/// Makes the expression of a selector in its normal form.
struct MangoCondition {
    /// Whether deleted documents are looked at, which have the field `_deleted`.
    private let seesDeleted: Bool
    private var variableCount = 0

    /// The condition that a selector is.
    ///
    /// - Parameter seesDeleted: Whether documents may be deleted. Otherwise none has the field `_deleted`.
    static func expression(
        of selector: MangoSelector, seesDeleted: Bool = false
    ) throws(QueryError) -> Expression {
        var condition = MangoCondition(seesDeleted: seesDeleted)
        let expression =
            try selector.condition.map { (part) throws(QueryError) in
                try condition.expression(part, .document)
            }
            ?? .literal(.bool(true))
        return .collate(CollationOptions(isUnicode: true), expression)
    }

    private init(seesDeleted: Bool) { self.seesDeleted = seesDeleted }

    /// The field that a path leads to in a document.
    ///
    /// To CouchDB, deleted documents have `_deleted`, which is true, and others have no such field.
    static func field(_ steps: [Step], seesDeleted: Bool = false) -> Expression {
        guard steps.first == .key(MetaField.deleted.propertyName) else {
            return Self.path(steps) { .path($0, .unknown) }
        }
        guard seesDeleted, steps.count == 1 else { return .missing }
        return .call(.missingIf, [.meta(.deleted, alias: nil, .unknown), .literal(.bool(false))])
    }

    /// A path from where `base` begins. A name that is a number is a member's, or the place of an element of an array.
    private static func path(_ steps: [Step], _ base: ([Step]) -> Expression) -> Expression {
        let names = steps.names
        guard let place = names.firstIndex(where: { $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else {
            return base(steps)
        }
        let rest = DocumentValue.array(names[place...].map { .string($0) })
        return .call(.at, [base(Array(steps[..<place])), .literal(rest)])
    }

    // MARK: Fields

    /// Where the paths of conditions begin.
    private enum Base {
        case document
        /// A variable of `$elemMatch` and its like.
        case variable(String)
    }

    /// A field: a base and a path from there.
    private struct Field {
        let base: Base
        let path: [Step]
        let seesDeleted: Bool

        var expression: Expression {
            switch base {
            case .document where path.isEmpty: .path([], .unknown)
            case .document: MangoCondition.field(path, seesDeleted: seesDeleted)
            case .variable(let name):
                MangoCondition.path(path) { .variable(name, $0, .unknown) }
            }
        }

        /// The fields that this one is within, an element among them, and a document not.
        var ancestors: [Field] {
            let first = if case .document = base { 1 } else { 0 }
            return (first..<max(path.count, first)).map {
                Field(base: base, path: Array(path[..<$0]), seesDeleted: seesDeleted)
            }
        }

        var isID: Bool { if case .document = base { path == .documentID } else { false } }
    }

    // MARK: Conditions

    private mutating func expression(
        _ condition: MangoSelector.Condition, _ base: Base
    ) throws(QueryError) -> Expression {
        switch condition {
        case .all(let parts): return try combine(parts, base) { .all($0) }
        case .any(let parts): return try combine(parts, base) { .any($0) }
        case .not(let part):
            return .identity(try expression(part, base), .literal(.bool(true)), isNegated: true)
        case .text(let words, let isNegated):
            let search = try Self.search(words)
            return isNegated ? .not(search) : search
        case .field(let path, let test):
            if path.isEmpty, case .document = base {
                // No document is empty, with its ID.
                if case .comparison(let comparison, _) = test {
                    return .literal(.bool(comparison == .unequal))
                }
            }
            return try expression(test, Field(base: base, path: path, seesDeleted: seesDeleted))
        }
    }

    private mutating func combine(
        _ parts: [MangoSelector.Condition], _ base: Base, _ join: ([Expression]) -> Expression
    ) throws(QueryError) -> Expression {
        var expressions: [Expression] = []
        for part in parts { expressions.append(try expression(part, base)) }
        switch expressions.count {
        // An empty list holds, whichever it is.
        case 0: return .literal(.bool(true))
        case 1: return expressions[0]
        default: return join(expressions)
        }
    }

    /// `"owl NOT barn"`, or `{"$search": "owl NOT barn", "$index": "text"}` where there are several full-text indexes.
    private static func search(_ value: DocumentValue) throws(QueryError) -> Expression {
        if case .string = value { return .match(index: nil, .literal(value)) }
        guard case .dictionary(let members) = value, let text = members["$search"], text.string != nil,
            members.allSatisfy({ $0.key == "$search" || $0.key == "$index" && $0.value.string != nil })
        else {
            throw QueryError(
                "$text takes a string, or {\"$search\": a string, \"$index\": a name}", word: "bad_arg")
        }
        return .match(index: members["$index"]?.string, .literal(text))
    }

    // MARK: Tests

    private mutating func expression(
        _ test: MangoSelector.Test, _ field: Field
    ) throws(QueryError) -> Expression {
        switch test {
        case .comparison(let comparison, let value):
            // To CouchDB, IDs are greater than whatever is no string.
            if field.isID, value.string == nil {
                return .literal(.bool([.greater, .greaterOrEqual, .unequal].contains(comparison)))
            }
            return Self.collated(.collation(comparison, field.expression, .literal(value)), field)
        case .exists(let exists):
            return exists ? .test(field.expression, .missing, isNegated: true) : Self.absence(of: field)
        case .among(let values, let isNegated):
            return Self.test(.call(.isAmong, [field.expression, .literal(values)]), field, isNegated)
        case .operation(let function, let value, let isNegated):
            return Self.test(.call(function, [field.expression, .literal(value)]), field, isNegated)
        case .elements(let elements, let condition, let isNegated):
            let holds = try expression(elements, condition, field)
            return isNegated
                ? .all([.test(field.expression, .missing, isNegated: true), .not(holds)]) : holds
        }
    }

    /// A condition on a field: IDs are ordered by their bytes, as they are stored.
    private static func collated(_ condition: Expression, _ field: Field) -> Expression {
        field.isID ? .collate(CollationOptions(isUnicode: false), condition) : condition
    }

    /// A condition that its negation is the exact opposite of, but for fields that do not exist.
    private static func test(_ holds: Expression, _ field: Field, _ isNegated: Bool) -> Expression {
        let holds = collated(holds, field)
        return isNegated ? .all([.test(field.expression, .missing, isNegated: true), .not(holds)]) : holds
    }

    /// That a field does not exist, where it could: what it is within is an object, or does not exist either.
    private static func absence(of field: Field) -> Expression {
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
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    /// A condition on an array's elements or an object's keys.
    private mutating func expression(
        _ elements: MangoSelector.Elements, _ condition: MangoSelector.Condition, _ field: Field
    ) throws(QueryError) -> Expression {
        variableCount += 1
        let variable = "$\(variableCount)"
        let inner = try expression(condition, .variable(variable))
        let (kind, quantifier, items): (DocumentValue, Quantifier, Expression) =
            switch elements {
            case .someElement: ("array", .any, field.expression)
            case .everyElement: ("array", .anyAndEvery, field.expression)
            case .someKey: ("object", .any, .call(.keysOf, [field.expression, .literal(.null)]))
            }
        return .all([
            .call(.hasType, [field.expression, .literal(kind)]),
            .quantified(quantifier, variable: variable, items, satisfies: inner),
        ])
    }
}

// MARK: - Mango filter

/// Says of single documents whether a Mango selector matches them: CouchDB's filter `_selector`. It may be used from any
/// thread.
package struct MangoFilter: Sendable {
    private let expressions: DocumentExpressions
    /// The selector in CouchDB's normal form: implicit conditions written out, paths whole, negations moved to what they negate.
    package let normalForm: DocumentValue
    /// Whether it asks for conflicts, which may be with revisions that the reader may not see.
    package let readsConflicts: Bool

    /// - Throws: `invalidQuery` for a selector that is malformed.
    package init(_ selector: DocumentValue, of collection: DocumentCollection) throws(DatabaseError) {
        do throws(QueryError) {
            let selector = try MangoSelector(selector)
            normalForm = selector.json
            let condition = try MangoCondition.expression(of: selector, seesDeleted: true)
            expressions = try DocumentExpressions([condition], of: collection)
            readsConflicts = condition.mentions(.conflicts)
        } catch {
            throw DatabaseError(.invalidQuery, error.message, underlyingError: error)
        }
    }

    /// Whether the selector matches a document.
    ///
    /// - Parameter snapshot: a moment that has the document.
    package func matches(_ document: Document, at snapshot: CollectionSnapshot) throws -> Bool {
        var isMatch = false
        let examined = ViewDocument(document, ViewDocument.Setting(snapshot))
        try expressions.forEach([examined]) { isMatch = $0.holds(0) }
        return isMatch
    }
}

import Fleece
import Foundation
import Roost

/// A property of documents in a typed query: `$0.stars`, `$0.address.city`.
///
/// Compared with values it makes a ``QueryCondition``. What it stands for is known by its type only; documents that have
/// something else there, or nothing, don't match.
///
/// A property is looked for under the name that its type's `CodingKeys` have for it, if these are `CaseIterable`:
/// `enum CodingKeys: String, CodingKey, CaseIterable`. Where they are not, and have another name for it than the program, the query throws
/// `invalidQuery`; such a property can also be asked for with ``named(_:as:)``.
@dynamicMemberLookup
public struct QueryField<Value>: Sendable {
    let expression: Expression
    /// Why there is no such property in documents.
    let problem: QueryError?

    init(_ expression: Expression, _ problem: QueryError? = nil) {
        self.expression = expression
        self.problem = problem
    }

    /// A property of the value here.
    public subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> QueryField<Member> {
        step("\(member)", in: Value.self, isIdentifiable: Value.self is any Identifiable.Type)
    }

    /// A property of the value here, if there is one.
    public subscript<Wrapped, Member>(dynamicMember member: KeyPath<Wrapped, Member>) -> QueryField<Member>
    where Value == Wrapped? {
        step("\(member)", in: Wrapped.self, isIdentifiable: false)
    }

    /// A property under the name that it has in documents.
    public func named<Member>(_ name: String, as type: Member.Type = Member.self) -> QueryField<Member> {
        QueryField<Member>(expression.appending(.key(name)), problem)
    }

    /// The step to a property that a key path's description, `\Note.title`, names.
    func step<Member>(_ description: String, in type: Any.Type, isIdentifiable: Bool) -> QueryField<Member> {
        let start = "\\\(type)."
        let name = description.hasPrefix(start) ? String(description.dropFirst(start.count)) : ""
        guard !name.contains(".") || name.hasPrefix("<") else {
            return QueryField<Member>(
                expression,
                QueryError(
                    "\(description) leads over several properties, whose names are not all known. Name one after the other, in a closure: "
                        + "{ $0.\(name) }"))
        }
        guard let first = name.utf8.first, first != UInt8(ascii: "<") else {
            return QueryField<Member>(
                expression,
                QueryError(
                    "\(description) is no stored property, so that documents don't have it. Name what they have with "
                        + "named(_:as:)"))
        }
        if isIdentifiable, name == "id", case .path([], let place) = expression {
            return QueryField<Member>(.meta(.id, alias: nil, place), problem)
        }
        guard case .known(let coded) = CodedNames.name(of: name, in: type) else {
            return QueryField<Member>(
                expression,
                QueryError(
                    "\(description) is coded under another name, which its type's CodingKeys have. Make these CaseIterable, or give "
                        + "the name: named(\"…\", as: \(Member.self).self)"))
        }
        return QueryField<Member>(expression.appending(.key(coded)), problem)
    }
}

extension Expression {
    fileprivate func appending(_ step: Step) -> Expression {
        switch self {
        case .path(let steps, let place): .path(steps + [step], place)
        case .variable(let name, let steps, let place): .variable(name, steps + [step], place)
        default: .member(self, [step])
        }
    }
}

/// A type whose values have an order in queries: `$0.stars > 3`.
///
/// Numbers, texts, dates and optionals of them are. An enumeration is when it says so, and is ordered by its raw values:
/// `extension Size: QueryComparable {}`. To be compared with `==` a value needs only be `Encodable`.
public protocol QueryComparable: Sendable {
    /// The value as documents have it.
    var queryValue: DocumentValue { get }
}

extension QueryComparable where Self: RawRepresentable, RawValue: QueryComparable {
    /// The raw value.
    public var queryValue: DocumentValue { rawValue.queryValue }
}

extension QueryComparable where Self: DocumentValueConvertible {
    /// The value as a property has it.
    public var queryValue: DocumentValue { documentValue }
}

extension Encodable {
    /// The value as documents have it, or why it can't be one.
    var codedValue: Result<DocumentValue, QueryError> {
        if let value = self as? any QueryComparable { return .success(value.queryValue) }
        do {
            let body = try FleeceDocument(trusting: FleeceEncoder().encode(self))
            return .success(try FleeceDecoder().decode(DocumentValue.self, from: body.root))
        } catch {
            return .failure(QueryError("\(self) can't be compared with properties. \(error.sentence)"))
        }
    }
}

extension Float: QueryComparable {}
extension Int8: QueryComparable {}
extension Int16: QueryComparable {}
extension Int32: QueryComparable {}
extension UInt: QueryComparable {}
extension UInt8: QueryComparable {}
extension UInt16: QueryComparable {}
extension UInt32: QueryComparable {}
extension Decimal: QueryComparable {}
extension URL: QueryComparable {}

extension Int: QueryComparable {
    /// The number.
    public var queryValue: DocumentValue { .integer(Int64(self)) }
}

extension Int64: QueryComparable {
    /// The number.
    public var queryValue: DocumentValue { .integer(self) }
}

extension UInt64: QueryComparable {
    /// The number.
    public var queryValue: DocumentValue { .unsigned(self) }
}

extension Double: QueryComparable {
    /// The number.
    public var queryValue: DocumentValue { .double(self) }
}

extension Bool: QueryComparable {
    /// The truth value.
    public var queryValue: DocumentValue { .bool(self) }
}

extension String: QueryComparable {
    /// The text.
    public var queryValue: DocumentValue { .string(self) }
}

extension UUID: QueryComparable {
    /// The text of the UUID, as it is coded.
    public var queryValue: DocumentValue { .string(uuidString) }
}

extension Date: QueryComparable {
    /// The date as text, as it is coded; texts of dates are ordered as the dates are.
    public var queryValue: DocumentValue {
        var value: DocumentValue? = nil
        value.date = self
        return value ?? .null
    }
}

extension Optional: QueryComparable where Wrapped: QueryComparable {
    /// The value, or null.
    public var queryValue: DocumentValue { self?.queryValue ?? .null }
}

// MARK: - Condition

/// What must be true of documents in a typed query: comparisons of ``QueryField``s, joined by `&&`, `||` and `!`.
public struct QueryCondition: Sendable {
    let expression: Expression
    let problem: QueryError?

    init(_ expression: Expression, _ problems: QueryError?...) {
        self.expression = expression
        problem = problems.lazy.compactMap { $0 }.first
    }

    /// Whether both are true.
    public static func && (left: QueryCondition, right: QueryCondition) -> QueryCondition {
        QueryCondition(.all([left.expression, right.expression]), left.problem, right.problem)
    }

    /// Whether one of them is true.
    public static func || (left: QueryCondition, right: QueryCondition) -> QueryCondition {
        QueryCondition(.any([left.expression, right.expression]), left.problem, right.problem)
    }

    /// Whether it is false. Of documents that lack what it asks of, neither is true.
    public static prefix func ! (condition: QueryCondition) -> QueryCondition {
        QueryCondition(.not(condition.expression), condition.problem)
    }
}

extension QueryField {
    /// Whether a full-text index finds the document: `query().where { $0.matching("owl NOT barn") }`.
    ///
    /// - Parameters:
    ///   - text: words and what joins them, as for `search`.
    ///   - index: the name of the index; it may be omitted where the collection has only one.
    public func matching(_ text: String, in index: String? = nil) -> QueryCondition {
        QueryCondition(
            .match(index: index, .literal(.string(text))), problem ?? notDocument("matching(_:in:)"))
    }

    /// How well the document fits what ``matching(_:in:)`` asked for, the more the better:
    /// `query().where { $0.matching("owl") }.order(.descending) { $0.rank() }`.
    ///
    /// - Parameter index: the name of the index; it may be omitted where the collection has only one.
    public func rank(in index: String? = nil) -> QueryField<Double> {
        QueryField<Double>(.rank(index: index), problem ?? notDocument("rank(in:)"))
    }

    /// What is wrong with calling something on a property that only whole documents have.
    private func notDocument(_ name: String) -> QueryError? {
        if case .path([], _) = expression { return nil }
        return QueryError(
            "\(name) is said of whole documents, as full-text indexes find them: $0.\(name), not $0.title.\(name)"
        )
    }
}

extension QueryField where Value: QueryComparable {
    private func ordered(_ comparison: Comparison, _ value: Value) -> QueryCondition {
        QueryCondition(.comparison(comparison, expression, .literal(value.queryValue)), problem)
    }

    /// Whether the property is less than a value.
    public static func < (field: Self, value: Value) -> QueryCondition { field.ordered(.less, value) }

    /// Whether the property is at most a value.
    public static func <= (field: Self, value: Value) -> QueryCondition { field.ordered(.lessOrEqual, value) }

    /// Whether the property is greater than a value.
    public static func > (field: Self, value: Value) -> QueryCondition { field.ordered(.greater, value) }

    /// Whether the property is at least a value.
    public static func >= (field: Self, value: Value) -> QueryCondition {
        field.ordered(.greaterOrEqual, value)
    }

    /// Whether one property of a document is less than another one.
    public static func < (left: Self, right: Self) -> QueryCondition { left.compared(.less, right) }

    /// Whether one property of a document is at most another one.
    public static func <= (left: Self, right: Self) -> QueryCondition { left.compared(.lessOrEqual, right) }

    /// Whether one property of a document is greater than another one.
    public static func > (left: Self, right: Self) -> QueryCondition { left.compared(.greater, right) }

    /// Whether one property of a document is at least another one.
    public static func >= (left: Self, right: Self) -> QueryCondition {
        left.compared(.greaterOrEqual, right)
    }
}

extension QueryField {
    fileprivate func compared(_ comparison: Comparison, _ other: Self) -> QueryCondition {
        QueryCondition(.comparison(comparison, expression, other.expression), problem, other.problem)
    }
}

extension QueryField where Value: Encodable {
    private func compared(_ comparison: Comparison, _ value: Value) -> QueryCondition {
        switch value.codedValue {
        case .success(.null):
            QueryCondition(.test(expression, .valued, isNegated: comparison == .equal), problem)
        case .success(let value):
            QueryCondition(.comparison(comparison, expression, .literal(value)), problem)
        case .failure(let error): QueryCondition(expression, problem, error)
        }
    }

    /// Whether the property is equal to a value; to `nil` when it is null or not there.
    public static func == (field: Self, value: Value) -> QueryCondition { field.compared(.equal, value) }

    /// Whether the property is there and not equal to a value; with `nil`, whether it is there and not null.
    public static func != (field: Self, value: Value) -> QueryCondition { field.compared(.unequal, value) }

    /// Whether two properties of a document are equal.
    public static func == (left: Self, right: Self) -> QueryCondition { left.compared(.equal, right) }

    /// Whether two properties of a document are there and not equal.
    public static func != (left: Self, right: Self) -> QueryCondition { left.compared(.unequal, right) }

    /// Whether the property is one of some values.
    public func isIn(_ values: some Sequence<Value>) -> QueryCondition {
        var literals: [Expression] = []
        for value in values {
            switch value.codedValue {
            case .success(let value): literals.append(.literal(value))
            case .failure(let error): return QueryCondition(expression, problem, error)
            }
        }
        return QueryCondition(.membership(expression, .array(literals), isNegated: false), problem)
    }
}

extension QueryField where Value == String {
    /// Whether the text begins so.
    public func hasPrefix(_ prefix: String) -> QueryCondition {
        QueryCondition(.call(.beginsWith, [expression, .literal(.string(prefix))]), problem)
    }

    /// Whether the text has another one in it.
    public func contains(_ part: String) -> QueryCondition {
        QueryCondition(.call(.contains, [expression, .literal(.string(part))]), problem)
    }

    /// Whether the text is like a pattern, in which `%` stands for any characters and `_` for one.
    public func isLike(_ pattern: String) -> QueryCondition {
        QueryCondition(.like(expression, .literal(.string(pattern)), isNegated: false), problem)
    }

    /// Whether a regular expression in the dialect of ECMAScript matches somewhere in the text.
    public func matches(_ pattern: String) -> QueryCondition {
        QueryCondition(.call(.regexpContains, [expression, .literal(.string(pattern))]), problem)
    }

    /// The text without regard to the case of letters, as people compare it.
    public var caseInsensitive: QueryField<String> {
        QueryField(.collate(CollationOptions(isUnicode: true, isCaseSensitive: false), expression), problem)
    }
}

extension QueryField where Value == Bool {
    /// Whether the property is true.
    public static prefix func ! (field: Self) -> QueryCondition {
        QueryCondition(.not(field.expression), field.problem)
    }
}

extension QueryField where Value: Sequence, Value.Element: Encodable {
    /// Whether the list has a value in it.
    public func contains(_ element: Value.Element) -> QueryCondition {
        switch element.codedValue {
        case .success(let value):
            QueryCondition(.call(.arrayContains, [expression, .literal(value)]), problem)
        case .failure(let error): QueryCondition(expression, problem, error)
        }
    }
}

extension QueryField where Value: Sequence {
    /// Whether a condition is true of one of the elements.
    public func contains(where condition: (QueryField<Value.Element>) -> QueryCondition) -> QueryCondition {
        quantified(.any, condition)
    }

    /// Whether a condition is true of all elements.
    public func allSatisfy(_ condition: (QueryField<Value.Element>) -> QueryCondition) -> QueryCondition {
        quantified(.every, condition)
    }

    private func quantified(
        _ quantifier: Quantifier, _ condition: (QueryField<Value.Element>) -> QueryCondition
    ) -> QueryCondition {
        // A name for each depth, as conditions may lie within each other.
        let name = "element\(expression.variableDepth)"
        let inner = condition(QueryField<Value.Element>(.variable(name, [], .unknown)))
        return QueryCondition(
            .quantified(quantifier, variable: name, expression, satisfies: inner.expression), problem,
            inner.problem)
    }
}

extension Expression {
    /// How many elements the expression is a part of.
    fileprivate var variableDepth: Int {
        guard case .variable(let name, _, _) = self, let number = Int(name.dropFirst("element".count)) else {
            return 0
        }
        return number + 1
    }
}

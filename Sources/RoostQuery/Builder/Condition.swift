import Roost

/// What must be true of documents in a typed query: comparisons of ``Field``s, joined by `&&`, `||` and `!`.
public struct Condition: Sendable {
    let expression: Expression
    let problem: QueryError?

    init(_ expression: Expression, _ problems: QueryError?...) {
        self.expression = expression
        problem = problems.lazy.compactMap { $0 }.first
    }

    /// Whether both are true.
    public static func && (left: Condition, right: Condition) -> Condition {
        Condition(.all([left.expression, right.expression]), left.problem, right.problem)
    }

    /// Whether one of them is true.
    public static func || (left: Condition, right: Condition) -> Condition {
        Condition(.any([left.expression, right.expression]), left.problem, right.problem)
    }

    /// Whether it is false. Of documents that lack what it asks of, neither is true.
    public static prefix func ! (condition: Condition) -> Condition {
        Condition(.not(condition.expression), condition.problem)
    }
}

extension Field {
    /// Whether a full-text index finds the document: `query().where { $0.matching("owl NOT barn") }`.
    ///
    /// - Parameters:
    ///   - text: words and what joins them, as for `search`.
    ///   - index: the name of the index; it may be left out where the collection has only one.
    public func matching(_ text: String, in index: String? = nil) -> Condition {
        Condition(.match(index: index, .literal(.string(text))), problem ?? notDocument("matching(_:in:)"))
    }

    /// How well the document fits what ``matching(_:in:)`` asked for, the more the better:
    /// `query().where { $0.matching("owl") }.order(.descending) { $0.rank() }`.
    ///
    /// - Parameter index: the name of the index; it may be left out where the collection has only one.
    public func rank(in index: String? = nil) -> Field<Double> {
        Field<Double>(.rank(index: index), problem ?? notDocument("rank(in:)"))
    }

    /// What is wrong with calling something on a property that only whole documents have.
    private func notDocument(_ name: String) -> QueryError? {
        if case .path([], _) = expression { return nil }
        return QueryError(
            "\(name) is said of whole documents, as full-text indexes find them: $0.\(name), not $0.title.\(name)"
        )
    }
}

extension Field where Value: QueryComparable {
    private func ordered(_ comparison: Comparison, _ value: Value) -> Condition {
        Condition(.comparison(comparison, expression, .literal(value.queryValue)), problem)
    }

    /// Whether the property is less than a value.
    public static func < (field: Self, value: Value) -> Condition { field.ordered(.less, value) }

    /// Whether the property is at most a value.
    public static func <= (field: Self, value: Value) -> Condition { field.ordered(.lessOrEqual, value) }

    /// Whether the property is greater than a value.
    public static func > (field: Self, value: Value) -> Condition { field.ordered(.greater, value) }

    /// Whether the property is at least a value.
    public static func >= (field: Self, value: Value) -> Condition { field.ordered(.greaterOrEqual, value) }

    /// Whether one property of a document is less than another one.
    public static func < (left: Self, right: Self) -> Condition { left.compared(.less, right) }

    /// Whether one property of a document is at most another one.
    public static func <= (left: Self, right: Self) -> Condition { left.compared(.lessOrEqual, right) }

    /// Whether one property of a document is greater than another one.
    public static func > (left: Self, right: Self) -> Condition { left.compared(.greater, right) }

    /// Whether one property of a document is at least another one.
    public static func >= (left: Self, right: Self) -> Condition { left.compared(.greaterOrEqual, right) }
}

extension Field {
    fileprivate func compared(_ comparison: Comparison, _ other: Self) -> Condition {
        Condition(.comparison(comparison, expression, other.expression), problem, other.problem)
    }
}

extension Field where Value: Encodable {
    private func compared(_ comparison: Comparison, _ value: Value) -> Condition {
        switch value.codedValue {
        case .success(.null):
            Condition(.test(expression, .valued, isNegated: comparison == .equal), problem)
        case .success(let value): Condition(.comparison(comparison, expression, .literal(value)), problem)
        case .failure(let error): Condition(expression, problem, error)
        }
    }

    /// Whether the property is equal to a value; to `nil` when it is null or not there.
    public static func == (field: Self, value: Value) -> Condition { field.compared(.equal, value) }

    /// Whether the property is there and not equal to a value; with `nil`, whether it is there and not null.
    public static func != (field: Self, value: Value) -> Condition { field.compared(.unequal, value) }

    /// Whether two properties of a document are equal.
    public static func == (left: Self, right: Self) -> Condition { left.compared(.equal, right) }

    /// Whether two properties of a document are there and not equal.
    public static func != (left: Self, right: Self) -> Condition { left.compared(.unequal, right) }

    /// Whether the property is one of some values.
    public func isIn(_ values: some Sequence<Value>) -> Condition {
        var literals: [Expression] = []
        for value in values {
            switch value.codedValue {
            case .success(let value): literals.append(.literal(value))
            case .failure(let error): return Condition(expression, problem, error)
            }
        }
        return Condition(.membership(expression, .array(literals), isNegated: false), problem)
    }
}

extension Field where Value == String {
    /// Whether the text begins so.
    public func hasPrefix(_ prefix: String) -> Condition {
        Condition(.call(.beginsWith, [expression, .literal(.string(prefix))]), problem)
    }

    /// Whether the text has another one in it.
    public func contains(_ part: String) -> Condition {
        Condition(.call(.contains, [expression, .literal(.string(part))]), problem)
    }

    /// Whether the text is like a pattern, in which `%` stands for any characters and `_` for one.
    public func isLike(_ pattern: String) -> Condition {
        Condition(.like(expression, .literal(.string(pattern)), isNegated: false), problem)
    }

    /// Whether a regular expression in the dialect of ECMAScript matches somewhere in the text.
    public func matches(_ pattern: String) -> Condition {
        Condition(.call(.regexpContains, [expression, .literal(.string(pattern))]), problem)
    }

    /// The text without regard to the case of letters, as people compare it.
    public var caseInsensitive: Field<String> {
        Field(.collate(CollationOptions(isUnicode: true, isCaseSensitive: false), expression), problem)
    }
}

extension Field where Value == Bool {
    /// Whether the property is true.
    public static prefix func ! (field: Self) -> Condition {
        Condition(.not(field.expression), field.problem)
    }
}

extension Field where Value: Sequence, Value.Element: Encodable {
    /// Whether the list has a value in it.
    public func contains(_ element: Value.Element) -> Condition {
        switch element.codedValue {
        case .success(let value): Condition(.call(.arrayContains, [expression, .literal(value)]), problem)
        case .failure(let error): Condition(expression, problem, error)
        }
    }
}

extension Field where Value: Sequence {
    /// Whether a condition is true of one of the elements.
    public func contains(where condition: (Field<Value.Element>) -> Condition) -> Condition {
        quantified(.any, condition)
    }

    /// Whether a condition is true of all elements.
    public func allSatisfy(_ condition: (Field<Value.Element>) -> Condition) -> Condition {
        quantified(.every, condition)
    }

    private func quantified(
        _ quantifier: Quantifier, _ condition: (Field<Value.Element>) -> Condition
    ) -> Condition {
        // A name for each depth, as conditions may lie within each other.
        let name = "element\(expression.variableDepth)"
        let inner = condition(Field<Value.Element>(.variable(name, [], .unknown)))
        return Condition(
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

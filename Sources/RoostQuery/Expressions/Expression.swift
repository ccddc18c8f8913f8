import Fleece
import Roost

/// One step of a path into a value.
typealias Step = FleecePath.Component

/// What a query computes: the one form that all of its languages lead to.
///
/// Its names are not resolved yet: the ``Binder`` finds out what a path begins in, and makes a ``BoundExpression`` of it.
indirect enum Expression: Hashable, Sendable {
    case literal(DocumentValue)
    case missing
    /// A path that begins with a variable, an alias or a property; without steps, the whole document.
    case path([Step], Place)
    /// A path that begins in a variable of ANY or EVERY.
    case variable(String, [Step], Place)
    /// A path into what an expression yields.
    case member(Expression, [Step])
    /// What is known of a document besides its properties; everything together without a field.
    case meta(MetaField?, alias: String?, Place)
    case parameter(String)
    case array([Expression])
    case dictionary([Pair])
    /// Operators on numbers that follow each other, from the left; see ``chain(_:_:)``.
    case arithmetic(Expression, [Operation])
    case negative(Expression)
    case concatenation([Expression])
    case comparison(Comparison, Expression, Expression)
    /// As ``comparison(_:_:_:)`` in CouchDB's manner: null is a value like others, and nothing holds of what is missing.
    case collation(Comparison, Expression, Expression)
    /// IS: equality that null and missing take part in.
    case identity(Expression, Expression, isNegated: Bool)
    case test(Expression, ValueTest, isNegated: Bool)
    case membership(Expression, Expression, isNegated: Bool)
    case like(Expression, Expression, isNegated: Bool)
    case all([Expression])
    case any([Expression])
    case not(Expression)
    case choice(Expression?, [Branch], otherwise: Expression?)
    case quantified(Quantifier, variable: String, Expression, satisfies: Expression)
    case exists(Select)
    case select(Select)
    case collate(CollationOptions, Expression)
    case call(Function, [Expression])
    case aggregate(Aggregate, Expression?, isDistinct: Bool, Place = .unknown)
    case window(WindowCall)
    /// MATCH() of a full-text index; `nil` is the only one that there is.
    case match(index: String?, Expression, Place = .unknown)
    /// RANK() of a full-text index; `nil` is the only one that there is.
    case rank(index: String?, Place = .unknown)

    /// A member of a dictionary that is made.
    struct Pair: Hashable, Sendable {
        let name: String
        let value: Expression
    }

    /// WHEN and THEN.
    struct Branch: Hashable, Sendable {
        let condition: Expression
        let value: Expression
    }
}

/// Where in a query's text something stands, in bytes; part of no comparison.
struct Place: Hashable, Sendable {
    let offset: Int?

    static let unknown = Place(offset: nil)

    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

/// What META() knows of a document.
enum MetaField: String, Hashable, Sendable, CaseIterable {
    case id, sequence, deleted, expiration, revisionID
    /// What CouchDB knows of a document besides: looked up for each that has it, by a path such as `_attachments`, and no part of
    /// META().
    case attachments, conflicts

    /// What META() has.
    static let whole = allCases.filter { !$0.isLookedUp }
    /// Whether it stands neither with the properties nor with what is read with them.
    var isLookedUp: Bool { self == .attachments || self == .conflicts }
    /// Whether no index has it.
    var isUnindexed: Bool { self == .expiration || isLookedUp }

    /// The property under which a path names it: `_id`.
    var propertyName: String { "_\(rawValue)" }

    /// The field that a property's name stands for, CouchDB's `_rev` among them.
    init?(propertyName: String) {
        guard propertyName.hasPrefix("_") else { return nil }
        if propertyName == "_rev" {
            self = .revisionID
        } else {
            self.init(rawValue: "\(propertyName.dropFirst())")
        }
    }
}

/// An operator on two numbers.
enum Arithmetic: String, Hashable, Sendable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"

    /// Whether it adds or subtracts, and so binds less than the others.
    var isSum: Bool { self == .add || self == .subtract }
}

/// An operator on numbers and what stands on its right.
struct Operation: Hashable, Sendable {
    let arithmetic: Arithmetic
    let operand: Expression
}

extension Expression {
    /// Operators that bind equally, applied to `first` one after the other. There is one expression for all ways to put
    /// parentheses around operands on the left, so that indexes are found whichever was written.
    static func chain(_ first: Expression, _ operations: [Operation]) -> Expression {
        if case .arithmetic(let inner, let before) = first,
            before.last?.arithmetic.isSum == operations.first?.arithmetic.isSum
        {
            return .arithmetic(inner, before + operations)
        }
        return .arithmetic(first, operations)
    }
}

/// An operator that compares.
enum Comparison: String, Hashable, Sendable {
    case equal = "="
    case unequal = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// Whether it holds of values that compare so: negative, zero or positive.
    @inline(__always)
    func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .unequal: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }

    /// The one that holds where this does not.
    var negated: Comparison {
        switch self {
        case .equal: .unequal
        case .unequal: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }

    /// The one that holds when the sides are exchanged.
    var mirrored: Comparison {
        switch self {
        case .equal, .unequal: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

/// What IS can test of a value.
enum ValueTest: String, Hashable, Sendable {
    case null = "NULL"
    case missing = "MISSING"
    /// Neither null nor missing.
    case valued = "VALUED"
}

/// Of which elements a condition must hold.
enum Quantifier: String, Hashable, Sendable {
    case any = "ANY"
    case every = "EVERY"
    /// Of all, and there is one.
    case anyAndEvery = "ANY AND EVERY"
}

/// How COLLATE says that strings are compared; what is not given is taken from outside.
struct CollationOptions: Hashable, Sendable {
    var isUnicode: Bool?
    var isCaseSensitive: Bool?
    var isDiacriticSensitive: Bool?
    var locale: String?
    var localePlace = Place.unknown

    /// These options where they are given, else those of `outer`.
    func inheriting(_ outer: CollationOptions) -> CollationOptions {
        CollationOptions(
            isUnicode: isUnicode ?? outer.isUnicode,
            isCaseSensitive: isCaseSensitive ?? outer.isCaseSensitive,
            isDiacriticSensitive: isDiacriticSensitive ?? outer.isDiacriticSensitive,
            locale: locale ?? outer.locale, localePlace: locale == nil ? outer.localePlace : localePlace)
    }
}

// MARK: - Structure

extension Expression {
    /// The conditions that AND joins, or this one alone.
    var conjuncts: [Expression] {
        switch self {
        case .all(let parts): parts.flatMap(\.conjuncts)
        case .collate(let options, .all(let parts)):
            parts.flatMap { Expression.collate(options, $0).conjuncts }
        default: [self]
        }
    }

    /// Whether an aggregate is in it, those of queries within it aside.
    var hasAggregate: Bool {
        if case .aggregate = self { return true }
        return children.contains(where: \.hasAggregate)
    }

    /// Whether a window function is in it, those of queries within it aside.
    var hasWindow: Bool {
        if case .window = self { return true }
        return children.contains(where: \.hasWindow)
    }

    /// Whether words are looked for in it.
    var hasMatch: Bool {
        if case .match = self { return true }
        return children.contains(where: \.hasMatch)
    }

    /// Whether it is about a field of META() by name.
    func mentions(_ field: MetaField) -> Bool {
        switch self {
        case .meta(let named, _, _): named == field
        case .path(let steps, _): steps.first == .key(field.propertyName)
        default: children.contains { $0.mentions(field) }
        }
    }

    /// The expressions directly within this one; those of queries aside.
    var children: [Expression] {
        switch self {
        case .literal, .missing, .path, .variable, .meta, .parameter, .exists, .select, .rank: []
        case .member(let value, _), .negative(let value), .test(let value, _, _), .not(let value),
            .collate(_, let value),
            .match(_, let value, _):
            [value]
        case .array(let values), .concatenation(let values), .all(let values), .any(let values),
            .call(_, let values):
            values
        case .dictionary(let pairs): pairs.map(\.value)
        case .arithmetic(let first, let operations): [first] + operations.map(\.operand)
        case .comparison(_, let left, let right), .collation(_, let left, let right),
            .identity(let left, let right, _), .membership(let left, let right, _),
            .like(let left, let right, _),
            .quantified(_, _, let left, let right):
            [left, right]
        case .choice(let base, let branches, let otherwise):
            (base.map { [$0] } ?? []) + branches.flatMap { [$0.condition, $0.value] }
                + (otherwise.map { [$0] } ?? [])
        case .aggregate(_, let value, _, _): value.map { [$0] } ?? []
        case .window(let call):
            call.arguments + call.window.partition + call.window.order.map(\.value)
                + (call.window.frame?.offsets ?? [])
        }
    }

    /// Whether a path in it begins with a name.
    func mentions(_ name: String) -> Bool {
        if case .path(let steps, _) = self, steps.first == .key(name) { return true }
        return children.contains { $0.mentions(name) }
    }

    /// The expression without COLLATE around it.
    var uncollated: Expression {
        if case .collate(_, let inner) = self { return inner.uncollated }
        return self
    }

    /// What lies at `steps` within the value.
    func reaching(_ steps: [Step]) -> Expression {
        guard let first = steps.first else { return self }
        switch self {
        case .path(let before, let place): return .path(before + steps, place)
        case .meta(nil, let alias, let place):
            guard case .key(let name) = first,
                let field = MetaField.whole.first(where: { $0.rawValue == name })
            else { break }
            return Expression.meta(field, alias: alias, place).reaching(Array(steps.dropFirst()))
        default: break
        }
        return .member(self, steps)
    }
}

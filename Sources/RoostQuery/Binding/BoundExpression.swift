import Roost
import RoostOrder

/// An expression without names: the form in which queries are planned and compiled.
///
/// The ``Binder`` makes it of an ``Expression``. Each name has become the path of a source, a variable, a parameter or the place of a
/// group's value; COLLATE has become the collation of each operator that compares. So two bound expressions are equal only where they
/// yield the same for every row, and an index answers a comparison only where both order texts alike.
indirect enum BoundExpression: Hashable, Sendable {
    case literal(DocumentValue)
    case missing
    /// A path into the row of a source; the row itself without steps.
    case path(source: Int, [Step])
    /// A field of META() of a source's row; all of them without a field.
    case meta(MetaField?, source: Int)
    /// A path into the element that ANY or EVERY is at: 0 is the innermost of these around the expression.
    case variable(Int, [Step])
    case member(BoundExpression, [Step])
    /// A parameter, by its number among those of the statement.
    case parameter(Int)
    case array([BoundExpression])
    case dictionary([Pair])
    case arithmetic(BoundExpression, [Operation])
    case negative(BoundExpression)
    case concatenation([BoundExpression])
    case comparison(Comparison, BoundExpression, BoundExpression, Collation)
    /// CouchDB's comparison: see ``Expression/collation(_:_:_:)``.
    case couchComparison(Comparison, BoundExpression, BoundExpression, Collation)
    case identity(BoundExpression, BoundExpression, Collation, isNegated: Bool)
    case test(BoundExpression, ValueTest, isNegated: Bool)
    case membership(BoundExpression, BoundExpression, Collation, isNegated: Bool)
    case like(BoundExpression, BoundExpression, Collation, isNegated: Bool)
    case all([BoundExpression])
    case any([BoundExpression])
    case not(BoundExpression)
    case choice(BoundExpression?, [Branch], otherwise: BoundExpression?, Collation)
    case quantified(Quantifier, BoundExpression, satisfies: BoundExpression)
    case exists(BoundQuery)
    case rows(BoundQuery)
    case call(Function, [BoundExpression], Collation)
    /// An aggregate, until the groups of its query are known: see ``GroupBinder``.
    case aggregate(Aggregate, BoundExpression?, isDistinct: Bool, Collation)
    /// A window function, until the windows of its query are known: see ``WindowBinder``.
    case window(BoundWindowCall)
    case match(BoundSearch)
    case rank(BoundSearch)
    /// A value of the present group, by its place in a frame.
    case slot(Int)

    /// A member of a dictionary.
    struct Pair: Hashable, Sendable {
        let name: ByteKey
        let value: BoundExpression
    }

    /// An operator on numbers and its right operand.
    struct Operation: Hashable, Sendable {
        let arithmetic: Arithmetic
        let operand: BoundExpression
    }

    /// WHEN and THEN.
    struct Branch: Hashable, Sendable {
        let condition: BoundExpression
        let value: BoundExpression
    }
}

/// An expression and the collation that its values are ordered or told apart by.
struct CollatedExpression: Hashable, Sendable {
    let value: BoundExpression
    let collation: Collation

    func mapped(_ body: (BoundExpression) -> BoundExpression) -> CollatedExpression {
        CollatedExpression(value: body(value), collation: collation)
    }
}

/// A window function with its arguments and its window, without names.
struct BoundWindowCall: Hashable, Sendable {
    let function: WindowFunction
    var arguments: [BoundExpression]
    /// How an aggregate compares the values of its argument.
    let collation: Collation
    var partition: [CollatedExpression]
    var order: [BoundOrdering]
    let frame: WindowFrame<BoundExpression>
    let written: Expression

    var expressions: [BoundExpression] {
        arguments + partition.map(\.value) + order.map(\.expression.value) + frame.offsets
    }

    /// The call with what `body` makes of its expressions. The offsets of its frame are the same for all rows, and stay.
    func mapped(_ body: (BoundExpression) -> BoundExpression) -> BoundWindowCall {
        var call = self
        call.arguments = arguments.map(body)
        call.partition = partition.map { $0.mapped(body) }
        call.order = order.map { $0.mapped(body) }
        return call
    }
}

/// MATCH() or RANK(): a text that is looked up in a full-text index. Equal when it is the same place in the same query.
struct BoundSearch: Hashable, Sendable {
    let number: Int
    let source: Int
    let collection: DocumentCollection
    let index: CompiledTextIndex
    var text: BoundExpression
    let written: Expression

    static func == (left: Self, right: Self) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

// MARK: Structure

extension BoundExpression {
    /// The expressions directly within this one; those of queries aside.
    var children: [BoundExpression] {
        switch self {
        case .literal, .missing, .path, .meta, .variable, .parameter, .exists, .rows, .slot: []
        case .member(let value, _), .negative(let value), .test(let value, _, _), .not(let value): [value]
        case .array(let values), .concatenation(let values), .all(let values), .any(let values),
            .call(_, let values, _):
            values
        case .dictionary(let pairs): pairs.map(\.value)
        case .arithmetic(let first, let operations): [first] + operations.map(\.operand)
        case .comparison(_, let left, let right, _), .couchComparison(_, let left, let right, _),
            .identity(let left, let right, _, _), .membership(let left, let right, _, _),
            .like(let left, let right, _, _), .quantified(_, let left, let right):
            [left, right]
        case .choice(let base, let branches, let otherwise, _):
            [base, otherwise].compactMap(\.self) + branches.flatMap { [$0.condition, $0.value] }
        case .aggregate(_, let value, _, _): value.map { [$0] } ?? []
        case .window(let call): call.expressions
        case .match(let search), .rank(let search): [search.text]
        }
    }

    /// The expression with what `body` makes of those directly within it, those of queries included.
    func mapped(_ body: (BoundExpression) -> BoundExpression) -> BoundExpression {
        switch self {
        case .literal, .missing, .path, .meta, .variable, .parameter, .slot: return self
        case .member(let value, let steps): return .member(body(value), steps)
        case .array(let values): return .array(values.map(body))
        case .dictionary(let pairs):
            return .dictionary(pairs.map { Pair(name: $0.name, value: body($0.value)) })
        case .arithmetic(let first, let operations):
            return .arithmetic(
                body(first),
                operations.map { Operation(arithmetic: $0.arithmetic, operand: body($0.operand)) })
        case .negative(let value): return .negative(body(value))
        case .concatenation(let values): return .concatenation(values.map(body))
        case .comparison(let comparison, let left, let right, let collation):
            return .comparison(comparison, body(left), body(right), collation)
        case .couchComparison(let comparison, let left, let right, let collation):
            return .couchComparison(comparison, body(left), body(right), collation)
        case .identity(let left, let right, let collation, let isNegated):
            return .identity(body(left), body(right), collation, isNegated: isNegated)
        case .test(let value, let test, let isNegated): return .test(body(value), test, isNegated: isNegated)
        case .membership(let left, let right, let collation, let isNegated):
            return .membership(body(left), body(right), collation, isNegated: isNegated)
        case .like(let left, let right, let collation, let isNegated):
            return .like(body(left), body(right), collation, isNegated: isNegated)
        case .all(let values): return .all(values.map(body))
        case .any(let values): return .any(values.map(body))
        case .not(let value): return .not(body(value))
        case .choice(let base, let branches, let otherwise, let collation):
            return .choice(
                base.map(body),
                branches.map { Branch(condition: body($0.condition), value: body($0.value)) },
                otherwise: otherwise.map(body), collation)
        case .quantified(let quantifier, let array, let condition):
            return .quantified(quantifier, body(array), satisfies: body(condition))
        case .exists(let query): return .exists(query.mapped(body))
        case .rows(let query): return .rows(query.mapped(body))
        case .call(let function, let values, let collation):
            return .call(function, values.map(body), collation)
        case .aggregate(let aggregate, let value, let isDistinct, let collation):
            return .aggregate(aggregate, value.map(body), isDistinct: isDistinct, collation)
        case .window(let call): return .window(call.mapped(body))
        case .match(var search):
            search.text = body(search.text)
            return .match(search)
        case .rank(var search):
            search.text = body(search.text)
            return .rank(search)
        }
    }

    /// Calls `body` with this expression and all within it, those of queries included.
    func visit(_ body: (BoundExpression) -> Void) {
        body(self)
        switch self {
        case .exists(let query), .rows(let query): query.expressions.forEach { $0.visit(body) }
        default: children.forEach { $0.visit(body) }
        }
    }

    /// Whether a predicate holds of this expression or one within it; those of queries aside.
    func contains(where predicate: (BoundExpression) -> Bool) -> Bool {
        predicate(self) || children.contains { $0.contains(where: predicate) }
    }

    /// The value at `steps` within the value.
    func reaching(_ steps: [Step]) -> BoundExpression {
        guard let first = steps.first else { return self }
        switch self {
        case .path(let source, let before): return .path(source: source, before + steps)
        case .variable(let number, let before): return .variable(number, before + steps)
        case .meta(nil, let source):
            guard case .key(let name) = first,
                let field = MetaField.whole.first(where: { $0.rawValue == name })
            else { break }
            return BoundExpression.meta(field, source: source).reaching(Array(steps.dropFirst()))
        default: break
        }
        return .member(self, steps)
    }

    /// The conditions that AND joins, or this one alone.
    var conjuncts: [BoundExpression] {
        if case .all(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
    }

    // MARK: What it depends on

    /// The source that the expression itself is a part of the row of.
    var source: Int? {
        switch self {
        case .path(let source, _), .meta(_, let source): source
        case .match(let search), .rank(let search): search.source
        default: nil
        }
    }

    /// The sources whose rows it refers to, those of queries within it included.
    var sources: Set<Int> {
        var sources: Set<Int> = []
        visit { if let source = $0.source { sources.insert(source) } }
        return sources
    }

    /// Whether an aggregate is in it, those of queries within it aside.
    var hasAggregate: Bool { contains { if case .aggregate = $0 { true } else { false } } }

    /// Whether a window function is in it, those of queries within it aside.
    var hasWindow: Bool { contains { if case .window = $0 { true } else { false } } }

    /// Whether it may depend on what no index has of documents: when they are to be purged, and what is looked up separately.
    var hasUnindexed: Bool {
        contains { if case .meta(let field, _) = $0 { field?.isUnindexed ?? true } else { false } }
    }

    /// Whether it may depend on the time zone of the process that computes it.
    var hasLocalTime: Bool {
        contains { if case .call(let function, _, _) = $0 { function.isOfLocalTime } else { false } }
    }

    /// Whether its value is known before there are rows: constants, parameters and concatenations of these.
    var isGiven: Bool {
        switch self {
        case .literal, .parameter: true
        case .concatenation(let parts): parts.allSatisfy(\.isGiven)
        default: false
        }
    }

    /// The same expression of source 0, as an index's own are bound; `nil` for one that refers to anything but the row of `source`.
    ///
    /// So an expression in a query is recognized as the column of an index, whatever its source is.
    func relative(to source: Int) -> BoundExpression? {
        guard isOwn(of: source, variables: 0) else { return nil }
        return source == 0 ? self : ofSourceZero
    }

    private func isOwn(of source: Int, variables: Int) -> Bool {
        switch self {
        case .path(let own, _), .meta(_, let own): own == source
        case .variable(let number, _): number < variables
        case .quantified(_, let array, let condition):
            array.isOwn(of: source, variables: variables)
                && condition.isOwn(of: source, variables: variables + 1)
        case .parameter, .exists, .rows, .aggregate, .window, .match, .rank, .slot: false
        default: children.allSatisfy { $0.isOwn(of: source, variables: variables) }
        }
    }

    private var ofSourceZero: BoundExpression {
        switch self {
        case .path(_, let steps): .path(source: 0, steps)
        case .meta(let field, _): .meta(field, source: 0)
        default: mapped(\.ofSourceZero)
        }
    }
}

// MARK: - Collations

extension Collation {
    /// What the options of COLLATE mean: without UNICODE strings compare by bytes, or without regard to the case of ASCII
    /// letters; with it as people expect it.
    init(_ options: CollationOptions) throws(QueryError) {
        let ignoresCase = options.isCaseSensitive == false
        guard options.isUnicode == true else {
            self.init(texts: ignoresCase ? .caselessASCII : .bytes)
            return
        }
        let tailoring = options.locale.flatMap { Tailoring(locale: $0) }
        if tailoring == nil, let locale = options.locale,
            !Self.knownLocales.contains(locale.prefix(2).lowercased())
        {
            throw QueryError(
                "The order of the locale \(locale.debugDescription) is not known; leave the locale away for the order that is right in "
                    + "most languages", at: options.localePlace.offset)
        }
        self.init(
            texts: .unicode(
                UnicodeOrder(
                    ignoringCase: ignoresCase, accents: options.isDiacriticSensitive == false,
                    tailoring: tailoring)))
    }

    /// Languages whose alphabets the root order of Unicode serves.
    private static let knownLocales: Set<String> = [
        "en", "de", "fr", "it", "nl", "pt", "ga", "id", "ms", "sw", "zu", "un", "ro",
    ]
}

extension Function {
    /// Whether it compares texts, so that its value may depend on COLLATE.
    var comparesTexts: Bool {
        switch self {
        case .arrayMin, .arrayMax, .arrayContains, .missingIf, .nullIf, .greatest, .least, .contains,
            .holdsAll, .isAmong:
            true
        default: false
        }
    }
}

import Fleece
import Roost
import RoostOrder

/// Turns expressions into closures that compute them.
///
/// Closures beat trees of nodes here; those that compare a path with a constant, which most conditions consist of, are
/// made in one piece.
final class Compiler {
    let program = Program()
    var scope = Scope()
    /// The options of the COLLATE around the expression.
    private var options = CollationOptions()
    /// How strings are compared there.
    var collation = Collation.binary
    /// The groups whose rows the expression is computed for, if any.
    var grouping: Grouping?
    /// The groups that queries around the present one are computed for.
    private var outerGroupings: [Grouping] = []
    /// Finds out how a query within the expression is executed.
    let planner: Planner
    /// The sources whose rows were referred to since somebody last looked.
    private var touched: Set<Int> = []
    /// What anybody asks of the row of each source.
    private(set) var uses: [Int: SourceUse] = [:]
    /// Which sources have conditions that ask for deleted documents.
    private(set) var sourcesWithDeleted: Set<Int> = []
    /// The kinds of the sources, by number.
    var sourceKinds: [SourceKind] = []

    /// The collections of sources, by number.
    var sourceCollections: [Int: DocumentCollection] = [:]
    /// What is searched for in full-text indexes.
    var textSearches: [TextSearch] = []

    enum SourceKind { case collection, select, elements }

    init(planner: Planner) { self.planner = planner }

    /// Compiles `body` with the names known until then.
    func withScope<R>(_ body: () throws(QueryError) -> R) throws(QueryError) -> R {
        let saved = scope
        defer { scope = saved }
        return try body()
    }

    // MARK: Expressions

    func compile(_ expression: Expression) throws(QueryError) -> Evaluation {
        if let slot = grouping?.slot(of: expression) { return { $0.aggregate(slot) } }
        switch expression {
        case .literal(let value):
            let constant = try constant(value)
            return { _ in constant.value }
        case .missing: return { _ in .missing }
        case .path(let steps, let place): return try path(steps, place)
        case .variable(let name, let steps, let place): return try variable(name, steps, place)
        case .member(let value, let steps): return member(try compile(value), steps)
        case .meta(let field, let alias, let place): return try meta(field, try source(alias, place))
        case .parameter(let name):
            let number = program.parameter(name)
            return { $0.parameter(number) }
        case .array(let values): return Self.array(try compile(values))
        case .dictionary(let pairs): return try dictionary(pairs)
        case .arithmetic(let first, let operations):
            return Arithmetics.evaluation(
                try compile(first),
                try operations.map { (operation) throws(QueryError) in
                    (operation.arithmetic, try compile(operation.operand))
                })
        case .negative(let value): return Arithmetics.negative(try compile(value))
        case .concatenation(let parts): return Strings.concatenation(try compile(parts))
        case .comparison(let comparison, let left, let right):
            return try self.comparison(comparison, left, right)
        case .collation(let comparison, let left, let right):
            return Comparisons.collated(
                comparison, try compile(left), try compile(right), try collation(ofOperands: left, right))
        case .identity(let left, let right, let isNegated):
            return Comparisons.identity(
                try compile(left), try compile(right), try collation(ofOperands: left, right), isNegated)
        case .test(let value, let test, let isNegated):
            return Comparisons.test(try compile(value), test, isNegated)
        case .membership(let value, let list, let isNegated): return try membership(value, list, isNegated)
        case .like(let value, let pattern, let isNegated):
            return Strings.like(
                try compile(value), try compile(pattern), try collation(ofOperands: value, pattern), isNegated
            )
        case .all(let parts): return Logic.all(try compile(parts))
        case .any(let parts): return Logic.any(try compile(parts))
        case .not(let value): return Logic.not(try compile(value))
        case .choice(let base, let branches, let otherwise): return try choice(base, branches, otherwise)
        case .quantified(let quantifier, let name, let collection, let condition):
            return try quantified(quantifier, name, collection, condition)
        case .exists(let select): return try planner.existence(select, self)
        case .select(let select): return try planner.rows(select, self)
        case .collate(let options, let value): return try collated(options, value)
        case .call(let function, let arguments): return try call(function, arguments)
        case .aggregate(let aggregate, let value, let isDistinct):
            return try self.aggregate(aggregate, value, isDistinct)
        case .match(let index, let text): return try match(index, text)
        case .rank(let index): return try rank(index)
        }
    }

    func compile(_ expressions: [Expression]) throws(QueryError) -> [Evaluation] {
        var result: [Evaluation] = []
        for expression in expressions { result.append(try compile(expression)) }
        return result
    }

    /// A value that is the same for every row.
    struct Constant: @unchecked Sendable {
        // Its bytes are in the program's pool, which nobody changes after compiling.
        let value: Value
    }

    func constant(_ value: DocumentValue) throws(QueryError) -> Constant {
        do throws(DatabaseError) {
            return Constant(value: try program.constants.value(value))
        } catch {
            throw QueryError(error.message)
        }
    }

    // MARK: Collation

    private func collated(_ options: CollationOptions, _ value: Expression) throws(QueryError) -> Evaluation {
        try collating(options) { () throws(QueryError) in try compile(value) }
    }

    /// Compiles `body` as if COLLATE were around it.
    func collating<R>(_ options: CollationOptions, _ body: () throws(QueryError) -> R) throws(QueryError) -> R
    {
        let saved = (self.options, collation)
        defer { (self.options, collation) = saved }
        self.options = options.inheriting(self.options)
        collation = try Collation(self.options)
        return try body()
    }

    /// How a value of `expression` is ordered: as the COLLATE around it says.
    func collation(of expression: Expression) throws(QueryError) -> Collation {
        guard case .collate(let options, let inner) = expression else { return collation }
        let outer = try Collation(options.inheriting(self.options))
        guard case .collate = inner else { return outer }
        return try collation(of: inner)
    }

    /// How operands are compared: as COLLATE around one of them says, the left one first, or else around both.
    func collation(ofOperands left: Expression, _ right: Expression) throws(QueryError) -> Collation {
        if case .collate = left { return try collation(of: left) }
        return try collation(of: right)
    }

    // MARK: Groups and aggregates

    private func aggregate(
        _ aggregate: Aggregate, _ value: Expression?, _ isDistinct: Bool
    ) throws(QueryError) -> Evaluation {
        guard let grouping else {
            throw QueryError(
                "\(aggregate.rawValue)() looks at many rows, and can't stand in WHERE, ON, GROUP BY or within another one"
            )
        }
        let slot = try grouping.add(aggregate, value, isDistinct, self)
        return { $0.aggregate(slot) }
    }

    /// The groups, if any, for whose rows a source is asked.
    func grouping(of source: Int) -> Grouping? {
        if let grouping, grouping.sources.contains(source) { return grouping }
        return outerGroupings.last { $0.sources.contains(source) }
    }

    /// Compiles a query that stands in the present expression; it may refer to the present groups.
    func withinQuery<R>(_ body: () throws(QueryError) -> R) throws(QueryError) -> R {
        let saved = outerGroupings
        defer { outerGroupings = saved }
        if let grouping { outerGroupings.append(grouping) }
        return try body()
    }

    // MARK: Sources

    /// Notes what of the row of a source is referred to by what is being compiled.
    func noteUse(_ part: SourceUse.Part, of source: Int) {
        touched.insert(source)
        uses[source, default: SourceUse()].add(part)
    }

    /// Compiles `body`; answers what sources it refers to as well.
    func tracking<R>(_ body: () throws(QueryError) -> R) throws(QueryError) -> (result: R, sources: Set<Int>)
    {
        let saved = touched
        touched = []
        defer { touched.formUnion(saved) }
        let result = try body()
        return (result, touched)
    }

    /// Notes that a query asks whether documents of a source are deleted, and wants to see those that are.
    func noteDeletedAsked(of source: Int) { sourcesWithDeleted.insert(source) }
}

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
                    + "most languages")
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

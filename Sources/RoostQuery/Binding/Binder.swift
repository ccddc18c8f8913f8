import Roost
import RoostOrder

/// Resolves the names of a statement, each once. After it, nothing fails because of a name.
///
/// A folder of three parts: this type and its extension for queries, the ``Scope`` of names it looks them up in, and what comes of it, a
/// ``BoundQuery`` of ``BoundExpression``s. It also finds the collation of each operator that compares, what is computed of groups, and
/// which queries depend on the rows of others. The database is consulted for collections and full-text indexes only, by way of a ``Schema``.
final class Binder {
    let schema: Schema
    var scope = Scope()
    /// The options of the COLLATE around the expression that is being bound.
    private var options = CollationOptions()
    /// How strings are compared there.
    private(set) var collation = Collation.binary
    /// Where an aggregate may not be, in words; `nil` where it may.
    var aggregateProblem: String?
    /// Why a window function may not be where the binder is, in words; `nil` where it may.
    var windowProblem: String? = Binder.misplacedWindow
    /// The windows of the present query that have a name, each without that of another.
    var namedWindows: [ByteKey: Window] = [:]
    /// How many queries there are around the present one.
    private var depth = 0
    /// The columns that a name may mean, besides sources and variables.
    var columnUse = ColumnUse.none
    private var parameterNames: [String] = []
    private var parameterNumbers: [ByteKey: Int] = [:]
    var searches: [BoundSearch] = []
    var rankedSearches: Set<Int> = []
    private var sourceCount = 0
    private var collections: [Int: DocumentCollection] = [:]
    private var slotCount = 0
    private var queryCount = 0

    /// Which columns a name may mean.
    enum ColumnUse {
        case none
        /// Those without aggregates.
        case ofRows
        case all
    }

    static let misplacedAggregate =
        "looks at many rows, and can't stand in WHERE, ON, GROUP BY or within another one"

    static let misplacedWindow =
        "looks at the rows that WHERE, GROUP BY and HAVING have kept, and can't stand there. Put the query into FROM of another "
        + "one, and ask that for what it yields"
    static let nestedWindow = "can't stand within an aggregate, another window function, ANY or EVERY"

    /// A statement has no more queries, each mention of a query of WITH included.
    private static let mostQueries = 1000

    init(_ schema: Schema) { self.schema = schema }

    // MARK: Statements

    /// Binds expressions of single documents, which are the rows of source 0.
    ///
    /// - Parameter variables: the names of values that expressions may use as well, the outermost first; `nil` for one without a name.
    static func ofDocuments(_ schema: Schema, variables: [String?] = []) -> Binder {
        let binder = Binder(schema)
        binder.scope.begin([])
        binder.scope.add(
            Scope.Source(alias: "_doc", number: binder.addSource(nil), kind: .collection, collection: nil))
        binder.scope.variables = variables
        binder.aggregateProblem = misplacedAggregate
        return binder
    }

    /// What was bound until now.
    var statement: BoundStatement {
        BoundStatement(
            parameterNames: parameterNames, sourceCount: sourceCount, collections: collections,
            slotCount: slotCount, queryCount: queryCount, rankedSearches: rankedSearches)
    }

    func addSource(_ collection: DocumentCollection?) -> Int {
        collections[sourceCount] = collection
        defer { sourceCount += 1 }
        return sourceCount
    }

    func addSlot() -> Int {
        defer { slotCount += 1 }
        return slotCount
    }

    /// Begins a query.
    ///
    /// - Throws: where there are too many, or too many within each other: a query of WITH may be named by the next one many times.
    func beginQuery() throws(QueryError) -> Int {
        guard depth < SQLParser.deepest, queryCount < Self.mostQueries else {
            throw QueryError(
                "The statement comes to more than \(Self.mostQueries) queries, or has more than \(SQLParser.deepest) within each "
                    + "other, with those of WITH counted wherever they are named")
        }
        depth += 1
        queryCount += 1
        return queryCount - 1
    }

    func endQuery() { depth -= 1 }

    // MARK: Expressions

    func bind(_ expression: Expression) throws(QueryError) -> BoundExpression {
        switch expression {
        case .literal(let value): return .literal(value)
        case .missing: return .missing
        case .path(let steps, let place): return try path(steps, place)
        case .variable(let name, let steps, let place): return try variable(name, steps, place)
        case .member(let value, let steps): return try bind(value).reaching(steps)
        case .meta(let field, let alias, let place): return try meta(field, try source(alias, place), place)
        case .parameter(let name):
            return .parameter(parameter(name))
        case .array(let values): return .array(try bind(values))
        case .dictionary(let pairs):
            return .dictionary(
                try pairs.map { (pair) throws(QueryError) in
                    BoundExpression.Pair(name: ByteKey(pair.name), value: try bind(pair.value))
                })
        case .arithmetic(let first, let operations):
            return .arithmetic(
                try bind(first),
                try operations.map { (operation) throws(QueryError) in
                    BoundExpression.Operation(
                        arithmetic: operation.arithmetic, operand: try bind(operation.operand))
                })
        case .negative(let value): return .negative(try bind(value))
        case .concatenation(let parts): return .concatenation(try bind(parts))
        case .comparison(let comparison, let left, let right):
            return .comparison(comparison, try bind(left), try bind(right), try collation(of: left, right))
        case .collation(let comparison, let left, let right):
            return .couchComparison(
                comparison, try bind(left), try bind(right), try collation(of: left, right))
        case .identity(let left, let right, let isNegated):
            return .identity(
                try bind(left), try bind(right), try collation(of: left, right), isNegated: isNegated)
        case .test(let value, let test, let isNegated):
            return .test(try bind(value), test, isNegated: isNegated)
        case .membership(let value, let list, let isNegated):
            return .membership(
                try bind(value), try bind(list), try collation(of: value, list), isNegated: isNegated)
        case .like(let value, let pattern, let isNegated):
            return .like(
                try bind(value), try bind(pattern), try collation(of: value, pattern), isNegated: isNegated)
        case .all(let parts): return .all(try bind(parts))
        case .any(let parts): return .any(try bind(parts))
        case .not(let value): return .not(try bind(value))
        case .choice(let base, let branches, let otherwise): return try choice(base, branches, otherwise)
        case .quantified(let quantifier, let name, let array, let condition):
            let array = try bind(array)
            let saved = windowProblem
            scope.variables.append(name)
            windowProblem = Self.nestedWindow
            defer {
                scope.variables.removeLast()
                windowProblem = saved
            }
            return .quantified(quantifier, array, satisfies: try bind(condition))
        case .exists(let select): return .exists(try inner(select))
        case .select(let select): return .rows(try inner(select))
        case .collate(let options, let value):
            return try collating(options) { () throws(QueryError) in try bind(value) }
        case .call(let function, let arguments):
            return .call(function, try bind(arguments), function.comparesTexts ? collation : .binary)
        case .aggregate(let aggregate, let value, let isDistinct, let place):
            return try self.aggregate(aggregate, value, isDistinct, place)
        case .window(let call): return .window(try window(call))
        case .match(let index, let text, let place): return try match(index, text, place)
        case .rank(let index, let place): return try rank(index, place)
        }
    }

    func bind(_ expressions: [Expression]) throws(QueryError) -> [BoundExpression] {
        var result: [BoundExpression] = []
        result.reserveCapacity(expressions.count)
        for expression in expressions { result.append(try bind(expression)) }
        return result
    }

    /// An expression with the collation that its values are ordered by.
    func collated(_ expression: Expression) throws(QueryError) -> CollatedExpression {
        CollatedExpression(value: try bind(expression), collation: try collation(of: expression))
    }

    private func choice(
        _ base: Expression?, _ branches: [Expression.Branch], _ otherwise: Expression?
    ) throws(QueryError) -> BoundExpression {
        .choice(
            try base.map { (value) throws(QueryError) in try bind(value) },
            try branches.map { (branch) throws(QueryError) in
                BoundExpression.Branch(condition: try bind(branch.condition), value: try bind(branch.value))
            },
            otherwise: try otherwise.map { (value) throws(QueryError) in try bind(value) },
            base == nil ? .binary : collation)
    }

    private func aggregate(
        _ aggregate: Aggregate, _ value: Expression?, _ isDistinct: Bool, _ place: Place
    ) throws(QueryError) -> BoundExpression {
        if let aggregateProblem {
            throw QueryError("\(aggregate.name.rawValue)() \(aggregateProblem)", at: place.offset)
        }
        let saved = (columnUse, windowProblem)
        (aggregateProblem, windowProblem) = (Self.misplacedAggregate, Self.nestedWindow)
        // What is asked of the rows of a group.
        if columnUse == .all { columnUse = .ofRows }
        defer {
            aggregateProblem = nil
            (columnUse, windowProblem) = saved
        }
        guard let value else { return .aggregate(aggregate, nil, isDistinct: isDistinct, .binary) }
        let collated = try collated(value)
        return .aggregate(aggregate, collated.value, isDistinct: isDistinct, collated.collation)
    }

    private func parameter(_ name: String) -> Int {
        if let known = parameterNumbers[ByteKey(name)] { return known }
        parameterNames.append(name)
        parameterNumbers[ByteKey(name)] = parameterNames.count - 1
        return parameterNames.count - 1
    }

    // MARK: Collations

    /// Binds as if COLLATE were around what `body` binds.
    private func collating<R>(
        _ options: CollationOptions, _ body: () throws(QueryError) -> R
    ) throws(QueryError) -> R {
        let saved = (self.options, collation)
        defer { (self.options, collation) = saved }
        self.options = options.inheriting(self.options)
        collation = try Collation(self.options)
        return try body()
    }

    /// How a value of `expression` is ordered: as the COLLATE around it says.
    func collation(of expression: Expression) throws(QueryError) -> Collation {
        let expression = column(expression) ?? expression
        guard case .collate(let options, let inner) = expression else { return collation }
        return try collating(options) { () throws(QueryError) in
            if case .collate = inner { return try collation(of: inner) }
            return collation
        }
    }

    /// How operands are compared: as COLLATE around one of them says, the left one first, or else around both.
    private func collation(of left: Expression, _ right: Expression) throws(QueryError) -> Collation {
        if case .collate = column(left) ?? left { return try collation(of: left) }
        return try collation(of: right)
    }

    // MARK: Paths

    /// A path that begins with a variable, an alias, a column of the result or a property.
    private func path(_ steps: [Step], _ place: Place) throws(QueryError) -> BoundExpression {
        if let column = column(.path(steps, place)) {
            // The column's expression knows no variable of this one.
            let saved = (columnUse, scope.variables)
            columnUse = .none
            scope.hideVariables()
            defer { (columnUse, scope.variables) = saved }
            return try bind(column)
        }
        if case .key(let name)? = steps.first {
            switch scope.meaning(of: name, steps) {
            case .source(let source, let depth, let stepCount):
                scope.noteUse(above: depth)
                return try property(source, Array(steps.dropFirst(stepCount)), place)
            case .variable(let number, let depth):
                scope.noteUse(above: depth)
                return .variable(number, Array(steps.dropFirst()))
            case nil: break
            }
        }
        return try property(try onlySource(steps, place), steps, place)
    }

    /// The column of the result that a path begins with, as it was written with the rest of the path.
    private func column(_ expression: Expression) -> Expression? {
        guard columnUse != .none, case .path(let steps, _) = expression, case .key(let name)? = steps.first,
            let column = scope.column(name), columnUse == .all || !column.value.hasAggregate
        else { return nil }
        return column.value.reaching(Array(steps.dropFirst()))
    }

    private func variable(_ name: String, _ steps: [Step], _ place: Place) throws(QueryError)
        -> BoundExpression
    {
        guard case .variable(let number, let depth)? = scope.meaning(of: name) else {
            throw QueryError(
                "There is no variable ?\(name)\(Suggestion.text(for: name, among: scope.knownNames))",
                at: place.offset)
        }
        scope.noteUse(above: depth)
        return .variable(number, steps)
    }

    /// The source that a property without an alias belongs to.
    private func onlySource(_ steps: [Step], _ place: Place) throws(QueryError) -> Scope.Source {
        let own = scope.ownSources
        if own.count == 1 { return own[0] }
        let aliases = own.map(\.alias).joined(separator: ", ")
        guard case .key(let name)? = steps.first else {
            throw QueryError(
                "Several sources are joined: say whose document is meant, as in \(aliases)", at: place.offset)
        }
        guard !own.isEmpty else {
            throw QueryError(
                "\(name) names a property, and there is no document here. Write a value, a text in quotation marks or a $parameter",
                at: place.offset)
        }
        throw QueryError(
            "\(name) is no name of a source, and with several of them a path begins with one: \(aliases)"
                + Suggestion.text(for: name, among: own.map(\.alias)), at: place.offset)
    }

    /// The source that META() speaks of.
    func source(_ alias: String?, _ place: Place) throws(QueryError) -> Scope.Source {
        if let alias, let found = scope.source(named: alias) {
            scope.noteUse(above: found.depth)
            return found.source
        }
        guard let alias, alias != "_doc" else {
            let sources = scope.ownSources.filter { $0.kind == .collection }
            guard sources.count == 1 else {
                throw QueryError(
                    "META() must say which source is meant: \(sources.map { "META(\($0.alias))" }.joined(separator: ", "))",
                    at: place.offset)
            }
            return sources[0]
        }
        throw QueryError(
            "There is no source \(alias)\(Suggestion.text(for: alias, among: scope.ownSources.map(\.alias)))",
            at: place.offset)
    }

    /// A path into the row of a source.
    private func property(_ source: Scope.Source, _ steps: [Step], _ place: Place) throws(QueryError)
        -> BoundExpression
    {
        if case .key(let name)? = steps.first, source.kind == .collection,
            let field = MetaField(propertyName: name)
        {
            return try meta(field, source, place).reaching(Array(steps.dropFirst()))
        }
        return .path(source: source.number, steps)
    }

    private func meta(_ field: MetaField?, _ source: Scope.Source, _ place: Place) throws(QueryError)
        -> BoundExpression
    {
        guard source.kind == .collection else {
            throw QueryError(
                "META() knows documents of collections, and nothing of elements and results of other queries",
                at: place.offset)
        }
        return .meta(field, source: source.number)
    }
}

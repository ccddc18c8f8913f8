import Fleece
import Roost
import RoostBytes
import RoostOrder

/// Turns bound expressions into closures that compute them.
///
/// The folder has the closures of operators, the ``Frame`` of present rows and variables that they compute in, and the ``Program`` that
/// numbers its places. Functions have a folder of their own.
///
/// Closures beat trees of nodes here; those that compare a path with a constant, which most conditions consist of, are
/// made in one piece.
final class Compiler {
    let program: Program
    /// Plans the queries within expressions.
    private let plan: (BoundQuery) throws(QueryError) -> QueryPlan
    private let statement: BoundStatement
    /// The frame's places of the variables that are known, the innermost last.
    private var variables: [Int] = []
    /// What is searched for in full-text indexes, by number.
    private var searches: [Int: TextSearch] = [:]

    init(_ statement: BoundStatement, plan: @escaping (BoundQuery) throws(QueryError) -> QueryPlan) {
        self.statement = statement
        self.plan = plan
        program = Program(statement)
    }

    /// A variable that all expressions know from now on.
    func addVariable() -> Int {
        let slot = program.addVariable()
        variables.append(slot)
        return slot
    }

    // MARK: Expressions

    func compile(_ expression: BoundExpression) throws(QueryError) -> Evaluation {
        switch expression {
        case .literal(let value):
            let constant = try constant(value)
            return { _ in constant.value }
        case .missing: return { _ in .missing }
        case .path(let source, let steps):
            guard !steps.isEmpty else { return { $0.root(source) } }
            let number = program.path(source, steps)
            return { $0.value(ofPath: number) }
        case .meta(let field, let source): return meta(field, source)
        case .variable(let number, let steps):
            let slot = variables[variables.count - 1 - number]
            return member({ $0.variable(slot) }, steps)
        case .member(let value, let steps): return member(try compile(value), steps)
        case .parameter(let number):
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
        case .comparison(let comparison, let left, let right, let collation):
            return try self.comparison(comparison, left, right, collation)
        case .couchComparison(let comparison, let left, let right, let collation):
            return Comparisons.collated(comparison, try compile(left), try compile(right), collation)
        case .identity(let left, let right, let collation, let isNegated):
            return Comparisons.identity(try compile(left), try compile(right), collation, isNegated)
        case .test(let value, let test, let isNegated):
            return Comparisons.test(try compile(value), test, isNegated)
        case .membership(let value, let list, let collation, let isNegated):
            return try membership(value, list, collation, isNegated)
        case .like(let value, let pattern, let collation, let isNegated):
            return Strings.like(try compile(value), try compile(pattern), collation, isNegated)
        case .all(let parts): return Logic.all(try compile(parts))
        case .any(let parts): return Logic.any(try compile(parts))
        case .not(let value): return Logic.not(try compile(value))
        case .choice(let base, let branches, let otherwise, let collation):
            return try choice(base, branches, otherwise, collation)
        case .quantified(let quantifier, let array, let condition):
            return try quantified(quantifier, array, condition)
        case .exists(let query):
            let plan = try plan(query)
            return { frame in frame.rows(of: plan, limit: 1).map { .bool(!$0.isEmpty) } ?? .null }
        case .rows(let query):
            let plan = try plan(query)
            return { frame in frame.rows(of: plan, limit: .max).map { frame.value(of: $0, plan) } ?? .null }
        case .call(let function, let arguments, let collation):
            return try call(function, arguments, collation)
        case .match(let search):
            let search = try self.search(search)
            return { frame in .bool(frame.rank(in: search) != nil) }
        case .rank(let search):
            let search = try self.search(search)
            return { frame in .double(frame.rank(in: search) ?? 0) }
        case .slot(let number): return { $0.aggregate(number) }
        case .aggregate, .window:
            preconditionFailure("aggregates and window functions are bound to their query")
        }
    }

    func compile(_ expressions: [BoundExpression]) throws(QueryError) -> [Evaluation] {
        var result: [Evaluation] = []
        for expression in expressions { result.append(try compile(expression)) }
        return result
    }

    /// What a MATCH() looks for.
    func search(_ bound: BoundSearch) throws(QueryError) -> TextSearch {
        if let known = searches[bound.number] { return known }
        let made = TextSearch(
            bound, text: try compile(bound.text), isRanked: statement.rankedSearches.contains(bound.number))
        searches[bound.number] = made
        return made
    }

    /// A value that is the same for every row.
    ///
    /// Unchecked because a `Value` points into bytes: these are in the program's pool, which does not change after compiling.
    struct Constant: @unchecked Sendable {
        let value: Value
    }

    func constant(_ value: DocumentValue) throws(QueryError) -> Constant {
        do throws(DatabaseError) {
            return Constant(value: try program.constants.value(value))
        } catch {
            throw QueryError(error.message)
        }
    }

    /// What META() knows of the row of a source.
    private func meta(_ field: MetaField?, _ source: Int) -> Evaluation {
        guard let field else { return { Metadata.all($0, source) } }
        guard !field.isLookedUp else {
            let collection = statement.collections[source]
            return { $0.lookUp(field, source, collection) }
        }
        return { Metadata.value(field, $0, source) }
    }

    /// A path into whatever `value` yields.
    private func member(_ value: @escaping Evaluation, _ steps: [Step]) -> Evaluation {
        guard !steps.isEmpty else { return value }
        let steps = steps.map(program.resolved)
        return { frame in
            var result = value(frame)
            for step in steps {
                var place: UInt32 = 0
                result = step.value(in: result, near: &place)
            }
            return result
        }
    }

    // MARK: ANY

    private func quantified(
        _ quantifier: Quantifier, _ array: BoundExpression, _ condition: BoundExpression
    ) throws(QueryError) -> Evaluation {
        let array = try compile(array)
        let variable = addVariable()
        defer { variables.removeLast() }
        let condition = try compile(condition)
        return { frame in
            let value = array(frame)
            guard let elements = value.elements else { return value.isMissing ? .missing : .null }
            let saved = frame.variable(variable)
            defer { frame.setVariable(variable, saved) }
            let isAny = quantifier == .any
            for element in elements {
                frame.setVariable(variable, element)
                if Logic.holds(condition(frame)) == isAny { return .bool(isAny) }
            }
            return .bool(quantifier == .every || quantifier == .anyAndEvery && elements.count > 0)
        }
    }
}

// MARK: - Operators

extension Compiler {
    // MARK: Comparing

    /// A comparison; of a path with a constant in one piece.
    func comparison(
        _ comparison: Comparison, _ left: BoundExpression, _ right: BoundExpression, _ collation: Collation
    ) throws(QueryError) -> Evaluation {
        switch (left, right) {
        case (.path(let source, let steps), .literal(let value)) where !steps.isEmpty && !value.isNull:
            return fused(comparison, program.path(source, steps), try constant(value), collation)
        case (.literal(let value), .path(let source, let steps)) where !steps.isEmpty && !value.isNull:
            return fused(comparison.mirrored, program.path(source, steps), try constant(value), collation)
        default:
            let (left, right) = (try compile(left), try compile(right))
            return { frame in Comparisons.compare(left(frame), right(frame), comparison, collation) }
        }
    }

    private func fused(
        _ comparison: Comparison, _ path: Int, _ constant: Constant, _ collation: Collation
    ) -> Evaluation {
        if case .integer(let limit) = constant.value {
            return { frame in
                let value = frame.value(ofPath: path)
                if case .integer(let value) = value {
                    return .bool(comparison.holds(value < limit ? -1 : value > limit ? 1 : 0))
                }
                return Comparisons.compare(value, .integer(limit), comparison, collation)
            }
        }
        return { frame in
            Comparisons.compare(frame.value(ofPath: path), constant.value, comparison, collation)
        }
    }

    func membership(
        _ value: BoundExpression, _ list: BoundExpression, _ collation: Collation, _ isNegated: Bool
    ) throws(QueryError) -> Evaluation {
        let value = try compile(value)
        // Constants are looked up, not gone through.
        if case .array(let items) = list, items.count > 4, let set = try ConstantSet(items, collation, self) {
            return { frame in
                let value = value(frame)
                guard value.isValued else { return value }
                return .bool(set.contains(value) != isNegated)
            }
        }
        let list = try compile(list)
        return { frame in Comparisons.membership(value(frame), list(frame), collation, isNegated) }
    }

    // MARK: Collections

    static func array(_ values: [Evaluation]) -> Evaluation {
        { frame in frame.array(values.map { $0(frame) }) }
    }

    func dictionary(_ pairs: [BoundExpression.Pair]) throws(QueryError) -> Evaluation {
        var members: [(name: String, value: Evaluation)] = []
        for pair in pairs { members.append((pair.name.text, try compile(pair.value))) }
        return { [members] frame in
            // What a member computes may need the writer's place in the arena, so all of them come first.
            let values = members.map { $0.value(frame) }
            return frame.collection { writer in
                writer.beginDictionary()
                for (member, value) in zip(members, values) where !value.isMissing {
                    writer.key(member.name)
                    writer.write(value)
                }
                writer.endDictionary()
            }
        }
    }

    // MARK: CASE

    func choice(
        _ base: BoundExpression?, _ branches: [BoundExpression.Branch], _ otherwise: BoundExpression?,
        _ collation: Collation
    ) throws(QueryError) -> Evaluation {
        let base = try base.map { (value) throws(QueryError) in try compile(value) }
        let otherwise = try otherwise.map { (value) throws(QueryError) in try compile(value) }
        var compiled: [(condition: Evaluation, value: Evaluation)] = []
        for branch in branches { compiled.append((try compile(branch.condition), try compile(branch.value))) }
        return { [compiled] frame in
            let subject = base?(frame)
            for branch in compiled {
                let condition = branch.condition(frame)
                let holds =
                    subject.map { Comparisons.compare($0, condition, .equal, collation).isTrue }
                    ?? Logic.holds(condition)
                if holds { return branch.value(frame) }
            }
            return otherwise?(frame) ?? .null
        }
    }
}

/// Constants among which a value is looked for.
struct ConstantSet: Sendable {
    private let keys: Set<[UInt8]>
    private let collation: Collation

    /// `nil` unless all items are literals with a value.
    init?(_ items: [BoundExpression], _ collation: Collation, _ compiler: Compiler) throws(QueryError) {
        let encoder = KeyEncoder(collation)
        var keys: Set<[UInt8]> = []
        for item in items {
            guard case .literal(let value) = item else { return nil }
            if value.isNull { continue }
            encoder.reset()
            encoder.append(try compiler.constant(value).value)
            keys.insert(encoder.key)
        }
        self.keys = keys
        self.collation = collation
    }

    func contains(_ value: Value) -> Bool {
        let encoder = KeyEncoder(collation)
        encoder.append(value)
        return keys.contains(encoder.key)
    }
}

// MARK: - Calls

extension Compiler {
    func call(
        _ function: Function, _ arguments: [BoundExpression], _ collation: Collation
    ) throws(QueryError) -> Evaluation {
        if function == .blob { return try blob(arguments[0]) }
        if let pattern = try patternCall(function, arguments) { return pattern }
        let values = try compile(arguments)
        return Conditionals.evaluation(function, values, collation) ?? Arrays.evaluation(
            function, values, collation)
            ?? Numbers.evaluation(function, values) ?? Strings.evaluation(function, values, collation)
            ?? Kinds.evaluation(function, values) ?? Dates.evaluation(function, values)
            ?? Selectors.evaluation(function, values, collation)
    }

    /// A call with a regular expression, which is compiled once where it is a constant.
    private func patternCall(_ function: Function, _ arguments: [BoundExpression]) throws(QueryError)
        -> Evaluation?
    {
        guard [.regexpContains, .regexpLike, .regexpPosition, .regexpReplace, .matches].contains(function)
        else {
            return nil
        }
        var constant: RegularExpression?
        if case .literal(.string(let text)) = arguments[1] { constant = try RegularExpression(text) }
        let values = try compile(arguments)
        return Patterns.evaluation(function, values, constant)
    }

    /// The content of the blob that a property names, as data.
    private func blob(_ argument: BoundExpression) throws(QueryError) -> Evaluation {
        let value = try compile(argument)
        return { frame in
            guard case .dictionary(let node) = value(frame) else { return .missing }
            return frame.reader?.blob(named: node, frame) ?? .missing
        }
    }
}

/// How most functions treat what is not there.
enum Arguments {
    /// Missing if one of the values is missing, else null if one is null; `nil` when all are there.
    @inline(__always)
    static func absent(_ values: Value...) -> Value? {
        if values.contains(where: \.isMissing) { return .missing }
        return values.contains(where: \.isNull) ? .null : nil
    }

    /// A function of one value that is there.
    static func one(_ value: @escaping Evaluation, _ body: @escaping @Sendable (Value, Frame) -> Value)
        -> Evaluation
    {
        { frame in
            let value = value(frame)
            return value.isValued ? body(value, frame) : value
        }
    }

    /// A function of two values that are there.
    static func two(
        _ values: [Evaluation], _ body: @escaping @Sendable (Value, Value, Frame) -> Value
    ) -> Evaluation {
        let (first, second) = (values[0], values[1])
        return { frame in
            let (a, b) = (first(frame), second(frame))
            guard a.isValued, b.isValued else { return a.isMissing || b.isMissing ? .missing : .null }
            return body(a, b, frame)
        }
    }
}

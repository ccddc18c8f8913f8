import Roost

/// Expressions of single documents that are evaluated outside queries: the columns of an index, the expressions of a view. The document
/// is the row of source 0.
final class DocumentProgram {
    private let binder: Binder
    private var planner: Planner?
    private var bound: [BoundExpression] = []
    /// The frame's places of the variables.
    private(set) var variables: [Int] = []

    /// - Parameter variables: the names of values that expressions may use as well; `nil` for one without a name.
    init(_ schema: Schema, variables: [String?] = []) {
        binder = Binder.ofDocuments(schema, variables: variables)
        variableCount = variables.count
    }

    private let variableCount: Int

    /// Binds an expression. All are bound before the first is compiled.
    func bind(_ expression: Expression) throws(QueryError) -> CollatedExpression {
        let collated = try binder.collated(expression)
        bound.append(collated.value)
        return collated
    }

    func compile(_ expression: BoundExpression) throws(QueryError) -> Evaluation {
        try compiler.compile(expression)
    }

    private var compiler: Compiler {
        if let planner { return planner.compiler }
        let made = Planner(binder.statement, bound, binder.schema)
        planner = made
        for _ in 0..<variableCount { variables.append(made.compiler.addVariable()) }
        return made.compiler
    }

    var program: Program { compiler.program }
    var parameterNames: [String] { binder.statement.parameterNames }
    /// What is asked of documents.
    var use: SourceUse { SourceUse.of(bound)[0] ?? SourceUse() }
}

import Fleece
import Roost
import RoostBytes
import Synchronization

/// Computes a value from the present rows.
typealias Evaluation = @Sendable (Frame) -> Value

/// The same evaluation, for one thread: a call counts references to the closure, and threads that execute the same plan would
/// wait for each other's counts.
func unshared(_ evaluation: @escaping Evaluation) -> Evaluation { { frame in evaluation(frame) } }

/// What a whole query, with all queries in it, needs to be executed: its sources, paths, variables and parameters by number.
///
/// Made by the ``Compiler``; never changes afterwards, and may be executed on any number of threads at once.
final class Program: @unchecked Sendable {
    // Only the compiler changes it, before anybody else sees it.

    /// A way into the row of a source, one step longer than that of its parent.
    struct Path {
        let source: Int
        /// The path without the last step; -1 for the row itself.
        let parent: Int
        let step: ResolvedStep
    }

    private(set) var paths: [Path] = []
    private(set) var variableCount = 0
    let parameterNames: [String]
    let sourceCount: Int
    let aggregateCount: Int
    let selectCount: Int
    let constants = ConstantPool()
    /// The key of a blob's digest.
    let digestKey: ByteView
    private var pathNumbers: [PathName: Int] = [:]

    private struct PathName: Hashable {
        let source: Int
        let parent: Int
        let step: StepName
    }

    /// A step with its key as bytes: keys that Swift's strings hold equal may differ in documents.
    private enum StepName: Hashable {
        case key([UInt8])
        case index(Int)

        init(_ step: Step) {
            switch step {
            case .key(let key): self = .key(Array(key.utf8))
            case .index(let index): self = .index(index)
            }
        }
    }

    init(_ statement: BoundStatement) {
        parameterNames = statement.parameterNames
        sourceCount = statement.sourceCount
        aggregateCount = statement.slotCount
        selectCount = statement.queryCount
        digestKey = constants.bytes("digest")
    }

    func addVariable() -> Int {
        defer { variableCount += 1 }
        return variableCount
    }

    /// The number of the path that leads from a source's row over `steps`, of which there is at least one.
    func path(_ source: Int, _ steps: [Step]) -> Int {
        var parent = -1
        for step in steps {
            let name = PathName(source: source, parent: parent, step: StepName(step))
            if let number = pathNumbers[name] {
                parent = number
                continue
            }
            paths.append(Path(source: source, parent: parent, step: resolved(step)))
            pathNumbers[name] = paths.count - 1
            parent = paths.count - 1
        }
        return parent
    }

    func resolved(_ step: Step) -> ResolvedStep {
        switch step {
        case .key(let key): .key(constants.bytes(key))
        case .index(let index): .index(index)
        }
    }
}

// MARK: - Document program

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

// MARK: - Spare pool

/// Things that take some work to make and that one thread at a time can use: a thread that has finished with one leaves it for the next.
final class SparePool<Thing>: Sendable {
    /// Unchecked because the thing need not be `Sendable`: it is in the pool, or belongs to the one thread that took it.
    private struct Spare: @unchecked Sendable {
        let thing: Thing
    }

    /// So many are kept, which is as many threads as there mostly are.
    private let capacity: Int
    private let spares = Mutex<[Spare]>([])

    init(capacity: Int = 16) { self.capacity = capacity }

    /// A thing that belongs to the caller from now on; `nil` where one has to be made.
    func take() -> Thing? { spares.withLock { $0.popLast() }?.thing }

    /// Returns a thing that is no longer used.
    func giveBack(_ thing: Thing) {
        let spare = Spare(thing: thing)
        spares.withLock { if $0.count < capacity { $0.append(spare) } }
    }
}

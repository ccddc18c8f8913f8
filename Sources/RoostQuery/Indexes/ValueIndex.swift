import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder
import Synchronization

/// An index of values that the documents of a collection have: what it is of.
public struct ValueIndex: Sendable, Hashable, Codable {
    /// Its name, unique in the collection.
    public var name: String
    /// The expressions that its rows are ordered by, in SQL++, each with `DESC` where it goes down: `stars DESC, title`.
    /// Empty with ``unnesting`` for the elements themselves.
    public var columns: String
    /// The condition, in SQL++, that documents in the index meet; `nil` for all of them.
    public var condition: String?
    /// The path of an array, each element of which has a row of its own; `columns` are paths within an element then.
    public var unnesting: String?

    /// The description of an index.
    public init(
        _ name: String, on columns: String = "", where condition: String? = nil, unnesting: String? = nil
    ) {
        self.name = name
        self.columns = columns
        self.condition = condition
        self.unnesting = unnesting
    }
}

/// An index that is ready to be used: its expressions parsed and compiled.
final class CompiledIndex: Sendable {
    let description: ValueIndex
    let columns: [Column]
    /// The conditions that documents in it meet, each of which a query has to have too.
    let conditions: [Expression]
    /// The array whose elements have rows.
    let array: Expression?
    let definition: IndexDefinition

    /// What rows are ordered by.
    struct Column: Sendable {
        /// Without COLLATE; a path within an element where there is an array.
        let expression: Expression
        let collation: Collation
        let isDescending: Bool
    }

    /// The version of the rows' form.
    private static let version = 1

    init(_ index: ValueIndex) throws(QueryError) {
        description = index
        let planner = Planner(NoCollections())
        let compiler = Compiler(planner: planner)
        let document = compiler.program.addSource()
        compiler.sourceKinds.append(.collection)
        compiler.scope.addSource("_doc", document, takesProperties: true)

        let condition = try index.condition.map { (text) throws(QueryError) in try SQLParser.expression(text)
        }
        conditions = condition?.conjuncts ?? []
        let filter = try condition.map { (value) throws(QueryError) in try compiler.compile(value) }

        let array = try index.unnesting.map { (text) throws(QueryError) in try SQLParser.expression(text) }
        self.array = array
        let elements = try array.map { (value) throws(QueryError) in try compiler.compile(value) }
        let variable = compiler.program.addVariable()
        var orderings: [Select.Ordering] = []
        if !index.columns.isEmpty { orderings = try SQLParser.orderings(index.columns) }
        if orderings.isEmpty {
            guard array != nil else { throw QueryError("An index is on at least one expression") }
            orderings = [Select.Ordering(value: .path([], .unknown))]
        }
        var columns: [Column] = []
        var values: [Evaluation] = []
        for ordering in orderings {
            let collation = try compiler.collation(of: ordering.value)
            let inner = ordering.value.uncollated
            if array != nil {
                guard case .path(let steps, _) = inner else {
                    throw QueryError("The columns of an index with elements are paths within an element")
                }
                values.append(compiler.member({ $0.variable(variable) }, steps))
            } else {
                values.append(try compiler.compile(ordering.value))
            }
            columns.append(
                Column(expression: inner, collation: collation, isDescending: ordering.isDescending))
        }
        self.columns = columns

        let mapper = IndexMapper(
            compiler.program, columns: columns, values: values, filter: filter, elements: elements,
            variable: variable)
        definition = IndexDefinition(
            name: "value/\(index.name)",
            signature:
                "value \(Self.version); \(index.columns); where \(index.condition ?? ""); unnest \(index.unnesting ?? ""); "
                + columns.map(\.collation.signature).joined(separator: ", ")
        ) { document, rows in mapper.map(document, &rows) }
    }
}

/// Makes the rows of an index.
private final class IndexMapper: Sendable {
    private let program: Program
    private let columns: [CompiledIndex.Column]
    private let values: [Evaluation]
    private let filter: Evaluation?
    private let elements: Evaluation?
    private let variable: Int
    /// What threads that map have left over.
    private let idle = Mutex<[Mapping]>([])

    /// What one thread needs at a time.
    private struct Mapping: @unchecked Sendable {
        // Handed from one thread to another, and used by one only.
        let frame: Frame
        let encoder: [KeyEncoder]
        let key: ByteBuffer
    }

    init(
        _ program: Program, columns: [CompiledIndex.Column], values: [Evaluation], filter: Evaluation?,
        elements: Evaluation?, variable: Int
    ) {
        self.program = program
        self.columns = columns
        self.values = values
        self.filter = filter
        self.elements = elements
        self.variable = variable
    }

    func map(_ document: IndexedDocument, _ rows: inout IndexRows) {
        guard let mapping = idle.withLock({ $0.popLast() }) ?? made() else { return }
        defer { idle.withLock { $0.append(mapping) } }
        let frame = mapping.frame
        let mark = frame.arena.mark
        defer { frame.arena.release(to: mark) }
        document.document.value.withNode { root in
            let metadata = BodyMetadata(document.document)
            frame.setRow(
                0, Value(root), RowMetadata(id: frame.arena.copy(document.document.id), body: metadata))
            if let filter, !Logic.holds(filter(frame)) { return }
            guard let elements else {
                add(mapping, &rows)
                return
            }
            guard let array = elements(frame).elements else { return }
            for element in array {
                frame.setVariable(variable, element)
                add(mapping, &rows)
            }
        }
    }

    private func made() -> Mapping? {
        guard let frame = try? Frame(program, parameters: [:]) else { return nil }
        return Mapping(frame: frame, encoder: columns.map { KeyEncoder($0.collation) }, key: ByteBuffer())
    }

    /// Adds a row with the present values.
    private func add(_ mapping: Mapping, _ rows: inout IndexRows) {
        mapping.key.reset()
        for (index, encoder) in mapping.encoder.enumerated() {
            encoder.reset()
            encoder.append(values[index](mapping.frame))
            if columns[index].isDescending { encoder.complement(from: 0) }
            mapping.key.append(encoder.view)
        }
        rows.add(mapping.key.view, payload: .empty)
    }
}

/// No collections: an index's expressions have no queries in them.
private struct NoCollections: CollectionFinder {
    func findCollection(_ name: String, scope: String) throws(DatabaseError) -> DocumentCollection? { nil }
    func collectionNames(scope: String) throws(DatabaseError) -> [String] { [] }
}

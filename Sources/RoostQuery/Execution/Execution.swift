import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder
import RoostStorage

/// One run of a query over one snapshot of the database: what its operators share, such as the frame, the snapshot, the memory's budget,
/// and what was found in indexes before. Belongs to one thread.
final class Execution: DocumentSource {
    let snapshot: DatabaseSnapshot
    let moment: QueryMoment
    let counter: WorkCounter
    private(set) lazy var budget = MemoryBudget(limit: options.memoryLimit)
    let frame: Frame
    let database: Database
    /// The values of the parameters by name.
    let parameters: [String: DocumentValue]
    let options: QueryOptions
    /// The documents of the first source that this execution reads, where others read the rest; see ``ScanParts``.
    let part: DocumentSelection?
    /// The documents that are read, where not all are visible.
    let visible: (any VisibleDocuments)?
    private var madeSpill: Spill?
    /// The tables of sources' rows, by the sources' numbers.
    private var tables: [Int: JoinTable] = [:]
    /// Cursors over the ranges that were counted last, by which these were counted.
    var counted: [(index: CompiledIndex, range: KeyRange, isReversed: Bool, cursor: IndexCursor)] = []
    /// What was found in full-text indexes.
    var matches: [TextMatchKey: TextMatches] = [:]
    /// What visible documents are searched for, one by one.
    var textQueries: [TextMatchKey: CompiledTextQuery] = [:]
    /// What indexes of trigrams lead to.
    var gramMatches: [ObjectIdentifier: GramMatches] = [:]

    /// - Parameter frame: one without values, of the program that is executed.
    init(
        _ frame: Frame, _ parameters: [String: DocumentValue], _ database: Database,
        _ snapshot: DatabaseSnapshot, _ moment: QueryMoment, _ options: QueryOptions,
        part: DocumentSelection? = nil, visible: (any VisibleDocuments)? = nil,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(DatabaseError) {
        self.snapshot = snapshot
        self.moment = moment
        self.database = database
        self.parameters = parameters
        self.options = options
        self.part = part
        self.visible = visible
        counter = WorkCounter(isCancelled: isCancelled)
        self.frame = frame
        try frame.setParameters(parameters)
        frame.reader = self
    }

    /// Where rows are put aside.
    var spill: Spill {
        get throws(DatabaseError) {
            if let madeSpill { return madeSpill }
            let made = try Spill(database)
            madeSpill = made
            return made
        }
    }

    /// A collection as of the moment of the execution.
    func documents(of collection: DocumentCollection) throws(DatabaseError) -> QueryMoment.Documents {
        try moment.documents(of: collection, in: snapshot)
    }

    /// Runs `body`, which reads. What goes wrong may lie at an index, which the next query looks up anew.
    func reading<R>(_ body: () throws(DatabaseError) -> R) throws(DatabaseError) -> R {
        do throws(DatabaseError) {
            return try body()
        } catch {
            moment.forgetReaders()
            throw error
        }
    }

    /// The rows of a query, from the first one on.
    func rows(of plan: QueryPlan) throws(DatabaseError) -> RowOperator {
        let rows = try choose(plan).makeRows(self)
        try rows.open()
        return rows
    }

    /// The table of a source's rows.
    func joinTable(_ source: Int) -> JoinTable {
        if let known = tables[source] { return known }
        let made = JoinTable()
        tables[source] = made
        return made
    }

    // MARK: DocumentSource

    func rows(of plan: QueryPlan, limit: Int) throws(DatabaseError) -> OwnedRows {
        let found = try self.rows(of: plan)
        defer { found.close() }
        var rows: OwnedRows = []
        while rows.count < limit, let row = try found.nextRow() {
            try budget.take(row.count)
            rows.append(row)
        }
        try frame.check()
        if plan.isCorrelated || limit != .max { budget.giveBack(rows.reduce(0) { $0 + $1.count }) }
        return rows
    }

    func document(
        _ id: String, of collection: DocumentCollection?
    ) throws(DatabaseError) -> (document: Document, moment: CollectionSnapshot)? {
        guard let collection else { return nil }
        let moment = try documents(of: collection).snapshot
        guard let visible else { return try moment.document(id).map { ($0, moment) } }
        return try visible.find(id, of: collection).map { ($0, moment) }
    }

    func blob(named node: FleeceNode, _ frame: Frame) -> Value {
        // A digest may be that of content that no visible document has.
        guard visible == nil, let digest = Value(node[frame.program.digestKey]).string,
            let reader = try? database.blobReader(digest), reader.length <= UInt64(Arena.limit),
            let content = try? reader.readAll()
        else { return .missing }
        return .data(frame.arena.copy(content))
    }
}

/// Rows of a query, each a Fleece array of its columns.
typealias OwnedRows = [[UInt8]]

/// What expressions ask the database for.
protocol DocumentSource: AnyObject {
    func rows(of plan: QueryPlan, limit: Int) throws(DatabaseError) -> OwnedRows
    /// The document of a row, and a moment that has it, for what is not read with its properties.
    func document(
        _ id: String, of collection: DocumentCollection?
    ) throws(DatabaseError) -> (document: Document, moment: CollectionSnapshot)?
    func blob(named node: FleeceNode, _ frame: Frame) -> Value
    /// The rank of a document in a search; `nil` when it is not found.
    func rank(_ id: ByteView, in search: TextSearch) throws(DatabaseError) -> Double?
}

extension Frame {
    /// The rows of a query within the present one; `nil` after a failure. What depends on no row is computed once.
    func rows(of plan: QueryPlan, limit: Int) -> OwnedRows? {
        if !plan.isCorrelated, let known = subqueryResults[plan.number] { return known }
        guard failure == nil, let reader else { return nil }
        do throws(DatabaseError) {
            let rows = try reader.rows(of: plan, limit: limit)
            if !plan.isCorrelated { subqueryResults[plan.number] = rows }
            return rows
        } catch {
            fail(error)
            return nil
        }
    }

    /// The rows of a query as a value: values of one column where rows have one, and the value where there is only one for certain.
    func value(of rows: OwnedRows, _ plan: QueryPlan) -> Value {
        if plan.isSingleValue {
            guard let row = rows.first else { return .missing }
            return Value(FleeceNode(root: arena.copy(row))[0])
        }
        let names = plan.columnNames
        return collection { writer in
            writer.beginArray()
            for row in rows {
                row.withView { bytes in
                    let node = FleeceNode(root: bytes)
                    guard names.count > 1 else { return writer.write(Value(node[0])) }
                    writer.writeDictionary(of: node, names)
                }
            }
            writer.endArray()
        }
    }
}

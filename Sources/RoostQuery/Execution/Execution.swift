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
    let moment: SnapshotReaders
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
    var trigramMatches: [ObjectIdentifier: TrigramMatches] = [:]

    /// - Parameter frame: one without values, of the program that is executed.
    init(
        _ frame: Frame, _ parameters: [String: DocumentValue], _ database: Database,
        _ snapshot: DatabaseSnapshot, _ moment: SnapshotReaders, _ options: QueryOptions,
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

    /// Where rows are spilled.
    var spill: Spill {
        get throws(DatabaseError) {
            if let madeSpill { return madeSpill }
            let made = try Spill(database)
            madeSpill = made
            return made
        }
    }

    /// A collection as of the moment of the execution.
    func documents(of collection: DocumentCollection) throws(DatabaseError) -> SnapshotReaders.Documents {
        try moment.documents(of: collection, in: snapshot)
    }

    /// Runs `body`, which reads. What goes wrong may lie at an index, which the next query looks up again.
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

// MARK: - Work counter

/// What an execution has done, and whether it should go on.
final class WorkCounter {
    /// How many documents were read.
    var documents = 0
    /// How many entries of indexes were read.
    var entries = 0
    /// How many rows came out.
    var rows = 0
    /// Whether the caller has gone.
    let isCancelled: () -> Bool

    init(isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }

    /// What was done until now.
    var work: Work { Work(documents: documents, entries: entries) }

    /// Adds what others have done.
    func add(_ work: Work) {
        documents += work.documents
        entries += work.entries
    }

    /// Figures of a counter.
    struct Work: Sendable {
        let documents: Int
        let entries: Int
    }

    /// - Throws: `cancelled` when the task was cancelled, or the caller has gone.
    func checkCancellation() throws(DatabaseError) {
        guard Task.isCancelled || isCancelled() else { return }
        throw DatabaseError(.cancelled, "The query was cancelled after it had read \(documents) documents.")
    }
}

/// How much memory an execution may keep rows in.
final class MemoryBudget {
    let limit: Int
    private(set) var used = 0
    /// What waits to be sorted, and can be spilled.
    private var waiting = 0

    init(limit: Int) { self.limit = limit }

    /// Whether `count` bytes more are within it.
    func fits(_ count: Int) -> Bool { used + waiting + count <= limit }

    /// As ``fits(_:)``, with something left for sorting what is spilled then.
    func fitsEasily(_ count: Int) -> Bool { used + waiting + count <= limit / 2 }

    /// So many bytes are sorted at once, whatever the limit: smaller runs would be too many.
    var leastRun: Int { max(limit / 8, 1 << 16) }

    /// Takes `count` bytes of it.
    ///
    /// - Throws: `limitExceeded` when that is more than there is.
    func take(_ count: Int) throws(DatabaseError) {
        used += count
        guard used <= limit else {
            throw DatabaseError(
                .limitExceeded,
                "The query keeps more in memory than the \(limit >> 20) MB that QueryOptions.memoryLimit allows, of what can't be "
                    + "spilled, such as the array of an array_agg or the rows of a subquery. Ask for fewer rows or columns, or "
                    + "raise the limit.")
        }
    }

    func giveBack(_ count: Int) { used -= count }

    /// Notes that `count` bytes more wait to be sorted, or fewer.
    func wait(_ count: Int) { waiting += count }
}

// MARK: - Visible documents

/// The documents of a collection that a query may know of. A query that is given one reads these documents and nothing else: no other
/// documents, and no index, since what an index holds, how much of it and in which order follows from all documents. So no expression is
/// evaluated, and no row compared, of what is not visible, and a query takes as long as it would if there were nothing else.
package protocol VisibleDocuments: AnyObject {
    /// The collection. Others have no visible documents.
    var collection: DocumentCollection { get }

    /// Makes a function that returns the next visible document of a selection, in its order; `nil` after the last.
    func documents(in selection: DocumentSelection) throws -> () throws -> Document?

    /// The visible document of an ID; `nil` where it is absent, deleted or not visible.
    func document(_ id: String) throws -> Document?
}

extension VisibleDocuments {
    /// The visible document of an ID in a collection.
    func find(_ id: String, of other: DocumentCollection) throws(DatabaseError) -> Document? {
        guard other == collection else { return nil }
        return try translated { try document(id) }
    }
}

extension Execution {
    /// Whether a search finds a visible document, which is looked at alone: words that other documents have count for nothing.
    ///
    /// - Returns: 0; `nil` where the document is not found.
    func rank(
        _ id: ByteView, in search: TextSearch, _ visible: any VisibleDocuments
    ) throws(DatabaseError) -> Double? {
        guard let text = search.text(frame).string else { throw TextSearch.noText }
        let key = TextMatchKey(search: search.number, text: ByteKey(text))
        do {
            guard search.collection == visible.collection, let document = try visible.document(id.string)
            else {
                return nil
            }
            let query = try textQueries[key] ?? search.index.query(text)
            textQueries[key] = query
            let reader = try TextReader(
                document, at: try documents(of: search.collection).snapshot, search.index)
            return try reader.count(query) > 0 ? 0 : nil
        } catch let error as TextQueryError {
            throw DatabaseError(.invalidQuery, error.text)
        } catch {
            throw DatabaseError(derived: error)
        }
    }
}

/// Runs `body`, whose errors become those of the database.
func translated<R>(_ body: () throws -> R) throws(DatabaseError) -> R {
    do {
        return try body()
    } catch let error as DatabaseError {
        throw error
    } catch {
        throw DatabaseError(.damaged, "What is visible can't be read. \(error)", underlyingError: error)
    }
}

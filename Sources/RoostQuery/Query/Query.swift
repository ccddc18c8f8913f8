import Fleece
import Roost
import Synchronization

/// A prepared query: parsed, checked and planned once, and executed any number of times.
///
/// ```swift
/// let query = try db.query("SELECT title, stars FROM notes WHERE stars > $min", parameters: ["min": 3])
/// for row in try query.fetch() { print(row["title"].string ?? "", row.stars.int ?? 0) }
/// ```
///
/// Each execution answers as of one snapshot, whatever is written meanwhile. It can be used from any number of
/// threads and tasks at once.
public struct DatabaseQuery: Sendable {
    /// The database that is queried.
    public let database: Database
    let prepared: PreparedQuery
    /// The values of the parameters by name. Each one that the query mentions has to be set: `.null` is a value.
    public var parameters: [String: DocumentValue]
    /// What an answer may cost.
    public var options: QueryOptions

    init(
        _ database: Database, _ prepared: PreparedQuery, _ parameters: [String: DocumentValue] = [:],
        _ options: QueryOptions = QueryOptions()
    ) {
        self.database = database
        self.prepared = prepared
        self.parameters = parameters
        self.options = options
    }

    /// The names of the columns, in order.
    public var columnNames: [String] { prepared.columns.names }

    /// The names of the parameters that it mentions, without the dollar sign, in the order of their first mention.
    public var parameterNames: [String] { prepared.program.parameterNames }

    /// The properties of documents that it asks for, or for something within them, of each collection in FROM.
    package var properties: [(collection: DocumentCollection, names: [String])] {
        prepared.plan.sources.compactMap { source in
            guard case .documents(let collection, _) = source.origin else { return nil }
            return (collection, source.properties)
        }
    }

    /// Whether nothing that is said of IDs and words leads to the documents of the first collection in FROM.
    var scansDocuments: Bool {
        guard let source = prepared.plan.sources.first, case .documents(_, let access) = source.origin else {
            return false
        }
        return access.isScan && source.search == nil
    }

    /// The same query with other parameters.
    public func with(_ parameters: [String: DocumentValue]) -> DatabaseQuery {
        var copy = self
        copy.parameters = parameters
        return copy
    }

    // MARK: Asking

    /// A cursor over the rows as of now, which holds one of them in memory at a time unless they have to be sorted or grouped.
    ///
    /// - Throws: `closed`, `notFound` when a collection was dropped, `invalidQuery` for parameters that are not set or do not fit.
    public func cursor() throws(DatabaseError) -> RowCursor { try cursor { false } }

    /// As ``cursor()``, until `isCancelled` says that the caller no longer wants the rows any more; it is asked now and then.
    package func cursor(isCancelled: @escaping () -> Bool) throws(DatabaseError) -> RowCursor {
        let (snapshot, moment) = try database.present { SnapshotReaders() }
        return try cursor(
            try prepared.planned(in: snapshot, moment, database), in: snapshot, moment, isCancelled)
    }

    /// A cursor over the rows as of the moment of `snapshot`.
    public func cursor(in snapshot: DatabaseSnapshot) throws(DatabaseError) -> RowCursor {
        try cursor(in: snapshot) { false }
    }

    /// As ``cursor(in:)``, until `isCancelled` says that the caller no longer wants the rows any more.
    ///
    /// - Parameter visible: the documents that are looked at, where these are not all.
    package func cursor(
        in snapshot: DatabaseSnapshot, visible: (any VisibleDocuments)? = nil,
        isCancelled: @escaping () -> Bool
    ) throws(DatabaseError) -> RowCursor {
        let (present, moment) = try database.present { SnapshotReaders() }
        // Planned by the indexes that there are now.
        return try cursor(
            try prepared.planned(in: present, moment, database), in: snapshot,
            snapshot.companion { SnapshotReaders() }, isCancelled, visible: visible)
    }

    private func cursor(
        _ prepared: PreparedQuery, in snapshot: DatabaseSnapshot, _ moment: SnapshotReaders,
        _ isCancelled: @escaping () -> Bool, visible: (any VisibleDocuments)? = nil
    ) throws(DatabaseError) -> RowCursor {
        try checkParameters()
        let execution = try Execution(
            prepared.frames.take() ?? Frame(prepared.program), parameters, database, snapshot, moment,
            options, visible: visible, isCancelled: isCancelled)
        return RowCursor(
            execution,
            try execution.reading { () throws(DatabaseError) in try execution.rows(of: prepared.plan) },
            prepared.columns, prepared.frames)
    }

    /// - Throws: `invalidQuery` where a parameter is not set.
    func checkParameters() throws(DatabaseError) {
        for name in parameterNames where parameters[exactly: name] == nil {
            throw DatabaseError(
                .invalidQuery,
                "The parameter $\(name) is not set. Give it a value, .null for none.")
        }
    }

    /// All rows, in memory at once.
    ///
    /// - Throws: as ``cursor()``; `cancelled` when the task is cancelled, `limitExceeded` when rows that have to be kept
    ///   exceed ``QueryOptions/memoryLimit``, `damaged` and `inputOutput` for what can't be read.
    public func fetch() throws(DatabaseError) -> [ResultRow] {
        let cursor = try cursor()
        var rows: [ResultRow] = []
        while let row = try cursor.next() { rows.append(row) }
        return rows
    }

    /// The first row; `nil` when there is none.
    public func first() throws(DatabaseError) -> ResultRow? { try cursor().next() }

    /// How many rows there are.
    public func count() throws(DatabaseError) -> Int {
        let cursor = try cursor()
        var count = 0
        while try cursor.skip() { count += 1 }
        return count
    }

    /// All rows decoded as `T`s, from their columns by name.
    ///
    /// - Throws: as ``fetch()``; `decodingFailed` when a row is no `T`.
    public func fetch<T: Decodable>(as type: T.Type = T.self) throws(DatabaseError) -> [T] {
        let cursor = try cursor()
        var values: [T] = []
        while let row = try cursor.next() { values.append(try row.decode(type)) }
        return values
    }
}

extension [String: DocumentValue] {
    /// The value of a name with the same bytes: names that Swift holds equal may differ in Unicode's normal form.
    subscript(exactly name: String) -> DocumentValue? {
        guard let place = index(forKey: name), ByteKey(self[place].key) == ByteKey(name) else { return nil }
        return self[place].value
    }
}

/// What an answer to a query may cost.
public struct QueryOptions: Sendable, Hashable {
    /// How many bytes of memory may hold rows that have to be kept to sort, group, join or compare them. Default: 256 MiB.
    ///
    /// What exceeds it is spilled on disk, in the database's directory, encrypted when the database is, and removed when the
    /// cursor goes; for a database that was opened for reading only, in an encrypted file without a name among the system's
    /// temporary ones. Some things can't be spilled, such as the array of an `array_agg` and the rows of a subquery in an
    /// expression: where they exceed it, the query throws `limitExceeded`.
    public var memoryLimit = 256 << 20

    /// How many threads may read documents at once, where no index helps and rows are grouped, counted or sorted with a small
    /// LIMIT. Default: as many as the machine has cores, but no more than 8.
    ///
    /// One thread adds up in the order of the documents' IDs, several in parts: the sum of numbers with fractions may differ in
    /// its last digits.
    public var threads = usualThreads

    /// A thread takes so many documents at a time at least.
    package var documentsPerPart = 4096

    /// The defaults.
    public init() {}
}

/// Walks over the rows of a query. Use it from one thread at a time.
public final class RowCursor {
    private let execution: Execution
    private let rows: RowOperator
    private let columns: ColumnNames
    /// Where the frame goes that the execution has used.
    private let frames: SparePool<Frame>

    init(_ execution: Execution, _ rows: RowOperator, _ columns: ColumnNames, _ frames: SparePool<Frame>) {
        self.execution = execution
        self.rows = rows
        self.columns = columns
        self.frames = frames
    }

    deinit {
        rows.close()
        // Nothing else reads rows of this execution, and no row that was given out points into the frame.
        execution.frame.clear()
        frames.giveBack(execution.frame)
    }

    /// The next row; `nil` after the last.
    ///
    /// - Throws: as ``DatabaseQuery/fetch()``.
    public func next() throws(DatabaseError) -> ResultRow? {
        let next = try execution.reading { () throws(DatabaseError) in try rows.nextRow() }
        guard let bytes = next else { return nil }
        execution.counter.rows += 1
        return ResultRow(FleeceDocument(trusting: bytes), columns)
    }

    /// Passes over a row; `false` after the last.
    func skip() throws(DatabaseError) -> Bool {
        try execution.reading { () throws(DatabaseError) in try rows.next() }
    }

    /// How many documents were read until now.
    public var documentsRead: Int { execution.counter.documents }

    /// How many rows of indexes were read until now.
    public var indexRowsRead: Int { execution.counter.entries }
}

/// A query that was parsed and planned.
final class PreparedQuery: Sendable {
    let program: Program
    let plan: QueryPlan
    private let select: Select
    let columns: ColumnNames
    /// What its executions were evaluated in, for the next ones.
    let frames = SparePool<Frame>()
    /// The collections that it reads.
    let collections: [DocumentCollection]
    private let defaultCollection: (name: String, scope: String)
    /// The lists of indexes by which the plan was made.
    private let indexLists: [(collection: DocumentCollection, lists: IndexLists)]
    /// The query as it was planned last by other lists.
    private let replanned = Mutex<PreparedQuery?>(nil)

    init(_ select: Select, _ schema: Schema) throws(QueryError) {
        let binder = Binder(schema)
        let query = try binder.query(select)
        let planner = Planner(binder.statement, query.expressions, schema)
        plan = try planner.plan(query)
        program = planner.compiler.program
        defaultCollection = schema.defaultCollection
        columns = ColumnNames(
            plan.columnNames, areStars: query.columns.map(\.isStar), isRaw: query.isRaw)
        self.select = select
        indexLists = schema.indexLists.map { ($0.key, $0.value) }
        collections = schema.usedCollections
    }

    /// The query with a plan by the indexes that there are at a moment, the present.
    func planned(
        in snapshot: DatabaseSnapshot, _ moment: SnapshotReaders, _ database: Database
    ) throws(DatabaseError) -> PreparedQuery {
        if try isPlanned(in: snapshot, moment) { return self }
        if let known = replanned.withLock({ $0 }), try known.isPlanned(in: snapshot, moment) { return known }
        do throws(QueryError) {
            let made = try PreparedQuery(select, Schema(database, defaultCollection: defaultCollection))
            replanned.withLock { $0 = made }
            return made
        } catch {
            throw DatabaseError(error)
        }
    }

    /// Whether the plan was made by the indexes that there are at a moment.
    private func isPlanned(in snapshot: DatabaseSnapshot, _ moment: SnapshotReaders) throws(DatabaseError)
        -> Bool
    {
        for (collection, lists) in indexLists
        where try moment.documents(of: collection, in: snapshot).lists != lists {
            return false
        }
        return true
    }
}

// MARK: - Query

extension Database {
    /// A query in SQL++, Couchbase's SQL for JSON.
    ///
    /// ```swift
    /// try db.query("SELECT title FROM notes WHERE stars > $min ORDER BY title LIMIT 10", parameters: ["min": 3]).fetch()
    /// ```
    ///
    /// FROM names a collection, or `SCOPE.NAME`; `_` is the default one.
    ///
    /// - Parameters:
    ///   - text: the query.
    ///   - parameters: the values of what it calls `$name`.
    /// - Throws: `invalidQuery` for a text that is malformed or names a collection or function that there is not, with the
    ///   place in the text; a ``QueryError`` is the underlying error.
    public func query(_ text: String, parameters: [String: DocumentValue] = [:]) throws(DatabaseError)
        -> DatabaseQuery
    {
        try prepare(text, parameters, Schema(self)) { () throws(QueryError) in try SQLParser.select(text) }
    }

    /// A query in LiteCore's JSON schema: an object with WHAT, FROM, WHERE and so on, or only a condition.
    ///
    /// - Throws: `invalidQuery`; `invalidDocument` for text that is not JSON.
    public func query(json: String, parameters: [String: DocumentValue] = [:]) throws(DatabaseError)
        -> DatabaseQuery
    {
        let value = try DocumentValue(json: json)
        return try prepare(json, parameters, Schema(self)) { () throws(QueryError) in
            try JSONQueryParser.select(value)
        }
    }

    /// Parses and plans.
    func prepare(
        _ text: String, _ parameters: [String: DocumentValue], _ schema: Schema,
        _ parse: () throws(QueryError) -> Select
    ) throws(DatabaseError) -> DatabaseQuery {
        do throws(QueryError) {
            return DatabaseQuery(self, try PreparedQuery(try parse(), schema), parameters)
        } catch {
            throw DatabaseError(error, in: text)
        }
    }
}

extension DocumentCollection {
    /// A query in SQL++ in which `_` is this collection: see `Database.query(_:parameters:)`.
    public func query(_ text: String, parameters: [String: DocumentValue] = [:]) throws(DatabaseError)
        -> DatabaseQuery
    {
        try database.prepare(text, parameters, schema) { () throws(QueryError) in try SQLParser.select(text)
        }
    }

    /// A query in LiteCore's JSON schema, of this collection where it names none.
    public func query(json: String, parameters: [String: DocumentValue] = [:]) throws(DatabaseError)
        -> DatabaseQuery
    {
        let value = try DocumentValue(json: json)
        return try database.prepare(json, parameters, schema) { () throws(QueryError) in
            try JSONQueryParser.select(value)
        }
    }

    var schema: Schema { Schema(database, defaultCollection: (collectionName, scopeName)) }
}

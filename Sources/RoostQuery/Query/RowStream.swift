import Roost

/// The rows of a query as an asynchronous sequence: all of one moment, that of the first of them.
///
/// ```swift
/// for try await row in query.rows { print(row.json()) }
/// ```
///
/// Rows are read some at a time, on threads of Roost's own, when they are asked for; reading ends with the task.
public struct RowStream: AsyncSequence, Sendable {
    /// A row.
    public typealias Element = Row

    let query: Query

    /// An iterator over the rows as of the moment of its first call.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(query)) }

    /// Reads the rows. Belongs to one task.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader
        private var page: ArraySlice<Row> = []

        fileprivate init(reader: Reader) { self.reader = reader }

        /// The next row; `nil` after the last.
        ///
        /// - Throws: `DatabaseError`, as ``Query/fetch()``; `cancelled` when the task was cancelled.
        public mutating func next() async throws -> Row? {
            if page.isEmpty { page = try await reader.page()[...] }
            return page.popFirst()
        }
    }

    /// Reads pages of rows, one at a time.
    fileprivate final class Reader: @unchecked Sendable {
        // An iterator belongs to one task, and waits for each page before it asks for the next one.
        private let query: Query
        private var cursor: RowsCursor?
        /// Says whether whoever waits for the present page has gone.
        private var flag: CancellationFlag?

        private static let pageSize = 64

        init(_ query: Query) { self.query = query }

        func page() async throws(DatabaseError) -> [Row] {
            try await QueryWorkers.run { [self] (flag) throws(DatabaseError) in
                self.flag = flag
                if cursor == nil {
                    cursor = try query.cursor { [unowned self] in self.flag?.isSet == true }
                }
                var rows: [Row] = []
                while rows.count < Self.pageSize, let row = try cursor?.next() { rows.append(row) }
                return rows
            }
        }
    }
}

extension Query {
    /// The rows, one after the other: see ``RowStream``.
    public var rows: RowStream { RowStream(query: self) }
}

/// The threads on which queries of tasks are answered, so that Swift's own are never blocked.
enum QueryWorkers {
    private static let pool = WorkerPool(limit: 4)

    /// - Throws: what `body` throws; `cancelled` when the task is cancelled before it begins.
    static func run<R: Sendable>(
        _ body: @escaping @Sendable (CancellationFlag) throws(DatabaseError) -> R
    ) async throws(DatabaseError) -> R {
        try await pool.run(
            cancelled: DatabaseError(.cancelled, "The task was cancelled before the query began."), body)
    }
}

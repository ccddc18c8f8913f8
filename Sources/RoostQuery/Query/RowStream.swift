import Roost

/// The rows of a query as an asynchronous sequence: all of one moment, that of the first of them.
///
/// ```swift
/// for try await row in query.rows { print(row.json()) }
/// ```
///
/// Rows are read some at a time, on threads of Roost's own, when they are requested; reading ends with the task.
public struct RowStream: AsyncSequence, Sendable {
    /// A row.
    public typealias Element = ResultRow

    let query: DatabaseQuery

    /// An iterator over the rows as of the moment of its first call.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(query)) }

    /// Reads the rows. Belongs to one task.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader
        private var page: ArraySlice<ResultRow> = []

        fileprivate init(reader: Reader) { self.reader = reader }

        /// The next row; `nil` after the last.
        ///
        /// - Throws: `DatabaseError`, as ``DatabaseQuery/fetch()``; `cancelled` when the task was cancelled.
        public mutating func next() async throws -> ResultRow? {
            if page.isEmpty { page = try await reader.page()[...] }
            return page.popFirst()
        }
    }

    /// Reads pages of rows, one at a time.
    fileprivate final class Reader: @unchecked Sendable {
        // An iterator belongs to one task, and waits for each page before it asks for the next one.
        private let query: DatabaseQuery
        private var cursor: RowCursor?

        private static let pageSize = 64

        init(_ query: DatabaseQuery) { self.query = query }

        func page() async throws(DatabaseError) -> [ResultRow] {
            try await QueryWorkers.run(for: query.database) { [self] () throws(DatabaseError) in
                // The cursor looks itself whether the task is cancelled.
                if cursor == nil { cursor = try query.cursor() }
                var rows: [ResultRow] = []
                while rows.count < Self.pageSize, let row = try cursor?.next() { rows.append(row) }
                return rows
            }
        }
    }
}

extension DatabaseQuery {
    /// The rows, one after the other: see ``RowStream``.
    public var rows: RowStream { RowStream(query: self) }
}

/// The threads on which queries of tasks are answered, so that Swift's own are never blocked: half of them at most for one database.
enum QueryWorkers {
    private static let pool = WorkerPool(limit: 8, share: 4)

    /// Runs `body` as a part of the task, which it can look at to see whether it is cancelled.
    ///
    /// - Throws: what `body` throws; `cancelled` when the task is cancelled before it begins.
    static func run<R: Sendable>(
        for database: Database, _ body: @escaping @Sendable () throws(DatabaseError) -> R
    ) async throws(DatabaseError) -> R {
        let executor = WorkExecutor(pool, for: WorkOwner(user: database.path))
        do {
            return try await executor.run {
                try Task.checkCancellation()
                return try body()
            }
        } catch let error as DatabaseError {
            throw error
        } catch {
            throw DatabaseError(.cancelled, "The task was cancelled before the query began.")
        }
    }
}

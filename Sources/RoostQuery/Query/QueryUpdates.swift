import Roost

/// The answers of a query, now and whenever they change, as an asynchronous sequence that does not end by itself.
///
/// ```swift
/// for try await rows in query.updates { show(rows) }
/// ```
///
/// The first answer comes at once. After a commit to a collection that the query reads it is asked again, and told only when
/// the rows are others than before. Who takes long gets the newest answer, not all those in between. Ends when its task is
/// cancelled or the database closed.
public struct QueryUpdates: AsyncSequence, Sendable {
    /// All rows.
    public typealias Element = [ResultRow]

    let query: DatabaseQuery

    /// An iterator, which listens from now on.
    public func makeAsyncIterator() -> Iterator { Iterator(query) }

    /// Asks again and again. Belongs to one task.
    public struct Iterator: AsyncIteratorProtocol {
        private let query: DatabaseQuery
        private var last: [ResultRow]?
        /// What rings when a collection that the query reads changes after the last answer.
        private var alarm: Alarm?

        /// The time in which changes are taken together, so that many small commits don't mean many answers.
        private static let pause = Duration.milliseconds(50)

        init(_ query: DatabaseQuery) { self.query = query }

        /// The next answer that differs; `nil` when the task was cancelled or the database closed.
        ///
        /// - Throws: `DatabaseError`, as `DatabaseQuery.fetch()`.
        public mutating func next() async throws -> [ResultRow]? { try await answer()?.rows }

        /// As ``next()``, with the moment of the rows.
        mutating func answer() async throws(DatabaseError) -> (rows: [ResultRow], moment: DatabaseSnapshot)? {
            while !Task.isCancelled {
                if let alarm {
                    await alarm.wait()
                    try? await Task.sleep(for: Self.pause)
                }
                do throws(DatabaseError) {
                    // Set before reading, so that no commit slips in between.
                    alarm = try Alarm(query.prepared.collections)
                    let query = query
                    let (rows, moment) = try await QueryWorkers.run(for: query.database) {
                        () throws(DatabaseError) in
                        let moment = try query.database.snapshot()
                        let cursor = try query.cursor(in: moment)
                        var rows: [ResultRow] = []
                        while let row = try cursor.next() { rows.append(row) }
                        return (rows, moment)
                    }
                    guard rows != last else { continue }
                    last = rows
                    return (rows, moment)
                } catch {
                    guard error.code == .closed || error.code == .cancelled else { throw error }
                    return nil
                }
            }
            return nil
        }
    }

    /// Rings once, after the next commit to one of some collections.
    private struct Alarm: Sendable {
        private let stream: AsyncStream<Void>
        private let observations: [ObservationToken]

        init(_ collections: [DocumentCollection]) throws(DatabaseError) {
            let (stream, continuation) = AsyncStream.makeStream(
                of: Void.self, bufferingPolicy: .bufferingNewest(1))
            var observations: [ObservationToken] = []
            for collection in collections {
                observations.append(try collection.onNextChange { continuation.yield() })
            }
            self.stream = stream
            self.observations = observations
        }

        /// Returns when it has rung, or the task is cancelled.
        func wait() async {
            for await _ in stream { break }
            for observation in observations { observation.cancel() }
        }
    }
}

extension DatabaseQuery {
    /// The answers now and whenever they change: see ``QueryUpdates``.
    public var updates: QueryUpdates { QueryUpdates(query: self) }
}

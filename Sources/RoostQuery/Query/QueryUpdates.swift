import Fleece
import Roost

/// The answers of a query, now and whenever they change, as an asynchronous sequence that does not end by itself.
///
/// ```swift
/// for try await rows in query.updates { show(rows) }
/// ```
///
/// The first answer comes at once. After a commit to a collection that the query reads it is executed again, and reported only when
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

// MARK: - Row difference

/// How a list of rows differs from the one before: what a list on a screen has to do to show it.
///
/// Rows are the same when they have the same ID. Removals, and where rows move from, are places in the list before; insertions,
/// updates, and where rows move to, are places in this one, as `UITableView` and `UICollectionView` want them.
public struct RowDifference: Sendable, Equatable {
    /// All rows now.
    public let rows: [ResultRow]
    /// The places of rows that are gone, in the list before; the last first.
    public let removals: [Int]
    /// The places of rows that are new, the first first.
    public let insertions: [Int]
    /// The rows that stand elsewhere among those that stay; as few as possible.
    public let moves: [Move]
    /// The places of rows that stayed and have other values.
    public let updates: [Int]

    /// A row that stands elsewhere.
    public struct Move: Sendable, Hashable {
        /// Its place in the list before.
        public let from: Int
        /// Its place now.
        public let to: Int
    }

    /// Whether there is nothing to do.
    public var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty }

    /// Compares two lists. O(n log n).
    ///
    /// - Parameter column: the one that has the ID. Rows of equal IDs are told apart by their order.
    init(from old: [ResultRow], to new: [ResultRow], by column: String) {
        var places: [Identity: Int] = [:]
        for (place, identity) in Self.identities(old, column).enumerated() { places[identity] = place }
        var insertions: [Int] = []
        var stayed: [(from: Int, to: Int)] = []
        for (place, identity) in Self.identities(new, column).enumerated() {
            if let from = places.removeValue(forKey: identity) {
                stayed.append((from, place))
            } else {
                insertions.append(place)
            }
        }
        rows = new
        self.insertions = insertions
        removals = places.values.sorted(by: >)
        updates = stayed.filter { old[$0.from] != new[$0.to] }.map(\.to)
        let kept = Self.longestRise(stayed.map(\.from))
        moves = stayed.enumerated().filter { !kept.contains($0.offset) }
            .map { Move(from: $0.element.from, to: $0.element.to) }
    }

    /// The ID of a row, and how many rows of that ID stand before it.
    private struct Identity: Hashable {
        let id: ByteKey
        let ordinal: Int
    }

    private static func identities(_ rows: [ResultRow], _ column: String) -> [Identity] {
        var counts: [ByteKey: Int] = [:]
        return rows.map { row in
            let value = row[column]
            let id = ByteKey(value.exists ? value.json(.canonical) : "missing")
            defer { counts[id, default: 0] += 1 }
            return Identity(id: id, ordinal: counts[id, default: 0])
        }
    }

    /// The places of the longest rising subsequence: rows that need not move.
    private static func longestRise(_ values: [Int]) -> Set<Int> {
        /// The place of the least value that ends a rising sequence of each length.
        var ends: [Int] = []
        var previous = Array(repeating: -1, count: values.count)
        for place in values.indices {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if values[ends[middle]] < values[place] { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[place] = ends[low - 1] }
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var result: Set<Int> = []
        var place = ends.last ?? -1
        while place >= 0 {
            result.insert(place)
            place = previous[place]
        }
        return result
    }
}

/// How the answer of a query differs whenever it changes, as an asynchronous sequence that does not end by itself: see
/// ``QueryUpdates``, of which it is another form.
///
/// ```swift
/// for try await difference in query.differences(by: "id") { list.apply(difference) }
/// ```
///
/// The first difference comes at once, and inserts all rows.
public struct QueryDifferences: AsyncSequence, Sendable {
    /// What changed since the element before.
    public typealias Element = RowDifference

    let updates: QueryUpdates
    let column: String

    /// An iterator, which listens from now on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: updates.makeAsyncIterator(), column: column)
    }

    /// Compares answers. Belongs to one task.
    public struct Iterator: AsyncIteratorProtocol {
        var updates: QueryUpdates.Iterator
        let column: String
        private var last: [ResultRow] = []

        init(updates: QueryUpdates.Iterator, column: String) {
            self.updates = updates
            self.column = column
        }

        /// The next difference; `nil` when the task was cancelled or the database closed.
        ///
        /// - Throws: `DatabaseError`, as `DatabaseQuery.fetch()`.
        public mutating func next() async throws -> RowDifference? {
            guard let rows = try await updates.next() else { return nil }
            defer { last = rows }
            return RowDifference(from: last, to: rows, by: column)
        }
    }
}

extension DatabaseQuery {
    /// How the answer differs, now and whenever it changes: see ``QueryDifferences``.
    ///
    /// - Parameter column: the name of the column by which rows are the same; give it `META().id` or `_id`.
    public func differences(by column: String) -> QueryDifferences {
        QueryDifferences(updates: updates, column: column)
    }
}

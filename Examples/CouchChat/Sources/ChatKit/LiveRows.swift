import Roost
import RoostQuery

/// The answer to a query as values, at once and again whenever it has changed. Ends with its task.
public struct LiveRows<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    private let updates: QueryUpdates
    private let isReversed: Bool

    init(_ query: DatabaseQuery, isReversed: Bool = false) {
        updates = query.updates
        self.isReversed = isReversed
    }

    /// An iterator, which listens from now on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(rows: updates.makeAsyncIterator(), isReversed: isReversed)
    }

    /// Belongs to one task.
    public struct Iterator: AsyncIteratorProtocol {
        var rows: QueryUpdates.Iterator
        let isReversed: Bool

        /// All values, in their order. What somebody's program wrote in another form is passed over, or it would keep all the
        /// others from being seen.
        ///
        /// - Throws: `DatabaseError`.
        public mutating func next() async throws -> [Value]? {
            guard let rows = try await rows.next() else { return nil }
            let values = rows.compactMap { try? $0.decode(Value.self) }
            return isReversed ? values.reversed() : values
        }
    }
}

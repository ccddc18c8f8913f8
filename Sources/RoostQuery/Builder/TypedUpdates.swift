import Fleece
import Roost

/// The values that a typed query finds, now and whenever they change, as an asynchronous sequence that does not end by itself: see
/// ``QueryUpdates``.
///
/// ```swift
/// for try await best in notes.query().where { $0.stars > 3 }.order(by: \.title).updates { show(best) }
/// ```
///
/// A value that was saved anew is told, also when it is equal to what it was.
public struct TypedUpdates<Value: Codable & Sendable>: AsyncSequence, Sendable {
    /// All values, as of one moment.
    public typealias Element = [Versioned<Value>]

    let query: TypedQuery<Value>

    /// An iterator, which listens from its first element on.
    public func makeAsyncIterator() -> Iterator { Iterator(query: query) }

    /// Asks again and again. Belongs to one task.
    public struct Iterator: AsyncIteratorProtocol {
        let query: TypedQuery<Value>
        private var rows: QueryUpdates.Iterator?

        init(query: TypedQuery<Value>) { self.query = query }

        /// The next answer that differs; `nil` when the task was cancelled or the database closed.
        ///
        /// - Throws: `DatabaseError`, as `TypedQuery.fetch()`.
        public mutating func next() async throws -> [Versioned<Value>]? { try await answer()?.values }

        mutating func answer() async throws(DatabaseError) -> (rows: [ResultRow], values: [Versioned<Value>])?
        {
            if rows == nil { rows = try query.untyped().updates.makeAsyncIterator() }
            guard let answer = try await rows?.answer() else { return nil }
            let query = query
            do throws(DatabaseError) {
                let values = try await QueryWorkers.run(for: query.database) { () throws(DatabaseError) in
                    try query.values(of: answer.rows, at: answer.moment)
                }
                return (answer.rows, values)
            } catch {
                guard error.code == .closed || error.code == .cancelled else { throw error }
                return nil
            }
        }
    }
}

/// How the values that a typed query finds differ from those before: see ``RowDifference``, of which it is another form. Values are
/// the same when they are those of one document.
public struct TypedDifference<Value: Codable & Sendable>: Sendable {
    /// All values now.
    public let values: [Versioned<Value>]
    /// The places of values that are gone, in the list before; the last first.
    public let removals: [Int]
    /// The places of values that are new, the first first.
    public let insertions: [Int]
    /// The values that stand elsewhere among those that stay; as few as possible.
    public let moves: [RowDifference.Move]
    /// The places of values that stayed and were saved anew.
    public let updates: [Int]

    init(_ values: [Versioned<Value>], _ difference: RowDifference) {
        self.values = values
        removals = difference.removals
        insertions = difference.insertions
        moves = difference.moves
        updates = difference.updates
    }
}

/// How the values that a typed query finds differ whenever they change, as an asynchronous sequence that does not end by itself.
///
/// The first difference comes at once, and inserts all values.
public struct TypedDifferences<Value: Codable & Sendable>: AsyncSequence, Sendable {
    /// What changed since the element before.
    public typealias Element = TypedDifference<Value>

    let updates: TypedUpdates<Value>

    /// An iterator, which listens from its first element on.
    public func makeAsyncIterator() -> Iterator { Iterator(updates: updates.makeAsyncIterator()) }

    /// Compares answers. Belongs to one task.
    public struct Iterator: AsyncIteratorProtocol {
        private var updates: TypedUpdates<Value>.Iterator
        private var last: [ResultRow] = []

        init(updates: TypedUpdates<Value>.Iterator) { self.updates = updates }

        /// The next difference; `nil` when the task was cancelled or the database closed.
        ///
        /// - Throws: `DatabaseError`, as `TypedQuery.fetch()`.
        public mutating func next() async throws -> TypedDifference<Value>? {
            guard let (rows, values) = try await updates.answer() else { return nil }
            defer { last = rows }
            return TypedDifference(values, RowDifference(from: last, to: rows, by: "id"))
        }
    }
}

extension TypedQuery where Value: Sendable {
    /// The values now and whenever they change: see ``TypedUpdates``.
    public var updates: TypedUpdates<Value> { TypedUpdates(query: self) }

    /// How the values differ, now and whenever they change: see ``TypedDifference``.
    public var differences: TypedDifferences<Value> { TypedDifferences(updates: updates) }
}

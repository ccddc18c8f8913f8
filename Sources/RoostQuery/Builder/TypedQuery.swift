import Fleece
import Roost

/// A query for the values of a `TypedCollection`, put together in Swift.
///
/// ```swift
/// let best = try notes.query().where { $0.stars > 3 && $0.tags.contains("sea") }
///     .order(by: \.stars, .descending).limit(20).fetch()
/// let howMany = try notes.query().where { $0.stars > 3 }.count()
/// try notes.query().where { $0.stars == 0 }.delete()
/// ```
///
/// An immutable value; each call answers a new query.
public struct TypedQuery<Value: Codable>: Sendable {
    private let collection: DocumentCollection
    /// The database that is asked.
    var database: Database { collection.database }
    private var select = Select()
    private var problem: QueryError?

    /// Which way to order.
    public enum Direction: Sendable {
        /// From the least to the greatest.
        case ascending
        /// From the greatest to the least.
        case descending
    }

    init(_ collection: DocumentCollection) {
        self.collection = collection
        select.columns = [
            Select.Column(value: .meta(.id, alias: nil, .unknown), alias: "id"),
            Select.Column(value: .meta(.revisionID, alias: nil, .unknown), alias: "revision"),
        ]
    }

    // MARK: Asking for what

    /// Only values of which a condition is true, besides those given before.
    public func `where`(_ condition: (Field<Value>) -> Condition) -> Self {
        var copy = self
        let condition = condition(Field(.path([], .unknown)))
        let parts = (select.condition.map { [$0] } ?? []) + [condition.expression]
        copy.select.condition = parts.count == 1 ? parts[0] : .all(parts)
        copy.problem = problem ?? condition.problem
        return copy
    }

    /// In the order of a property; of values that are equal in it, in the order of properties given after it.
    public func order<Member: QueryComparable>(
        by member: KeyPath<Value, Member>, _ direction: Direction = .ascending
    ) -> Self {
        order(direction) { $0[dynamicMember: member] }
    }

    /// In the order of something in the values: `order { $0.title.caseInsensitive }`.
    public func order<Member: QueryComparable>(
        _ direction: Direction = .ascending, by member: (Field<Value>) -> Field<Member>
    ) -> Self {
        var copy = self
        let field = member(Field(.path([], .unknown)))
        copy.select.order.append(
            Select.Ordering(value: field.expression, isDescending: direction == .descending))
        copy.problem = problem ?? field.problem
        return copy
    }

    /// At most so many.
    public func limit(_ count: Int) -> Self {
        var copy = self
        copy.select.limit = .literal(.integer(Int64(count)))
        return copy
    }

    /// Without the first so many.
    public func skip(_ count: Int) -> Self {
        var copy = self
        copy.select.offset = .literal(.integer(Int64(count)))
        return copy
    }

    // MARK: Answers

    /// The query without its type, with the columns `id` and `revision`.
    ///
    /// - Throws: `invalidQuery` for a property that documents don't have, because it is computed.
    public func untyped() throws(DatabaseError) -> Query { try prepared(select) }

    private func prepared(_ select: Select) throws(DatabaseError) -> Query {
        do throws(QueryError) {
            if let problem { throw problem }
            return Query(collection.database, try PreparedQuery(select, collection.schema))
        } catch {
            throw DatabaseError(error)
        }
    }

    /// All values, in memory at once.
    ///
    /// - Throws: as ``Query/fetch()``; `decodingFailed` when the properties of a document are not those of a value.
    public func fetch() throws(DatabaseError) -> [Stored<Value>] {
        let snapshot = try collection.database.snapshot()
        let cursor = try untyped().cursor(in: snapshot)
        let documents = try snapshot[collection]
        var values: [Stored<Value>] = []
        while let row = try cursor.next() {
            if let value = try Self.value(of: row, documents) { values.append(value) }
        }
        return values
    }

    /// The values of rows that ``untyped()`` had at a moment.
    func values(of rows: [Row], at snapshot: DatabaseSnapshot) throws(DatabaseError) -> [Stored<Value>] {
        let documents = try snapshot[collection]
        var values: [Stored<Value>] = []
        for row in rows {
            if let value = try Self.value(of: row, documents) { values.append(value) }
        }
        return values
    }

    private static func value(
        of row: Row, _ documents: CollectionSnapshot
    ) throws(DatabaseError) -> Stored<Value>? {
        guard let document = try documents.get(row[0].string ?? "") else { return nil }
        return try Stored(document)
    }

    /// The first value; `nil` when there is none.
    public func first() throws(DatabaseError) -> Stored<Value>? { try limit(1).fetch().first }

    /// How many values there are.
    public func count() throws(DatabaseError) -> Int {
        guard select.limit == nil, select.offset == nil else { return try untyped().count() }
        var counting = select
        counting.order = []
        counting.columns = [Select.Column(value: .aggregate(.count, nil, isDistinct: false), alias: "count")]
        return try prepared(counting).first()?[0].int ?? 0
    }

    /// How the query would be executed.
    public func explain() throws(DatabaseError) -> Explanation { try untyped().explain() }

    // MARK: Writing

    /// Deletes the documents, all or none, durably.
    ///
    /// - Returns: how many there were.
    /// - Throws: `conflict` when others changed such documents again and again meanwhile; what writing throws.
    @discardableResult
    public func delete() throws(DatabaseError) -> Int {
        try collection.change(try untyped()) { (batch, document) throws(DatabaseError) in
            try batch.delete(document.id, in: collection, expecting: .revision(document.revision))
        }
    }

    /// Changes the values, all or none, durably.
    ///
    /// - Returns: how many there were.
    /// - Throws: as ``delete()``; `decodingFailed` when the properties of a document are not those of a value.
    @discardableResult
    public func update(_ body: (inout Value) -> Void) throws(DatabaseError) -> Int {
        try collection.change(try untyped()) { (batch, document) throws(DatabaseError) in
            var stored = try Stored<Value>(document)
            body(&stored.value)
            try batch.save(&stored, in: collection)
        }
    }
}

extension TypedCollection {
    /// A query for values of the collection: see ``TypedQuery``.
    public func query() -> TypedQuery<Value> { TypedQuery(documents) }
}

extension DocumentCollection {
    /// A query for documents as values of a type: see ``TypedQuery``.
    public func query<Value: Codable>(_ type: Value.Type) -> TypedQuery<Value> { TypedQuery(self) }
}

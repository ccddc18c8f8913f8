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
    let collection: DocumentCollection
    /// The database that is queried.
    var database: Database { collection.database }
    private(set) var clauses = Select()
    private(set) var problem: QueryError?
    private var skipsInvalid = false

    /// Which way to order.
    public enum Direction: Sendable {
        /// From the least to the greatest.
        case ascending
        /// From the greatest to the least.
        case descending
    }

    init(_ collection: DocumentCollection) {
        self.collection = collection
        clauses.columns = [
            Select.Column(value: .meta(.id, alias: nil, .unknown), alias: "id"),
            Select.Column(value: .meta(.revisionID, alias: nil, .unknown), alias: "revision"),
        ]
    }

    // MARK: Asking for what

    /// Only values of which a condition is true, besides those given before.
    public func `where`(_ condition: (QueryField<Value>) -> QueryCondition) -> Self {
        var copy = self
        let condition = condition(QueryField(.path([], .unknown)))
        let parts = (clauses.condition.map { [$0] } ?? []) + [condition.expression]
        copy.clauses.condition = parts.count == 1 ? parts[0] : .all(parts)
        copy.problem = problem ?? condition.problem
        return copy
    }

    /// In the order of a property; of values that are equal in it, in the order of properties given after it.
    public func order<Member: Encodable>(
        by member: KeyPath<Value, Member>, _ direction: Direction = .ascending
    ) -> Self {
        order(direction) { $0[dynamicMember: member] }
    }

    /// In the order of something in the values: `order { $0.title.caseInsensitive }`.
    public func order<Member: Encodable>(
        _ direction: Direction = .ascending, by member: (QueryField<Value>) -> QueryField<Member>
    ) -> Self {
        var copy = self
        let field = member(QueryField(.path([], .unknown)))
        copy.clauses.order.append(
            Select.Ordering(value: field.expression, isDescending: direction == .descending))
        copy.problem = problem ?? field.problem
        return copy
    }

    /// Limits the number of values.
    public func limit(_ count: Int) -> Self {
        var copy = self
        copy.clauses.limit = .literal(.integer(Int64(count)))
        return copy
    }

    /// Skips the first values.
    public func offset(_ count: Int) -> Self {
        var copy = self
        copy.clauses.offset = .literal(.integer(Int64(count)))
        return copy
    }

    /// Without the documents whose properties are not those of a value. Otherwise one such document is an error, which names it.
    public func skippingInvalid() -> Self {
        var copy = self
        copy.skipsInvalid = true
        return copy
    }

    // MARK: Answers

    /// The query without its type, with the columns `id` and `revision`.
    ///
    /// - Throws: `invalidQuery` for a property that documents don't have, because it is computed.
    public func untyped() throws(DatabaseError) -> DatabaseQuery { try prepared(clauses) }

    private func prepared(_ select: Select, _ problem: QueryError? = nil) throws(DatabaseError)
        -> DatabaseQuery
    {
        do throws(QueryError) {
            if let problem = self.problem ?? problem { throw problem }
            return DatabaseQuery(collection.database, try PreparedQuery(select, collection.schema))
        } catch {
            throw DatabaseError(error)
        }
    }

    /// All values, in memory at once.
    ///
    /// - Throws: as ``DatabaseQuery/fetch()``; `decodingFailed`, with the document's ID, when the properties of a document are not those of
    ///   a value, unless these are skipped: see ``skippingInvalid()``.
    public func fetch() throws(DatabaseError) -> [Versioned<Value>] {
        let snapshot = try collection.database.snapshot()
        let cursor = try untyped().cursor(in: snapshot)
        let documents = try snapshot[collection]
        var values: [Versioned<Value>] = []
        while let row = try cursor.next() {
            if let value = try value(of: row, documents) { values.append(value) }
        }
        return values
    }

    /// The values of rows that ``untyped()`` had at a moment.
    func values(of rows: [ResultRow], at snapshot: DatabaseSnapshot) throws(DatabaseError) -> [Versioned<
        Value
    >] {
        let documents = try snapshot[collection]
        var values: [Versioned<Value>] = []
        for row in rows {
            if let value = try value(of: row, documents) { values.append(value) }
        }
        return values
    }

    private func value(of row: ResultRow, _ documents: CollectionSnapshot) throws(DatabaseError) -> Versioned<
        Value
    >? {
        guard let document = try documents.document(row[0].string ?? "") else { return nil }
        do throws(DatabaseError) {
            return try Versioned(document)
        } catch {
            guard skipsInvalid, error.code == .decodingFailed else { throw error }
            return nil
        }
    }

    /// The first value; `nil` when there is none.
    ///
    /// - Throws: as `fetch()`.
    public func first() throws(DatabaseError) -> Versioned<Value>? {
        // Of what is skipped it is not known before it is read.
        guard !skipsInvalid else { return try fetch().first }
        return try limit(1).fetch().first
    }

    /// How many values there are.
    public func count() throws(DatabaseError) -> Int {
        guard clauses.limit == nil, clauses.offset == nil else { return try untyped().count() }
        var counting = clauses
        counting.order = []
        counting.columns = [Select.Column(value: .aggregate(.count, nil, isDistinct: false), alias: "count")]
        return try prepared(counting).first()?[0].int ?? 0
    }

    /// Something of each value, without reading the rest: one column as a list of it, several as a list of tuples.
    ///
    /// ```swift
    /// let titles = try notes.query().select { $0.title }
    /// for (title, stars) in try notes.query().select({ ($0.title, $0.stars) }) { print(title, stars) }
    /// ```
    ///
    /// What a document lacks can be had as an optional only.
    ///
    /// - Throws: as ``DatabaseQuery/fetch()``; `decodingFailed` for what is of another type.
    public func select<each Column: Decodable>(
        _ columns: (QueryField<Value>) -> (repeat QueryField<each Column>)
    ) throws(DatabaseError) -> [(repeat each Column)] {
        let fields = columns(QueryField(.path([], .unknown)))
        var projecting = clauses
        projecting.columns = []
        var problem: QueryError?
        for field in repeat each fields {
            let number = projecting.columns.count
            projecting.columns.append(Select.Column(value: field.expression, alias: "c\(number)"))
            problem = problem ?? field.problem
        }
        let cursor = try prepared(projecting, problem).cursor()
        var values: [(repeat each Column)] = []
        while let row = try cursor.next() {
            var place = 0
            do {
                values.append((repeat try Self.column((each Column).self, of: row, &place)))
            } catch {
                throw DatabaseError(
                    .decodingFailed,
                    "Column \(place) of a row, \(row[place - 1].json()), cannot be read. \(error.sentence)",
                    underlyingError: error)
            }
        }
        return values
    }

    private static func column<Column: Decodable>(
        _ type: Column.Type, of row: ResultRow, _ place: inout Int
    ) throws -> Column {
        defer { place += 1 }
        return try FleeceDecoder().decode(type, from: row[place].exists ? row[place] : nullValue)
    }

    /// The sum of numbers; 0 of none. Whole numbers are added exactly, others as floating point.
    ///
    /// - Throws: as ``DatabaseQuery/fetch()``; `decodingFailed` when the type can't hold it.
    public func sum<Number: Numeric & Decodable>(_ number: (QueryField<Value>) -> QueryField<Number>)
        throws(DatabaseError) -> Number
    {
        try aggregate(.sum, number) ?? 0
    }

    /// The average of numbers; `nil` of none.
    ///
    /// - Throws: as ``DatabaseQuery/fetch()``.
    public func average<Number: Numeric>(_ number: (QueryField<Value>) -> QueryField<Number>)
        throws(DatabaseError)
        -> Double?
    {
        try aggregate(.avg, number)
    }

    /// The least of some values; `nil` of none.
    ///
    /// - Throws: as ``DatabaseQuery/fetch()``.
    public func minimum<Member: Decodable>(_ member: (QueryField<Value>) -> QueryField<Member>)
        throws(DatabaseError)
        -> Member?
    {
        try aggregate(.min, member)
    }

    /// The greatest of some values; `nil` of none.
    ///
    /// - Throws: as ``DatabaseQuery/fetch()``.
    public func maximum<Member: Decodable>(_ member: (QueryField<Value>) -> QueryField<Member>)
        throws(DatabaseError)
        -> Member?
    {
        try aggregate(.max, member)
    }

    private func aggregate<Member, Result: Decodable>(
        _ aggregate: Aggregate, _ member: (QueryField<Value>) -> QueryField<Member>
    ) throws(DatabaseError) -> Result? {
        let field = member(QueryField(.path([], .unknown)))
        var aggregating = clauses
        if clauses.limit == nil, clauses.offset == nil {
            aggregating.order = []
            aggregating.columns = [
                Select.Column(
                    value: .aggregate(aggregate, field.expression, isDistinct: false), alias: "result")
            ]
        } else {
            // Of the values that are left, which only a query of its own tells.
            var values = clauses
            values.columns = [Select.Column(value: field.expression, alias: "value")]
            let value = Expression.path([.key("values"), .key("value")], .unknown)
            aggregating = Select()
            aggregating.sources = [Select.Source(origin: .select(values), alias: "values")]
            aggregating.columns = [
                Select.Column(value: .aggregate(aggregate, value, isDistinct: false), alias: "result")
            ]
        }
        guard let row = try prepared(aggregating, field.problem).first(), !row[0].isNull else { return nil }
        do {
            return try FleeceDecoder().decode(Result.self, from: row[0])
        } catch {
            throw DatabaseError(
                .decodingFailed, "\(row[0].json()) cannot be read as a \(Result.self). \(error.sentence)",
                underlyingError: error)
        }
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
            var stored = try Versioned<Value>(document)
            body(&stored.value)
            try batch.save(&stored, in: collection)
        }
    }
}

extension TypedQuery where Value: Sendable {
    /// All values, read on a thread of Roost's own.
    ///
    /// - Throws: as the method of the same name that does not suspend; `cancelled` when the task is cancelled.
    public func fetch() async throws(DatabaseError) -> [Versioned<Value>] {
        try await QueryWorkers.run(for: database) { () throws(DatabaseError) in try self.fetch() }
    }

    /// The first value, read on a thread of Roost's own; `nil` when there is none.
    ///
    /// - Throws: as the method of the same name that does not suspend; `cancelled` when the task is cancelled.
    public func first() async throws(DatabaseError) -> Versioned<Value>? {
        try await QueryWorkers.run(for: database) { () throws(DatabaseError) in try self.first() }
    }

    /// How many values there are, counted on a thread of Roost's own.
    ///
    /// - Throws: as the method of the same name that does not suspend; `cancelled` when the task is cancelled.
    public func count() async throws(DatabaseError) -> Int {
        try await QueryWorkers.run(for: database) { () throws(DatabaseError) in try self.count() }
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

/// What a column without a value is decoded from.
private let nullValue: FleeceValue = {
    var writer = FleeceWriter()
    writer.writeNull()
    return FleeceDocument(trusting: (try? writer.finish()) ?? []).root
}()

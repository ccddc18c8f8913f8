import Fleece
import Roost

/// Some values of a query's answer, and where the next ones begin.
public struct ResultPage<Value: Codable> {
    /// The values, in the order of the query.
    public let values: [Versioned<Value>]
    /// What to pass to `TypedQuery.page(after:)` for the next page; `nil` when there is none.
    public let next: ResultPosition?
}

extension ResultPage: Sendable where Value: Sendable {}

/// A place between two values of a query's answer: what the one before it has under the keys that the query orders by.
///
/// It stays where it is when documents before it are added or deleted, also across restarts and on other devices: it can be stored and sent.
public struct ResultPosition: Sendable, Codable {
    /// What the query orders by, in words: a position is of use for this order only.
    let order: [String]
    /// The keys of the value before the position; an empty list stands for one that its document lacks.
    let keys: [[DocumentValue]]
}

extension TypedQuery {
    /// The next values after a position, as many as ``limit(_:)`` says.
    ///
    /// ```swift
    /// let newest = notes.query().order(by: \.date, .descending).limit(20)
    /// let first = try newest.page()
    /// let second = try newest.page(after: first.next)
    /// ```
    ///
    /// Values that are equal in all that the query orders by come in the order of their IDs, so that each is on one page whatever is
    /// saved or deleted between the calls; of a value whose keys change meanwhile the new place counts. Unlike ``offset(_:)``, a later page
    /// costs no more than the first one where an index has the order.
    ///
    /// - Parameter position: The ``ResultPage/next`` of the page before; `nil` begins with the first value.
    /// - Throws: as `fetch()`; `invalidQuery` where the query has no limit, skips values, or orders by something else than the query
    ///   that the position comes from.
    public func page(after position: ResultPosition? = nil) throws(DatabaseError) -> ResultPage<Value> {
        guard case .literal(.integer(let limit))? = clauses.limit, limit > 0, clauses.offset == nil else {
            throw DatabaseError(
                .invalidQuery,
                "A page has a limit of 1 or more and skips nothing. Say how long it is with limit(_:).")
        }
        let paging = try Paging(clauses.order, after: position)
        let snapshot = try database.snapshot()
        let wanted = Int(clamping: limit)
        var rows: [ResultRow] = []
        for condition in paging.conditions where rows.count <= wanted {
            var select = clauses
            select.columns += paging.columns
            select.order = paging.order
            select.condition = Expression.conjunction([clauses.condition, condition])
            select.limit = .literal(.integer(Int64(clamping: wanted - rows.count) &+ 1))
            let cursor = try prepared(select).cursor(in: snapshot)
            while rows.count <= wanted, let row = try cursor.next() { rows.append(row) }
        }
        let hasMore = rows.count > wanted
        if hasMore { rows.removeLast() }
        return ResultPage(
            values: try values(of: rows, at: snapshot),
            next: hasMore
                ? try rows.last.map { (row) throws(DatabaseError) in try paging.position(row) } : nil)
    }

    private func prepared(_ select: Select) throws(DatabaseError) -> DatabaseQuery {
        do throws(QueryError) {
            if let problem { throw problem }
            return DatabaseQuery(database, try PreparedQuery(select, collection.schema))
        } catch {
            throw DatabaseError(error)
        }
    }
}

extension TypedQuery where Value: Sendable {
    /// The next values after a position, read on a thread of Roost's own.
    ///
    /// - Throws: as the method of the same name that does not suspend; `cancelled` when the task is cancelled.
    public func page(after position: ResultPosition? = nil) async throws(DatabaseError) -> ResultPage<Value> {
        try await QueryWorkers.run(for: database) { () throws(DatabaseError) in
            try self.page(after: position)
        }
    }
}

/// The order of a query with the document's ID at its end, so that no two rows are equal in it, and what comes after a row of it.
private struct Paging {
    let order: [Select.Ordering]
    private let keys: [DocumentValue?]?

    init(_ order: [Select.Ordering], after position: ResultPosition?) throws(DatabaseError) {
        let id = Expression.meta(.id, alias: nil, .unknown)
        var order = order
        // In the direction of the key before: so has an index these rows.
        if !order.contains(where: { $0.value == id }) {
            order.append(Select.Ordering(value: id, isDescending: order.last?.isDescending ?? false))
        }
        self.order = order
        keys = position?.keys.map(\.first)
        guard let position else { return }
        let own = Self.text(order)
        guard position.keys.count == order.count,
            own.elementsEqual(position.order, by: { $0.utf8.elementsEqual($1.utf8) })
        else {
            throw DatabaseError(
                .invalidQuery,
                "The position is of a query that orders by \(position.order.joined(separator: ", ")), and this one orders by "
                    + "\(own.joined(separator: ", ")). Begin with the first page.")
        }
    }

    private static func text(_ order: [Select.Ordering]) -> [String] {
        order.map { $0.value.sqlText + ($0.isDescending ? " DESC" : "") }
    }

    /// What the rows are ordered by, as columns after `id` and `revision`.
    var columns: [Select.Column] {
        order.enumerated().map { Select.Column(value: $1.value, alias: "key\($0)") }
    }

    /// The position after a row that has ``columns``.
    func position(_ row: ResultRow) throws(DatabaseError) -> ResultPosition {
        var keys: [[DocumentValue]] = []
        for index in order.indices {
            let value = row[index + 2]
            do {
                keys.append(value.exists ? [try FleeceDecoder().decode(DocumentValue.self, from: value)] : [])
            } catch {
                throw DatabaseError(
                    .decodingFailed, "\(value.json()) can't be part of a position. \(error.sentence)",
                    underlyingError: error)
            }
        }
        return ResultPosition(order: Self.text(order), keys: keys)
    }

    // MARK: Conditions

    /// The conditions under which a row comes after the position, one after the other in the order of their rows: an index can tell where
    /// the rows of each begin. `nil` is no condition.
    var conditions: [Expression?] {
        guard let keys else { return [nil] }
        let cases = order.indices.compactMap { index -> Expression? in
            guard let beyond = beyond(index, keys[index]) else { return nil }
            return Expression.conjunction((0..<index).map { equal($0, keys[$0]) } + [beyond])
        }
        let after = cases.count == 1 ? cases[0] : .any(cases)
        let first = order[0]
        guard let key = keys[0], key != .null else { return [after] }
        let bound = Expression.comparison(
            first.isDescending ? .lessOrEqual : .greaterOrEqual, first.value, .literal(key))
        // What has no value comes last where the order descends, and no bound holds of it.
        let unvalued = Expression.test(first.value, .valued, isNegated: true)
        return [.all([bound, after])] + (first.isDescending ? [unvalued] : [])
    }

    /// Whether a row has the key of the position.
    private func equal(_ index: Int, _ key: DocumentValue?) -> Expression {
        let value = order[index].value
        return switch key {
        case nil: .test(value, .missing, isNegated: false)
        case .null?: .test(value, .null, isNegated: false)
        case let key?: .comparison(.equal, value, .literal(key))
        }
    }

    /// Whether a row has a key after the one of the position; `nil` where none can. Missing comes before null, and null before all values.
    private func beyond(_ index: Int, _ key: DocumentValue?) -> Expression? {
        let (value, isDescending) = (order[index].value, order[index].isDescending)
        switch (key, isDescending) {
        case (nil, true): return nil
        case (nil, false): return .test(value, .missing, isNegated: true)
        case (.null?, true): return .test(value, .missing, isNegated: false)
        case (.null?, false): return .test(value, .valued, isNegated: false)
        case (let key?, true):
            return .any([
                .comparison(.less, value, .literal(key)), .test(value, .valued, isNegated: true),
            ])
        case (let key?, false): return .comparison(.greater, value, .literal(key))
        }
    }
}

extension Expression {
    /// Whether all of those conditions hold that there are; `nil` without any.
    fileprivate static func conjunction(_ conditions: [Expression?]) -> Expression? {
        let conditions = conditions.compactMap(\.self)
        return conditions.count > 1 ? .all(conditions) : conditions.first
    }
}

import Fleece
import Roost

/// A query for pairs of values of two collections, in each of which a property is the same.
///
/// ```swift
/// let pairs = try notes.query().where { $0.stars > 3 }.joined(with: authors, on: \.author, equals: \.id)
///     .order { note, author in author.name }.fetch()
/// for (note, author) in pairs { print(note.title, author.name) }
/// ```
///
/// An immutable value; each call answers a new query.
public struct JoinedQuery<Left: Codable, Right: Codable>: Sendable {
    private let left: DocumentCollection
    private let right: DocumentCollection
    private var select: Select
    private var problem: QueryError?

    private static var leftAlias: String { "left" }
    private static var rightAlias: String { "right" }

    fileprivate init(
        _ query: TypedQuery<Left>, _ other: DocumentCollection, _ leftMember: QueryField<some Any>,
        _ rightMember: QueryField<some Any>
    ) {
        left = query.collection
        right = other
        select = Select()
        problem = query.problem ?? leftMember.problem ?? rightMember.problem
        if query.clauses.limit != nil || query.clauses.offset != nil {
            problem =
                problem
                ?? QueryError(
                    "limit(_:) and skip(_:) are said of the pairs: call them after joined(with:on:equals:)")
        }
        if left.database !== right.database {
            problem = problem ?? QueryError("Collections that are joined are of one database")
        }
        func source(_ collection: DocumentCollection, _ alias: String) -> Select.Source {
            Select.Source(
                origin: .collection(collection.collectionName, scope: collection.scopeName), alias: alias)
        }
        var joined = source(right, Self.rightAlias)
        joined.join = .inner
        joined.condition = .comparison(
            .equal, leftMember.expression.from(Self.leftAlias), rightMember.expression.from(Self.rightAlias))
        select.sources = [source(left, Self.leftAlias), joined]
        select.condition = query.clauses.condition?.from(Self.leftAlias)
        select.order = query.clauses.order.map {
            Select.Ordering(value: $0.value.from(Self.leftAlias), isDescending: $0.isDescending)
        }
        select.columns = [Self.leftAlias, Self.rightAlias].map {
            Select.Column(value: .meta(.id, alias: $0, .unknown), alias: $0)
        }
    }

    private static var fields: (QueryField<Left>, QueryField<Right>) {
        (QueryField(.path([.key(leftAlias)], .unknown)), QueryField(.path([.key(rightAlias)], .unknown)))
    }

    /// Only pairs of which a condition is true, besides those given before.
    public func `where`(_ condition: (QueryField<Left>, QueryField<Right>) -> QueryCondition) -> Self {
        var copy = self
        let (left, right) = Self.fields
        let condition = condition(left, right)
        copy.select.condition = .all((select.condition.map { [$0] } ?? []) + [condition.expression])
        copy.problem = problem ?? condition.problem
        return copy
    }

    /// In the order of something in the pairs; of those that are equal in it, in the order given after it.
    public func order<Member: Encodable>(
        _ direction: TypedQuery<Left>.Direction = .ascending,
        by member: (QueryField<Left>, QueryField<Right>) -> QueryField<Member>
    ) -> Self {
        var copy = self
        let (left, right) = Self.fields
        let field = member(left, right)
        copy.select.order.append(
            Select.Ordering(value: field.expression, isDescending: direction == .descending))
        copy.problem = problem ?? field.problem
        return copy
    }

    /// Limits the number of values.
    public func limit(_ count: Int) -> Self {
        var copy = self
        copy.select.limit = .literal(.integer(Int64(count)))
        return copy
    }

    /// Skips the first values.
    public func offset(_ count: Int) -> Self {
        var copy = self
        copy.select.offset = .literal(.integer(Int64(count)))
        return copy
    }

    /// The query without its types, with the columns `left` and `right`, which are IDs.
    ///
    /// - Throws: `invalidQuery` for a property that documents don't have, and for collections of two databases.
    public func untyped() throws(DatabaseError) -> DatabaseQuery {
        do throws(QueryError) {
            if let problem { throw problem }
            return DatabaseQuery(left.database, try PreparedQuery(select, left.schema))
        } catch {
            throw DatabaseError(error)
        }
    }

    /// All pairs, in memory at once.
    ///
    /// - Throws: as ``DatabaseQuery/fetch()``; `decodingFailed`, with the document's ID, when the properties of a document are not those of a
    ///   value.
    public func fetch() throws(DatabaseError) -> [(Versioned<Left>, Versioned<Right>)] {
        let snapshot = try left.database.snapshot()
        let cursor = try untyped().cursor(in: snapshot)
        let (lefts, rights) = (try snapshot[left], try snapshot[right])
        var pairs: [(Versioned<Left>, Versioned<Right>)] = []
        while let row = try cursor.next() {
            guard let left = try lefts.document(row[0].string ?? ""),
                let right = try rights.document(row[1].string ?? "")
            else { continue }
            pairs.append((try Versioned(left), try Versioned(right)))
        }
        return pairs
    }

    /// How many pairs there are.
    ///
    /// - Throws: as ``DatabaseQuery/fetch()``.
    public func count() throws(DatabaseError) -> Int { try untyped().count() }

    /// How the query would be executed.
    ///
    /// - Throws: as ``untyped()``.
    public func explain() throws(DatabaseError) -> Explanation { try untyped().explain() }
}

extension TypedQuery {
    /// The values with those of another collection in which a property is the same.
    ///
    /// - Parameters:
    ///   - other: the other collection, of the same database.
    ///   - member: the property of a value here.
    ///   - otherMember: the property of a value there.
    public func joined<Other: Codable, Member>(
        with other: TypedCollection<Other>, on member: KeyPath<Value, Member>,
        equals otherMember: KeyPath<Other, Member>
    ) -> JoinedQuery<Value, Other> {
        JoinedQuery(
            self, other.documents, QueryField<Value>(.path([], .unknown))[dynamicMember: member],
            QueryField<Other>(.path([], .unknown))[dynamicMember: otherMember])
    }
}

extension Expression {
    /// What a condition or an order of typed queries says of the only source, said of one of several.
    fileprivate func from(_ alias: String) -> Expression {
        func moved(_ part: Expression) -> Expression { part.from(alias) }
        return switch self {
        case .path(let steps, let place): .path([.key(alias)] + steps, place)
        case .meta(let field, nil, let place): .meta(field, alias: alias, place)
        case .member(let value, let steps): .member(moved(value), steps)
        case .collate(let options, let value): .collate(options, moved(value))
        case .comparison(let comparison, let left, let right):
            .comparison(comparison, moved(left), moved(right))
        case .test(let value, let test, let isNegated): .test(moved(value), test, isNegated: isNegated)
        case .membership(let value, let list, let isNegated):
            .membership(moved(value), moved(list), isNegated: isNegated)
        case .like(let value, let pattern, let isNegated):
            .like(moved(value), moved(pattern), isNegated: isNegated)
        case .all(let parts): .all(parts.map(moved))
        case .any(let parts): .any(parts.map(moved))
        case .not(let value): .not(moved(value))
        case .quantified(let quantifier, let variable, let list, let condition):
            .quantified(quantifier, variable: variable, moved(list), satisfies: moved(condition))
        case .call(let function, let values): .call(function, values.map(moved))
        case .match(let index?, let text, let place): .match(index: "\(alias).\(index)", text, place)
        case .rank(let index?, let place): .rank(index: "\(alias).\(index)", place)
        default: self
        }
    }
}

import Fleece
import Roost
import RoostText

/// The values that a typed query finds, now and whenever they change, as an asynchronous sequence that does not end by itself: see
/// ``QueryUpdates``.
///
/// ```swift
/// for try await best in notes.query().where { $0.stars > 3 }.order(by: \.title).updates { show(best) }
/// ```
///
/// A value that was saved again is reported, also when it is equal to what it was.
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
    /// The places of values that stayed and were saved again.
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

// MARK: - Typed indexes

// Indexes of typed collections, on properties.
extension TypedCollection {
    /// Makes an index on properties: see `DocumentCollection.createIndex`.
    ///
    /// - Throws: as it; `invalidQuery` for a property that documents don't have under a known name.
    public func createIndex(_ name: String, on members: PartialKeyPath<Value>...) throws(DatabaseError) {
        try documents.createIndex(name, on: try Self.columns(members))
    }

    /// Makes an index on properties, also those of values within a value: `createIndex("by-city") { ($0.place.city, $0.title) }`.
    ///
    /// - Throws: as `DocumentCollection.createIndex`; `invalidQuery` for a property that documents don't have under a known name.
    public func createIndex<each Member>(
        _ name: String, on members: (QueryField<Value>) -> (repeat QueryField<each Member>)
    ) throws(DatabaseError) {
        try documents.createIndex(name, on: try Self.columns(members))
    }

    /// Makes an index on the elements of a list.
    ///
    /// - Throws: as ``createIndex(_:on:)-(_,PartialKeyPath<Value>...)``.
    public func createIndex(_ name: String, unnesting member: PartialKeyPath<Value>) throws(DatabaseError) {
        try documents.createIndex(name, unnesting: try Self.columns([member]))
    }

    /// Makes a full-text index on properties: see `DocumentCollection.createTextIndex`.
    ///
    /// - Throws: as it; `invalidQuery` for a property that documents don't have under a known name.
    public func createTextIndex(
        _ name: String, on members: PartialKeyPath<Value>..., language: TextLanguage? = nil,
        ignoresAccents: Bool = true, stopWords: [String] = [], weights: [Double] = []
    ) throws(DatabaseError) {
        try documents.createTextIndex(
            name, on: try Self.columns(members), language: language, ignoresAccents: ignoresAccents,
            stopWords: stopWords, weights: weights)
    }

    private static func columns<each Member>(
        _ members: (QueryField<Value>) -> (repeat QueryField<each Member>)
    ) throws(DatabaseError) -> String {
        let fields = members(QueryField(.path([], .unknown)))
        var columns: [String] = []
        for field in repeat each fields {
            if let problem = field.problem { throw DatabaseError(problem) }
            columns.append(column(field.expression))
        }
        return columns.joined(separator: ", ")
    }

    /// The paths of properties, which the descriptions of key paths, `\Note.title`, name.
    private static func columns(_ members: [PartialKeyPath<Value>]) throws(DatabaseError) -> String {
        var columns: [String] = []
        for member in members {
            let field: QueryField<Any> = QueryField<Value>(.path([], .unknown)).step(
                "\(member)", in: Value.self, isIdentifiable: Value.self is any Identifiable.Type)
            if let problem = field.problem { throw DatabaseError(problem) }
            columns.append(column(field.expression))
        }
        return columns.joined(separator: ", ")
    }

    private static func column(_ expression: Expression) -> String {
        if case .meta(.id, _, _) = expression { return MetaField.id.propertyName }
        return expression.sqlText
    }
}

// MARK: - Coded names

/// What a type's properties are called where it is coded.
enum CodedNames {
    /// How a property is coded.
    enum Name: Equatable {
        case known(String)
        /// Under another name, which is not known.
        case other
    }

    /// The name under which a property of `type` is coded.
    ///
    /// A type's `CodingKeys` say so: the case that is called like the property has it. Where a type decodes itself in another way, it
    /// is the property's own.
    static func name(of property: String, in type: Any.Type) -> Name {
        guard let type = type as? any Decodable.Type else { return .known(property) }
        let decoder = KeyProbe(property)
        // It ends with the first look for a property, when the type of the keys is known.
        _ = try? type.init(from: decoder)
        return decoder.found
    }
}

/// A decoder that is requested the type of a value's keys, and holds no value.
private final class KeyProbe: Decoder {
    private struct NoValue: Error {}

    private let property: String
    /// The coded name, as far as is known.
    private(set) var found: CodedNames.Name

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ property: String) {
        self.property = property
        found = .known(property)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        found = name(among: type)
        throw NoValue()
    }

    private func name<Key: CodingKey>(among type: Key.Type) -> CodedNames.Name {
        // Keys that can be gone through tell every name; else only a property's own name can be looked up.
        if let type = type as? any CaseIterable.Type {
            let names = codedNames(of: type)
            if !names.isEmpty { return names[property].map(CodedNames.Name.known) ?? .other }
        }
        guard let key = Key(stringValue: property) else { return .other }
        // A key of this name may be another property's.
        return (caseName(key) ?? property) == property ? .known(property) : .other
    }

    /// The coded names of all cases, by the names of the cases.
    private func codedNames<Keys: CaseIterable>(of type: Keys.Type) -> [String: String] {
        var names: [String: String] = [:]
        for key in type.allCases {
            if let key = key as? any CodingKey, let name = caseName(key) { names[name] = key.stringValue }
        }
        return names
    }

    private func caseName(_ key: some CodingKey) -> String? {
        unsafe enumCaseName(key).map { unsafe String(cString: $0) }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NoValue() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw NoValue() }
}

/// What the standard library prints for a case of an enumeration, which keys hide behind a description of their own; `nil` for anything
/// else, and where a program was built without what reflection needs.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<T>(_ value: T) -> UnsafePointer<CChar>?

import Roost
import RoostText

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

import Roost

extension Database {
    /// A query in SQL++, Couchbase's SQL for JSON.
    ///
    /// ```swift
    /// try db.query("SELECT title FROM notes WHERE stars > $min ORDER BY title LIMIT 10", parameters: ["min": 3]).fetch()
    /// ```
    ///
    /// FROM names a collection, or `SCOPE.NAME`; `_` is the default one.
    ///
    /// - Parameters:
    ///   - text: the query.
    ///   - parameters: the values of what it calls `$name`.
    /// - Throws: `invalidQuery` for a text that is malformed or names a collection or function that there is not, with the
    ///   place in the text; a ``QueryError`` is the underlying error.
    public func query(_ text: String, parameters: [String: DocumentValue] = [:]) throws(DatabaseError)
        -> DatabaseQuery
    {
        try prepare(text, parameters, Schema(self)) { () throws(QueryError) in try SQLParser.select(text) }
    }

    /// A query in LiteCore's JSON schema: an object with WHAT, FROM, WHERE and so on, or only a condition.
    ///
    /// - Throws: `invalidQuery`; `invalidDocument` for text that is not JSON.
    public func query(json: String, parameters: [String: DocumentValue] = [:]) throws(DatabaseError)
        -> DatabaseQuery
    {
        let value = try DocumentValue(json: json)
        return try prepare(json, parameters, Schema(self)) { () throws(QueryError) in
            try JSONQueryParser.select(value)
        }
    }

    /// Parses and plans.
    func prepare(
        _ text: String, _ parameters: [String: DocumentValue], _ schema: Schema,
        _ parse: () throws(QueryError) -> Select
    ) throws(DatabaseError) -> DatabaseQuery {
        do throws(QueryError) {
            return DatabaseQuery(self, try PreparedQuery(try parse(), schema), parameters)
        } catch {
            throw DatabaseError(error, in: text)
        }
    }
}

extension DocumentCollection {
    /// A query in SQL++ in which `_` is this collection: see `Database.query(_:parameters:)`.
    public func query(_ text: String, parameters: [String: DocumentValue] = [:]) throws(DatabaseError)
        -> DatabaseQuery
    {
        try database.prepare(text, parameters, schema) { () throws(QueryError) in try SQLParser.select(text)
        }
    }

    /// A query in LiteCore's JSON schema, of this collection where it names none.
    public func query(json: String, parameters: [String: DocumentValue] = [:]) throws(DatabaseError)
        -> DatabaseQuery
    {
        let value = try DocumentValue(json: json)
        return try database.prepare(json, parameters, schema) { () throws(QueryError) in
            try JSONQueryParser.select(value)
        }
    }

    var schema: Schema { Schema(database, defaultCollection: (collectionName, scopeName)) }
}

import Roost

extension DocumentCollection {
    /// Deletes the documents that a condition in SQL++ holds of, all or none, durably.
    ///
    /// ```swift
    /// try notes.delete(where: "stars < $least", ["least": 2])
    /// ```
    ///
    /// - Returns: how many there were.
    /// - Throws: `invalidQuery`; `conflict` when others changed such documents again and again meanwhile; what writing throws.
    @discardableResult
    public func delete(
        where condition: String, _ parameters: [String: DocumentValue] = [:]
    ) throws(DatabaseError) -> Int {
        try change(try documents(where: condition, parameters)) { (batch, document) throws(DatabaseError) in
            try batch.delete(document.id, in: self, expecting: .revision(document.revision))
        }
    }

    /// Changes the documents that a condition in SQL++ holds of, all or none, durably.
    ///
    /// ```swift
    /// try notes.update(where: "stars = 5") { $0["best"] = true }
    /// ```
    ///
    /// - Parameter body: changes one of them; called again for all after a conflict.
    /// - Returns: how many there were.
    /// - Throws: as ``delete(where:_:)``, and what `body` throws.
    @discardableResult
    public func update(
        where condition: String, _ parameters: [String: DocumentValue] = [:],
        _ body: (inout MutableDocument) throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> Int {
        try change(try documents(where: condition, parameters)) { (batch, document) throws(DatabaseError) in
            var draft = MutableDocument(document)
            try body(&draft)
            try batch.save(&draft, in: self)
        }
    }

    private func documents(
        where condition: String, _ parameters: [String: DocumentValue]
    ) throws(DatabaseError) -> DatabaseQuery {
        try database.prepare(condition, parameters, schema) { () throws(QueryError) in
            var select = Select()
            select.columns = [Select.Column(value: .meta(.id, alias: nil, .unknown), alias: "id")]
            select.condition = try SQLParser.expression(condition)
            return select
        }
    }

    /// Makes a change to each document that a query finds, by the IDs in its first column; begins again after a conflict.
    func change(
        _ query: DatabaseQuery, _ body: (WriteTransaction, Document) throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> Int {
        for attempt in 1... {
            let snapshot = try database.snapshot()
            let documents = try snapshot[self]
            let cursor = try query.cursor(in: snapshot)
            var ids: [String] = []
            while let row = try cursor.next() { ids.append(row[0].string ?? "") }
            guard !ids.isEmpty else { return 0 }
            do {
                try database.write { batch in
                    for id in ids {
                        if let document = try documents.document(id) { try body(batch, document) }
                    }
                }
                return ids.count
            } catch let error as DatabaseError {
                guard error.code == .conflict, attempt < Self.mostAttempts else { throw error }
            } catch {
                preconditionFailure("writing throws errors of the database: \(error)")
            }
        }
        return 0
    }

    private static var mostAttempts: Int { 10 }
}

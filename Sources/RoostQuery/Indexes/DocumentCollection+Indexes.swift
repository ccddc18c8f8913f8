import Roost
import RoostIndex

extension DocumentCollection {
    /// Makes an index, so that queries with conditions on its expressions, or in its order, read few documents.
    ///
    /// ```swift
    /// try notes.createIndex("by-stars", on: "stars DESC, title COLLATE NOCASE")
    /// try notes.createIndex("open", on: "due", where: "done = false")
    /// try notes.createIndex("tags", unnesting: "tags")
    /// try sales.createIndex("by-day", on: "day", including: "customer", summing: "amount")
    /// ```
    ///
    /// Builds it beside everything else that goes on, and returns when it can be used. The same index twice does nothing;
    /// another one of the same name takes its place. Queries choose their indexes themselves: ``DatabaseQuery/explain()`` tells which.
    ///
    /// - Parameters:
    ///   - name: unique in the collection, 1 to 200 bytes.
    ///   - columns: what it is on: see ``ValueIndex/columns``.
    ///   - including: what its rows have besides: see ``ValueIndex/including``.
    ///   - summing: what is summed up in it: see ``ValueIndex/summing``.
    ///   - condition: what documents in it meet. It serves queries that have the same condition.
    ///   - unnesting: an array with a row for each element, for `ANY … IN … SATISFIES` and `array_contains`.
    /// - Throws: `invalidQuery` for expressions that are malformed, `invalidName`, `readOnly`; `cancelled` when the task was
    ///   cancelled while it was built, which goes on when it is next used.
    public func createIndex(
        _ name: String, on columns: String = "", including: String? = nil, summing: String? = nil,
        where condition: String? = nil, unnesting: String? = nil
    ) throws(DatabaseError) {
        try create(
            ValueIndex(
                name, on: columns, including: including, summing: summing, where: condition,
                unnesting: unnesting))
    }

    /// As ``createIndex(_:on:including:summing:where:unnesting:)``, by a description.
    func create(_ index: ValueIndex) throws(DatabaseError) {
        let name = index.name
        guard (1...200).contains(name.utf8.count), !name.utf8.contains(0) else {
            throw DatabaseError(.invalidName, "The name of an index has 1 to 200 bytes, none of them 0.")
        }
        let compiled: CompiledIndex
        do throws(QueryError) {
            compiled = try CompiledIndex(index)
        } catch {
            throw DatabaseError(
                .invalidQuery, "The index \(name.debugDescription): \(error.message)", underlyingError: error)
        }
        if try IndexList<ValueIndex>(of: try snapshot()).indexes[name] != index {
            try IndexList<ValueIndex>.change(in: self) { $0[name] = index }
        }
        try derived { () throws in
            let indexes = try self.indexes
            indexes.define(compiled.definition)
            try indexes.update(self, building: .one(compiled.definition.name))
        }
    }

    /// Drops an index, and gives its space back. One that there is not is fine.
    public func dropIndex(_ name: String) throws(DatabaseError) {
        guard let index = try IndexList<ValueIndex>(of: try snapshot()).indexes[name] else { return }
        try IndexList<ValueIndex>.change(in: self) { _ = $0.removeValue(forKey: name) }
        guard let compiled = try? CompiledIndex(index) else { return }
        try derived { () throws in try self.indexes.drop(compiled.definition.name) }
    }

    /// The collection's indexes, by name.
    public func valueIndexes() throws(DatabaseError) -> [ValueIndex] {
        try IndexList<ValueIndex>(of: try snapshot()).indexes.values
    }

    /// Runs a call to the derived data and gives its failure the database's face.
    private func derived(_ body: () throws -> Void) throws(DatabaseError) {
        do { try body() } catch { throw DatabaseError(derived: error) }
    }
}

extension DatabaseError {
    /// What a failure of an index means.
    init(derived error: any Error) {
        if let error = error as? DatabaseError {
            self = error
        } else if error is CancellationError {
            self.init(.cancelled, "The task was cancelled while an index was brought up to date.")
        } else {
            self.init(.inputOutput, "An index can't be used. \(error.sentence)", underlyingError: error)
        }
    }
}

import RoostStorage

extension Database {
    /// The collection that every database has.
    public var defaultCollection: DocumentCollection {
        get throws(DatabaseError) { try collection(CollectionName.defaultName) }
    }

    /// A collection, made by a commit of its own if there is none.
    ///
    /// - Parameters:
    ///   - name: 1 to 251 of the characters A-Z a-z 0-9 _ - %, the first not being _ or %; or `_default`.
    ///   - scope: The group of collections that it belongs to, named by the same rule.
    ///   - createsIfMissing: Whether to make it. A database that is open for reading only never does.
    /// - Throws: `invalidName`; `notFound` when there is none and none is to be made.
    public func collection(
        _ name: String, scope: String = "_default", createsIfMissing: Bool = true
    ) throws(DatabaseError) -> DocumentCollection {
        try checkOpen()
        let name = try CollectionName(name, scope: scope)
        if let collection = try existing(name) { return collection }
        // Another process may have made it.
        if core.process != nil, try core.refresh(), let collection = try existing(name) { return collection }
        guard createsIfMissing, !isReadOnly else { throw DatabaseError.missing(name) }
        try checkWritable()
        _ = try core.write { (batch) throws(DatabaseError) in try batch.makeCollection(name) }
        guard let collection = try existing(name) else { throw DatabaseError.missing(name) }
        return collection
    }

    private func existing(_ name: CollectionName) throws(DatabaseError) -> DocumentCollection? {
        try core.trees(of: name, in: core.store.snapshot()).map { DocumentCollection(self, name, $0) }
    }

    /// The names of all scopes that have collections, sorted. `_default` is always there.
    public var scopes: [String] {
        get throws(DatabaseError) {
            try checkOpen()
            return Set(try core.collectionNames(in: core.store.snapshot()).map(\.scope)).sorted()
        }
    }

    /// The collections of a scope, sorted by name.
    public func collections(scope: String = "_default") throws(DatabaseError) -> [DocumentCollection] {
        try checkOpen()
        return try core.collections(in: core.store.snapshot()).filter { $0.name.scope == scope }
            .map { DocumentCollection(self, $0.name, $0.trees) }
    }

    /// Drops a collection with all its documents, at once and for good. The space comes back with compaction.
    ///
    /// Snapshots go on reading it; every later use of the collection fails with `notFound`. A collection made again
    /// under the name begins with sequence 1 and has another ``CollectionSnapshot/epoch``. The default collection, which
    /// always exists, is made again at once, empty.
    ///
    /// - Throws: `notFound`.
    public func drop(_ collection: DocumentCollection) throws(DatabaseError) {
        try checkWritable()
        _ = try core.write { (batch) throws(DatabaseError) in try batch.drop(collection) }
    }
}

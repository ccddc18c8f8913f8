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
    ///   - createIfMissing: Whether to make it. A database that is open for reading only never does.
    /// - Throws: `invalidName`; `notFound` when there is none and none is to be made.
    public func collection(
        _ name: String, scope: String = "_default", createIfMissing: Bool = true
    ) throws(DatabaseError) -> DocumentCollection {
        try checkOpen()
        let name = try CollectionName(name, scope: scope)
        if let collection = try existing(name) { return collection }
        guard createIfMissing, !isReadOnly else { throw DatabaseError.missing(name) }
        try checkWritable()
        _ = try core.write { (batch) throws(DatabaseError) in try batch.makeCollection(name) }
        guard let collection = try existing(name) else { throw DatabaseError.missing(name) }
        return collection
    }

    private func existing(_ name: CollectionName) throws(DatabaseError) -> DocumentCollection? {
        let snapshot = core.store.snapshot()
        let bytes = try engine { () throws(StoreError) in try snapshot[core.catalog, Catalog.collection(name)]
        }
        guard let bytes else { return nil }
        guard let trees = CollectionTrees(number: try CollectionRecord(bytes).number, in: snapshot) else {
            throw DatabaseError.damaged("The catalog")
        }
        return DocumentCollection(self, name, trees)
    }

    /// The names of all scopes that have collections, sorted. `_default` is always there.
    public var scopes: [String] {
        get throws(DatabaseError) { Array(Set(try names().map(\.scope))).sorted() }
    }

    /// The collections of a scope, sorted by name.
    public func collections(scope: String = "_default") throws(DatabaseError) -> [DocumentCollection] {
        var collections: [DocumentCollection] = []
        for name in try names() where name.scope == scope {
            if let collection = try existing(name) { collections.append(collection) }
        }
        return collections
    }

    /// Drops a collection with all its documents, at once and for good. The space comes back with compaction.
    ///
    /// Snapshots go on reading it; every later use of the collection fails with `notFound`. A collection made again
    /// under the name begins with sequence 1.
    ///
    /// - Throws: `notFound`; `invalidName` for the default collection, which always exists.
    public func drop(_ collection: DocumentCollection) throws(DatabaseError) {
        guard collection.name != .default else {
            throw DatabaseError(
                .invalidName,
                "The default collection cannot be dropped. Purge its documents if they are to go.")
        }
        try checkWritable()
        _ = try core.write { (batch) throws(DatabaseError) in try batch.drop(collection) }
    }

    private func names() throws(DatabaseError) -> [CollectionName] {
        try checkOpen()
        let catalog = try engine { () throws(StoreError) in try core.store.snapshot()[core.catalog] }
        let cursor = catalog.cursor(Catalog.collections)
        var names: [CollectionName] = []
        while try engine({ () throws(StoreError) in try cursor.next() }) {
            names.append(try Catalog.name(cursor.key))
        }
        return names
    }
}

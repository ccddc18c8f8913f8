import RoostFile
import RoostStorage

/// Makes the catalog of a salvaged store name all collections of which there are trees.
struct CatalogRepair {
    private let path: String
    private let options: DatabaseOptions
    private let environment: Environment

    /// - Parameter path: the directory of the new database.
    init(_ path: String, _ options: DatabaseOptions, _ environment: Environment) {
        self.path = path
        self.options = options
        self.environment = environment
    }

    func run(_ findings: inout DocumentFindings) throws(DatabaseError) {
        let store = try translating { () throws(StoreError) in
            try Store.open(DatabaseOpener.dataPath(path), options: options.store, environment: environment)
        }
        let transaction = try translating { () throws(StoreError) in try store.beginWriting() }
        defer { transaction.rollback() }
        let catalog = try translating { () throws(StoreError) in try transaction.tree(Catalog.treeName) }
        var record = try databaseRecord(transaction, catalog, &findings)
        let named = try namedCollections(transaction, catalog, &findings)
        let orphans = Set(transaction.treeNames.compactMap { CollectionTrees.number(inTreeName: $0) })
            .subtracting(named.values).sorted()
        for number in orphans {
            try name(number, transaction, catalog, isDefaultTaken: named[.default] != nil, &findings)
        }
        record.nextCollection = max(
            record.nextCollection, (named.values + orphans).max().map { $0 &+ 1 } ?? 1)
        if named[.default] == nil, !orphans.contains(1) {
            let number = record.nextCollection
            record.nextCollection += 1
            try put(CollectionRecord(number: number, environment), .default, transaction, catalog)
        }
        try translating { () throws(StoreError) in
            try transaction.put(Catalog.database, record.encoded, in: catalog)
            _ = try transaction.commit()
            try store.close()
        }
    }

    private func databaseRecord(
        _ transaction: StoreTransaction, _ catalog: Tree, _ findings: inout DocumentFindings
    ) throws(DatabaseError) -> DatabaseRecord {
        let bytes = try translating { () throws(StoreError) in try transaction[catalog, Catalog.database] }
        if let bytes, let record = try? DatabaseRecord(bytes) { return record }
        findings.add("the database's identity is lost; it has a new one, by which peers don't know it")
        return DatabaseRecord(environment)
    }

    /// The numbers of the collections that have a name. Those whose record can't be read lose it; trees that are missing
    /// are made.
    private func namedCollections(
        _ transaction: StoreTransaction, _ catalog: Tree, _ findings: inout DocumentFindings
    ) throws(DatabaseError) -> [CollectionName: UInt64] {
        var named: [CollectionName: UInt64] = [:]
        let entries = try translating { () throws(StoreError) in
            let cursor = try transaction[catalog].cursor(Catalog.collections)
            var entries: [(Key, [UInt8])] = []
            while try cursor.next() { entries.append((cursor.key, try cursor.value())) }
            return entries
        }
        for (key, value) in entries {
            guard let name = try? Catalog.name(key), let record = try? CollectionRecord(value),
                !named.values.contains(record.number)
            else {
                try translating { () throws(StoreError) in try transaction.delete(key, in: catalog) }
                continue
            }
            named[name] = record.number
            _ = try translating { () throws(StoreError) in
                try CollectionTrees(number: record.number, in: transaction)
            }
        }
        return named
    }

    /// Gives the collection that these trees are of a name. The first that a database makes is the default one.
    private func name(
        _ number: UInt64, _ transaction: StoreTransaction, _ catalog: Tree, isDefaultTaken: Bool,
        _ findings: inout DocumentFindings
    ) throws(DatabaseError) {
        let name =
            number == 1 && !isDefaultTaken ? CollectionName.default : try CollectionName("salvaged-\(number)")
        try put(CollectionRecord(number: number, environment), name, transaction, catalog)
        findings.add("its name or its record is lost", name)
    }

    private func put(
        _ record: CollectionRecord, _ name: CollectionName, _ transaction: StoreTransaction, _ catalog: Tree
    ) throws(DatabaseError) {
        try translating { () throws(StoreError) in
            _ = try CollectionTrees(number: record.number, in: transaction)
            try transaction.put(Catalog.collection(name), record.encoded, in: catalog)
        }
    }
}

extension CollectionTrees {
    /// The number of the collection that a tree of this name belongs to; `nil` when it is of none.
    static func number(inTreeName name: String) -> UInt64? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, ["documents", "changes", "extras"].contains(parts[0]),
            let number = UInt64(parts[1]), number > 0, number < .max, String(number) == parts[1]
        else { return nil }
        return number
    }
}

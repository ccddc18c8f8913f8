import RoostStorage

/// Brings the documents of a database to the form that this version of an app expects, in numbered steps.
///
/// ```swift
/// var migrator = DatabaseMigrator()
/// migrator.registerMigration("notes have stars") { step in
///     let notes = try step.collection("notes")
///     try step.updateAll(in: notes) { note in note["stars"] = 0 }
/// }
/// try migrator.migrate(database)
/// ```
///
/// A step is numbered by its place among those that are registered. Each runs in a transaction of its own, which also records that it
/// was applied: a step is applied once and as a whole, or not at all. Steps that have been released keep their names and their order;
/// new ones are added at the end.
///
/// The names of the applied steps are stored in the local document ``documentName`` of the default collection. Local documents are never
/// replicated, so that each database knows its own version. Dropping the default collection drops that document with it.
public struct DatabaseMigrator: Sendable {
    /// The local document, in the default collection, that has the names of the applied migrations.
    public static let documentName = "roost-migrations"

    private struct Step: Sendable {
        let name: String
        let body: @Sendable (MigrationStep) throws -> Void
    }

    /// The content of the local document.
    private struct Applied: Codable {
        var names: [String]
    }

    private var steps: [Step] = []

    /// A migrator without steps.
    public init() {}

    /// The names of the registered migrations, in order.
    public var migrations: [String] { steps.map(\.name) }

    /// Adds a step after those that were registered before.
    ///
    /// - Parameters:
    ///   - name: What the step is called from now on. No two steps may have the same name.
    ///   - migrate: Makes the changes. It must use types and names as they were when it was written, since later versions of the app run
    ///     it, too; an error that it throws undoes the step.
    public mutating func registerMigration(
        _ name: String, migrate: @escaping @Sendable (_ step: MigrationStep) throws -> Void
    ) {
        precondition(
            !steps.contains { $0.name.utf8.elementsEqual(name.utf8) },
            "two migrations are called \(name.debugDescription)")
        steps.append(Step(name: name, body: migrate))
    }

    // MARK: Asking

    /// The names of the migrations that were applied to a database, in order. Their number is the version of its documents.
    ///
    /// - Throws: `closed`; `damaged`; `decodingFailed` when the local document ``documentName`` was replaced by something else.
    public func appliedMigrations(of database: Database) throws(DatabaseError) -> [String] {
        try Self.names(try database.defaultCollection.localDocument(Self.documentName))
    }

    /// Whether all registered migrations were applied to a database.
    ///
    /// - Throws: as ``appliedMigrations(of:)``; `unsupportedFormat` when a newer version of the app has migrated the database, or one
    ///   whose steps were others.
    public func hasCompletedMigrations(of database: Database) throws(DatabaseError) -> Bool {
        let applied = try appliedMigrations(of: database)
        try check(applied, of: database)
        return applied.count == steps.count
    }

    private static func names(_ document: LocalDocument?) throws(DatabaseError) -> [String] {
        try document?.decode(Applied.self).names ?? []
    }

    /// Refuses a database that has steps which are not registered here.
    private func check(_ applied: [String], of database: Database) throws(DatabaseError) {
        for (index, name) in applied.enumerated() {
            guard index < steps.count else {
                throw DatabaseError(
                    .unsupportedFormat,
                    "The documents of \(database.path) are of version \(applied.count), which a newer version of this app has made: it "
                        + "has applied \(DatabaseError.quoted(name)). This version knows \(steps.count) migrations. Update the app."
                )
            }
            guard steps[index].name.utf8.elementsEqual(name.utf8) else {
                throw DatabaseError(
                    .unsupportedFormat,
                    "Migration \(index + 1) of \(database.path) was \(DatabaseError.quoted(name)), and the one registered here is "
                        + "\(DatabaseError.quoted(steps[index].name)). Keep the names and the order of migrations that were released."
                )
            }
        }
    }

    // MARK: Migrating

    /// Applies the migrations that a database lacks, in order, each durably before the next begins.
    ///
    /// - Parameters:
    ///   - database: The database, before anything else uses it.
    ///   - last: The name of the last migration to apply, for tests of a step; by default all are applied.
    /// - Returns: How many were applied now.
    /// - Throws: what a step throws, and then the steps before it stay applied; `unsupportedFormat` when a newer version of the app has
    ///   migrated the database; `notFound` when no migration is called `last`; what writing throws.
    @discardableResult
    public func migrate(_ database: Database, upTo last: String? = nil) throws -> Int {
        let end = try end(last)
        var count = 0
        while try database.write({ transaction in try applyNext(transaction, database, end) }) { count += 1 }
        return count
    }

    /// Applies the migrations that a database lacks, without blocking a thread of the task's executor: see `migrate(_:upTo:)`.
    ///
    /// - Throws: as the method of the same name that does not suspend; `cancelled` when the task is cancelled between two steps.
    @discardableResult
    public func migrate(_ database: Database, upTo last: String? = nil) async throws -> Int {
        let end = try end(last)
        var count = 0
        while try await database.write({ transaction in try applyNext(transaction, database, end) }) {
            count += 1
        }
        return count
    }

    /// The number of steps up to the one of a name.
    private func end(_ last: String?) throws(DatabaseError) -> Int {
        guard let last else { return steps.count }
        guard let index = steps.firstIndex(where: { $0.name.utf8.elementsEqual(last.utf8) }) else {
            throw DatabaseError(
                .notFound,
                "No migration is called \(DatabaseError.quoted(last)). Register it before migrating.")
        }
        return index + 1
    }

    /// Applies the first step that is not applied yet.
    ///
    /// What was applied is read within the transaction, since another process may have migrated the database meanwhile.
    ///
    /// - Returns: Whether there was one.
    private func applyNext(_ transaction: WriteTransaction, _ database: Database, _ end: Int) throws -> Bool {
        let home = try database.defaultCollection
        let document = try transaction.reader(home).localDocument(Self.documentName)
        var names = try Self.names(document)
        try check(names, of: database)
        guard names.count < end else { return false }
        let step = steps[names.count]
        try step.body(MigrationStep(database, transaction))
        names.append(step.name)
        // The step may have dropped the default collection.
        try transaction.saveLocalDocument(
            Applied(names: names), name: Self.documentName,
            in: try transaction.collection(home.name, of: database))
        return true
    }
}

/// A step of a migration while it runs: its transaction, and what it needs to change all documents of a collection.
///
/// Use it within the closure that it was passed to.
public struct MigrationStep {
    /// The database. Reading from it shows what was there before the step.
    public let database: Database
    /// The transaction of the step.
    public let transaction: WriteTransaction

    init(_ database: Database, _ transaction: WriteTransaction) {
        self.database = database
        self.transaction = transaction
    }

    /// A collection, created within the transaction if there is none of that name. Use the handle within the step.
    ///
    /// - Throws: `invalidName`.
    public func collection(
        _ name: String, scope: String = "_default"
    ) throws(DatabaseError) -> DocumentCollection {
        try transaction.collection(try CollectionName(name, scope: scope), of: database)
    }

    /// A collection of values of one type: see ``collection(_:scope:)``.
    public func collection<Value: Codable>(
        _ name: String, scope: String = "_default", of type: Value.Type
    ) throws(DatabaseError) -> TypedCollection<Value> {
        TypedCollection(try collection(name, scope: scope))
    }

    /// Changes every document that a collection had before the step. Of one with conflicts, the winner is changed.
    ///
    /// One document is held in memory at a time, besides what the transaction keeps of its changes.
    ///
    /// - Parameters:
    ///   - collection: The collection.
    ///   - change: Changes a document. One that it leaves as it is is not saved again.
    /// - Returns: How many documents were changed.
    /// - Throws: what `change` throws; `conflict` when the step has changed one of the documents before; what saving throws.
    @discardableResult
    public func updateAll(
        in collection: DocumentCollection, _ change: (inout MutableDocument) throws -> Void
    ) throws -> Int {
        var count = 0
        try forEach(in: collection) { document in
            let before = document.mutableCopy()
            var draft = before
            try change(&draft)
            guard draft != before else { return }
            try transaction.save(&draft, in: collection)
            count += 1
        }
        return count
    }

    /// Replaces every value that a typed collection had before the step by one of another type.
    ///
    /// ```swift
    /// try step.convertAll(in: notes, from: OldNote.self) { old in Note(title: old.name, stars: 0) }
    /// ```
    ///
    /// The documents keep their IDs. Properties that the new type does not have are gone from them.
    ///
    /// - Parameters:
    ///   - collection: The collection of values of the new type.
    ///   - old: The type as it was.
    ///   - convert: Makes the new value; `nil` deletes the document.
    /// - Returns: How many values there were.
    /// - Throws: what `convert` throws; `decodingFailed` when a document is not of the old type; `invalidDocumentID` when the new value has
    ///   another `id`; what saving throws.
    @discardableResult
    public func convertAll<Old: Decodable, New: Codable>(
        in collection: TypedCollection<New>, from old: Old.Type, _ convert: (Old) throws -> New?
    ) throws -> Int {
        var count = 0
        try forEach(in: collection.documents) { document in
            count += 1
            let expectation = DocumentExpectation.revision(document.revision)
            if let value = try convert(try document.decode(old)) {
                try transaction.save(value, id: document.id, in: collection.documents, expecting: expectation)
            } else {
                try transaction.delete(document.id, in: collection.documents, expecting: expectation)
            }
        }
        return count
    }

    /// Reads what a collection had before the step. One that the step has created had nothing.
    private func forEach(
        in collection: DocumentCollection, _ body: (Document) throws -> Void
    ) throws {
        guard try database.core.trees(of: collection.name, in: database.core.store.snapshot()) != nil else {
            return
        }
        let cursor = try database.snapshot()[collection].cursor()
        while let document = try cursor.next() { try body(document) }
    }
}

extension WriteTransaction {
    /// A collection as it is within the transaction, created if there is none.
    fileprivate func collection(
        _ name: CollectionName, of database: Database
    ) throws(DatabaseError) -> DocumentCollection {
        _ = try makeCollection(name)
        let transaction = try reader(try database.defaultCollection).source
        let bytes = try translating { () throws(StoreError) in
            try transaction[core.catalog].value(Catalog.collection(name))
        }
        let number = try CollectionRecord(bytes ?? []).number
        let trees = try translating { () throws(StoreError) in
            try CollectionTrees(number: number, in: transaction)
        }
        return DocumentCollection(database, name, trees)
    }
}

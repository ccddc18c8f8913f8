import Foundation
import Roost
import RoostQuery
import RoostSync

/// The app's database. Holds no state of its own, so it can be used from any thread.
public struct Journal: Sendable {
    /// How many sightings are loaded at a time.
    public static let pageLength = 50
    private static let photoName = "photo.jpg"

    /// The database, for tests.
    public let database: Database
    private let sightings: TypedCollection<Sighting>

    /// Opens the app's database. Three earlier versions of each sighting are kept for ``undo(_:)``.
    public init(path: String) throws {
        var options = DatabaseOptions()
        options.keptRevisions = 3
        try self.init(Database.open(path, options: options))
    }

    /// A journal in a database, which is migrated first.
    public init(_ database: Database) throws {
        try DatabaseMigrator.journal.migrate(database)
        self.database = database
        sightings = try database.collection("sightings", of: Sighting.self)
        // The same indexes twice do nothing.
        try sightings.createIndex("by-date", on: \.date)
        try sightings.createTextIndex("words", on: \.species, \.note, language: .english)
    }

    // MARK: Reading

    private var newest: TypedQuery<Sighting> { sightings.query().order(by: \.date, .descending) }

    /// The next sightings, newest first.
    public func page(after position: ResultPosition? = nil) async throws -> ResultPage<Sighting> {
        try await newest.limit(Self.pageLength).page(after: position)
    }

    /// The newest sightings, now and whenever they change.
    public func newest(_ count: Int) -> TypedUpdates<Sighting> { newest.limit(count).updates }

    /// The sightings that have words beginning as those that are being typed, the best first.
    public func search(_ typed: String) async throws -> [Versioned<Sighting>] {
        // What else means something in a search, such as quotation marks, may be half typed.
        let words = typed.split { !$0.isLetter && !$0.isNumber }.map { "\($0)*" }
        guard !words.isEmpty else { return [] }
        return try await sightings.query().where { $0.matching(words.joined(separator: " ")) }
            .order(.descending) { $0.rank() }.limit(Self.pageLength).fetch()
    }

    /// The content of a sighting's photo, verified; `nil` where there is none.
    public func photo(of id: String) async throws -> Data? {
        let (database, documents) = (database, sightings.documents)
        return try await Task.detached { () throws -> Data? in
            guard let attachment = try documents.document(id)?.attachments[Self.photoName],
                let reader = try database.blobReader(attachment)
            else { return nil }
            return Data(try reader.readAll())
        }.value
    }

    // MARK: Writing

    /// Stores a new sighting, with its photo.
    @discardableResult
    public func add(_ sighting: Sighting, photo: Data? = nil) async throws -> Versioned<Sighting> {
        let saved = try await sightings.save(sighting)
        guard let photo else { return saved }
        try await setPhoto(photo, of: saved.id)
        return try sightings.document(saved.id) ?? saved
    }

    /// Stores a sighting's photo, in place of the one that there is. Later edits keep it.
    public func setPhoto(_ photo: Data, of id: String) async throws {
        // The content first, so that no document names what a crash took away.
        let blob = try await database.saveBlob(photo, contentType: "image/jpeg")
        let documents = sightings.documents
        try await database.write { batch in
            guard var draft = try batch.document(id, in: documents)?.mutableCopy() else { return }
            draft["hasPhoto"] = true
            draft.attachments[Self.photoName] = Attachment(blob)
            try batch.save(&draft, in: documents)
        }
    }

    /// Saves an edit of what was read.
    ///
    /// - Throws: `conflict` when it was changed meanwhile, here or by the sync.
    public func save(_ sighting: inout Versioned<Sighting>) async throws {
        try await sightings.save(&sighting)
    }

    /// Deletes a sighting.
    ///
    /// - Throws: `conflict` when it was changed meanwhile.
    public func delete(_ sighting: Versioned<Sighting>) async throws { try await sightings.delete(sighting) }

    /// Makes a sighting again what it was before the last edit, by an edit.
    ///
    /// - Returns: Whether there is an earlier version.
    @discardableResult
    public func undo(_ id: String) async throws -> Bool {
        let documents = sightings.documents
        return try await database.write { batch in
            guard let now = try batch.document(id, in: documents) else { return false }
            let snapshot = try documents.snapshot()
            let history = try snapshot.history(of: id, revision: now.revision)
            guard history.count > 1, let before = try snapshot.document(id, revision: history[1]) else {
                return false
            }
            try batch.save(
                try before.decode(Sighting.self), id: id, in: documents, expecting: .revision(now.revision))
            return true
        }
    }

    // MARK: Syncing

    /// Replicates with a server both ways, until the app ends it.
    public func sync(with server: URL, user: String, password: String) throws -> Replication {
        var options = ReplicationOptions()
        options.isContinuous = true
        return try sightings.documents.replicate(
            with: RemoteDatabase(server, credentials: .session(name: user, password: password)), options)
    }
}

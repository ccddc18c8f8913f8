import Fleece
import Roost
import RoostWire

/// A collection as CouchDB's clients see it: a database.
struct ServedDatabase: Sendable {
    let name: DatabaseName
    let database: Database
    let collection: DocumentCollection
    /// What tells this history of changes from another one under the same name.
    private let epoch: String
    /// A text that stays the same for the whole life of the database; a change of it tells replicators that the database was
    /// made anew. A number of microseconds, as CouchDB's is.
    let instanceStartTime: String

    static let securityName = "_security"

    init(_ name: DatabaseName, _ database: Database, _ collection: DocumentCollection) throws(DatabaseError) {
        self.name = name
        self.database = database
        self.collection = collection
        let snapshot = try collection.snapshot()
        epoch = String(snapshot.epoch, radix: 36)
        instanceStartTime = String(Int64(snapshot.creationDate.timeIntervalSince1970 * 1_000_000))
    }

    /// The collection of that name; `nil` where there is none.
    ///
    /// - Parameter creating: Whether it is made where there is none.
    static func collection(
        of name: DatabaseName, in databases: DatabaseDirectory, creating: Bool
    ) throws -> DocumentCollection? {
        guard let database = try databases.open(name, creating: creating) else { return nil }
        guard let place = name.collection else { return try database.defaultCollection }
        do throws(DatabaseError) {
            return try database.collection(place.name, scope: place.scope, createsIfMissing: creating)
        } catch {
            guard error.code == .notFound || error.code == .invalidName else { throw error }
            return nil
        }
    }

    // MARK: Sequences

    /// A sequence as clients see it: opaque, but for the number that it begins with.
    func token(_ sequence: UInt64) -> String { "\(sequence)-\(epoch)" }

    /// The sequence that a token stands for. One of another history, and one beyond the end, is 0: everything is new to
    /// its owner.
    func sequence(_ token: String, last: UInt64) -> UInt64 {
        var text = token[...]
        if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let number = UInt64(first), number <= last else { return 0 }
        return parts.count == 1 || parts[1] == epoch ? number : 0
    }

    /// The tag of an answer that follows from the documents of a moment. A purge has no sequence among the changes, and changes them, too.
    ///
    /// - Parameter target: What was asked for.
    func tag(of target: String, at moment: CollectionSnapshot) -> String {
        EntityTag.of("\(token(moment.lastSequence)) \(moment.purgeSequence) \(target)")
    }

    // MARK: Security

    /// Who may do what.
    func security() throws -> Security {
        guard let text = try collection.metadata(Self.securityName) else { return .standard }
        return Security(try FleeceText.parse(text).root.dictionary ?? .empty)
    }

    /// The security object as it was stored.
    func securityText() throws -> [UInt8] {
        Self.securityText(try collection.metadata(Self.securityName))
    }

    /// The security object, given what is stored of it.
    static func securityText(_ stored: [UInt8]?) -> [UInt8] { stored ?? Security.standardText }

    func setSecurity(_ text: [UInt8]) async throws {
        let collection = collection
        try await database.write { batch in
            try batch.setMetadata(text, name: Self.securityName, in: collection)
        }
    }
}

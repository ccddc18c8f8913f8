import Fleece
import Roost
import RoostWire

/// A collection as CouchDB's clients see it: a database.
struct ServedDatabase: Sendable {
    let name: DatabaseName
    let database: Database
    let collection: DocumentCollection
    /// Distinguishes this history of changes from another one under the same name.
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

    /// The tag of an answer that follows from the documents of a snapshot. A purge changes them as well and has no sequence.
    ///
    /// - Parameter target: The target of the request.
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

/// The name of a database on the wire: CouchDB's rules, and for collections other than the default one two parts more.
///
/// `notes` is the default collection of the database `notes`, `notes.drafts` its collection `drafts`, and
/// `notes.work.drafts` that collection in the scope `work`. CouchDB's names have no dots, so that these are never one of
/// its own; Sync Gateway writes keyspaces in the same way.
struct DatabaseName: Hashable, Sendable {
    /// All of it.
    let text: String
    /// The database's own name, which its directory has.
    let base: String
    /// Scope and collection; `nil` for the default collection.
    let collection: (scope: String, name: String)?

    private static let system = ["_users", "_replicator", "_global_changes"]
    /// As many bytes as a directory's name may have, with what is added to it.
    private static let longestFileName = 240

    /// Whether it is one of the server's own.
    var isSystem: Bool { Self.system.contains(base) }

    /// - Throws: 400 `illegal_database_name`.
    init(_ text: String) throws {
        self.text = text
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        base = parts[0]
        switch parts.count {
        case 1: collection = nil
        case 2: collection = ("_default", parts[1])
        default: collection = (parts[1], parts[2])
        }
        guard parts.count <= 3, Self.system.contains(base) || Self.isValid(base),
            PercentEncoding.encode(base).utf8.count <= Self.longestFileName
        else {
            throw HTTPFailure(
                400, "illegal_database_name",
                "Name: '\(text)'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), "
                    + "+, -, and / are allowed. Must begin with a letter.")
        }
    }

    /// The name that a collection of the database `base` has.
    static func text(_ base: String, _ scope: String, _ collection: String) -> String {
        switch (scope, collection) {
        case ("_default", "_default"): base
        case ("_default", _): "\(base).\(collection)"
        default: "\(base).\(scope).\(collection)"
        }
    }

    private static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else {
            return false
        }
        return name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "_$()+/-".utf8.contains(byte)
        }
    }

    static func == (left: Self, right: Self) -> Bool { ByteKey(left.text) == ByteKey(right.text) }

    func hash(into hasher: inout Hasher) { hasher.combine(ByteKey(text)) }
}

import Fleece
import Foundation
import Roost
import RoostQuery
import RoostSync

/// The chat on somebody's device: an encrypted database with what that person may see, which is used whether or not there is a
/// network, and a replication that carries what was said both ways whenever there is one.
///
/// May be used from any task.
public final class ChatClient: Sendable {
    /// The person's name.
    public let name: String
    private let database: Database
    private let documents: DocumentCollection
    private let replication: Replication
    private let repetition: Task<Void, Never>

    /// Opens the device's database, making it at the first time, and begins to replicate.
    ///
    /// - Parameters:
    ///   - path: The database's directory.
    ///   - key: What it is encrypted with: a passphrase, or a random key that the device's keychain keeps.
    ///   - account: Who replicates.
    /// - Throws: `DatabaseError`: `wrongKey` for another key.
    public init(_ path: String, key: EncryptionKey, account: Account) throws {
        name = account.name
        database = try Database.open(path, options: DatabaseOptions(key: key))
        documents = try database.defaultCollection
        try documents.createIndex("rooms", on: "type, title")
        try documents.createIndex("messages", on: "type, channel_id, created_at")
        let server = try RemoteDatabase(
            account.server.appending(path: "chat"),
            credentials: .session(name: account.name, password: account.password))
        var options = ReplicationOptions()
        options.isContinuous = true
        options.resolver = RoomMerging.resolver(for: account.name)
        // People wait for a server that was away; it is asked again soon.
        options.retry.longest = 5
        let replication = try database.replicate(with: server, options)
        self.replication = replication
        let refused = RefusedMessages(documents: documents, author: account.name)
        repetition = Task {
            for await status in replication.updates { try? refused.sayAgain(status.problems) }
        }
    }

    /// Ends the replication and closes the database.
    public func close() async throws {
        repetition.cancel()
        await replication.stop()
        try database.close()
    }

    // MARK: Looking

    /// The rooms that the person is in, by their titles, now and whenever they change.
    public func rooms() throws -> LiveRows<Room> {
        LiveRows(
            try database.query(
                """
                SELECT META().id AS id, title, owners, members FROM _ WHERE type = 'room' ORDER BY title
                """))
    }

    /// Everybody, now and whenever somebody comes.
    public func people() throws -> LiveRows<Person> {
        LiveRows(
            try database.query(
                """
                SELECT META().id AS id, nick FROM _ WHERE type = 'profile' ORDER BY nick
                """))
    }

    /// What was said in a room, the newest last, now and whenever something is said.
    ///
    /// - Parameter limit: How many of the newest.
    public func messages(in room: String, limit: Int = 50) throws -> LiveRows<Message> {
        let newest = try database.query(
            """
            SELECT META().id AS id, author, markdown, created_at FROM _
            WHERE type = 'chat' AND channel_id = $room ORDER BY created_at DESC LIMIT $limit
            """, parameters: ["room": .string(room), "limit": .integer(Int64(limit))])
        return LiveRows(newest, isReversed: true)
    }

    /// How the replication stands, now and whenever that changes.
    public var states: AsyncStream<ReplicationStatus> { replication.updates }

    // MARK: Writing

    /// Tells the others what to call the person.
    public func introduce(as nick: String) throws {
        try change("profile:\(name)") {
            $0["type"] = "profile"
            $0["nick"] = .string(nick)
        }
    }

    /// Makes a room that the person owns.
    public func makeRoom(_ title: String) throws -> Room {
        let id = UUID().uuidString.lowercased()
        try change(id) {
            $0["type"] = "room"
            $0["channel_id"] = .string(id)
            $0["title"] = .string(title)
            $0["owners"] = [.string(name)]
            $0["members"] = []
        }
        return Room(id: id, title: title, owners: [name], members: [])
    }

    /// Lets somebody into a room. Only owners may; a server refuses it to others.
    public func invite(_ person: String, to room: String) throws {
        try change(room) { room in
            let members = room["members"].array ?? []
            if !members.contains(.string(person)) { room["members"] = .array(members + [.string(person)]) }
        }
    }

    /// Gives a room another title. Only owners may.
    public func rename(_ room: String, to title: String) throws {
        try change(room) { $0["title"] = .string(title) }
    }

    /// Says something in a room.
    ///
    /// - Parameter picture: A picture that goes with it, as the content of its file.
    public func say(
        _ text: String, in room: String, picture: (name: String, type: String, content: [UInt8])? = nil
    ) throws {
        let moment = Date.now.ISO8601Format(.init(includingFractionalSeconds: true))
        var message = MutableDocument([
            "type": "chat", "channel_id": .string(room), "author": .string(name), "markdown": .string(text),
            "created_at": .string(moment),
        ])
        if let picture {
            message.attachments[picture.name] = Attachment(
                try database.saveBlob(picture.content, contentType: picture.type))
        }
        try documents.save(&message)
    }

    /// The names of a message's pictures.
    public func pictures(of message: String) throws -> [String] {
        try documents.document(message)?.attachments.keys ?? []
    }

    /// The content of a message's picture; `nil` where there is none.
    public func picture(_ name: String, of message: String) throws -> [UInt8]? {
        guard let attachment = try documents.document(message)?.attachments[name] else { return nil }
        return try database.blobReader(attachment)?.readAll()
    }

    /// Changes a document, or makes it, whatever the replication does to it meanwhile.
    private func change(_ id: String, _ change: (inout MutableDocument) -> Void) throws {
        try database.write { batch in
            var draft = try batch.document(id, in: documents)?.mutableCopy() ?? MutableDocument(id: id)
            change(&draft)
            try batch.save(&draft, in: documents)
        }
    }
}

// MARK: - LiveRows

/// The answer to a query as values, at once and again whenever it has changed. Ends with its task.
public struct LiveRows<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    private let updates: QueryUpdates
    private let isReversed: Bool

    init(_ query: DatabaseQuery, isReversed: Bool = false) {
        updates = query.updates
        self.isReversed = isReversed
    }

    /// An iterator, which listens from now on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(rows: updates.makeAsyncIterator(), isReversed: isReversed)
    }

    /// Belongs to one task.
    public struct Iterator: AsyncIteratorProtocol {
        var rows: QueryUpdates.Iterator
        let isReversed: Bool

        /// All values, in their order. What somebody's program wrote in another form is passed over, or it would keep all the
        /// others from being seen.
        ///
        /// - Throws: `DatabaseError`.
        public mutating func next() async throws -> [Value]? {
            guard let rows = try await rows.next() else { return nil }
            let values = rows.compactMap { try? $0.decode(Value.self) }
            return isReversed ? values.reversed() : values
        }
    }
}

// MARK: - RoomMerging

/// What becomes of a room that was changed at two places at a time: it has the members of both, and the title of the revision
/// that wins everywhere.
enum RoomMerging {
    /// For the device of `person`. Only owners may change a room, so the others wait for what theirs make of it. All that merge
    /// come to the same revision.
    static func resolver(for person: String) -> ConflictResolver {
        ConflictResolver { leaves in
            let winner = leaves[0]
            guard winner["type"].string == "room" else { return .keep(winner.revision) }
            guard names("owners", in: [winner]).contains(person) else { return .keepAll }
            var merged = winner.mutableCopy()
            for key in ["owners", "members"] {
                merged[key] = .array(names(key, in: leaves).map { .string($0) })
            }
            return .merge(into: winner.revision, json: try merged.json())
        }
    }

    /// The names in any of the leaves, in one order for all.
    private static func names(_ key: String, in leaves: [Document]) -> [String] {
        Set(leaves.flatMap { $0[key].array?.compactMap(\.string) ?? [] }).sorted()
    }
}

// MARK: - RefusedMessages

/// Says again what the server refused because it did not know the room, or who is in it, yet.
///
/// Documents are carried in the order of their last changes. So a room that was changed on the way, such as by an invitation, comes after
/// messages of before that. A message that was changed is carried anew.
struct RefusedMessages: Sendable {
    let documents: DocumentCollection
    let author: String

    /// How often a message is said, until the server means it.
    private static let mostAttempts = 5

    func sayAgain(_ problems: [ReplicationProblem]) throws {
        for problem in problems {
            guard var message = try documents.document(problem.document)?.mutableCopy(),
                message["type"] == "chat", message["author"] == .string(author)
            else { continue }
            let attempts = (message["attempts"].int ?? 1) + 1
            guard attempts <= Self.mostAttempts else { continue }
            message["attempts"] = .integer(Int64(attempts))
            try documents.save(&message)
        }
    }
}

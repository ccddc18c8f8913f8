import Foundation
import RoostBLIP
import RoostBytes
import RoostCrypto
import RoostServer
import RoostWire
import Testing

/// A WebSocket to a server, as the client's session reads and writes it.
actor ClientWebSocket: WebSocketConnection {
    private var socket: RawWebSocket

    init(_ socket: RawWebSocket) { self.socket = socket }

    /// Why the server closed.
    private(set) var close: WebSocketClose?

    func receive() async throws -> WebSocketMessage? {
        let client = socket.client
        return try await withTaskCancellationHandler {
            while true {
                switch try await nextEvent() {
                case .binary(let bytes): return .binary(bytes)
                case .text(let bytes): return .text(bytes)
                case .close(let close):
                    self.close = close
                    return nil
                case nil: throw WebSocketClose(1006)
                case .ping, .pong: continue
                }
            }
        } onCancel: {
            client.abort()
        }
    }

    private func nextEvent() async throws -> WebSocketEvent? {
        while true {
            if let event = try socket.parsed() { return event }
            guard let bytes = await socket.client.receive() else { return nil }
            socket.take(bytes)
        }
    }

    func send(_ message: WebSocketMessage) async throws {
        switch message {
        case .binary(let bytes): await socket.client.send(RawWebSocket.frame(.binary(bytes)))
        case .text(let bytes): await socket.client.send(RawWebSocket.frame(.text(bytes)))
        }
    }
}

private struct FreeMemory: BLIPMemory {
    func reserve(_ bytes: Int) async throws {}
    func release(_ bytes: Int) {}
}

/// A small Couchbase Lite: what the tests need of the active side of its protocol, version 3.
actor CouchbaseClient {
    struct Document: Equatable {
        var revision: String
        /// The ancestors, newest first.
        var history: [String] = []
        /// JSON with sorted keys.
        var body = "{}"
        var isDeleted = false
    }

    /// A reply that was an error.
    struct Failure: Error, Equatable {
        let domain: String
        let code: Int
        let reason: String
    }

    private(set) var documents: [String: Document] = [:]
    private(set) var purged: [String] = []
    private(set) var missing: [String] = []
    /// The contents of blobs, by digest.
    var blobs: [String: [UInt8]] = [:]
    /// What the server asked for, in order.
    private(set) var asked: [String] = []
    /// The lists of changes, as JSON.
    private(set) var lists: [String] = []
    private(set) var sequence: String?
    private(set) var timesCaughtUp = 0
    private let socket: ClientWebSocket
    private let session: BLIPSession
    private var running: Task<WebSocketClose, Never>?

    /// Connects to a database.
    ///
    /// - Parameter user: Name and password, with a colon between them; `nil` for nobody.
    init(
        _ port: UInt16, _ database: String = "db", as user: String? = nil, fields: String = ""
    ) async throws {
        let credentials =
            user.map { "Authorization: Basic \(Base64.encode(Array($0.utf8)))\r\n" } ?? ""
        let request = RawWebSocket.request(
            "/\(database)/_blipsync", "BLIP_3+CBMobile_3", credentials + fields)
        socket = ClientWebSocket(try await RawWebSocket(port, request))
        session = BLIPSession(socket, memory: FreeMemory())
    }

    /// Connects, and begins with collections.
    static func connected(
        _ port: UInt16, _ database: String = "db", as user: String? = nil,
        collections: [String] = ["_default"]
    ) async throws -> CouchbaseClient {
        let client = try await CouchbaseClient(port, database, as: user)
        await client.run()
        _ = try await client.begin(collections)
        return client
    }

    func run() {
        let session = session
        running = Task { await session.run { await self.answer($0) } }
    }

    /// Waits until the connection has ended, and says why the server closed it.
    func end() async -> WebSocketClose? {
        _ = await running?.value
        return await socket.close
    }

    func disconnect() async {
        session.close(.normal)
        _ = await running?.value
    }

    func add(_ content: [UInt8]) -> String {
        let digest = "sha1-" + Base64.encode(SHA1.hash(content).bytes)
        blobs[digest] = content
        return digest
    }

    func replace(_ digest: String, with content: [UInt8]) { blobs[digest] = content }

    /// Waits until something is so.
    func wait(until condition: @Sendable (isolated CouchbaseClient) -> Bool) async throws {
        while !condition(self) { try await Task.sleep(for: .milliseconds(5)) }
    }

    // MARK: Asking

    @discardableResult
    func ask(
        _ profile: String, _ properties: [(String, String)] = [], _ body: String = "",
        collection: String? = "0"
    ) async throws -> BLIPMessage {
        var all: BLIPProperties = ["Profile": profile]
        if let collection { all["collection"] = collection }
        for (name, value) in properties { all[name] = value }
        let (reply, isError) = try await session.reply(
            to: BLIPMessage(all, body: Array(body.utf8)), limit: 64 << 20)
        guard isError else { return reply }
        throw Failure(
            domain: reply.properties["Error-Domain"] ?? "",
            code: Int(reply.properties["Error-Code"] ?? "") ?? 0,
            reason: String(decoding: reply.body, as: UTF8.self))
    }

    /// - Returns: What is said of the collections, as JSON.
    func begin(_ collections: [String]) async throws -> String {
        let ids = collections.indices.map { "\"cp-\($0)\"" }.joined(separator: ",")
        let names = collections.map { "\"\($0)\"" }.joined(separator: ",")
        let reply = try await ask(
            "getCollections", [], "{\"checkpoint_ids\":[\(ids)],\"collections\":[\(names)]}", collection: nil)
        return String(decoding: reply.body, as: UTF8.self)
    }

    /// Proposes a revision on top of another one.
    ///
    /// - Returns: What is said of it, as JSON.
    func propose(_ id: String, _ revision: String, on parent: String = "") async throws -> String {
        let reply = try await ask(
            "proposeChanges", [("conflictIncludesRev", "true")],
            "[[\"\(id)\",\"\(revision)\",\"\(parent)\",5]]")
        #expect(reply.properties.flag("blobs"))
        return String(decoding: reply.body, as: UTF8.self)
    }

    /// Sends a revision.
    func push(
        _ id: String, _ revision: String, _ body: String = "{}", history: [String] = [],
        isDeleted: Bool = false
    ) async throws {
        var properties = [("id", id), ("rev", revision), ("sequence", "1"), ("noconflicts", "true")]
        if !history.isEmpty { properties.append(("history", history.joined(separator: ","))) }
        if isDeleted { properties.append(("deleted", "1")) }
        try await ask("rev", properties, body)
        documents[id] = Document(
            revision: revision, history: history, body: Self.sorted(Array(body.utf8)), isDeleted: isDeleted)
    }

    func subscribe(_ properties: [(String, String)] = [], _ body: String = "") async throws {
        let since = sequence.map { [("since", $0)] } ?? []
        try await ask(
            "subChanges", since + [("batch", "200"), ("versioning", "rev-trees")] + properties, body)
    }

    /// Pulls once.
    func pull(_ properties: [(String, String)] = [], _ body: String = "") async throws {
        let before = timesCaughtUp
        try await subscribe(properties, body)
        try await wait { $0.timesCaughtUp > before && $0.expected == 0 }
    }

    // MARK: Answering

    /// How many revisions were asked for and have not come.
    private(set) var expected = 0

    private func answer(_ request: BLIPSession.Request) async -> BLIPSession.Answer {
        let body = (try? await request.body.collect()) ?? []
        let properties = request.properties
        switch request.profile {
        case "changes": return changes(body)
        case "rev":
            let text = String(decoding: body, as: UTF8.self)
            guard let id = properties["id"], let revision = properties["rev"] else { return .done }
            for digest in Self.digests(in: text) where blobs[digest] == nil {
                guard
                    let content = try? await ask(
                        "getAttachment", [("digest", digest), ("docID", id), ("compress", "true")])
                else {
                    missing.append(digest)
                    continue
                }
                blobs[digest] = content.body
            }
            documents[id] = Document(
                revision: revision,
                history: properties["history"]?.split(separator: ",").map(String.init) ?? [],
                body: Self.sorted(body), isDeleted: properties.flag("deleted"))
            expected -= 1
            return .done
        case "norev":
            missing.append(properties["id"] ?? "")
            expected -= 1
            return .done
        case "getAttachment":
            asked.append("content")
            guard let content = blobs[properties["digest"] ?? ""] else {
                return .failure(BLIPMessage(errorIn: "HTTP", code: 404, "no"))
            }
            return .stream(BLIPMessage(), BytesBody(content))
        case "proveAttachment":
            asked.append("proof")
            guard let content = blobs[properties["digest"] ?? ""]
            else {
                return .failure(BLIPMessage(errorIn: "HTTP", code: 404, "no"))
            }
            let proof = SHA1.hash([UInt8(body.count)] + body + content)
            return .message(BLIPMessage(body: Array("sha1-\(Base64.encode(proof.bytes))".utf8)))
        default: return .failure(BLIPMessage(errorIn: "BLIP", code: 404, "no"))
        }
    }

    private func changes(_ body: [UInt8]) -> BLIPSession.Answer {
        let rows = (try? JSONSerialization.jsonObject(with: Data(body))) as? [[Any]] ?? []
        guard !rows.isEmpty else {
            timesCaughtUp += 1
            return .done
        }
        lists.append(String(decoding: body, as: UTF8.self))
        let answers = rows.map { row -> Any in
            sequence = "\"\(row[0])\""
            guard let id = row[1] as? String, let revision = row[2] as? String else { return 0 }
            let flags = row.count > 3 ? row[3] as? Int ?? 0 : 0
            if flags & 6 != 0, flags & 1 == 0 {
                purged.append(id)
                documents[id] = nil
                return 0
            }
            if documents[id]?.revision == revision { return 0 }
            expected += 1
            return documents[id].map { [$0.revision] } ?? []
        }
        let text = (try? JSONSerialization.data(withJSONObject: answers)) ?? Data()
        return .message(BLIPMessage(["blobs": "true", "maxHistory": "20"], body: Array(text)), .compressed)
    }

    // MARK: JSON

    static func sorted(_ body: [UInt8]) -> String {
        guard let value = try? JSONSerialization.jsonObject(with: Data(body)),
            let data = try? JSONSerialization.data(
                withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return String(decoding: body, as: UTF8.self) }
        return String(decoding: data, as: UTF8.self)
    }

    private static func digests(in text: String) -> [String] {
        text.components(separatedBy: "\"sha1-").dropFirst().map { "sha1-" + $0.prefix { $0 != "\"" } }
    }
}

/// The members of a JSON object.
func json(_ text: String) -> [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
}

import Foundation
import Roost
import RoostBLIP
import RoostServer
import RoostWire
import Testing

/// What a real Couchbase Lite sent in a recorded connection, sent to the server.
///
/// The messages are the recorded ones, and their order among the client's own. The recorded server reported that it was done before
/// the client had answered its list, and this one reports it behind the revisions. So its requests have other numbers, and what the
/// client answered to one is sent as the answer to the one that says the same.
@Suite struct CouchbaseLiteRecordedTests {
    /// A message and what it is.
    private struct Recorded {
        let isFromClient: Bool
        let kind: BLIPKind
        let number: UInt64
        let message: BLIPMessage

        /// What tells a server's request from its others.
        var subject: String {
            [
                message.properties["Profile"], message.properties["id"],
                message.body == Array("[]".utf8) ? "end" : nil,
            ]
            .compactMap(\.self).joined(separator: " ")
        }
    }

    /// The first sync of LiteCore 4.1.0 in version 3, of which the recordings have two halves.
    private static func firstSync() throws -> [Recorded] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appending(path: "RoostBLIPTests/Recorded/litecore-4.1.0.txt")
        let connections = try String(contentsOf: file, encoding: .utf8).components(
            separatedBy: "== first sync\n")
        let lines = connections[2].prefix { $0 != "=" }.split(separator: "\n").filter { !$0.hasPrefix("#") }
        var (client, server) = (BLIPFrameReader(), BLIPFrameReader())
        return try lines.map { line in
            let digits = Array(line.dropFirst(2).utf8)
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).map {
                UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16) ?? 0
            }
            let isFromClient = line.hasPrefix("C")
            // Each of these messages is one frame.
            let frame =
                isFromClient ? try client.read(bytes, limit: 1 << 20) : try server.read(bytes, limit: 1 << 20)
            return Recorded(
                isFromClient: isFromClient, kind: frame.kind, number: frame.number,
                message: try BLIPMessage(decoding: frame.piece))
        }
    }

    /// The server gives to every message the answer that the recorded one gave, as far as the client goes by it.
    @Test func aRecordedClientIsServed() async throws {
        let test = try await TestServer()
        let database = try #require(try test.router.databases.database("db"))
        let blob = try await database.saveBlob(Array("hello blob".utf8), contentType: "text/plain")
        let pic =
            "{\"content_type\":\"text/plain\",\"digest\":\"\(blob.digest)\",\"length\":10,\"@type\":\"blob\"}"
        try await test.ask(
            "POST", "/db/_bulk_docs",
            """
            {"new_edits":false,"docs":[
            {"_id":"alpha","_rev":"1-a9da1bd43a91d54796575906c0efd3b5b1cf28fc","name":"alpha","n":1},
            {"_id":"gone","_deleted":true,"_revisions":{"start":2,"ids":["dc8ae8fff2b5a6e692dc625c86e5968bf7370fc8",
            "6f9a1fe5dfad0377e089c5e8e0afab815938295d"]}},
            {"_id":"pic","_rev":"1-9039fc52b1b3d986706d89bcda3ba9e9cc5f5428","note":"has a blob","pic":\(pic)}]}
            """)
        var socket = try await RawWebSocket(
            test.server.port, RawWebSocket.request("/db/_blipsync", "BLIP_3+CBMobile_3"))
        var client = BLIPConnection()
        var received: [BLIPConnection.MessageID: BLIPMessage] = [:]
        /// The server's requests by what they say, with their numbers.
        var asked: [String: (number: UInt64, message: BLIPMessage)] = [:]
        let recorded = try Self.firstSync()
        func receive() async throws {
            guard case .binary(let bytes)? = try await socket.next() else { throw WebSocketClose(1006) }
            for event in try client.receive(bytes) {
                switch event {
                case .began(let id, let properties, let isError, _):
                    #expect(!isError, "\(properties)")
                    received[id] = BLIPMessage(properties)
                case .body(let id, let bytes):
                    received[id]?.body += bytes
                    client.consumed(bytes.count, of: id)
                case .ended(let id):
                    guard !id.isReply, let message = received[id] else { continue }
                    let subject = Recorded(
                        isFromClient: false, kind: .request, number: id.number, message: message
                    ).subject
                    asked[subject] = (id.number, message)
                }
            }
        }
        for line in recorded {
            switch (line.isFromClient, line.kind) {
            case (true, .request):
                #expect(client.send(line.message).number == line.number)
            case (true, .reply):
                let request = try #require(
                    recorded.first { !$0.isFromClient && $0.kind == .request && $0.number == line.number })
                while asked[request.subject] == nil { try await receive() }
                let number = try #require(asked[request.subject]).number
                client.reply(to: BLIPConnection.MessageID(number, isReply: false), line.message)
            case (false, .reply):
                while received[BLIPConnection.MessageID(line.number, isReply: true)] == nil {
                    try await receive()
                }
            default: break
            }
            while let frame = client.nextFrame() { await socket.send(.binary(frame)) }
        }
        let requests = ["alpha", "gone", "pic"].compactMap { asked["rev \($0)"]?.message }
        #expect(requests.map { $0.properties["deleted"] } == [nil, "1", nil])
        #expect(
            requests.dropFirst().first?.properties["history"] == "1-6f9a1fe5dfad0377e089c5e8e0afab815938295d")
        #expect(
            received[BLIPConnection.MessageID(7, isReply: true)]?.body == Array("hello blob".utf8))
        #expect(received[BLIPConnection.MessageID(10, isReply: true)]?.properties["rev"] == "4-cc")
        let beta = json(try await test.ask("GET", "/db/beta").text)
        #expect(beta["_rev"] as? String == "1-8e92220ec15a745f326b8156eb0a7e22215d6883")
        #expect(beta["list"] as? [Int] == [1, 2, 3])
        let photo = try #require(try database.defaultCollection.document("photo"))
        let content = try #require(Blob(photo["pic"]))
        #expect(try database.blobReader(content)?.readAll() == Array("client blob".utf8))
        await socket.send(.close(.normal))
        #expect(try await socket.next() == .close(.normal))
        await test.server.stop()
    }
}

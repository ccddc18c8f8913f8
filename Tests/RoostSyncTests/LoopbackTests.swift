import Foundation
import Roost
import RoostREST
import RoostServer
import RoostWire
import Testing

@testable import RoostSync

/// A database behind a server of this package, over sockets.
@Suite struct LoopbackTests {
    private let peers: Peers
    private let notes: DocumentCollection
    private let router: Router
    private let server: Server
    private let url: URL
    private let anna = RemoteDatabase.Credentials.basic(name: "anna", password: "pass word")

    init() async throws {
        peers = try Peers()
        notes = try peers.open("here").defaultCollection
        var options = RouterOptions()
        options.admins = ["anna": "pass word"]
        router = Router(try DatabaseDirectory(peers.directory + "/served"), options: options)
        var serverOptions = ServerOptions()
        serverOptions.port = 0
        serverOptions.stopSeconds = 1
        server = try Server(router, options: serverOptions)
        url = try #require(URL(string: server.url + "/notes"))
        let created = await router.respond(to: .json("PUT", "/notes", "{}"), as: .admin)
        try #require(created.status == 201)
    }

    private func served() async throws -> [String] {
        let copy = try peers.open("copy").defaultCollection
        _ = try await copy.replicate(with: RemoteDatabase(url, credentials: anna), ReplicationOptions(.pull))
            .finished
        return try copy.replicated()
    }

    @Test func everythingGoesThereAndComesBack() async throws {
        try notes.put("edited", #"{"n":1}"#)
        try notes.put("edited", #"{"n":2,"text":"ä\u0000ö"}"#)
        try notes.put("deleted")
        try notes.remove("deleted")
        try notes.insert("conflicted", ["2-aa", "1-aa"], json: #"{"by":"a"}"#)
        try notes.insert("conflicted", ["2-bb", "1-aa"], json: #"{"by":"b"}"#)
        try notes.put("_design/x", #"{"language":"other"}"#)
        for name in ["strange/name ?&+%ü", "..", "a/../b"] { try notes.put(name) }
        let status = try await notes.replicate(
            with: RemoteDatabase(url, credentials: anna), ReplicationOptions(.push) { $0.batchSize = 2 }
        ).finished
        #expect(status.problems.isEmpty)
        #expect(status.pushed.written == 8)
        #expect(try await served() == notes.replicated())
    }

    /// More than any buffer on the way holds, both ways, in one multipart body.
    @Test func largeAttachmentsGoAsStreamsAndComeBack() async throws {
        var draft = MutableDocument(id: "a")
        for (name, size) in [("large", 8_000_000), ("empty", 0), ("second/one", 300_000)] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
            draft.attachments[name] = Attachment(try notes.database.blob(bytes, type: "image/png"))
        }
        try notes.put(draft)
        let remote = try RemoteDatabase(url, credentials: .session(name: "anna", password: "pass word"))
        let status = try await notes.replicate(with: remote, ReplicationOptions(.push)).finished
        #expect(status.problems.isEmpty)
        #expect(status.pushed.written == 1)
        #expect(try await served() == notes.replicated())
        let copy = try peers.open("copy")
        let attachment = try #require(try copy.defaultCollection.find("a")?.attachments["large"])
        #expect(try copy.blobReader(attachment)?.readAll().count == 8_000_000)
    }

    @Test func credentialsOfAllKindsAreTaken() async throws {
        try notes.put("a")
        let plain = try #require(
            URL(string: url.absoluteString.replacing("//", with: "//anna:pass%20word@", maxReplacements: 1)))
        let kinds: [RemoteDatabase] = [
            try RemoteDatabase(plain), try RemoteDatabase(url, credentials: anna),
            try RemoteDatabase(url, credentials: .session(name: "anna", password: "pass word")),
            try RemoteDatabase(
                url, credentials: .renewed { "Basic \(Data("anna:pass word".utf8).base64EncodedString())" }),
        ]
        for (number, remote) in kinds.enumerated() {
            try notes.put("\(number)")
            let status = try await notes.replicate(with: remote, ReplicationOptions(.push)).finished
            #expect(status.problems.isEmpty && !remote.description.contains("word"))
        }
        #expect(try await served() == notes.replicated())
    }

    @Test func aWrongPasswordEndsIt() async throws {
        for credentials in [
            RemoteDatabase.Credentials.none, .basic(name: "anna", password: "wrong"),
            .session(name: "anna", password: "wrong"),
        ] {
            let remote = try RemoteDatabase(url, credentials: credentials)
            let error = await #expect(throws: RemoteError.self) {
                try await notes.replicate(with: remote, ReplicationOptions(.push)).finished
            }
            #expect(error?.status == 401)
            #expect(error.map { "\($0)".contains("wrong") } == false)
        }
    }

    @Test func aContinuousOneBringsWhatOthersSave() async throws {
        let replication = try notes.database.replicate(with: url, continuous: true, credentials: anna)
        let saved = await router.respond(to: .json("PUT", "/notes/theirs", #"{"n":1}"#), as: .admin)
        #expect(saved.status == 201)
        try await notes.waitFor("theirs")
        try notes.put("ours")
        let other = try peers.open("other").defaultCollection
        let watching = try other.database.replicate(
            with: url, direction: .pull, continuous: true, credentials: anna)
        try await other.waitFor("ours")
        await replication.stop()
        await watching.stop()
    }

    @Test func aServerThatIsNotThereIsNamed() async throws {
        await server.stop()
        let remote = try RemoteDatabase(url)
        let error = await #expect(throws: TransportError.self) {
            try await notes.replicate(with: remote, ReplicationOptions(.push) { $0.retry.attempts = 2 })
                .finished
        }
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("127.0.0.1") == true)
    }
}

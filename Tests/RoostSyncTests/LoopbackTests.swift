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
    private let server: HTTPServer
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
        server = try HTTPServer(router, options: serverOptions)
        url = try #require(URL(string: server.url + "/notes"))
        let created = await router.respond(to: .json("PUT", "/notes", "{}"), as: .admin)
        try #require(created.status == 201)
    }

    private func served(by client: TestedClient) async throws -> [String] {
        let copy = try peers.open("copy").defaultCollection
        let remote = try client.remote(url, credentials: anna)
        _ = try await copy.replicate(with: remote, ReplicationOptions(.pull)).finished
        return try copy.replicated()
    }

    @Test(arguments: TestedClient.allCases)
    func everythingGoesThereAndComesBack(client: TestedClient) async throws {
        try notes.put("edited", #"{"n":1}"#)
        try notes.put("edited", #"{"n":2,"text":"ä\u0000ö"}"#)
        try notes.put("deleted")
        try notes.remove("deleted")
        try notes.insert("conflicted", ["2-aa", "1-aa"], json: #"{"by":"a"}"#)
        try notes.insert("conflicted", ["2-bb", "1-aa"], json: #"{"by":"b"}"#)
        try notes.put("_design/x", #"{"language":"other"}"#)
        for name in ["strange/name ?&+%ü", "..", "a/../b"] { try notes.put(name) }
        let status = try await notes.replicate(
            with: client.remote(url, credentials: anna), ReplicationOptions(.push) { $0.batchSize = 2 }
        ).finished
        #expect(status.problems.isEmpty)
        #expect(status.pushed.written == 8)
        #expect(try await served(by: client) == notes.replicated())
    }

    /// More than any buffer on the way holds, both ways, in one multipart body.
    @Test(arguments: TestedClient.allCases)
    func largeAttachmentsGoAsStreamsAndComeBack(client: TestedClient) async throws {
        var draft = MutableDocument(id: "a")
        for (name, size) in [("large", 8_000_000), ("empty", 0), ("second/one", 300_000)] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
            draft.attachments[name] = Attachment(try notes.database.blob(bytes, type: "image/png"))
        }
        try notes.put(draft)
        let remote = try client.remote(url, credentials: .session(name: "anna", password: "pass word"))
        let status = try await notes.replicate(with: remote, ReplicationOptions(.push)).finished
        #expect(status.problems.isEmpty)
        #expect(status.pushed.written == 1)
        #expect(try await served(by: client) == notes.replicated())
        let copy = try peers.open("copy")
        let attachment = try #require(try copy.defaultCollection.find("a")?.attachments["large"])
        #expect(try copy.blobReader(attachment)?.readAll().count == 8_000_000)
    }

    @Test(arguments: TestedClient.allCases)
    func credentialsOfAllKindsAreTaken(client: TestedClient) async throws {
        try notes.put("a")
        let plain = try #require(
            URL(string: url.absoluteString.replacing("//", with: "//anna:pass%20word@", maxReplacements: 1)))
        let kinds: [RemoteDatabase] = [
            try client.remote(plain), try client.remote(url, credentials: anna),
            try client.remote(url, credentials: .session(name: "anna", password: "pass word")),
            try client.remote(
                url, credentials: .renewed { "Basic \(Data("anna:pass word".utf8).base64EncodedString())" }),
        ]
        for (number, remote) in kinds.enumerated() {
            try notes.put("\(number)")
            let status = try await notes.replicate(with: remote, ReplicationOptions(.push)).finished
            #expect(status.problems.isEmpty && !remote.description.contains("word"))
        }
        #expect(try await served(by: client) == notes.replicated())
    }

    @Test(arguments: TestedClient.allCases)
    func aWrongPasswordEndsIt(client: TestedClient) async throws {
        for credentials in [
            RemoteDatabase.Credentials.none, .basic(name: "anna", password: "wrong"),
            .session(name: "anna", password: "wrong"),
        ] {
            let remote = try client.remote(url, credentials: credentials)
            let error = await #expect(throws: RemoteError.self) {
                try await notes.replicate(with: remote, ReplicationOptions(.push)).finished
            }
            #expect(error?.status == 401)
            #expect(error.map { "\($0)".contains("wrong") } == false)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func aContinuousOneBringsWhatOthersSave(client: TestedClient) async throws {
        let replication = notes.replicate(
            with: try client.remote(url, credentials: anna), ReplicationOptions(.both, continuous: true))
        let saved = await router.respond(to: .json("PUT", "/notes/theirs", #"{"n":1}"#), as: .admin)
        #expect(saved.status == 201)
        try await notes.waitFor("theirs")
        try notes.put("ours")
        let other = try peers.open("other").defaultCollection
        let watching = other.replicate(
            with: try client.remote(url, credentials: anna), ReplicationOptions(.pull, continuous: true))
        try await other.waitFor("ours")
        await replication.stop()
        await watching.stop()
    }

    @Test func aURLIsEnough() async throws {
        try notes.put("a")
        _ = try await notes.database.replicate(with: url, direction: .push, credentials: anna).finished
        #expect(await router.respond(to: .get("/notes/a"), as: .admin).status == 200)
    }

    @Test(arguments: TestedClient.allCases)
    func aServerThatIsNotThereIsNamed(client: TestedClient) async throws {
        await server.stop()
        let remote = try client.remote(url)
        let error = await #expect(throws: TransportError.self) {
            try await notes.replicate(with: remote, ReplicationOptions(.push) { $0.retry.attempts = 2 })
                .finished
        }
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("127.0.0.1") == true)
    }
}

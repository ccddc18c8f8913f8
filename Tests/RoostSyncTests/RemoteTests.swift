import Roost
import RoostREST
import Testing

@testable import RoostSync

/// A database behind CouchDB's API: the router in the same process.
@Suite struct RemoteTests {
    private let peers: Peers
    private let notes: DocumentCollection
    private let router: Router
    private let remote: RemoteDatabase

    init() async throws {
        peers = try Peers()
        notes = try peers.open("here").defaultCollection
        let router = Router(try DatabaseManager(peers.directory + "/served"))
        self.router = router
        let created = await router.respond(to: .json("PUT", "/notes", "{}"), as: .admin)
        try #require(created.status == 201)
        remote = RemoteDatabase("notes", over: LocalTransport { await router.respond(to: $0, as: .admin) })
    }

    private func replicate(_ options: ReplicationOptions) async throws -> ReplicationStatus {
        try await notes.replicate(with: remote, options).finished
    }

    /// A copy of what the server holds, brought here by another replication.
    private func served() async throws -> [String] {
        let copy = try peers.open("copy").defaultCollection
        _ = try await copy.replicate(with: remote, ReplicationOptions(.pull)).finished
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
        try notes.put("strange/name ?&+%ü", "{}")
        let status = try await replicate(ReplicationOptions(.push) { $0.batchSize = 2 })
        #expect(status.problems.isEmpty)
        #expect(status.pushed.written == 6)
        #expect(try await served() == notes.replicated())
        #expect(try await replicate(ReplicationOptions(.push)).pushed.checked == 0)
    }

    @Test func attachmentsGoAsStreamsAndComeBack() async throws {
        let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var draft = MutableDocument(id: "a")
        draft.attachments["first"] = Attachment(
            try notes.database.blob(bytes, type: "image/png"))
        try notes.put(draft)
        _ = try await replicate(ReplicationOptions(.push))
        draft = try #require(try notes.find("a")).mutableCopy()
        draft.attachments["second/one"] = Attachment(try notes.database.blob([1, 2, 3]))
        try notes.put(draft)
        let status = try await replicate(ReplicationOptions(.push))
        #expect(status.problems.isEmpty)
        #expect(try await served() == notes.replicated())
        let copy = try peers.open("copy")
        let attachment = try #require(try copy.defaultCollection.find("a")?.attachments["first"])
        #expect(try copy.blobReader(attachment)?.readAll() == bytes)
    }

    @Test func changesOnBothSidesBecomeAConflictOnBoth() async throws {
        try notes.put("a", #"{"n":1}"#)
        _ = try await replicate(ReplicationOptions(.both))
        let other = try peers.open("other").defaultCollection
        _ = try await other.replicate(with: remote, ReplicationOptions(.pull)).finished
        try notes.put("a", #"{"n":2}"#)
        try other.put("a", #"{"n":3}"#)
        _ = try await replicate(ReplicationOptions(.both))
        _ = try await other.replicate(with: remote, ReplicationOptions(.both)).finished
        _ = try await replicate(ReplicationOptions(.both))
        #expect(try notes.replicated() == other.replicated())
        #expect(try notes.snapshot().leaves(of: "a").count == 2)
    }

    @Test func selectedDocumentsAlone() async throws {
        for number in 0..<6 { try notes.put("n\(number)", #"{"n":\#(number)}"#) }
        _ = try await replicate(ReplicationOptions(.push))
        let copy = try peers.open("some").defaultCollection
        _ = try await copy.replicate(
            with: remote, ReplicationOptions(.pull) { $0.selection.documentIDs = ["n1", "n4"] }
        ).finished
        #expect(try copy.snapshot().changes().map(\.id).sorted() == ["n1", "n4"])
        let filter = ReplicationFilter("few", version: "1") { ($0["n"].int ?? 9) < 2 }
        _ = try await copy.replicate(with: remote, ReplicationOptions(.pull) { $0.selection.filter = filter })
            .finished
        #expect(try copy.snapshot().changes().map(\.id).sorted() == ["n0", "n1", "n4"])
    }

    @Test func aDatabaseThatIsNotThereEndsIt() async throws {
        let router = router
        let missing = RemoteDatabase(
            "none", over: LocalTransport { await router.respond(to: $0, as: .admin) })
        await #expect(throws: RemoteError.self) {
            try await notes.replicate(with: missing, ReplicationOptions(.push)).finished
        }
    }

    @Test func aContinuousOneBringsWhatOthersSave() async throws {
        let replication = notes.replicate(with: remote, ReplicationOptions(.both, continuous: true))
        let saved = await router.respond(to: .json("PUT", "/notes/theirs", #"{"n":1}"#), as: .admin)
        #expect(saved.status == 201)
        try await notes.waitFor("theirs")
        try notes.put("ours")
        let other = try peers.open("other").defaultCollection
        let watching = other.replicate(with: remote, ReplicationOptions(.pull, continuous: true))
        try await other.waitFor("ours")
        await replication.stop()
        await watching.stop()
    }
}

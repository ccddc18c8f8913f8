import Foundation
import Roost
import RoostREST
import RoostWire
import Synchronization
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
        let router = Router(try DatabaseDirectory(peers.directory + "/served"))
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

    /// Older servers, and some that only look like CouchDB, don't know `_bulk_get`: asked once, they are asked document by
    /// document from then on, and everything comes all the same.
    @Test(arguments: [404, 405, 501])
    func aServerWithoutBulkGetIsAskedDocumentByDocument(status: Int) async throws {
        for number in 0..<20 { try notes.put("note \(number)/ü", #"{"n":1}"#) }
        try notes.put("_design/x", #"{"language":"other"}"#)
        try notes.put("deleted")
        try notes.remove("deleted")
        for number in 0..<60 {
            try notes.insert("conflicted", ["2-\(100 + number)", "1-aa"], json: #"{"by":\#(number)}"#)
        }
        var draft = MutableDocument(id: "attached")
        draft.attachments["a b"] = Attachment(try notes.database.blob([1, 2, 3], type: "image/png"))
        try notes.put(draft)
        _ = try await replicate(ReplicationOptions(.push))
        let refused = Mutex(0)
        let old = RemoteDatabase(
            "notes",
            over: LocalTransport { [router] request in
                guard request.target.contains("_bulk_get") else {
                    return await router.respond(to: request, as: .admin)
                }
                refused.withLock { $0 += 1 }
                return HTTPResponse(
                    status, headers: ["Content-Type": "application/json"],
                    body: .bytes(Array(#"{"error":"not_found","reason":"missing"}"#.utf8)))
            })
        let copy = try peers.open("copy").defaultCollection
        let result = try await copy.replicate(with: old, ReplicationOptions(.pull) { $0.batchSize = 10 })
            .finished
        #expect(result.problems.isEmpty && result.pulled.written == 83)
        #expect(try copy.replicated() == notes.replicated())
        #expect(refused.withLock { $0 } == 1)
    }

    /// A document that the server does not give is told, and the others come.
    @Test func withoutBulkGetAWrongDocumentFailsAlone() async throws {
        for id in ["a", "b", "c"] { try notes.put(id) }
        _ = try await replicate(ReplicationOptions(.push))
        let old = RemoteDatabase(
            "notes",
            over: LocalTransport { [router] request in
                let status =
                    request.target.contains("_bulk_get") ? 405 : request.target.contains("/b?") ? 403 : 0
                guard status == 0 else {
                    return HTTPResponse(
                        status, body: .bytes(Array(#"{"error":"forbidden","reason":"Not that."}"#.utf8)))
                }
                return await router.respond(to: request, as: .admin)
            })
        let copy = try peers.open("copy").defaultCollection
        let result = try await copy.replicate(with: old, ReplicationOptions(.pull)).finished
        #expect(result.problems.map(\.document) == ["b"] && result.pulled.written == 2)
    }

    /// That is not taken for one without `_bulk_get`.
    @Test func aDatabaseThatGoesAwayEndsIt() async throws {
        try notes.put("a")
        _ = try await replicate(ReplicationOptions(.push))
        let going = RemoteDatabase(
            "notes",
            over: LocalTransport { [router] request in
                if request.target.contains("_bulk_get") {
                    _ = await router.respond(to: .json("DELETE", "/notes", ""), as: .admin)
                }
                return await router.respond(to: request, as: .admin)
            })
        let copy = try peers.open("copy").defaultCollection
        let error = await #expect(throws: RemoteError.self) {
            try await copy.replicate(with: going, ReplicationOptions(.pull) { $0.retry.attempts = 1 })
                .finished
        }
        #expect(error?.status == 404)
    }

    /// A server that keeps what comes as gzip as CouchDB does: with the digest of the gzip, and no length but that.
    private func serverWithGzip() async throws -> RemoteDatabase {
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA=="))
        let put = await router.respond(
            to: HTTPRequest(
                "PUT", "/notes/a/f.txt", headers: ["Content-Type": "text/plain", "Content-Encoding": "gzip"],
                body: BytesBody(Array(gzip))), as: .admin)
        try #require(put.status == 201)
        return RemoteDatabase(
            "notes",
            over: LocalTransport { [router] request in
                var response = await router.respond(to: request, as: .admin)
                guard request.target.contains("_bulk_get"), let bytes = try? await response.bytes() else {
                    return response
                }
                let answer = String(decoding: bytes, as: UTF8.self)
                    .replacing("\"length\":11", with: "\"length\":\(gzip.count)")
                    .replacing("md5-XrY7u+Ae7tCTyyK7j1rNww==", with: "md5-muzN/F0BgOhkQ1bofT2rRw==")
                response.body = .bytes(Array(answer.utf8))
                return response
            })
    }

    @Test func whatAPeerKeepsAsGzipComesAsItIs() async throws {
        let couch = try await serverWithGzip()
        let status = try await notes.replicate(with: couch, ReplicationOptions(.pull)).finished
        #expect(status.problems.isEmpty && status.pulled.written == 1)
        let attachment = try #require(try notes.find("a")?.attachments["f.txt"])
        #expect(try notes.database.blobReader(attachment)?.readAll() == Array("hello world".utf8))
    }

    /// The target is told the length and no digest, also of stubs, since it does not have the gzip.
    @Test func whatAPeerKeepsAsGzipGoesToAnotherAsItIs() async throws {
        let couch = try await serverWithGzip()
        #expect(await router.respond(to: .json("PUT", "/copy", "{}"), as: .admin).status == 201)
        let copy = RemoteDatabase(
            "copy", over: LocalTransport { [router] in await router.respond(to: $0, as: .admin) })
        func content() async throws -> String {
            let answer = await router.respond(to: .get("/copy/a/f.txt"), as: .admin)
            return String(decoding: try await answer.bytes(), as: UTF8.self)
        }
        let first = try await couch.replicate(with: copy, ReplicationOptions(.push)).finished
        #expect(first.problems.isEmpty)
        #expect(try await content() == "hello world")
        let document = try await router.respond(to: .get("/notes/a"), as: .admin).bytes()
        let edited = String(decoding: document, as: UTF8.self).replacing("{\"_id\"", with: "{\"n\":1,\"_id\"")
        #expect(await router.respond(to: .json("PUT", "/notes/a", edited), as: .admin).status == 201)
        let second = try await couch.replicate(with: copy, ReplicationOptions(.push)).finished
        #expect(second.problems.isEmpty && second.pushed.written == 1)
        #expect(try await content() == "hello world")
    }

    /// CouchDB refuses all of `_bulk_docs` for one stub whose content it does not have.
    @Test func requestsThatAreRefusedForOneStubAreDivided() async throws {
        for name in ["a", "b", "c"] {
            var draft = MutableDocument(id: name)
            draft.attachments["f"] = Attachment(try notes.database.blob(Array("content of \(name)".utf8)))
            try notes.put(draft)
        }
        _ = try await replicate(ReplicationOptions(.push))
        for name in ["a", "b", "c"] {
            var draft = try #require(try notes.find(name)).mutableCopy()
            draft["n"] = 2
            try notes.put(draft)
        }
        let refusals = Mutex(0)
        let forgetful = RemoteDatabase(
            "notes",
            over: LocalTransport { [router] request in
                var request = request
                if request.target.contains("_bulk_docs"), let bytes = try? await request.body?.collect() {
                    if String(decoding: bytes, as: UTF8.self).contains(#""_id":"b""#) {
                        refusals.withLock { $0 += 1 }
                        let answer =
                            #"{"error":"missing_stub","reason":"Invalid attachment stub in b for f"}"#
                        return HTTPResponse(412, body: .bytes(Array(answer.utf8)))
                    }
                    request.body = BytesBody(bytes)
                }
                return await router.respond(to: request, as: .admin)
            })
        let status = try await notes.replicate(with: forgetful, ReplicationOptions(.push)).finished
        #expect(status.problems.isEmpty && status.pushed.written == 3)
        #expect(refusals.withLock { $0 } > 0)
        #expect(try await served() == notes.replicated())
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

    /// A direction that fails is tried again although the other has nothing to do, and so does not fail.
    @Test(.timeLimit(.minutes(1)))
    func oneDirectionThatFailsIsTriedAgain() async throws {
        let router = router
        let failures = Mutex(1)
        let remote = RemoteDatabase(
            "notes",
            over: LocalTransport { request in
                let isRefused = failures.withLock { left in
                    guard left > 0, request.target.contains("feed=longpoll") else { return false }
                    left -= 1
                    return true
                }
                guard isRefused else { return await router.respond(to: request, as: .admin) }
                _ = await router.respond(to: .json("PUT", "/notes/late", "{}"), as: .admin)
                return HTTPResponse(503)
            })
        let replication = notes.replicate(with: remote, ReplicationOptions(.both, continuous: true))
        try await notes.waitFor("late")
        await replication.stop()
    }
}

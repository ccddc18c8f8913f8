import Foundation
import Roost
import RoostREST
import RoostWire
import Synchronization
import Testing

@testable import RoostSync

/// What is not carried is asked for again, or reported by each run until it is: no checkpoint passes it in silence, and it holds up no
/// other document.
@Suite struct NothingSkippedTests {
    let peers: Peers
    let notes: DocumentCollection
    let served: DocumentCollection
    let router: Router

    init() async throws {
        peers = try Peers()
        notes = try peers.open("here").defaultCollection
        let databases = try DatabaseDirectory(peers.directory + "/served")
        router = Router(databases)
        served = try databases.create("db").defaultCollection
    }

    /// The server, as one sees it whose requests or answers are changed on the way.
    func remote(
        _ respond: @escaping @Sendable (HTTPRequest, Router) async -> HTTPResponse = {
            await $1.respond(to: $0, as: .admin)
        }
    ) -> RemoteDatabase {
        RemoteDatabase("db", over: LocalTransport { [router] in await respond($0, router) })
    }

    /// The server, where a text in the answers of one kind of request stands for another.
    private func remote(
        where target: String, _ change: @escaping @Sendable (String) -> String
    ) -> RemoteDatabase {
        remote { request, router in
            var response = await router.respond(to: request, as: .admin)
            guard request.target.contains(target), let bytes = try? await response.bytes() else {
                return response
            }
            response.body = .bytes(Array(change(String(decoding: bytes, as: UTF8.self)).utf8))
            response.headers["Content-Length"] = nil
            return response
        }
    }

    private func pull(
        _ remote: RemoteDatabase, _ change: (inout ReplicationOptions) -> Void = { _ in }
    ) async throws -> ReplicationStatus {
        try await notes.replicate(with: remote, ReplicationOptions(.pull, change)).finished
    }

    private func push(_ remote: RemoteDatabase) async throws -> ReplicationStatus {
        try await notes.replicate(with: remote, ReplicationOptions(.push)).finished
    }

    private func ids(_ collection: DocumentCollection) throws -> [String] {
        try collection.documents().map(\.id)
    }

    // MARK: Reading

    /// The entry of `d2` in an answer of `_bulk_get` that is an error.
    private static func failing(_ text: String, _ error: String) -> String {
        guard let start = text.range(of: #"{"ok":{"_id":"d2""#),
            let end = text.range(of: "}]}", range: start.upperBound..<text.endIndex)
        else { return text }
        let entry = #"{"error":{"id":"d2","rev":"1-a","error":"\#(error)","reason":"worker died"}}"#
        return text.replacingCharacters(in: start.lowerBound...end.lowerBound, with: error == "" ? "" : entry)
    }

    @Test(arguments: ["internal_server_error", "timeout", "not_found", ""])
    func whatWasNotGivenOnceIsAskedForAgain(error: String) async throws {
        for number in 0..<5 { try served.put("d\(number)") }
        let count = Mutex(0)
        let remote = remote(where: "_bulk_get") { text in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return isFirst ? Self.failing(text, error) : text
        }
        let status = try await pull(remote)
        #expect(status.problems.isEmpty && status.pulled.written == 5)
        #expect(try ids(notes) == ["d0", "d1", "d2", "d3", "d4"])
        #expect(count.withLock { $0 } == 2)
    }

    /// Reported by each run, whatever the checkpoint has passed, and carried as soon as the server gives it.
    @Test(arguments: ["internal_server_error", "timeout", "not_found", ""])
    func whatIsNeverGivenIsReportedByEachRun(error: String) async throws {
        for number in 0..<5 { try served.put("d\(number)") }
        let ill = remote(where: "_bulk_get") { Self.failing($0, error) }
        for run in 0..<3 {
            let status = try await pull(ill)
            #expect(status.problems.map(\.document) == ["d2"] && status.problemCount == 1)
            #expect(status.pulled.failed == 1)
            #expect(status.pulled.checked == (run == 0 ? 5 : 0))
        }
        #expect(try ids(notes) == ["d0", "d1", "d3", "d4"])
        let status = try await pull(remote())
        #expect(status.problems.isEmpty && status.pulled.written == 1 && status.pulled.checked == 0)
        #expect(try notes.replicated() == served.replicated())
        #expect(try await pull(ill).problemCount == 0)
    }

    /// One that is edited while it is being carried is missing, and is no problem: its edit comes with the next changes.
    @Test func whatWasEditedMeanwhileIsNoProblem() async throws {
        try served.put("d1")
        let first = try #require(try served.find("d1")).revision
        let remote = remote { [served] request, router in
            guard request.target.contains("_bulk_get") else {
                return await router.respond(to: request, as: .admin)
            }
            try? served.put("d1", #"{"edited":true}"#)
            _ = try? await served.database.compact()
            return await router.respond(to: request, as: .admin)
        }
        let status = try await pull(remote)
        #expect(status.problems.isEmpty, "\(status.problems)")
        _ = try await pull(self.remote())
        #expect(try notes.replicated() == served.replicated())
        #expect(try notes.find("d1")?.revision != first)
    }

    @Test(arguments: ["nonsense", "1-" + String(repeating: "a", count: 100), "99999999999999999999-a"])
    func aRevisionWithAnOddNameHoldsUpNoOther(revision: String) async throws {
        for id in ["x", "y"] { try served.put(id) }
        let row = #"{"seq":"1-q","id":"odd","changes":[{"rev":"\#(revision)"}]}"#
        let odd = remote(where: "_changes") { text in
            text.replacing(
                #""results":["#, with: #""results":[\#(row)"# + (text.contains(#""seq""#) ? "," : ""))
        }
        for _ in 0..<2 {
            let status = try await pull(odd)
            #expect(status.problems.map(\.document) == ["odd"])
            #expect("\(status.problems)".contains(String(revision.prefix(20))))
            #expect(try ids(notes) == ["x", "y"])
        }
        #expect(try await pull(remote()).problems.isEmpty)
    }

    /// Half of an emoji, which no text here can hold.
    @Test func aTextThatDoesNotParseHoldsUpNoOther() async throws {
        for id in ["a", "b", "c"] { try served.put(id, #"{"v":"mark"}"#) }
        let remote = remote(where: "_bulk_get") { text in
            text.replacing(#"{"ok":{"_id":"b""#, with: #"{"ok":{"w":"\ud83d","_id":"b""#)
        }
        for _ in 0..<2 {
            let status = try await pull(remote)
            #expect(status.problems.map(\.document) == ["b"])
            #expect(try ids(notes) == ["a", "c"])
        }
    }

    // MARK: Writing

    private static func nested(_ depth: Int) -> String {
        let (open, close) = (
            String(repeating: "[", count: depth - 1), String(repeating: "]", count: depth - 1)
        )
        return #"{"v":\#(open)\#(close)}"#
    }

    /// Documents may be nested 512 deep, and what they are wrapped in on the way adds to that.
    @Test(arguments: [507, 508, 509, 510, 511, 512])
    func documentsAsDeepAsMayBeStoredAreCarried(depth: Int) async throws {
        for id in ["x", "y"] { try notes.put(id) }
        try notes.put("deep", Self.nested(depth))
        #expect(try await push(remote()).problems.isEmpty)
        #expect(try served.replicated() == notes.replicated())
        let copy = try peers.open("copy").defaultCollection
        let status = try await copy.replicate(with: remote(), ReplicationOptions(.pull)).finished
        #expect(status.problems.isEmpty)
        #expect(try copy.replicated() == notes.replicated())
    }

    /// CouchDB stores deeper ones.
    @Test func aDeeperDocumentHoldsUpNoOther() async throws {
        for id in ["a", "b", "c"] { try served.put(id, #"{"v":"mark"}"#) }
        let remote = remote(where: "_bulk_get") { text in
            let part = text.range(of: #"{"ok":{"_id":"b""#)?.upperBound ?? text.startIndex
            return String(text[..<part])
                + String(text[part...]).replacing(#""mark""#, with: Self.nested(600), maxReplacements: 1)
        }
        let status = try await pull(remote)
        #expect(status.problems.map(\.document) == ["b"])
        #expect(try ids(notes) == ["a", "c"])
    }

    @Test func aDocumentThatNoServerTakesHoldsUpNoOther() async throws {
        for id in ["b", "c"] { try notes.put(id) }
        try notes.put("a", #"{"__v":0}"#)
        for run in 0..<2 {
            let status = try await push(remote())
            #expect(status.problems.map(\.document) == ["a"])
            #expect("\(status.problems)".contains("Bad special document member"))
            #expect(status.pushed.written == (run == 0 ? 2 : 0))
            #expect(try ids(served) == ["b", "c"])
        }
        try notes.put("a", #"{"v":0}"#)
        let status = try await push(remote())
        #expect(status.problems.isEmpty && status.pushed.written == 1)
        #expect(try ids(served) == ["a", "b", "c"])
    }

    /// More than are remembered: the checkpoint stays before them, and each is found again.
    @Test func moreFailuresThanAreRemembered() async throws {
        let count = ReplicationStatus.longestList + 50
        try await notes.database.write { [notes] batch in
            for number in 0..<count { _ = try batch.save(json: "{}", id: "n\(number)", in: notes) }
        }
        let others = try peers.open("there").defaultCollection
        let failing = ReplicationFilter("f", version: "1") { _ in throw CancellationError() }
        for _ in 0..<2 {
            let status = try await notes.replicate(
                with: others,
                ReplicationOptions(.push) { options in
                    options.selection.filter = failing
                    options.batchSize = 400
                }
            ).finished
            #expect(status.problemCount == count)
            #expect(status.problems.count == ReplicationStatus.longestList)
        }
        let sound = ReplicationFilter("f", version: "1") { _ in true }
        let status = try await notes.replicate(
            with: others, ReplicationOptions(.push) { $0.selection.filter = sound }
        ).finished
        #expect(status.problemCount == 0)
        #expect(try others.count == count)
    }

    // MARK: Filters

    /// A function that changes begins again: what it kept back before may be wanted now.
    @Test func aFilterFunctionThatChangesBeginsAgain() async throws {
        for id in ["a", "b"] { try served.put(id) }
        try served.put("_design/d", #"{"filters":{"f":"only a"}}"#)
        let remote = remote { [served] request, router in
            var request = request
            guard request.target.contains("filter=d") else {
                return await router.respond(to: request, as: .admin)
            }
            request.target = request.target.replacing("&filter=d%2Ff", with: "")
            var response = await router.respond(to: request, as: .admin)
            let design = try? served.find("_design/d")
            guard design?["filters"]["f"].string == "only a", let bytes = try? await response.bytes(),
                case .dictionary(var answer)? = try? DocumentValue(
                    json: String(decoding: bytes, as: UTF8.self)),
                case .array(let rows)? = answer["results"]
            else { return response }
            answer["results"] = .array(rows.filter { $0["id"]?.string == "a" })
            let text = (try? DocumentValue.dictionary(answer).json()) ?? ""
            response.body = .bytes(Array(text.utf8))
            response.headers["Content-Length"] = nil
            return response
        }
        let select = { @Sendable (options: inout ReplicationOptions) in
            options.selection.serverFilter = .named("d/f", parameters: [:])
        }
        _ = try await pull(remote, select)
        #expect(try notes.find("b") == nil)
        #expect(try await pull(remote, select).pulled.checked == 0)
        try served.put("_design/d", #"{"filters":{"f":"all"}}"#)
        let status = try await pull(remote, select)
        #expect(status.pulled.checked == 3)
        #expect(try notes.find("b") != nil)
    }

    // MARK: Checkpoints

    /// The server takes nothing more from its n-th batch on: what the checkpoint has by then is in it.
    @Test(arguments: [1, 2, 9, 10, 11, 12, 19, 20, 21, 25])
    func aCheckpointIsNeverFurtherThanWhatIsWritten(batch: Int) async throws {
        for number in 0..<25 { try notes.put("n\(10 + number)") }
        let count = Mutex(0)
        let dying = remote { request, router in
            let isRefused = count.withLock { count in
                if request.target.contains("_bulk_docs") { count += 1 }
                return count >= batch && request.target.contains("_bulk_docs")
            }
            guard !isRefused else { return HTTPResponse(500, body: .bytes(Array("{}".utf8))) }
            return await router.respond(to: request, as: .admin)
        }
        let options = ReplicationOptions(.push) { options in
            options.batchSize = 1
            options.retry.attempts = 1
        }
        await #expect(throws: RemoteError.self) {
            try await notes.replicate(with: dying, options).finished
        }
        #expect(try served.count == batch - 1)
        let status = try await notes.replicate(with: remote(), options).finished
        #expect(try served.replicated() == notes.replicated())
        #expect(status.pushed.checked < 25 || batch <= 10)
    }

    /// A source that has lost its checkpoint was restored or created again: its changes are others, whatever the target remembers.
    @Test func theTargetsCheckpointAloneIsNotBelieved() async throws {
        for number in 0..<5 { try notes.put("n\(number)") }
        let others = try peers.open("there").defaultCollection
        let options = ReplicationOptions(.push)
        _ = try await notes.replicate(with: others, options).finished
        #expect(try await notes.replicate(with: others, options).finished.pushed.checked == 0)
        for name in try notes.snapshot().localDocumentNames { try notes.removeLocal(name) }
        try await others.purge("n3")
        #expect(try await notes.replicate(with: others, options).finished.pushed.checked == 5)
        #expect(try others.replicated() == notes.replicated())
        #expect(try await notes.replicate(with: others, options).finished.pushed.checked == 0)
    }

    /// The same over HTTP: one source may be written to, the other not.
    @Test(arguments: [403, 401, 405, nil])
    func aSourceThatMayOnlyBeReadGoesOnByTheTargetsCheckpoint(refusal: Int?) async throws {
        for id in ["a", "b"] { try served.put(id) }
        let source = remote { request, router in
            if let refusal, request.method == "PUT", request.target.contains("_local") {
                return HTTPResponse(
                    refusal, headers: ["Content-Type": "application/json"],
                    body: .bytes(Array(#"{"error":"forbidden","reason":"_writer access is required"}"#.utf8)))
            }
            return await router.respond(to: request, as: .admin)
        }
        let first = try await pull(source)
        #expect(first.pulled.written == 2 && first.problems.isEmpty)
        #expect(try await pull(source).pulled.checked == 0)
        try served.put("c")
        #expect(try await pull(source).pulled.checked == 1)
        #expect(try served.snapshot().localDocumentNames.isEmpty == (refusal != nil))
        for name in try served.snapshot().localDocumentNames { try served.removeLocal(name) }
        #expect(try await pull(source).pulled.checked == (refusal == nil ? 3 : 0))
    }

    @Test func withoutCheckpointsEverythingIsComparedAndNothingRecorded() async throws {
        try notes.put("a")
        let others = try peers.open("there").defaultCollection
        let options = ReplicationOptions(.push) { $0.usesCheckpoints = false }
        for _ in 0..<2 {
            #expect(try await notes.replicate(with: others, options).finished.pushed.checked == 1)
        }
        #expect(
            try notes.snapshot().localDocumentNames.isEmpty && others.snapshot().localDocumentNames.isEmpty)
    }

    // MARK: Who asks

    /// CouchDB with `require_valid_user`, or a proxy, wants basic authentication for `_session` itself.
    @Test(arguments: ["secret", "wrong"])
    func aServerThatWantsBasicAuthenticationForItsSession(password: String) async throws {
        try served.put("a")
        let sessions = Mutex(0)
        let basic = "Basic " + Data("anna:secret".utf8).base64EncodedString()
        let strict = LocalTransport { [router] request in
            guard request.headers["Authorization"] == basic else {
                return HTTPResponse(
                    401, headers: ["WWW-Authenticate": #"Basic realm="server""#],
                    body: .bytes(Array(#"{"error":"unauthorized"}"#.utf8)))
            }
            guard request.target != "/_session" else {
                sessions.withLock { $0 += 1 }
                return HTTPResponse(
                    200, headers: ["Set-Cookie": "AuthSession=abc; Path=/"], body: .bytes(Array("{}".utf8)))
            }
            return request.headers["Cookie"] == "AuthSession=abc"
                ? await router.respond(to: request, as: .admin) : HTTPResponse(401)
        }
        let remote = RemoteDatabase(
            "db", over: strict, credentials: .session(name: "anna", password: password))
        if password == "secret" {
            #expect(try await pull(remote).pulled.written == 1)
        } else {
            let error = await #expect(throws: RemoteError.self) { _ = try await pull(remote) }
            #expect(error?.status == 401)
        }
        #expect(sessions.withLock { $0 } == (password == "secret" ? 1 : 0))
    }
}

extension DocumentCollection {
    fileprivate func removeLocal(_ name: String) throws {
        try database.write { batch in _ = try batch.deleteLocalDocument(name, in: self) }
    }
}

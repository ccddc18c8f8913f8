import Foundation
import Roost
import RoostREST
import RoostWire
import Synchronization
import Testing

@testable import RoostSync

/// A server that fails at what it is asked: at one document, or at everything.
@Suite struct ServerFailureTests {
    private let fixture: NothingSkippedTests
    private var notes: DocumentCollection { fixture.notes }
    private var served: DocumentCollection { fixture.served }

    init() async throws { fixture = try await NothingSkippedTests() }

    /// A server that fails at one document, and at each list that has it, holds up no other; one that fails at everything is an error.
    @Test(arguments: [(1, true), (9, true), (9, false), (1, false)])
    func aServerThatFailsAtADocument(count: Int, isReading: Bool) async throws {
        for number in 0..<count {
            try (isReading ? served : notes).put("d\(number)", #"{"n":"mark \#(number)"}"#)
        }
        let requests = Mutex(0)
        func failing(_ poison: String) -> RemoteDatabase {
            fixture.remote { request, router in
                guard request.target.contains(isReading ? "_bulk_get" : "_bulk_docs"),
                    let body = try? await request.body?.collect()
                else { return await router.respond(to: request, as: .admin) }
                requests.withLock { $0 += 1 }
                if String(decoding: body, as: UTF8.self).contains(poison) {
                    return HTTPResponse(500, body: .bytes(Array(#"{"error":"badmatch"}"#.utf8)))
                }
                var request = request
                request.body = BytesBody(body)
                return await router.respond(to: request, as: .admin)
            }
        }
        func run(_ remote: RemoteDatabase) async throws -> ReplicationStatus {
            try await notes.replicate(
                with: remote, ReplicationOptions(isReading ? .pull : .push) { $0.retry.attempts = 1 }
            ).finished
        }
        let target = isReading ? notes : served
        await #expect(throws: RemoteError.self) { try await run(failing(isReading ? #""id""# : #""_id""#)) }
        #expect(requests.withLock { $0 } <= 32)
        if count > 1 {
            let status = try await run(failing(#""d4""#))
            #expect(status.problems.map(\.document) == ["d4"])
            #expect(try target.count == count - 1)
        } else {
            await #expect(throws: RemoteError.self) { try await run(failing(#""d0""#)) }
        }
        let status = try await run(fixture.remote())
        #expect(status.problems.isEmpty)
        #expect(try notes.replicated() == served.replicated())
    }

    /// The same where documents are read one by one, and where their attachments are.
    @Test(arguments: [false, true]) func aServerThatFailsAtOneOfWhatItIsAskedForSingly(hasBulkGet: Bool)
        async throws
    {
        for number in 0..<8 {
            let data = Data("content \(number)".utf8).base64EncodedString()
            let body = #"{"n":\#(number),"_attachments":{"a":{"data":"\#(data)"}}}"#
            _ = await fixture.router.respond(to: .json("PUT", "/db/d\(number)", body), as: .admin)
        }
        let requests = Mutex(0)
        func failing(at poison: [String]) -> RemoteDatabase {
            fixture.remote { request, router in
                if !hasBulkGet, request.target.contains("_bulk_get") { return HTTPResponse(405) }
                let path = request.target.prefix { $0 != "?" }
                guard request.method == "GET", poison.contains(where: { path == "/db/\($0)" }) else {
                    return await router.respond(to: request, as: .admin)
                }
                requests.withLock { $0 += 1 }
                return HTTPResponse(500, body: .bytes(Array(#"{"error":"badmatch"}"#.utf8)))
            }
        }
        func run(_ remote: RemoteDatabase) async throws -> ReplicationStatus {
            try await notes.replicate(with: remote, ReplicationOptions(.pull) { $0.retry.attempts = 1 })
                .finished
        }
        let suffix = hasBulkGet ? "/a" : ""
        await #expect(throws: RemoteError.self) {
            try await run(failing(at: (0..<8).map { "d\($0)\(suffix)" }))
        }
        #expect(try notes.count == 0)
        #expect(requests.withLock { $0 } <= 8 * 6)
        let status = try await run(failing(at: ["d4\(suffix)"]))
        #expect(status.problems.map(\.document) == ["d4"])
        #expect(try notes.count == 7)
        let last = try await run(fixture.remote())
        #expect(last.problems.isEmpty)
        #expect(try notes.replicated() == served.replicated())
    }
}

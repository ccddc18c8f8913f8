import Foundation
import RoostWire
import Synchronization
import Testing

@testable import RoostREST

/// What bulk requests hold at a server: the body, what is parsed of it and the answer are bounded for each and for all together.
@Suite(.timeLimit(.minutes(5))) struct BulkMemoryTests {
    private static let limit = 8 << 20

    private func server() async throws -> TestServer {
        var routing = RouterOptions()
        routing.requestMemory = Self.limit
        return try await TestServer(routing: routing)
    }

    /// What an address sends, and the whole answer.
    private static func post(
        _ body: String, to path: String = "/db/_bulk_docs", from address: Int, of test: TestServer
    ) async throws -> String {
        let client = try test.connect()
        await client.send(
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: 192.0.2.\(address)\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
        await client.send(body)
        return await client.receiveAll()
    }

    private static func status(_ answer: String) -> Int {
        Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0
    }

    /// Looks, on a thread of its own, at what is held.
    private final class Watch: Sendable {
        private let highest = Mutex(0)
        private let isOver = Atomic(false)

        var most: Int { highest.withLock(\.self) }

        func begin(_ router: Router) {
            let thread = Thread { [self] in
                while !isOver.load(ordering: .relaxed) {
                    let held = router.memory.held
                    highest.withLock { $0 = max($0, held) }
                    usleep(50)
                }
            }
            thread.start()
        }

        func end() { isOver.store(true, ordering: .relaxed) }
    }

    @Test func allTogetherHaveABound() async throws {
        let test = try await server()
        let document = #"{"text":"\#(String(repeating: "x", count: 1_000))"}"#
        let body = #"{"docs":["# + Array(repeating: document, count: 600).joined(separator: ",") + "]}"
        let watch = Watch()
        watch.begin(test.router)
        defer { watch.end() }
        let statuses = try await withThrowingTaskGroup(of: (isLarge: Bool, status: Int).self) { group in
            for number in 0..<24 {
                group.addTask {
                    (true, Self.status(try await Self.post(body, from: number % 6, of: test)))
                }
                // Clients that send little are answered meanwhile.
                group.addTask {
                    (false, Self.status(try await Self.post(#"{"docs":[{}]}"#, from: 100 + number, of: test)))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(watch.most <= Self.limit && watch.most > body.utf8.count)
        #expect(statuses.allSatisfy { [201, 503].contains($0.status) }, "\(statuses)")
        #expect(statuses.contains { $0.isLarge && $0.status == 201 })
        #expect(test.router.memory.held == 0)
        await test.server.stop()
    }

    /// Bodies that would become more than a request may hold are refused, whatever they are made of, and the next one is served.
    @Test func eachHasABound() async throws {
        let test = try await server()
        for unit in ["{},", "{\"a\":1},", "[],", "1,", "{\"_attachments\":{\"a\":{\"data\":\"\"}}},"] {
            let count = 4_500_000 / unit.utf8.count
            for option in ["", #""all_or_nothing":true,"#, #""new_edits":false,"#] {
                let body = "{\(option)\"docs\":[" + String(repeating: unit, count: count) + "{}]}"
                let answer = try await Self.post(body, from: 1, of: test)
                #expect(Self.status(answer) == 413, "\(unit) \(option) \(answer.prefix(200))")
            }
        }
        #expect(Self.status(try await Self.post(#"{"docs":[{}]}"#, from: 1, of: test)) == 201)
        // What may be held, and is answered at much greater length.
        let documents = Array(repeating: "{}", count: 20_000).joined(separator: ",")
        for option in ["", #""all_or_nothing":true,"#] {
            let watch = Watch()
            watch.begin(test.router)
            let answer = try await Self.post("{\(option)\"docs\":[\(documents)]}", from: 1, of: test)
            watch.end()
            #expect(answer.components(separatedBy: "\"id\"").count - 1 == 20_000, "\(answer.prefix(200))")
            #expect(watch.most <= Self.limit / 2)
        }
        #expect(test.router.memory.held == 0)
        await test.server.stop()
    }
}

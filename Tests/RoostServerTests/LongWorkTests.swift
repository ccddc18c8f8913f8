import Foundation
import RoostREST
import RoostServer
import RoostWire
import Synchronization
import Testing

/// What takes long neither holds up the threads that wait for sockets, nor goes on when the client has gone.
@Suite(.timeLimit(.minutes(5))) struct LongWorkTests {
    private let host = "Host: localhost\r\n"

    /// A server whose filter `test/slow` goes on until its task is cancelled, or `release` is called.
    private final class SlowServer: Sendable {
        let server: HTTPServer
        private let directory: String
        private let state: State

        private final class State: Sendable {
            let begun = Atomic(0)
            let cancelled = Atomic(0)
            let isReleased = Atomic(false)

            func run() {
                begun.add(1, ordering: .relaxed)
                while !isReleased.load(ordering: .relaxed) {
                    if Task.isCancelled {
                        cancelled.add(1, ordering: .relaxed)
                        return
                    }
                    usleep(200)
                }
            }
        }

        init() async throws {
            let state = State()
            self.state = state
            directory = FileManager.default.temporaryDirectory.path + "/roost-slow-\(UUID().uuidString)"
            var hooks = Hooks()
            hooks.filters["test/slow"] = { _, _, _ in
                state.run()
                return true
            }
            let router = Router(try DatabaseDirectory(directory), hooks: hooks)
            for (target, body) in [("/db", ""), ("/db/_security", "{}"), ("/db/doc", "{}")] {
                _ = await router.respond(to: .json("PUT", target, body), as: .admin)
            }
            var options = ServerOptions()
            options.port = 0
            options.stopSeconds = 1
            server = try HTTPServer(router, options: options)
        }

        deinit { try? FileManager.default.removeItem(atPath: directory) }

        var begun: Int { state.begun.load(ordering: .relaxed) }
        var cancelled: Int { state.cancelled.load(ordering: .relaxed) }
        func release() { state.isReleased.store(true, ordering: .relaxed) }
    }

    @Test func requestsAreAnsweredWhileOthersTakeLong() async throws {
        let test = try await SlowServer()
        let slow = try (0..<40).map { _ in try RawClient(test.server.port) }
        for client in slow {
            await client.send("GET /db/_changes?filter=test/slow HTTP/1.1\r\n\(host)\r\n")
        }
        while test.begun < 2 { try await Task.sleep(for: .milliseconds(2)) }
        let client = try RawClient(test.server.port)
        await client.send("GET /db/doc HTTP/1.1\r\n\(host)\r\n")
        #expect(await client.receive(until: "}\n").hasPrefix("HTTP/1.1 200 OK"))
        await client.send("PUT /db/new HTTP/1.1\r\n\(host)Content-Length: 2\r\n\r\n{}")
        #expect(await client.receive(until: "}\n").hasPrefix("HTTP/1.1 201 Created"))
        test.release()
        #expect(await slow[0].receive(until: "\"last_seq\"").hasPrefix("HTTP/1.1 200 OK"))
        await test.server.stop()
    }

    @Test(arguments: ["normal", "continuous"])
    func workEndsWhenTheClientHangsUp(feed: String) async throws {
        let test = try await SlowServer()
        let client = try RawClient(test.server.port)
        await client.send("GET /db/_changes?filter=test/slow&feed=\(feed) HTTP/1.1\r\n\(host)\r\n")
        while test.begun == 0 { try await Task.sleep(for: .milliseconds(2)) }
        client.close()
        while test.cancelled == 0 { try await Task.sleep(for: .milliseconds(2)) }
        await test.server.stop()
    }
}

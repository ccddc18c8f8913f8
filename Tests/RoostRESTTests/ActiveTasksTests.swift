import Dispatch
import Fleece
import Roost
import RoostQuery
import RoostWire
import Testing

@testable import RoostREST

/// What the server does besides answering, seen while it does it.
@Suite struct ActiveTasksTests {
    /// Holds the thread that comes until it is let go, and tells that it came.
    private final class Gate: Sendable {
        private let open = DispatchSemaphore(value: 0)
        private let arrivals = AsyncStream.makeStream(of: Void.self)

        func pass() {
            arrivals.continuation.yield()
            open.wait()
            open.signal()
        }

        func waitForArrival() async {
            for await _ in arrivals.stream { return }
        }

        func letGo() { open.signal() }
    }

    /// A view of documents that takes as long as the test wants it to.
    private struct SlowViews: ViewCompiler {
        let language = "slow"
        let gate: Gate

        func compile(_ source: ViewSource) -> CompiledView {
            CompiledView(reduction: nil) { documents in
                gate.pass()
                return documents.map { _ in [] }
            }
        }
    }

    @Test func aViewIsSeenWhileItIsBuilt() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        for id in ["a", "b"] { _ = try await test.put("/db/\(id)", "{}") }
        _ = try await test.put("/db/_design/d", #"{"language":"slow","views":{"v":{"map":"x"}}}"#)
        let gate = Gate()
        try test.router.databases.database("db")?.register(SlowViews(gate: gate))
        async let rows = test.ask("GET", "/db/_design/d/_view/v")
        await gate.waitForArrival()
        let tasks = try await test.ask("GET", "/_active_tasks")
        let information = try await test.ask("GET", "/db/_design/d/_info")
        gate.letGo()
        let task = try #require((tasks.json as? [[String: Any]])?.first)
        #expect(task["type"] as? String == "indexer" && task["database"] as? String == "db")
        #expect(task["design_document"] as? String == "_design/d")
        #expect(task["total_changes"] as? Int == 3 && task["changes_done"] as? Int == 0)
        #expect((task["started_on"] as? Int ?? 0) > 1_600_000_000 && task["progress"] as? Int == 0)
        #expect(information.text.contains(#""updater_running":true"#))
        #expect(try await rows.status == 200)
        #expect(try await test.ask("GET", "/_active_tasks").text == "[]\n")
        #expect(
            try await test.ask("GET", "/db/_design/d/_info").text.contains(#""updater_running":false"#))
    }

    @Test func aCompactionIsSeenWhileItRuns() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        _ = try await test.put("/db/a", "{}")
        let database = try #require(try test.router.databases.database("db"))
        let gate = Gate()
        async let compaction = database.compact { _ in
            gate.pass()
            return true
        }
        await gate.waitForArrival()
        let running = try await test.ask("GET", "/db")
        let tasks = try await test.ask("GET", "/_active_tasks")
        gate.letGo()
        #expect(running["compact_running"] as? Bool == true)
        let task = try #require((tasks.json as? [[String: Any]])?.first)
        #expect(task["type"] as? String == "database_compaction" && task["database"] as? String == "db")
        #expect(task["bytes_done"] as? Int == task["total_bytes"] as? Int)
        _ = try await compaction
        #expect(try await test.ask("GET", "/db")["compact_running"] as? Bool == false)
        #expect(try await test.ask("GET", "/_active_tasks").text == "[]\n")
    }

    /// It runs from the moment in which it is asked for.
    @Test func requestsCountUntilTheLastIsOver() {
        let requests = CompactionRequests()
        requests.begin("a")
        requests.begin("a")
        requests.end("a")
        #expect(requests.contains("a") && !requests.contains("b"))
        requests.end("a")
        requests.end("a")
        #expect(!requests.contains("a"))
    }
}

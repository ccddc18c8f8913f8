import Foundation
import Roost
import RoostREST
import RoostWire
import Synchronization
import Testing

/// What takes long waits its turn by user, has a limited time, and ends with whom it is for.
@Suite(.timeLimit(.minutes(5))) struct RequestWorkTests {
    private let ann = UserContext(name: "ann", roles: [])
    private let bob = UserContext(name: "bob", roles: [])

    /// A router with two open databases, and a filter that stops at a gate.
    private func router(
        _ gate: TestGate, _ change: @escaping (inout RouterOptions) -> Void = { _ in }
    ) async throws -> TestRouter {
        let test = try TestRouter { options, hooks in
            change(&options)
            hooks.filters["test/slow"] = { _, _, _ in
                gate.pass()
                return true
            }
        }
        for name in ["db", "other"] {
            try await test.ask("PUT", "/\(name)")
            try await test.ask("PUT", "/\(name)/_security", "{}")
            try await test.ask("PUT", "/\(name)/doc", #"{"n":1}"#)
        }
        return test
    }

    @Test func questionsOfOneUserLeaveThreadsToOthers() async throws {
        let gate = TestGate()
        let test = try await router(gate)
        let slow = (0..<40).map { _ in
            Task { try await test.ask("GET", "/db/_changes?filter=test/slow", as: ann).status }
        }
        try await gate.wait(for: 2)
        for database in ["db", "other"] {
            let found = try await test.ask("POST", "/\(database)/_find", #"{"selector":{"n":1}}"#, as: bob)
            #expect(found.status == 200 && found.text.contains(#""_id":"doc""#))
            #expect(try await test.ask("GET", "/\(database)/_all_docs", as: bob).status == 200)
        }
        gate.open()
        for task in slow { #expect(try await task.value == 200) }
    }

    @Test func requestsOfOneUserThatAreUnderWayHaveALimit() async throws {
        let gate = TestGate()
        let test = try await router(gate) { $0.requestsUnderWay = 5 }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<40 {
                group.addTask { try await test.ask("GET", "/db/_changes?filter=test/slow", as: ann).status }
            }
            // Those beyond the limit are answered while the others wait.
            for _ in 0..<35 { #expect(try await group.next() == 503) }
            let found = try await test.ask("POST", "/db/_find", #"{"selector":{"n":1}}"#, as: bob)
            #expect(found.status == 200)
            // What takes no time is not counted.
            #expect(try await test.ask("GET", "/db/doc", as: ann).status == 200)
            gate.open()
            for try await status in group { #expect(status == 200) }
        }
        let found = try await test.ask("POST", "/db/_find", #"{"selector":{"n":1}}"#, as: ann)
        #expect(found.status == 200)
    }

    @Test func workEndsWhenItsTimeIsOver() async throws {
        let test = try TestRouter { options, hooks in
            options.longestWork = .milliseconds(50)
            hooks.validations["endless"] = { new, _, _ in
                while new.id == "endless", !Task.isCancelled { usleep(100) }
                try Task.checkCancellation()
            }
        }
        try await test.ask("PUT", "/db")
        let answer = try await test.ask("PUT", "/db/endless", "{}")
        #expect(answer.status == 500 && answer["error"] as? String == "timeout")
        #expect(try await test.ask("PUT", "/db/short", "{}").status == 201)
    }

    @Test func workEndsWithTheTask() async throws {
        let (gate, ended) = (TestGate(), TestGate())
        let test = try TestRouter { _, hooks in
            hooks.validations["endless"] = { _, _, _ in
                gate.open()
                gate.pass()
                while !Task.isCancelled { usleep(100) }
                ended.open()
                ended.pass()
                throw CancellationError()
            }
        }
        try await test.ask("PUT", "/db")
        let task = Task { try await test.ask("PUT", "/db/doc", "{}").status }
        try await gate.wait(for: 1)
        task.cancel()
        #expect(try await task.value == 503)
        try await ended.wait(for: 1)
    }
}

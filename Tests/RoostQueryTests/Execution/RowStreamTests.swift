import Dispatch
import Roost
import RoostQuery
import Testing

/// Rows for tasks.
@Suite(.timeLimit(.minutes(5))) struct RowStreamTests {
    /// Builds a view that stops at its first document until `gate` is signalled, on a thread of its own.
    private func build(_ fixture: QueryFixture, _ gate: DispatchSemaphore, begun: DispatchSemaphore) throws {
        let view = MapReduceView<Int, Int>("slow", version: "1") { _, _ in
            begun.signal()
            gate.wait()
            gate.signal()
        }
        let notes = try fixture.database.defaultCollection
        Thread.detach { _ = try? notes.view(view).rows() }
    }

    private enum Thread {
        static func detach(_ body: @escaping @Sendable () -> Void) {
            DispatchQueue(label: "build").async(execute: body)
        }
    }

    @Test func queriesThatWaitForABuildStopNoOtherDatabase() async throws {
        let (slow, quick) = (try QueryFixture([#"{"n":1}"#]), try QueryFixture([#"{"n":2}"#]))
        let notes = try slow.database.defaultCollection
        try notes.createIndex("n", on: "n")
        _ = try slow.database.query("SELECT n FROM _ WHERE n > 0").fetch()
        let (gate, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try build(slow, gate, begun: begun)
        await withCheckedContinuation { done in
            DispatchQueue(label: "begun").async {
                begun.wait()
                done.resume()
            }
        }
        // Changed by more than can be looked at beside the index.
        try await notes.database.write { batch in
            for number in 0..<5_000 {
                try batch.save(json: #"{"n":\#(number)}"#, id: "x\(number)", in: notes)
            }
        }
        let query = try slow.database.query("SELECT n FROM _ WHERE n = 3")
        // More than have threads, also while others work in their place.
        let waiting = (0..<40).map { _ in
            Task {
                var rows: [Int?] = []
                for try await row in query.rows { rows.append(row.n.int) }
                return rows
            }
        }
        let cancelled = Task {
            for try await _ in query.rows {}
        }
        for try await row in try quick.database.query("SELECT n FROM _").rows { #expect(row.n.int == 2) }
        // Whose task is cancelled waits for no build.
        cancelled.cancel()
        _ = await cancelled.result
        gate.signal()
        for task in waiting { #expect(try await task.value == [3]) }
    }
}

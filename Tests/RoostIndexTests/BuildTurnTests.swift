import Dispatch
import Roost
import Testing

@testable import RoostIndex

/// The turn of the one who builds.
@Suite(.timeLimit(.minutes(5))) struct BuildTurnTests {
    /// Takes a turn on a thread of its own, till it is told to end.
    private final class Holder: Sendable {
        private let end = DispatchSemaphore(value: 0)

        init(_ turn: BuildTurn) async {
            let end = end
            await withCheckedContinuation { begun in
                DispatchQueue(label: "holder").async {
                    try? turn.take {
                        begun.resume()
                        end.wait()
                    }
                }
            }
        }

        func letGo() { end.signal() }
    }

    @Test func whoseTaskIsCancelledWaitsNoLonger() async throws {
        let turn = BuildTurn()
        let holder = await Holder(turn)
        // Waiting blocks a thread, which must be none that other tests need.
        let executor = WorkExecutor(WorkerPool(limit: 4), for: WorkOwner())
        let cancelled = Task { try await executor.run { try turn.take { 2 } } }
        let another = Task { try await executor.run { try turn.take { 3 } } }
        cancelled.cancel()
        // While the first still has the turn.
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        holder.letGo()
        #expect(try await another.value == 3)
        #expect(try turn.take { 4 } == 4)
    }
}

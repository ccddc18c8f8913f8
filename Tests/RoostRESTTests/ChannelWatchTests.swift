import Foundation
import Roost
import Synchronization
import Testing

@testable import RoostREST

/// Who is woken by what happens in channels.
@Suite struct ChannelWatchTests {
    /// Somebody who listens: how often they were woken, and when first.
    private final class Listener: Sendable {
        private let calls = Mutex(0)
        let first = AsyncStream.makeStream(of: Void.self)

        var count: Int { calls.withLock { $0 } }

        func wake() {
            calls.withLock { $0 += 1 }
            first.continuation.yield()
        }

        func wait() async { for await _ in first.stream { return } }
    }

    @Test(.timeLimit(.minutes(1))) func thoseAreWokenWhomADocumentConcerns() async throws {
        let router = try await channelRouter()
        let revision = try await router.put("/db/moves", #"{"channels":["x"]}"#)
        let watch = try router.watch()
        let (inX, inY, inZ) = (Listener(), Listener(), Listener())
        let ends = [("x", inX), ("y", inY), ("z", inZ)].map { channel, listener in
            watch.listen(to: ["!", channel]) { listener.wake() }
        }
        // Leaves x and comes to y.
        _ = try await router.put("/db/moves", #"{"channels":["y"],"_rev":"\#(revision)"}"#)
        await inX.wait()
        await inY.wait()
        #expect(inZ.count == 0)
        // What was woken once is woken again.
        _ = try await router.put("/db/other", #"{"channels":["y"]}"#)
        while inY.count < 2 { await inY.wait() }
        #expect(inX.count == 1 && inZ.count == 0)
        for end in ends { end.cancel() }
        let again = Listener()
        let end = watch.listen(to: ["z"]) { again.wake() }
        _ = try await router.put("/db/more", #"{"channels":["z"]}"#)
        await again.wait()
        #expect(inZ.count == 0)
        end.cancel()
    }

    /// Has somebody who listens to the channel x woken by what `deed` does.
    private func wakes(_ deed: (TestRouter) async throws -> Void) async throws {
        let router = try await channelRouter()
        let watch = try router.watch()
        let listener = Listener()
        let end = watch.listen(to: ["x"]) { listener.wake() }
        try await deed(router)
        await listener.wait()
        end.cancel()
    }

    @Test(.timeLimit(.minutes(1))) func aGrantWakesEverybody() async throws {
        try await wakes { router in
            _ = try await router.put("/db/grant", #"{"channels":[],"access":{"bob":["y"]}}"#)
        }
    }

    @Test(.timeLimit(.minutes(1))) func whatAnAdministratorGivesWakesEverybody() async throws {
        try await wakes { router in
            let answer = try await router.ask("PUT", "/db/_user/bob", #"{"admin_channels":["y"]}"#)
            #expect(answer.status == 201)
        }
    }

    /// The function is asked about it, since somebody listens.
    @Test(.timeLimit(.minutes(1))) func whatTheProgramWritesWakes() async throws {
        try await wakes { router in
            let documents = try #require(try router.router.databases.database("db")).defaultCollection
            try await documents.save(json: #"{"channels":["x"]}"#, id: "by-program")
        }
    }

    @Test(.timeLimit(.minutes(1))) func whoListensIsWokenWhenTheDatabaseGoes() async throws {
        try await wakes { router in
            let response = try await router.ask("DELETE", "/db")
            #expect(response.status == 200)
        }
    }
}

extension TestRouter {
    /// The watch of the database `db`.
    func watch() throws -> ChannelWatch {
        let database = try #require(try router.databases.database("db"))
        let collection = try database.defaultCollection
        let served = try ServedDatabase(try DatabaseName("db"), database, collection)
        return try router.channelWatches.watch(
            served, try #require(router.channelRouting), since: try collection.snapshot())
    }
}

/// What wakes feeds: changes, deadlines, and being cancelled.
@Suite(.timeLimit(.minutes(1))) struct ChangeAlarmTests {
    private let alarm = ChangeAlarm()
    private let never = ContinuousClock.now + .seconds(3_600)

    /// Begins to wait, and returns when it waits.
    private func waiting(until deadline: ContinuousClock.Instant) async throws -> Task<Bool, Never> {
        let task = Task { await alarm.wait(until: deadline) }
        try await eventually { alarm.isWaiting }
        return task
    }

    @Test func aRingEndsTheWaitOrTheNextOne() async throws {
        let task = try await waiting(until: never)
        alarm.ring()
        #expect(await task.value)
        alarm.ring()
        #expect(await alarm.wait(until: never))
        alarm.ring()
        alarm.reset()
        #expect(await alarm.wait(until: .now + .milliseconds(1)) == false)
    }

    @Test func aTaskThatIsCancelledWaitsNoLonger() async throws {
        let task = try await waiting(until: never)
        task.cancel()
        #expect(await task.value == false)
        #expect(!alarm.isWaiting)
    }

    /// The timer of a wait that was ended stays, and serves the waits after it.
    @Test func eachWaitEndsAtItsOwnDeadline() async throws {
        let early = try await waiting(until: .now + .milliseconds(20))
        alarm.ring()
        #expect(await early.value)
        let deadline = ContinuousClock.now + .milliseconds(200)
        #expect(await alarm.wait(until: deadline) == false)
        #expect(ContinuousClock.now >= deadline)

        let late = try await waiting(until: never)
        alarm.ring()
        #expect(await late.value)
        // Nobody rings: with the deadline of the wait before it would last for an hour.
        #expect(await alarm.wait(until: .now + .milliseconds(20)) == false)
        #expect(await alarm.wait(until: .now + .milliseconds(20)) == false)
    }

    @Test func itsTimerDoesNotKeepIt() async throws {
        weak var gone: ChangeAlarm?
        do {
            let alarm = ChangeAlarm()
            gone = alarm
            let task = Task { await alarm.wait(until: .now + .seconds(3_600)) }
            try await eventually { alarm.isWaiting }
            alarm.ring()
            _ = await task.value
        }
        try await eventually { gone == nil }
    }
}

/// Waits until something is so.
func eventually(_ isSo: () async -> Bool) async throws {
    while await !isSo() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

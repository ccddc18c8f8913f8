import Testing

@testable import RoostREST

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

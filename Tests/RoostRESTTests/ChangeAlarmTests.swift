import Testing

@testable import RoostREST

/// What wakes feeds: changes, deadlines, and being cancelled.
@Suite(.timeLimit(.minutes(1))) struct ChangeAlarmTests {
    private let alarm = ChangeAlarm()
    private let never = ContinuousClock.now + .seconds(3_600)

    /// Begins to wait, and returns when it waits.
    private func waiting(until deadline: ContinuousClock.Instant) async -> Task<Bool, Never> {
        let task = Task { await alarm.wait(until: deadline) }
        while !alarm.isWaiting { await Task.yield() }
        return task
    }

    @Test func aRingEndsTheWaitOrTheNextOne() async {
        let task = await waiting(until: never)
        alarm.ring()
        #expect(await task.value)
        alarm.ring()
        #expect(await alarm.wait(until: never))
        alarm.ring()
        alarm.reset()
        #expect(await alarm.wait(until: .now + .milliseconds(1)) == false)
    }

    @Test func aTaskThatIsCancelledWaitsNoLonger() async {
        let task = await waiting(until: never)
        task.cancel()
        #expect(await task.value == false)
        #expect(!alarm.isWaiting)
    }

    /// The timer of a wait that was ended stays, and serves the waits after it.
    @Test func eachWaitEndsAtItsOwnDeadline() async {
        let early = await waiting(until: .now + .milliseconds(20))
        alarm.ring()
        #expect(await early.value)
        let deadline = ContinuousClock.now + .milliseconds(200)
        #expect(await alarm.wait(until: deadline) == false)
        #expect(ContinuousClock.now >= deadline)

        let late = await waiting(until: never)
        alarm.ring()
        #expect(await late.value)
        // Nobody rings: with the deadline of the wait before it would last for an hour.
        #expect(await alarm.wait(until: .now + .milliseconds(20)) == false)
        #expect(await alarm.wait(until: .now + .milliseconds(20)) == false)
    }

    @Test func itsTimerDoesNotKeepIt() async {
        weak var gone: ChangeAlarm?
        do {
            let alarm = ChangeAlarm()
            gone = alarm
            let task = Task { await alarm.wait(until: .now + .seconds(3_600)) }
            while !alarm.isWaiting { await Task.yield() }
            alarm.ring()
            _ = await task.value
        }
        while gone != nil { await Task.yield() }
    }
}

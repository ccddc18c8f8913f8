import Testing

@testable import RoostREST

/// What wakes those who wait for changes.
@Suite struct ChangeAlarmTests {
    private let never = ContinuousClock.now + .seconds(86_400)

    @Test(.timeLimit(.minutes(1))) func aRingEndsTheWait() async {
        let alarm = ChangeAlarm()
        alarm.ring()
        #expect(await alarm.wait(until: never))
        async let rung = alarm.wait(until: never)
        alarm.ring()
        #expect(await rung)
    }

    @Test(.timeLimit(.minutes(1))) func whatWasForgottenEndsNoWait() async {
        let alarm = ChangeAlarm()
        alarm.ring()
        alarm.reset()
        #expect(await alarm.wait(until: .now) == false)
    }

    /// Also where a timer is under way that an earlier wait needed.
    @Test(.timeLimit(.minutes(1))) func noWaitEndsBeforeItsDeadline() async {
        let alarm = ChangeAlarm()
        for milliseconds in [1, 20, 5, 30] {
            let early = ContinuousClock.now + .milliseconds(milliseconds)
            alarm.ring()
            #expect(await alarm.wait(until: early))
            async let rung = alarm.wait(until: early)
            alarm.ring()
            _ = await rung
            let deadline = ContinuousClock.now + .milliseconds(40)
            #expect(await alarm.wait(until: deadline) == false)
            #expect(ContinuousClock.now >= deadline)
        }
    }

    @Test(.timeLimit(.minutes(1))) func anEarlierDeadlineHolds() async {
        let alarm = ChangeAlarm()
        async let rung = alarm.wait(until: never)
        alarm.ring()
        #expect(await rung)
        #expect(await alarm.wait(until: .now + .milliseconds(1)) == false)
    }

    @Test(.timeLimit(.minutes(1))) func cancellationEndsTheWait() async {
        let alarm = ChangeAlarm()
        let never = never
        let task = Task { await alarm.wait(until: never) }
        task.cancel()
        #expect(await task.value == false)
    }
}

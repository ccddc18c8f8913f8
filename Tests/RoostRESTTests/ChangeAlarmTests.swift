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

    @Test(.timeLimit(.minutes(1))) func cancellationEndsTheWait() async {
        let alarm = ChangeAlarm()
        let never = never
        let task = Task { await alarm.wait(until: never) }
        task.cancel()
        #expect(await task.value == false)
    }
}

import RoostSimulation
import Testing

struct SimulatedClockTests {
    @Test func timePassesByStepsAndAsTold() {
        let clock = SimulatedClock(start: 1_000, step: 2)
        #expect([clock.now(), clock.now()] == [1_000, 1_002])
        #expect([clock.monotonic(), clock.monotonic()] == [0, 2])
        clock.advance(by: 500)
        #expect(clock.now() == 1_504)
        #expect(clock.monotonic() == 504)
    }

    @Test func onlyTheWallClockJumps() {
        let clock = SimulatedClock(start: 1_000, step: 0)
        clock.advance(by: 10)
        clock.jump(to: 3)
        #expect(clock.now() == 3)
        #expect(clock.monotonic() == 10)
        clock.jump(to: .max)
        clock.advance(by: 10)
        #expect(clock.now() == 9)
        #expect(clock.monotonic() == 20)
    }
}

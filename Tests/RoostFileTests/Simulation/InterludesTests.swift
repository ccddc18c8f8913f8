import RoostFile
import Testing

@testable import RoostSimulation

/// One thread does on a simulated disk what several do on a real one, in orders that the seed decides.
@Suite struct InterludesTests {
    private enum Event: Hashable { case write, sync, other, visit, offered }

    /// What happens while a file is written and synced beside something else.
    private func events(seed: UInt64, offering: Bool = false) throws -> [Event] {
        final class Log: @unchecked Sendable { var events: [Event] = [] }
        let log = Log()
        let disk = SimulatedMedium(seed: seed)
        let file = try disk.open("file", .createNew)
        disk.beginInterludes(SeededGenerator(seed: seed)) { _ in log.events.append(.visit) }
        if offering { file.offer { log.events.append(.offered) } }
        try file.perform { () throws(FileError) in
            try file.writeFully([1, 2, 3])
            log.events.append(.write)
            try file.sync()
            log.events.append(.sync)
        } beside: {
            log.events.append(.other)
        }
        return log.events
    }

    @Test func everyOrderComes() throws {
        let orders = try Set((0..<200).map { try events(seed: $0).filter { $0 != .visit } })
        #expect(orders == [[.other, .write, .sync], [.write, .other, .sync], [.write, .sync, .other]])
    }

    @Test func aSeedRepeatsItsOrder() throws {
        for seed in 0..<20 as Range<UInt64> { #expect(try events(seed: seed) == events(seed: seed)) }
    }

    @Test func visitsComeBeforeAndAfterEachChange() throws {
        for seed in 0..<20 as Range<UInt64> {
            #expect(
                try events(seed: seed).filter { $0 != .other } == [
                    .visit, .visit, .write, .visit, .visit, .sync,
                ])
        }
    }

    @Test func whatIsOfferedIsDoneOnceOrNever() throws {
        let counts = try Set(
            (0..<100).map { seed in try events(seed: seed, offering: true).count { $0 == .offered } })
        #expect(counts == [0, 1])
    }

    /// A failure of the work is told once the other is done, too.
    @Test func aFailureIsToldAfterBoth() throws {
        for seed in 0..<20 as Range<UInt64> {
            let disk = SimulatedMedium(seed: seed)
            let file = try disk.open("file", .createNew)
            disk.beginInterludes(SeededGenerator(seed: seed)) { _ in }
            disk.faults.fail(.sync, at: 1)
            var others = 0
            #expect(throws: FileError.self) {
                try file.perform { () throws(FileError) in
                    try file.sync()
                } beside: {
                    others += 1
                }
            }
            #expect(others == 1)
        }
    }
}

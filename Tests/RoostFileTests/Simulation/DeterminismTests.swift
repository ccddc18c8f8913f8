import RoostFile
import RoostSimulation
import Testing

struct DeterminismTests {
    /// Random work with faults and crashes; the trace and all that is left in the end.
    func run(seed: UInt64, tearing: Tearing = .bytes) -> (trace: UInt64, files: [String: [UInt8]]) {
        var simulation = Simulation(seed: seed, tearing: tearing)
        var choices = simulation.choices(stream: 0)
        for _ in 0..<20 {
            let disk = simulation.disk
            disk.faults.fail(nil, probability: 0.02, with: .error(.inputOutput))
            disk.faults.fail(.write, probability: 0.2, with: .short)
            disk.crash(atChange: 1 + choices.next(below: 30))
            while !disk.hasCrashed { try? step(simulation, &choices) }
            simulation = simulation.afterCrash()
        }
        let disk = simulation.disk
        let names = (0..<4).map { "file \($0)" }
        let files = Dictionary(
            uniqueKeysWithValues: names.map { ($0, disk.contents(of: $0) ?? [0xDE, 0xAD]) })
        return (disk.traceHash, files)
    }

    func step(_ simulation: Simulation, _ choices: inout SeededGenerator) throws {
        let medium = simulation.environment.medium
        let name = "file \(choices.next(below: 4))"
        let other = "file \(choices.next(below: 4))"
        switch choices.next(below: 12) {
        case 0: try medium.rename(name, to: other)
        case 1: try medium.remove(name)
        case 2: try medium.syncDirectory(of: name)
        case 3: _ = try medium.open(try medium.list("/").first ?? name, .readOnly).readFully(100)
        case 4: try medium.open(name, .readWrite).truncate(to: UInt64(choices.next(below: 9_000)))
        case 5: try medium.open(name, .readWrite).sync()
        case 6: _ = try medium.open(name, .createNew)
        default:
            var bytes = pattern(choices.next(below: 5_000))
            unsafe bytes.withUnsafeMutableBytes { unsafe simulation.randomness.fill($0) }
            let offset = UInt64(choices.next(below: 9_000)) &+ simulation.clock.now() % 7
            try medium.open(name, .readWrite).writeFully(bytes, at: offset)
        }
    }

    @Test(arguments: 0..<4) func oneSeedGivesOneRun(_ seed: Int) {
        let first = run(seed: UInt64(seed))
        let second = run(seed: UInt64(seed))
        #expect(first.trace == second.trace)
        #expect(first.files == second.files)
    }

    /// The value was computed once; it changes when the disk draws or traces differently, or when anything depends on
    /// the process (as the order of a dictionary does).
    @Test func oneSeedGivesOneRunInEveryProcess() {
        #expect(run(seed: 2_024).trace == 13_079_748_420_517_794_732)
    }

    @Test func seedsGiveDifferentRuns() {
        #expect(Set((0..<8).map { run(seed: $0).trace }).count == 8)
    }

    @Test func theTraceNoticesEveryDifference() throws {
        func trace(_ work: (SimulatedMedium, any File) throws -> Void) throws -> UInt64 {
            let disk = SimulatedMedium()
            let file = try disk.open("file", .createNew)
            try work(disk, file)
            return disk.traceHash
        }
        let traces = try [
            trace { _, _ in },
            trace { _, file in try file.writeFully([1], at: 0) },
            trace { _, file in try file.writeFully([2], at: 0) },
            trace { _, file in try file.writeFully([1], at: 1) },
            trace { _, file in try file.writeFully([1, 0], at: 0) },
            trace { _, file in try file.sync() },
            trace { _, file in try file.truncate(to: 1) },
            trace { disk, _ in try disk.syncDirectory(of: "file") },
            trace { disk, _ in try disk.rename("file", to: "a") },
            trace { disk, _ in try disk.rename("file", to: "b") },
        ]
        #expect(Set(traces).count == traces.count)
    }

    @Test func theEnvironmentIsTheSimulations() throws {
        let simulation = Simulation(seed: 1)
        _ = try simulation.environment.medium.open("file", .createNew)
        #expect(simulation.disk.contents(of: "file") == [])
        simulation.clock.jump(to: 5)
        #expect(simulation.environment.clock.now() == 5)
        #expect(simulation.afterCrash(.losesAll).disk.contents(of: "file") == nil)
    }
}

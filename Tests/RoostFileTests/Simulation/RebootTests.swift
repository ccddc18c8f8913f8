import RoostFile
import RoostSimulation
import Testing

/// What a crash does to handles, locks, counts and plans, and when it happens.
struct RebootTests {
    private let dead = FileError.Code.other

    @Test func handlesAndDiskAreDeadAfterACrash() throws {
        let disk = SimulatedMedium()
        try disk.install([1], at: "file")
        let file = try disk.open("file", .readWrite)
        let rebooted = disk.afterCrash()
        #expect(disk.hasCrashed && !rebooted.hasCrashed)
        let error = FileError(.other, operation: "crashed", path: "file")
        #expect(throws: error) { try file.read(1, at: 0) }
        #expect(throws: error) { try file.write([2], at: 0) }
        #expect(throws: error) { try file.sync() }
        #expect(throws: error) { try file.size() }
        #expect(throws: error) { try file.truncate(to: 0) }
        #expect(throws: error) { try file.identity() }
        #expect(throws: error) { try disk.open("file", .readOnly) }
        #expect(throws: error) { try disk.rename("file", to: "b") }
        #expect(throws: error) { try disk.remove("file") }
        #expect(throws: error) { try disk.syncDirectory(of: "file") }
        #expect(throws: error) { try disk.createDirectory("file") }
        #expect(throws: error) { try disk.list("file") }
        #expect(throws: error) { try disk.status(of: "file") }
        #expect(throws: error) { try file.access() }
        #expect(throws: error) { try file.lock() }
        #expect(throws: error) { try file.handle(named: "b") }
        #expect(rebooted.contents(of: "file") == [1])
        #expect(try rebooted.open("file", .readWrite).readFully(9) == [1])
    }

    @Test func locksGoWithTheirProcess() throws {
        for isPowerFailure in [true, false] {
            let disk = SimulatedMedium()
            try disk.install([], at: "file")
            let lock = try disk.open("file", .readWrite).lock()
            let next = isPowerFailure ? disk.afterCrash() : disk.afterProcessDeath()
            let file = try next.open("file", .readWrite)
            let nextLock = try file.lock()
            withExtendedLifetime(lock) {}
            #expect(code { _ = try file.lock() } == .locked(holder: "another process"))
            withExtendedLifetime(nextLock) {}
        }
    }

    @Test func aKilledProcessLosesNothingUntilThePowerGoes() throws {
        let disk = SimulatedMedium()
        let file = try disk.open("file", .createNew)
        try file.writeFully([1, 2, 3])
        let next = disk.afterProcessDeath()
        #expect(code { _ = try file.size() } == dead)
        #expect(next.contents(of: "file") == [1, 2, 3])
        #expect(next.unsyncedChanges == disk.unsyncedChanges)
        #expect(next.crashed(seed: 0, .losesAll).contents(of: "file") == nil)
        try next.open("file", .readWrite).sync()
        try next.syncDirectory(of: "file")
        #expect(next.crashed(seed: 0, .losesAll).contents(of: "file") == [1, 2, 3])
    }

    @Test func thePowerGoesAtThePlannedChange() throws {
        for point in 1...6 {
            let disk = SimulatedMedium()
            disk.crash(atChange: point)
            var done = 0
            do {
                let file = try disk.open("file", .createNew)
                done += 1
                _ = try file.size()
                try file.writeFully([1])
                done += 1
                try file.sync()
                done += 1
                _ = try file.read(1, at: 0)
                try disk.syncDirectory(of: "file")
                done += 1
                try disk.rename("file", to: "b")
                done += 1
                try disk.remove("b")
                done += 1
            } catch {
                #expect(error.operation == "crashed")
            }
            #expect(done == point - 1)
            #expect(disk.hasCrashed)
            #expect(disk.counts.changes == point)
        }
    }

    @Test func whatThePowerFailureInterruptedMayHaveHappenedOrNot() throws {
        func outcomes(
            _ change: (any File, SimulatedMedium) throws -> Void, _ look: (SimulatedMedium) -> [UInt8]?
        ) throws -> Set<[UInt8]?> {
            let disk = SimulatedMedium()
            try disk.install([1], at: "file")
            let file = try disk.open("file", .readWrite)
            disk.crash(atChange: 1)
            #expect(code { try change(file, disk) } == dead)
            return Set((0..<100).map { look(disk.crashed(seed: $0)) })
        }
        #expect(
            try outcomes({ file, _ in try file.write([2], at: 0) }, { $0.contents(of: "file") }) == [
                [1], [2],
            ])
        #expect(
            try outcomes({ file, _ in try file.truncate(to: 0) }, { $0.contents(of: "file") }) == [[1], []])
        #expect(
            try outcomes({ _, disk in try disk.remove("file") }, { $0.contents(of: "file") }) == [[1], nil])
        #expect(
            try outcomes({ _, disk in try disk.rename("file", to: "b") }, { $0.contents(of: "b") }) == [
                [1], nil,
            ])
        #expect(
            try outcomes({ _, disk in _ = try disk.open("b", .createNew) }, { $0.contents(of: "b") }) == [
                [], nil,
            ])
    }

    @Test func aSyncThatIsInterruptedPromisesNothing() throws {
        let disk = SimulatedMedium()
        try disk.install([1], at: "file")
        let file = try disk.open("file", .readWrite)
        try file.writeFully([2])
        disk.crash(atChange: 2)
        #expect(code { try file.sync() } == dead)
        #expect(Set((0..<100).map { disk.crashed(seed: $0).contents(of: "file") }) == [[1], [2]])
    }

    @Test func tryingACrashLeavesTheDiskAsItWas() throws {
        let disk = SimulatedMedium(seed: 3)
        let file = try disk.open("file", .createNew)
        try file.writeFully([1, 2])
        let trace = disk.traceHash
        let tried = disk.crashed(seed: 9, .keepsAll)
        try tried.open("file", .readWrite).writeFully([7, 7, 7])
        #expect(!disk.hasCrashed && disk.traceHash == trace)
        #expect(try file.readFully(9) == [1, 2])
        try file.writeFully([5], at: 5)
        #expect(tried.contents(of: "file") == [7, 7, 7])
    }

    @Test func countsAndPlansStartAnewButCapacityStays() throws {
        let disk = SimulatedMedium()
        disk.faults.capacity = 4_096
        disk.faults.fail(nil, from: 3)
        disk.crash(atChange: 3)
        try disk.open("file", .createNew).writeFully([1])
        let rebooted = disk.afterCrash(.keepsAll)
        #expect(rebooted.counts == CallCounts())
        #expect(rebooted.unsyncedChanges == 0)
        let file = try rebooted.open("file", .readWrite)
        for _ in 0..<5 { try file.writeFully([1]) }
        #expect(code { try file.writeFully([1], at: 4_096) } == .noSpace)
    }

    @Test func crashingAgainAndAgainIsPossible() throws {
        var disk = SimulatedMedium(seed: 5)
        try disk.install([0], at: "file")
        for round in 1...50 {
            let file = try disk.open("file", .readWrite)
            try file.writeFully([UInt8(round)])
            try file.sync()
            try file.writeFully([255])
            disk = disk.afterCrash()
            #expect([[UInt8(round)], [255]].contains(disk.contents(of: "file")))
        }
    }
}

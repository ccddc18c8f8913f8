import RoostFile
import RoostSimulation
import Testing

struct FaultPlanTests {
    func diskWithFile(seed: UInt64 = 0, _ bytes: [UInt8] = []) throws -> (SimulatedMedium, any File) {
        let disk = SimulatedMedium(seed: seed)
        try disk.install(bytes, at: "file")
        return (disk, try disk.open("file", .readWrite))
    }

    @Test(arguments: CallKind.allCases)
    func anyCallCanFailAtItsNumber(_ kind: CallKind) throws {
        let (disk, file) = try diskWithFile(pattern(10))
        disk.faults.fail(kind, at: disk.counts[kind] + 2, with: .error(.permissionDenied))
        func call(_ round: Int) throws {
            switch kind {
            case .open: _ = try disk.open("file", .readOnly)
            case .create: _ = try disk.open("new \(round)", .createNew)
            case .read: _ = try file.read(1, at: 0)
            case .write: try file.write([1], at: 0)
            case .sync: try file.sync()
            case .size: _ = try file.size()
            case .truncate: try file.truncate(to: UInt64(round))
            case .identity: _ = try file.identity()
            case .rename: try disk.rename("file", to: "file")
            case .remove:
                try disk.install([], at: "old")
                try disk.remove("old")
            case .syncDirectory: try disk.syncDirectory(of: "file")
            case .createDirectory: try disk.createDirectory("directory \(round)")
            case .list: _ = try disk.list("/")
            case .status: _ = try disk.status(of: "file")
            case .lock: _ = try file.lock()
            }
        }
        #expect((1...3).map { round in code { try call(round) } } == [nil, .permissionDenied, nil])
    }

    @Test func plansCountAcrossKindsToo() throws {
        let (disk, file) = try diskWithFile()
        disk.faults.fail(nil, at: disk.counts.total + 2)
        try file.sync()
        #expect(code { _ = try file.size() } == .inputOutput)
        try file.sync()
    }

    @Test func plansCanFailAllThatFollows() throws {
        let (disk, file) = try diskWithFile()
        disk.faults.fail(.write, from: 2, with: .error(.noSpace))
        try file.write([1], at: 0)
        for _ in 0..<3 { #expect(code { try file.write([1], at: 0) } == .noSpace) }
        #expect(try file.read(1, at: 0) == [1])
        disk.faults = FaultPlan()
        try file.write([2], at: 0)
    }

    @Test func plansCanFailByChance() throws {
        let (disk, file) = try diskWithFile()
        disk.faults.fail(.sync, probability: 0.25, with: .error(.interrupted))
        let failures = (0..<1_000).count { _ in code { try file.sync() } == .interrupted }
        #expect((180..<320).contains(failures))
    }

    @Test func failedCallsDoNothing() throws {
        let (disk, file) = try diskWithFile(pattern(10))
        disk.faults.fail(nil, from: 1, with: .error(.interrupted))
        #expect(code { try file.write([9], at: 0) } == .interrupted)
        #expect(code { try file.truncate(to: 0) } == .interrupted)
        #expect(code { try disk.rename("file", to: "b") } == .interrupted)
        #expect(code { try disk.remove("file") } == .interrupted)
        #expect(code { try disk.createDirectory("b") } == .interrupted)
        #expect(disk.contents(of: "file") == pattern(10))
        #expect(disk.unsyncedChanges == 0)
    }

    @Test func aFailedWriteMayHaveWrittenAnyFirstPart() throws {
        var lengths: Set<Int> = []
        for seed in 0..<100 {
            let (disk, file) = try diskWithFile(seed: UInt64(seed))
            disk.faults.fail(.write, at: 1)
            #expect(throws: FileError(.inputOutput, operation: "write", path: "file", errno: 5)) {
                try file.write([1, 2, 3], at: 0)
            }
            let contents = try #require(disk.contents(of: "file"))
            #expect([1, 2, 3].starts(with: contents))
            lengths.insert(contents.count)
        }
        #expect(lengths == [0, 1, 2, 3])
    }

    @Test func interruptedAndShortTransfersAreFinishedByTheLoops() throws {
        let (disk, file) = try diskWithFile()
        disk.faults.fail(nil, probability: 0.3, with: .error(.interrupted))
        disk.faults.fail(nil, probability: 0.9, with: .short)
        for index in 0..<50 { try file.writeFully(pattern(100, salt: index), at: UInt64(index) * 100) }
        for index in 0..<50 {
            #expect(try file.readFully(100, at: UInt64(index) * 100) == pattern(100, salt: index))
        }
        #expect(disk.counts[.write] > 100 && disk.counts[.read] > 100)
        #expect(disk.counts.bytesWritten == 5_000 && disk.counts.bytesRead == 5_000)
    }

    @Test func shortTransfersMoveAtLeastOneByte() throws {
        let (disk, file) = try diskWithFile()
        disk.faults.fail(nil, from: 1, with: .short)
        let lengths = try (0..<100).map { _ in try file.write(pattern(4), at: 0) }
        #expect(Set(lengths) == [1, 2, 3])
        #expect(try file.write([1], at: 0) == 1)
        #expect(try file.write([], at: 0) == 0)
    }

    @Test func aFailedSyncForgetsWhatItDidNotWrite() throws {
        var outcomes: Set<[UInt8]?> = []
        for seed in 0..<50 {
            let (disk, file) = try diskWithFile(seed: UInt64(seed), [1])
            try file.writeFully([2])
            disk.faults.fail(.sync, at: 1)
            #expect(code { try file.sync() } == .inputOutput)
            #expect(disk.unsyncedChanges == 0)
            try file.sync()
            #expect(try file.readFully(1) == [2])
            outcomes.insert(disk.afterCrash(.keepsAll).contents(of: "file"))
        }
        #expect(outcomes == [[1], [2]])
    }

    @Test func aSyncThatWasInterruptedCanBeRepeated() throws {
        let (disk, file) = try diskWithFile([1])
        try file.writeFully([2])
        disk.faults.fail(.sync, at: 1, with: .error(.interrupted))
        #expect(code { try file.sync() } == .interrupted)
        #expect(disk.unsyncedChanges == 1)
        try file.sync()
        #expect(disk.afterCrash(.losesAll).contents(of: "file") == [2])
    }

    @Test func aFailedDirectorySyncForgetsWhatItDidNotWrite() throws {
        var outcomes: Set<[UInt8]?> = []
        for seed in 0..<50 {
            let disk = SimulatedMedium(seed: UInt64(seed))
            _ = try disk.open("file", .createNew)
            disk.faults.fail(.syncDirectory, at: 1)
            #expect(code { try disk.syncDirectory(of: "file") } == .inputOutput)
            try disk.syncDirectory(of: "file")
            #expect(disk.contents(of: "file") == [])
            outcomes.insert(disk.afterCrash(.keepsAll).contents(of: "file"))
        }
        #expect(outcomes == [nil, []])
    }

    @Test func aFailedSyncOfADirectoryDecidesAboutItsNamesAlone() throws {
        var outcomes: Set<String> = []
        for seed in 0..<50 as Range<UInt64> {
            let disk = SimulatedMedium(seed: seed)
            for directory in ["a", "a/in", "b"] { try disk.ensureDirectory(directory) }
            _ = try disk.open("a/in/1", .createNew)
            try disk.syncDirectory(of: "a/in/1")
            try disk.rename("a/in/1", to: "a/2")
            _ = try disk.open("b/3", .createNew)
            disk.faults.fail(.syncDirectory, at: disk.counts[.syncDirectory] + 1)
            #expect(code { try disk.syncDirectory(of: "a/2") } == .inputOutput)
            try disk.syncDirectory(of: "a/2")
            try disk.syncDirectory(of: "b/3")
            let crashed = disk.afterCrash(.losesAll)
            #expect(try crashed.list("b") == ["3"])
            outcomes.insert(try (crashed.list("a") + crashed.list("a/in")).sorted().joined(separator: " "))
        }
        // It may have one name, or both, and never none.
        #expect(outcomes == ["1 in", "2 in", "1 2 in"])
    }

    @Test func aDriveThatLiesAnswersSyncsWithoutThem() throws {
        let (disk, file) = try diskWithFile([1])
        disk.faults.fail(nil, from: 1, with: .ignored)
        try file.writeFully([2])
        try file.sync()
        _ = try disk.open("other", .createNew)
        try disk.syncDirectory(of: "other")
        let crashed = disk.afterCrash(.losesAll)
        #expect(crashed.contents(of: "file") == [1])
        #expect(crashed.contents(of: "other") == nil)
    }

    @Test func aFullDiskTakesWhatFits() throws {
        let (disk, file) = try diskWithFile()
        disk.faults.capacity = 3 * 4_096
        #expect(try file.write(pattern(20_000), at: 0) == 3 * 4_096)
        #expect(code { try file.write([1], at: 3 * 4_096) } == .noSpace)
        try file.write(pattern(4_096), at: 4_096)
        let other = try disk.open("other", .createNew)
        #expect(code { try other.write([1], at: 0) } == .noSpace)
        try file.truncate(to: 4_096)
        #expect(try other.write(pattern(9_000), at: 100) == 8_092)
        try disk.remove("file")
        #expect(code { try other.write([1], at: 1 << 30) } == .noSpace)
        withExtendedLifetime(file) {}
    }

    @Test func aRemovedFileFreesItsSpaceWithItsLastHandle() throws {
        let disk = SimulatedMedium()
        disk.faults.capacity = 4_096
        var file: (any File)? = try disk.open("file", .createNew)
        try file?.writeFully([1])
        try disk.remove("file")
        let other = try disk.open("other", .createNew)
        #expect(code { try other.write([1], at: 0) } == .noSpace)
        withExtendedLifetime(file) {}
        file = nil
        try other.writeFully([1])
    }

    @Test func countsTellCallsAndBytes() throws {
        let (disk, file) = try diskWithFile()
        let before = disk.counts
        try file.writeFully(pattern(300))
        try file.sync()
        _ = try file.readFully(500)
        let cost = disk.counts - before
        #expect(cost[.write] == 1 && cost[.sync] == 1 && cost[.read] == 2)
        #expect(cost.total == 4 && cost.changes == 2)
        #expect(cost.bytesWritten == 300 && cost.bytesRead == 300)
    }
}

import RoostFile
import RoostSimulation
import Testing

/// What a crash may do to names.
struct CrashOfNamesTests {
    /// What the listed files hold after each of 300 crashes; `nil` for those that are not there.
    func outcomes(_ disk: SimulatedMedium, _ names: String...) -> Set<[[UInt8]?]> {
        Set((0..<300).map { seed in names.map(disk.crashed(seed: seed).contents(of:)) })
    }

    func create(_ disk: SimulatedMedium, _ path: String, _ bytes: [UInt8]) throws {
        let file = try disk.open(path, .createNew)
        try file.writeFully(bytes)
        try file.sync()
    }

    @Test func aFileMayBeLostThoughItsContentsWereSynced() throws {
        let disk = SimulatedMedium()
        try create(disk, "file", [1])
        #expect(outcomes(disk, "file") == [[nil], [[1]]])
        try disk.syncDirectory(of: "file")
        #expect(outcomes(disk, "file") == [[[1]]])
    }

    @Test func aNameMayOutliveContentsThatWereNotSynced() throws {
        let disk = SimulatedMedium()
        try disk.open("file", .createNew).writeFully([1])
        try disk.syncDirectory(of: "file")
        let outcomes = outcomes(disk, "file")
        #expect(outcomes.isSuperset(of: [[[]], [[1]], [[0]]]))
        #expect(!outcomes.contains([nil]))
    }

    @Test func aRemovalMayBeLost() throws {
        let disk = SimulatedMedium()
        try disk.install([1], at: "file")
        try disk.remove("file")
        #expect(disk.contents(of: "file") == nil)
        #expect(outcomes(disk, "file") == [[nil], [[1]]])
        try disk.syncDirectory(of: "file")
        #expect(outcomes(disk, "file") == [[nil]])
    }

    @Test func aReplacedFileIsOldOrNewAndNeverGone() throws {
        let disk = SimulatedMedium()
        try disk.install([1], at: "data")
        try create(disk, "data.new", [2])
        try disk.syncDirectory(of: "data.new")
        try disk.rename("data.new", to: "data")
        #expect(outcomes(disk, "data", "data.new") == [[[1], [2]], [[2], nil], [[2], [2]]])
        try disk.syncDirectory(of: "data")
        #expect(outcomes(disk, "data", "data.new") == [[[2], nil]])
    }

    @Test func aRenamedFileWithoutASyncHasNoContents() throws {
        let disk = SimulatedMedium()
        try disk.install([1], at: "data")
        try disk.open("data.new", .createNew).writeFully([2])
        try disk.rename("data.new", to: "data")
        #expect(outcomes(disk, "data").isSuperset(of: [[[1]], [[2]], [[]]]))
    }

    @Test func changesOfNamesSurviveInAnyOrder() throws {
        let disk = SimulatedMedium()
        for name in ["a", "b", "c"] { try create(disk, name, [1]) }
        #expect(outcomes(disk, "a", "b", "c").count == 8)
    }

    @Test func aDirectorySyncCoversThatDirectoryOnly() throws {
        let disk = SimulatedMedium()
        try disk.createDirectory("a")
        try disk.syncDirectory(of: "a")
        try create(disk, "a/file", [1])
        try create(disk, "file", [2])
        try disk.syncDirectory(of: "file")
        #expect(outcomes(disk, "a/file", "file") == [[nil, [2]], [[1], [2]]])
        try disk.syncDirectory(of: "a/file")
        #expect(outcomes(disk, "a/file", "file") == [[[1], [2]]])
    }

    @Test func filesGoWithADirectoryThatIsLost() throws {
        let disk = SimulatedMedium()
        try disk.createDirectory("a")
        try create(disk, "a/file", [1])
        try disk.syncDirectory(of: "a/file")
        #expect(outcomes(disk, "a/file") == [[nil], [[1]]])
        let crashed = disk.crashed(seed: 0, .losesAll)
        #expect(try crashed.list("/") == [])
        try crashed.createDirectory("a")
        #expect(try crashed.list("a") == [])
    }

    @Test func aFileThatMovesToAnotherDirectoryIsNeverLost() throws {
        let disk = SimulatedMedium()
        for name in ["a", "b"] { try disk.createDirectory(name) }
        try create(disk, "a/file", [1])
        try disk.syncDirectory(of: "a/file")
        try disk.syncDirectory(of: "a")
        try disk.rename("a/file", to: "b/file")
        #expect(outcomes(disk, "a/file", "b/file") == [[[1], nil], [[1], [1]], [nil, [1]]])
        let other = disk.crashed(seed: 0, .keepsAll)
        try other.rename("b/file", to: "a/file")
        try other.syncDirectory(of: "b/file")
        #expect(outcomes(other, "a/file", "b/file") == [[[1], nil]])
        try disk.syncDirectory(of: "b/file")
        #expect(outcomes(disk, "a/file", "b/file") == [[[1], [1]], [nil, [1]]])
    }

    @Test func aRenamedDirectoryHasOneNameOrTheOther() throws {
        let disk = SimulatedMedium()
        for name in ["a", "b", "a/inner"] { try disk.createDirectory(name) }
        try create(disk, "a/inner/file", [1])
        for path in ["a", "a/inner", "a/inner/file"] { try disk.syncDirectory(of: path) }
        try disk.rename("a/inner", to: "b/inner")
        let both: Set<[[UInt8]?]> = [[[1], nil], [nil, [1]]]
        #expect(outcomes(disk, "a/inner/file", "b/inner/file") == both)
        try disk.syncDirectory(of: "b/inner")
        #expect(outcomes(disk, "a/inner/file", "b/inner/file") == [[nil, [1]]])
    }

    @Test func aRemovedFileThatComesBackHoldsWhatWasSynced() throws {
        let disk = SimulatedMedium()
        try disk.install([1], at: "file")
        let file = try disk.open("file", .readWrite)
        try disk.remove("file")
        try file.writeFully([2])
        try file.sync()
        #expect(outcomes(disk, "file") == [[nil], [[2]]])
    }

    @Test func installedFilesAreDurableWhateverWasBefore() throws {
        let disk = SimulatedMedium()
        try create(disk, "file", [1])
        try disk.install([2], at: "file")
        #expect(outcomes(disk, "file") == [[[2]]])
    }
}

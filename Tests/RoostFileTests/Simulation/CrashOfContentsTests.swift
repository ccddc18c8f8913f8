import RoostFile
import RoostSimulation
import Testing

/// What a crash may do to the bytes of a file whose name is durable, and what it may not.
struct CrashOfContentsTests {
    static let old = pattern(4_096, salt: 1)
    static let new = pattern(4_096, salt: 2)

    /// A disk with a durable file of `old`, and that file.
    func diskWithFile(
        seed: UInt64 = 0, tearing: Tearing = .sectors, _ bytes: [UInt8] = old
    ) throws -> (SimulatedMedium, any File) {
        let disk = SimulatedMedium(seed: seed, tearing: tearing)
        try disk.install(bytes, at: "file")
        return (disk, try disk.open("file", .readWrite))
    }

    /// What is left of the file after each of 300 crashes.
    func outcomes(_ disk: SimulatedMedium) -> [[UInt8]] {
        (0..<300).map { disk.crashed(seed: $0).contents(of: "file") ?? [] }
    }

    func sectors(_ bytes: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: 512).map { Array(bytes[$0..<min($0 + 512, bytes.count)]) }
    }

    @Test func syncedBytesAlwaysSurvive() throws {
        let (disk, file) = try diskWithFile()
        try file.writeFully(Self.new, at: 0)
        try file.writeFully(Self.old, at: 4_096)
        try file.truncate(to: 8_000)
        try file.sync()
        #expect(disk.unsyncedChanges == 0)
        let expected = Array((Self.new + Self.old)[..<8_000])
        #expect(outcomes(disk).allSatisfy { $0 == expected })
        #expect(disk.crashed(seed: 0, .losesAll).contents(of: "file") == expected)
    }

    @Test func anUnsyncedWriteMaySurviveVanishOrTear() throws {
        let (disk, file) = try diskWithFile()
        try file.writeFully(Self.new, at: 0)
        let outcomes = outcomes(disk)
        #expect(outcomes.contains(Self.new))
        #expect(outcomes.contains(Self.old))
        #expect(outcomes.contains { $0 != Self.new && $0 != Self.old })
    }

    @Test func sectorsAreTornFromEachOtherInAnyCombination() throws {
        let (disk, file) = try diskWithFile()
        try file.writeFully(Self.new, at: 0)
        var seen: [Set<Bool>] = Array(repeating: [], count: 8)
        var laterWithoutEarlier = false
        for outcome in outcomes(disk) {
            let isNew = zip(sectors(outcome), zip(sectors(Self.old), sectors(Self.new))).map {
                got, versions in
                #expect(got == versions.0 || got == versions.1)
                return got == versions.1
            }
            #expect(isNew.count == 8)
            for (index, value) in isNew.enumerated() { seen[index].insert(value) }
            laterWithoutEarlier = laterWithoutEarlier || (isNew[7] && !isNew[0])
        }
        #expect(seen.allSatisfy { $0.count == 2 })
        #expect(laterWithoutEarlier)
    }

    @Test func withinSectorsOnlyByteTearingMixes() throws {
        func isMixed(_ outcome: [UInt8]) -> Bool {
            zip(sectors(outcome), zip(sectors(Self.old), sectors(Self.new))).contains {
                $0 != $1.0 && $0 != $1.1
            }
        }
        let (disk, file) = try diskWithFile(tearing: .bytes)
        try file.writeFully(Self.new, at: 0)
        let outcomes = outcomes(disk)
        #expect(outcomes.contains(where: isMixed))
        for outcome in outcomes {
            #expect(outcome.count == 4_096)
            #expect(outcome.indices.allSatisfy { [Self.old[$0], Self.new[$0]].contains(outcome[$0]) })
        }
        let (plainDisk, plainFile) = try diskWithFile()
        try plainFile.writeFully(Self.new, at: 0)
        #expect(!self.outcomes(plainDisk).contains(where: isMixed))
    }

    @Test func writesSurviveInAnyOrder() throws {
        let (disk, file) = try diskWithFile([0, 0, 0])
        for index in 0..<3 { try file.writeFully([1], at: UInt64(index)) }
        #expect(Set(outcomes(disk)).count == 8)
    }

    @Test func bytesNextToAWriteAreNeverTouched() throws {
        let (disk, file) = try diskWithFile(tearing: .bytes)
        try file.writeFully([0, 0, 0], at: 1_000)
        for outcome in outcomes(disk) {
            #expect(outcome[..<1_000] == Self.old[..<1_000])
            #expect(outcome[1_003...] == Self.old[1_003...])
        }
    }

    @Test func growthMayBeLostKeptOrKeptWithoutTheBytes() throws {
        let (disk, file) = try diskWithFile()
        try file.writeFully(Self.new, at: 4_096)
        let outcomes = outcomes(disk)
        #expect(outcomes.allSatisfy { $0.count == 4_096 || $0.count == 8_192 })
        #expect(outcomes.allSatisfy { $0.starts(with: Self.old) })
        #expect(outcomes.contains(Self.old))
        #expect(outcomes.contains(Self.old + Self.new))
        #expect(outcomes.contains(Self.old + [UInt8](repeating: 0, count: 4_096)))
    }

    @Test func newSpaceMayShowWhatWasThereBefore() throws {
        let (disk, file) = try diskWithFile()
        try file.writeFully(Self.new, at: 4_096)
        let zeros = [UInt8](repeating: 0, count: 512)
        let strange = outcomes(disk).contains { outcome in
            zip(sectors(Array(outcome.dropFirst(4_096))), sectors(Self.new)).contains {
                $0 != $1 && $0 != zeros
            }
        }
        #expect(strange)
    }

    @Test func truncationMayBeLost() throws {
        let (disk, file) = try diskWithFile()
        try file.truncate(to: 100)
        #expect(try file.size() == 100)
        #expect(Set(outcomes(disk)) == [Self.old, Array(Self.old[..<100])])
        try file.sync()
        #expect(Set(outcomes(disk)) == [Array(Self.old[..<100])])
    }

    @Test func truncationThatSurvivesLeavesZerosBehind() throws {
        let (disk, file) = try diskWithFile()
        try file.truncate(to: 100)
        try file.truncate(to: 4_096)
        let cut = Array(Self.old[..<100])
        let zeroed = cut + [UInt8](repeating: 0, count: 3_996)
        #expect(Set(outcomes(disk)) == [Self.old, cut, zeroed])
        try file.sync()
        #expect(Set(outcomes(disk)) == [zeroed])
    }

    @Test func aSyncOfOneFileSaysNothingOfAnother() throws {
        let (disk, file) = try diskWithFile()
        try disk.install([1], at: "other")
        try file.writeFully(Self.new, at: 0)
        try disk.open("other", .readWrite).sync()
        #expect(disk.crashed(seed: 0, .losesAll).contents(of: "file") == Self.old)
    }

    @Test func aSyncCoversWritesThroughOtherHandles() throws {
        let (disk, file) = try diskWithFile()
        try disk.open("file", .readWrite).writeFully(Self.new, at: 0)
        try file.sync()
        #expect(disk.crashed(seed: 0, .losesAll).contents(of: "file") == Self.new)
    }

    @Test func fatesOtherThanRandomAreTotal() throws {
        let (disk, file) = try diskWithFile()
        try file.writeFully(Self.new, at: 4_096)
        #expect(disk.crashed(seed: 1, .losesAll).contents(of: "file") == Self.old)
        #expect(disk.crashed(seed: 1, .keepsAll).contents(of: "file") == Self.old + Self.new)
    }

    /// Runs random writes, truncations and syncs beside a plain array, and crashes losing all at the end.
    @Test(arguments: 0..<16) func theLastSyncIsWhatRemains(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let (disk, file) = try diskWithFile()
        var model = Self.old
        var synced = model
        for round in 0..<120 {
            switch generator.next(below: 8) {
            case 0:
                try file.sync()
                synced = model
            case 1:
                let size = generator.next(below: 20_000)
                try file.truncate(to: UInt64(size))
                model = Array(model.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - model.count))
            default:
                let offset = generator.next(below: 20_000)
                let bytes = pattern(1 + generator.next(below: 9_000), salt: round)
                try file.writeFully(bytes, at: UInt64(offset))
                let end = offset + bytes.count
                if model.count < end { model += [UInt8](repeating: 0, count: end - model.count) }
                model.replaceSubrange(offset..<end, with: bytes)
            }
            #expect(try file.readFully(40_000) == model)
        }
        #expect(disk.crashed(seed: 0, .losesAll).contents(of: "file") == synced)
        #expect(disk.crashed(seed: 0, .keepsAll).contents(of: "file") == model)
    }
}

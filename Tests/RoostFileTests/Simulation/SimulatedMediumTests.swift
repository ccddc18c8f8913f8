import RoostFile
import RoostSimulation
import Testing

struct SimulatedMediumTests {
    @Test func damageIsOnTheMediumAndInTheCache() throws {
        let disk = SimulatedMedium()
        try disk.install(pattern(5_000), at: "file")
        let file = try disk.open("file", .readWrite)
        disk.flip("file", at: 4_100, mask: 0x10)
        disk.flip("file", at: 5_000)
        disk.flip("none", at: 0)
        var expected = pattern(5_000)
        expected[4_100] ^= 0x10
        #expect(try file.readFully(9_000) == expected)
        disk.cut("file", to: 4_200)
        disk.cut("file", to: 4_500)
        #expect(try file.readFully(9_000) == Array(expected[..<4_200]))
        #expect(disk.crashed(seed: 0, .losesAll).contents(of: "file") == Array(expected[..<4_200]))
    }

    @Test func inspectionIsNotCounted() throws {
        let disk = SimulatedMedium()
        try disk.install([1], at: "file")
        _ = disk.contents(of: "file")
        disk.flip("file", at: 0)
        _ = disk.unsyncedChanges
        #expect(disk.counts.total == 0)
    }

    @Test func installingNeedsTheDirectory() {
        #expect(code { try SimulatedMedium().install([], at: "a/file") } == .notFound)
        #expect(code { try SimulatedMedium().install([], at: "/") } == .other)
    }

    @Test func pathsMeetAtTheRoot() throws {
        let disk = SimulatedMedium()
        try disk.install([1], at: "/a")
        #expect(disk.contents(of: "./a") == [1])
        #expect(disk.contents(of: "a") == [1])
        #expect(try disk.status(of: "/")?.kind == .directory)
    }

    @Test func listingsComeInNoParticularOrder() throws {
        let disk = SimulatedMedium()
        for index in 0..<10 { try disk.install([], at: "\(index)") }
        #expect(try Set((0..<20).map { _ in try disk.list("/") }).count > 1)
    }

    @Test func hugeHolesCostNothing() throws {
        let disk = SimulatedMedium()
        let file = try disk.open("file", .createNew)
        try file.writeFully([1], at: 1 << 50)
        try file.truncate(to: 1 << 60)
        try file.sync()
        #expect(try file.size() == 1 << 60)
        #expect(try file.readFully(3, at: 1 << 50 - 1) == [0, 1, 0])
        #expect(try disk.crashed(seed: 1, .keepsAll).open("file", .readOnly).size() == 1 << 60)
    }

    @Test func threadsShareTheDisk() async throws {
        let disk = SimulatedMedium()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    let file = try disk.open("file \(thread)", .createNew)
                    for round in 0..<100 {
                        try file.writeFully(pattern(700, salt: round), at: UInt64(round) * 512)
                        if round % 10 == 0 { try file.sync() }
                    }
                    try file.sync()
                    try disk.syncDirectory(of: file.path)
                }
            }
            try await group.waitForAll()
        }
        #expect(disk.counts[.write] == 800)
        let crashed = disk.afterCrash(.losesAll)
        #expect(try crashed.list("/").count == 8)
        for thread in 0..<8 { #expect(crashed.contents(of: "file \(thread)")?.count == 99 * 512 + 700) }
    }

    @Test func manyFilesComeAndGo() throws {
        let disk = SimulatedMedium()
        for round in 0..<3_000 {
            let file = try disk.open("file", .createNew)
            try file.writeFully([UInt8(round % 256)])
            try disk.rename("file", to: "kept")
            if round % 100 == 0 { try disk.syncDirectory(of: "kept") }
        }
        #expect(disk.contents(of: "kept") == [UInt8(2_999 % 256)])
    }
}

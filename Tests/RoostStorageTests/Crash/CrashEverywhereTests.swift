import RoostCampaign
import RoostSimulation
import Testing

@testable import RoostStorage

/// A small history crashed at each of its changes of the medium, with many outcomes each.
@Suite struct CrashEverywhereTests {
    private static let commits = 24

    /// Creation, commits with checkpoints among them, a close, a compaction and a reopening; counts acknowledged ones.
    private func run(_ bench: CrashBench, on disk: SimulatedMedium, _ acknowledged: inout Int) throws {
        var store = try bench.open(disk)
        for number in 1...Self.commits {
            try bench.commit(number, to: store)
            acknowledged = number
            if number == 10 {
                try store.close()
                store = try bench.open(disk)
            }
            if number == 16 { try store.compact() }
        }
        try store.close()
    }

    /// Opens the disk and verifies it; returns how many commits are there.
    private func recover(_ bench: CrashBench, _ disk: SimulatedMedium) throws -> Int {
        let store = try bench.open(disk)
        let shown = try #require(try bench.commitsShown(by: store))
        #expect(try store.check().findings.filter { $0.severity > .notice } == [])
        return shown
    }

    @Test(arguments: [1, 2] as [UInt64], [Tearing.sectors, .bytes])
    func everyChangeMayBeTheLast(seed: UInt64, tearing: Tearing) throws {
        let bench = CrashBench(seed: seed, commits: Self.commits, largestValue: 5_000)
        var point = 0
        while true {
            point += 1
            let disk = SimulatedMedium(seed: seed &+ UInt64(point), tearing: tearing)
            disk.crash(atChange: point)
            var acknowledged = 0
            try? run(bench, on: disk, &acknowledged)
            guard disk.hasCrashed else { break }
            for outcome in 0..<8 as Range<UInt64> {
                let fate: CrashFate = outcome == 0 ? .losesAll : outcome == 1 ? .keepsAll : .random
                let crashed = disk.crashed(seed: outcome, fate)
                let shown = try recover(bench, crashed)
                #expect(acknowledged...acknowledged + 1 ~= shown, "crash \(point), outcome \(outcome)")
                // What recovery showed has to be there after the next power failure too.
                if outcome % 2 == 0 {
                    #expect(try recover(bench, crashed.crashed(seed: outcome, .losesAll)) == shown)
                }
            }
        }
        #expect(point > 2 * Self.commits)
    }

    @Test(arguments: [5, 6] as [UInt64])
    func everyChangeOfARecoveryMayBeTheLast(seed: UInt64) throws {
        let bench = CrashBench(seed: seed, commits: Self.commits, largestValue: 5_000)
        for point in stride(from: 5, to: 90, by: 3) {
            let disk = SimulatedMedium(seed: seed &+ UInt64(point), tearing: .bytes)
            disk.crash(atChange: point)
            var acknowledged = 0
            try? run(bench, on: disk, &acknowledged)
            for change in 1...6 {
                let again = disk.crashed(seed: UInt64(change))
                again.crash(atChange: change)
                _ = try? bench.open(again)
                let shown = try recover(bench, again.afterCrash())
                #expect(acknowledged...min(acknowledged + 1, Self.commits) ~= shown)
            }
        }
    }

    @Test func relaxedCommitsAreLostFromTheEndOnly() throws {
        var bench = CrashBench(seed: 9, commits: 60, largestValue: 2_000)
        bench.options.durability = .relaxed(interval: 1e9)
        let disk = SimulatedMedium(seed: 9, tearing: .bytes)
        let store = try bench.open(disk)
        var synced = 0
        var seen: Set<Int> = []
        for number in 1...60 {
            try bench.commit(number, to: store)
            if number % 13 == 0 {
                try store.sync()
                synced = number
            }
            for outcome in 0..<8 as Range<UInt64> {
                let shown = try recover(bench, disk.crashed(seed: outcome &+ UInt64(number) << 8))
                #expect(synced...number ~= shown)
                seen.insert(number - shown)
            }
        }
        #expect(seen.count > 3)
    }
}

import RoostCampaign
import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// The end of a process, of a handle, of a creation: what the next opening finds, and may build on.
@Suite struct ReopeningTests {
    private let bench = CrashBench(seed: 8, commits: 30, largestValue: 2_000)

    @Test func aTornCreationLeavesNoStoreOrAnEmptyOne() throws {
        for point in 1...8 {
            for outcome in 0..<30 as Range<UInt64> {
                let disk = SimulatedMedium(seed: outcome, tearing: .bytes)
                disk.crash(atChange: point)
                _ = try? bench.open(disk)
                let rebooted = disk.afterCrash()
                #expect(try bench.commitsShown(by: try bench.open(rebooted)) == 0)
            }
        }
    }

    /// A killed process leaves commits in the system's cache; what is built on them must not outlive them.
    @Test func whatAKilledProcessWroteIsSyncedBeforeMoreIsBuiltOnIt() throws {
        for point in 4...30 {
            let disk = SimulatedMedium(seed: UInt64(point))
            disk.crash(atChange: point)
            if let store = try? bench.open(disk) {
                for number in 1...30 { guard (try? bench.commit(number, to: store)) != nil else { break } }
            }
            let revived = disk.afterProcessDeath()
            let store = try bench.open(revived)
            let shown = try #require(try bench.commitsShown(by: store))
            for outcome in 0..<8 as Range<UInt64> {
                #expect(try bench.commitsShown(by: try bench.open(revived.crashed(seed: outcome))) == shown)
            }
            revived.crash(atChange: revived.counts.changes + 1)
            _ = try? bench.commit(shown + 1, to: store)
            for outcome in 0..<20 as Range<UInt64> {
                let next = try #require(
                    try bench.commitsShown(by: try bench.open(revived.crashed(seed: outcome))))
                #expect(shown...shown + 1 ~= next, "crash \(point), outcome \(outcome)")
            }
        }
    }

    /// A process is killed before the name of the file that it makes is durable, and the next one amid its first commit.
    @Test func whatOpeningShowsCanBeFoundAfterAPowerFailure() throws {
        var shownCommits = 0
        for creation in 1...10 {
            for commit in 1...6 {
                let first = SimulatedMedium()
                first.crash(atChange: creation)
                _ = try? bench.open(first)
                let second = first.afterProcessDeath()
                second.crash(atChange: commit)
                if let store = try? bench.open(second) { try? bench.commit(1, to: store) }
                let third = second.afterProcessDeath()
                let shown = try #require(try bench.commitsShown(by: try bench.open(third)))
                let found = try bench.commitsShown(by: try bench.open(third.afterCrash(.losesAll)))
                #expect(found == shown, "killed at changes \(creation) and \(commit)")
                shownCommits += shown
            }
        }
        #expect(shownCommits > 0)
    }

    @Test func asLongAsAWriterIsOpenNoOtherGetsIn() throws {
        let disk = SimulatedMedium()
        let first = try bench.open(disk)
        #expect {
            _ = try bench.open(disk)
        } throws: { error in
            guard let error = error as? StoreError else { return false }
            return error.code == .locked && error.message.contains("another process")
        }
        try first.close()
        _ = try bench.open(disk)
    }

    @Test func readersNeedNoLock() throws {
        let disk = SimulatedMedium()
        let store = try bench.open(disk)
        try bench.commit(1, to: store)
        var reading = bench
        reading.options.isReadOnly = true
        let reader = try reading.open(disk)
        #expect(try reading.commitsShown(by: reader) == 1)
        #expect {
            try bench.commit(2, to: reader)
        } throws: { ($0 as? StoreError)?.code == .readOnly }
    }

    /// However much of the log opening replays, and whatever it makes of that.
    @Test(arguments: [true, false]) func openingAndClosingWithoutAChangeWritesNothing(closes: Bool) throws {
        var bench = bench
        bench.options.pendingLimit = 1 << 20
        bench.options.logLimit = 1 << 20
        let disk = SimulatedMedium()
        let first = try bench.open(disk)
        for number in 1...30 { try bench.commit(number, to: first) }
        let end = first.state.record.end
        if closes { try first.close() }
        let revived = disk.afterProcessDeath()
        // A killed process leaves space that it had prepared, which is cut off once.
        let before = try #require(revived.contents(of: "store"))
        let kept = closes ? before : Array(before.prefix(Int(end)))
        for _ in 0..<3 {
            let store = try bench.open(revived)
            #expect(try bench.commitsShown(by: store) == 30)
            try store.write { _ in }
            try store.close()
            #expect(revived.contents(of: "store") == kept)
        }
    }

    /// What opening made of the log gets into the file with the first commit, whether or not transactions were given up before.
    @Test func whatOpeningMadeOfTheLogIsThereAfterTheNextCommit() throws {
        var bench = bench
        bench.options.pendingLimit = 1 << 20
        bench.options.logLimit = 1 << 20
        let disk = SimulatedMedium()
        var store = try bench.open(disk)
        for number in 1...20 { try bench.commit(number, to: store) }
        try store.close()
        store = try bench.open(disk)
        let old = store.snapshot()
        try store.beginWriting().rollback()
        for number in 21...30 { try bench.commit(number, to: store) }
        #expect(try bench.commitsShown(by: store) == 30)
        #expect(try Contents.read(old)[bench.work.name] == bench.models[20])
        #expect(try store.check().findings == [])
        #expect(try bench.commitsShown(by: try bench.open(disk.afterCrash(.losesAll))) == 30)
    }

    /// A large transaction is written ahead in parts, which it must be able to read like the rest.
    @Test func aTransactionReadsWhatItHasWrittenAhead() throws {
        let disk = SimulatedMedium()
        let store = try bench.open(disk)
        let transaction = try store.beginWriting()
        let tree = try transaction.tree("large")
        for number in 0..<40 as Range<UInt64> {
            try transaction.put(Key(number), [UInt8](repeating: UInt8(number), count: 300_001), in: tree)
        }
        for number in 0..<40 as Range<UInt64> {
            let value = try transaction[tree].value(Key(number))
            #expect(value == [UInt8](repeating: UInt8(number), count: 300_001))
        }
        try transaction.commit()
        let found = try bench.open(disk.afterCrash(.losesAll)).snapshot()
        #expect(try Contents.read(found)["large"].count == 40)
    }
}

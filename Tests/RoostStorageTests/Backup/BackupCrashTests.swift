import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// A power failure at any moment of a backup leaves the earlier backup, or the new one.
@Suite struct BackupCrashTests {
    private var options: StoreOptions {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.compactsAutomatically = false
        options.inlineLimit = 16
        options.cacheSize = 1 << 16
        return options
    }

    private func fill(_ store: Store, _ range: Range<Int>) throws {
        let tree = try store.tree("tree")
        for number in range {
            try store.write {
                try $0.put(Key(UInt64(number % 17)), [UInt8](repeating: UInt8(number), count: 40), in: tree)
            }
        }
    }

    private func contents(_ path: String, _ environment: Environment) throws -> [String: Model]? {
        guard try environment.medium.status(of: path) != nil else { return nil }
        var options = options
        options.isReadOnly = true
        return try Store.open(path, options: options, environment: environment).snapshot().contents()
    }

    /// Prepares a store with an earlier backup and some commits since, all on the medium.
    private func prepared(_ seed: UInt64, hasEarlier: Bool) throws -> (Simulation, old: [String: Model]?) {
        let simulation = Simulation(seed: seed)
        let store = try Store.open("store", options: options, environment: simulation.environment)
        try fill(store, 0..<20)
        if hasEarlier { try store.backup(to: "backup") }
        let old = hasEarlier ? try store.snapshot().contents() : nil
        try fill(store, 20..<32)
        return (simulation, old)
    }

    /// A name whose sync failed is not made durable by a later sync, so going on with the file under it is not enough.
    @Test(arguments: 1...12)
    func aBackupAfterAFailedSyncOfTheDirectoryIsThere(seed: Int) throws {
        let (simulation, old) = try prepared(UInt64(seed), hasEarlier: true)
        let disk = simulation.disk
        let store = try Store.open("store", options: options, environment: simulation.environment)
        // Another file under the store's name, so that the next backup cannot go on with the earlier one.
        try store.compact()
        disk.faults.fail(.syncDirectory, at: disk.counts[.syncDirectory] + 1)
        #expect(throws: StoreError.self) { try store.backup(to: "backup") }
        disk.faults = FaultPlan()
        try fill(store, 32..<40)
        let new = try store.snapshot().contents()
        try store.backup(to: "backup")
        #expect(new != old)
        disk.crash()
        #expect(try contents("backup", simulation.afterCrash().environment) == new)
    }

    /// A crash amid the renaming may leave a new backup under its temporary name, too, which is in nobody's way.
    @Test func aBackupUnderTwoNamesIsReplaced() throws {
        var twice = 0
        for seed in 1...20 {
            let (simulation, _) = try prepared(UInt64(seed), hasEarlier: false)
            let store = try Store.open("store", options: options, environment: simulation.environment)
            simulation.disk.faults.fail(.syncDirectory, at: simulation.disk.counts[.syncDirectory] + 1)
            #expect(throws: StoreError.self) { try store.backup(to: "backup") }
            let after = simulation.afterCrash()
            guard after.disk.contents(of: "backup.new") != nil, after.disk.contents(of: "backup") != nil
            else {
                continue
            }
            twice += 1
            let again = try Store.open("store", options: options, environment: after.environment)
            // Another file under the store's name, so that the next backup cannot go on with the earlier one.
            try again.compact()
            try again.backup(to: "backup")
            #expect(try contents("backup", after.environment) == again.snapshot().contents())
            #expect(after.disk.contents(of: "backup.new") == nil)
        }
        #expect(twice > 0)
    }

    @Test(arguments: [false, true], 1...4)
    func everyCrashLeavesOldOrNew(hasEarlier: Bool, seed: Int) throws {
        var crashes = 0
        for number in 1... {
            let (simulation, old) = try prepared(UInt64(seed * 1000 + number), hasEarlier: hasEarlier)
            let store = try Store.open(
                "store", options: readOnly, environment: simulation.environment)
            let new = try store.snapshot().contents()
            simulation.disk.crash(atChange: simulation.disk.counts.changes + number)
            let isComplete = (try? store.backup(to: "backup")) != nil
            guard simulation.disk.hasCrashed else { break }
            crashes += 1
            let rebooted = simulation.afterCrash()
            let found = try contents("backup", rebooted.environment)
            #expect(found == new || found == old && !isComplete, "crash at change \(number)")
            if found != nil {
                let report = try Store.check("backup", options: options, environment: rebooted.environment)
                #expect(report.isClean, "crash at change \(number): \(report.findings)")
            }
            let again = try Store.open("store", options: readOnly, environment: rebooted.environment)
            let report = try again.backup(to: "backup")
            #expect(report.isIncremental == (found != nil))
            #expect(try contents("backup", rebooted.environment) == new)
        }
        #expect(crashes > (hasEarlier ? 12 : 5))
    }

    private var readOnly: StoreOptions {
        var options = options
        options.isReadOnly = true
        return options
    }
}

import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// Compaction on a disk that loses power at each change, and on one whose calls fail.
@Suite struct CompactionCrashTests {
    /// A store on a simulated disk with a history behind it, ready to be compacted.
    private struct Scene {
        let simulation: Simulation
        var history: DocumentHistory
        let store: Store
        let options: StoreOptions

        init(seed: UInt64, commits: Int = 12) throws {
            simulation = Simulation(seed: seed)
            history = DocumentHistory(seed: seed)
            var options = DocumentHistory.options(seed: seed)
            options.durability = .full
            self.options = options
            store = try Store.open("store", options: options, environment: simulation.environment)
            for _ in 0..<commits { try history.commit(to: store, scale: 10) }
        }

        /// Compacts, while others commit or not, and commits afterwards; returns what the store may hold if power goes: what was acknowledged, and
        /// the commit that was on its way.
        mutating func compact(besideCommits: Bool) throws -> [DocumentHistory.Content] {
            var history = history
            let store = store
            var possible = [history.content]
            var commits = 0
            func commit() throws {
                var attempt = history
                defer { possible = [history.content, attempt.content] }
                try attempt.commitKeepingContent(to: store)
                history = attempt
            }
            do {
                try store.compact { _ in
                    commits += 1
                    return !besideCommits || commits > 3 || (try? commit()) != nil
                }
                for _ in 0..<2 { try commit() }
            } catch {
                guard simulation.disk.hasCrashed else { throw error }
            }
            self.history = history
            return simulation.disk.hasCrashed ? possible : [history.content]
        }
    }

    @Test(arguments: 1...4)
    func everyChangeCanBeTheLast(seed: UInt64) throws {
        var point = 0
        var crashed = true
        while crashed {
            var scene = try Scene(seed: seed)
            point += 1
            scene.simulation.disk.crash(atChange: scene.simulation.disk.counts.changes + point)
            let possible = try scene.compact(besideCommits: seed % 2 == 0)
            crashed = scene.simulation.disk.hasCrashed
            for fate in [CrashFate.random, .losesAll, .keepsAll] {
                let disk = scene.simulation.disk.crashed(seed: seed &+ UInt64(point), fate)
                try check(disk, scene, possible, "seed \(seed), change \(point), \(fate)")
            }
        }
        #expect(point > 10)
    }

    /// The process dies in the midst of a compaction, and the power fails once another has opened the store.
    @Test(arguments: 1...4)
    func whatIsOpenedAfterADeathIsDurableWithoutSyncs(seed: UInt64) throws {
        var point = 0
        var crashed = true
        while crashed {
            point += 1
            let simulation = Simulation(seed: seed)
            var history = DocumentHistory(seed: seed)
            var options = DocumentHistory.options(seed: seed)
            options.durability = .unsynced
            let store = try Store.open("store", options: options, environment: simulation.environment)
            for _ in 0..<12 { try history.commit(to: store, scale: 10) }
            simulation.disk.crash(atChange: simulation.disk.counts.changes + point)
            _ = try? store.compact()
            crashed = simulation.disk.hasCrashed
            var next = simulation
            next.disk.crash()
            next = next.afterProcessDeath()
            let opened = try Store.open("store", options: options, environment: next.environment)
            try history.content.check(opened.snapshot(), "seed \(seed), change \(point)")
            for outcome in 0..<8 as Range<UInt64> {
                let again = try Store.open(
                    "store", options: options, environment: next.crashed(seed: outcome).environment)
                try history.content.check(
                    again.snapshot(), "seed \(seed), change \(point), outcome \(outcome)")
            }
        }
        #expect(point > 10)
    }

    private func check(
        _ disk: SimulatedMedium, _ scene: Scene, _ possible: [DocumentHistory.Content], _ comment: Comment
    ) throws {
        var environment = scene.simulation.environment
        environment.medium = disk
        let store = try Store.open("store", options: scene.options, environment: environment)
        let matching = possible.first { (try? $0.equals(store.snapshot())) == true }
        let content = try #require(matching, comment)
        try content.check(store.snapshot(), comment)
        #expect(try disk.list("/") == ["store"], comment)
        var history = scene.history
        history.replaceContent(content)
        try history.commit(to: store, scale: 5)
        try store.compact()
        try history.content.check(store.snapshot(), comment)
    }

    @Test(arguments: [CallKind.write, .sync, .create, .rename, .read, .status], [1, 3] as [UInt64])
    func aFailedCallLeavesTheStoreAsItWas(kind: CallKind, seed: UInt64) throws {
        for code in [FileError.Code.inputOutput, .noSpace] where code == .inputOutput || kind == .write {
            var number = 0
            var failed = true
            while failed, number < 60 {
                var scene = try Scene(seed: seed)
                number += 1
                scene.simulation.disk.faults.fail(
                    kind, at: scene.simulation.disk.counts[kind] + number, with: .error(code))
                failed = false
                do { try scene.store.compact() } catch {
                    failed = true
                    #expect(error.code != .writerFailed, "\(kind) \(number)")
                }
                scene.simulation.disk.faults = FaultPlan()
                let comment: Comment = "\(kind) \(number), seed \(seed), \(code)"
                try scene.history.content.check(scene.store.snapshot(), comment)
                try scene.history.commit(to: scene.store, scale: 5)
                try scene.store.compact()
                try scene.history.content.check(scene.store.snapshot(), comment)
                try scene.store.close()
                let store = try Store.open(
                    "store", options: scene.options, environment: scene.simulation.environment)
                try scene.history.content.check(store.snapshot(), comment)
            }
            #expect(number > 1, "no call of kind \(kind) failed")
        }
    }

    @Test(arguments: 1...3)
    func aSwapThatCouldNotBeSyncedTakesNoCommitsUntilReopened(seed: UInt64) throws {
        var scene = try Scene(seed: seed)
        let disk = scene.simulation.disk
        disk.faults.fail(.syncDirectory, at: disk.counts[.syncDirectory] + 1)
        let refusal = #expect(throws: StoreError.self) { try scene.store.compact() }
        #expect(refusal?.code == .writerFailed)
        try scene.history.content.check(scene.store.snapshot())
        var attempt = scene.history
        #expect(throws: StoreError.self) { try attempt.commit(to: scene.store) }
        try? scene.store.close()

        let store = try Store.open("store", options: scene.options, environment: scene.simulation.environment)
        try scene.history.content.check(store.snapshot())
        try scene.history.commit(to: store)
        for fate in [CrashFate.losesAll, .random, .keepsAll] {
            var environment = scene.simulation.environment
            environment.medium = disk.crashed(seed: seed, fate)
            let rebooted = try Store.open("store", options: scene.options, environment: environment)
            try scene.history.content.check(rebooted.snapshot(), "\(fate)")
        }
    }
}

extension DocumentHistory {
    /// As ``commit(to:scale:)``, but the content stays changed when the commit fails.
    mutating func commitKeepingContent(to store: Store) throws {
        let transaction = try store.beginWriting()
        do {
            try change(transaction)
            try transaction.commit()
        } catch {
            transaction.rollback()
            throw error
        }
    }
}

extension DocumentHistory.Content {
    /// Whether `snapshot` holds the same documents and plain trees.
    func equals(_ snapshot: Snapshot) throws -> Bool {
        var found = DocumentHistory.Content()
        for name in snapshot.treeNames {
            guard let tree = snapshot.tree(name) else { continue }
            let cursor = try snapshot[tree].cursor()
            if name != "ids", name != "sequence" { found.plain[name] = Model() }
            while try cursor.next() {
                switch name {
                case "ids":
                    found.documents[cursor.key] = DocumentHistory.Document(
                        body: try cursor.value(), sequence: Key(cursor.inline.array))
                case "sequence": found.sequence[cursor.key] = Key(cursor.inline.array)
                default: found.plain[name]?.put(cursor.key, try cursor.value())
                }
            }
        }
        return found == self
    }
}

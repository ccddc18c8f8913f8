import Roost
import RoostCampaign
import RoostFile
import RoostSimulation
import RoostStorage

/// One seed's run: a database whose documents name blobs, on a simulated disk, through crashes, deaths of the process, failing
/// calls, compactions that remove blobs, backups and changes of the key.
///
/// After whatever happened the documents are those of a commit that was possible, and every blob that one of them names is there,
/// whole. So it is with the backup.
package final class BlobCampaign {
    static let path = "album"
    static let backupPath = "copy"
    private static let lives = 5
    private static let steps = 14

    private let seed: UInt64
    private let log: ((String) -> Void)?
    var simulation: Simulation
    var generator: SeededGenerator
    var statistics = CampaignStatistics()
    /// The content of every blob that was ever stored, by its digest.
    var contents: [String: [UInt8]] = [:]
    /// Handles of blobs, with the number of the life and the time when each was stored last.
    var handles: [(blob: Blob, life: Int, time: UInt64)] = []
    var states = PossibleStates(BlobModel())
    /// What the backup may hold; `nil` while none was begun.
    var backup: PossibleStates<BlobModel>?
    var hasBackup = false
    /// The numbers of the keys that may open the database: one, but where a change of the key was cut off.
    var keys: [Int]
    /// The numbers of the keys that may open the backup.
    var backupKeys: [Int] = []
    let durability: StoreOptions.Durability
    /// Whether there are keys, which change. They are random, so runs of such a seed differ in the bytes, and in the names of
    /// blobs, on the disk.
    package let isEncrypted: Bool
    var snapshots: [(snapshot: CollectionSnapshot, model: BlobModel)] = []
    /// Whether calls may fail in the present life.
    var isTroubled = false
    /// Whether power failures are looked at between calls.
    var isWatched = false
    var found: CampaignFinding?
    private(set) var life = 0

    /// - Parameter log: is told every step.
    package init(seed: UInt64, log: ((String) -> Void)? = nil) {
        self.seed = seed
        self.log = log
        simulation = Simulation(seed: seed)
        generator = simulation.choices(stream: 60)
        durability = generator.chance(0.3) ? .unsynced : .full
        isEncrypted = generator.chance(0.4)
        keys = [isEncrypted ? 1 : 0]
    }

    /// One of the keys; number 0 is none.
    static func key(_ number: Int) -> EncryptionKey? {
        number == 0 ? nil : try? EncryptionKey(bytes: [UInt8](repeating: UInt8(number), count: 32))
    }

    /// Runs to the end or to the first finding.
    package func run() -> CampaignReport {
        do {
            for number in 0..<Self.lives {
                life = number
                try live()
            }
            _ = try recover()
        } catch {
            found = error as? CampaignFinding ?? finding("\(error)")
        }
        say("  encrypted: \(isEncrypted), trace \(String(simulation.disk.traceHash, radix: 16))")
        return CampaignReport(
            seed: seed, statistics: statistics, traceHash: simulation.disk.traceHash, finding: found)
    }

    /// Opens the database, looks, works, and ends one way or another.
    private func live() throws {
        let database = try recover()
        planTrouble()
        isWatched = true
        for _ in 0..<Self.steps where !simulation.disk.hasCrashed {
            statistics.steps += 1
            try attempt(database)
            if let found { throw found }
        }
        isWatched = false
        let closes = !isTroubled && generator.chance(0.3)
        if closes, (try? database.close()) != nil { states.settle() }
        end()
    }

    /// One step. It may fail with the disk, and for no other reason.
    private func attempt(_ database: Database) throws {
        do {
            try work(database)
        } catch let finding as CampaignFinding {
            throw finding
        } catch let fault as CampaignFault {
            throw finding(fault.what)
        } catch {
            if simulation.disk.hasCrashed { return }
            guard isTroubled, Self.isOfTheDisk(error) else { throw finding("\(error)") }
            say("    \(error)")
            statistics.failures += 1
        }
    }

    private static func isOfTheDisk(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return [.inputOutput, .noSpace, .writerFailed].contains(error.code)
    }

    private func end() {
        simulation.disk.crash()
        snapshots = []
        if generator.chance(0.7) {
            say("  the power fails")
            statistics.crashes += 1
            let fates: [CrashFate] = [.random, .random, .losesAll, .keepsAll]
            simulation = simulation.afterCrash(fates[generator.next(below: fates.count)])
        } else {
            say("  the process ends")
            statistics.processDeaths += 1
            simulation = simulation.afterProcessDeath()
        }
        simulation.disk.faults = FaultPlan()
    }

    // MARK: Opening

    /// Opens the database on what the last life left; the power may fail during that.
    func recover() throws -> Database {
        while true {
            isTroubled = false
            let disk = simulation.disk
            disk.beginInterludes(SeededGenerator(seed: generator.next())) { [weak self] _ in self?.watch() }
            if generator.chance(0.3) { disk.crash(atChange: 1 + generator.next(below: 12)) }
            do {
                isWatched = true
                defer { isWatched = false }
                let (database, model) = try look(simulation.environment)
                if let found { throw found }
                states.settle(on: model)
                try readBackup(simulation.environment)
                if !disk.hasCrashed {
                    disk.crash(atChange: .max)
                    return database
                }
            } catch let finding as CampaignFinding {
                throw finding
            } catch let fault as CampaignFault {
                throw finding("after the last life, \(fault.what)")
            } catch {
                guard disk.hasCrashed else { throw finding("after the last life: \(error)") }
            }
            say("    the power fails again")
            statistics.recoveryCrashes += 1
            statistics.crashes += 1
            disk.crash()
            simulation = simulation.afterCrash()
        }
    }

    /// Opens the database for writing, with whichever key does, and finds its documents among the possible ones.
    ///
    /// - Parameter checks: whether every byte is looked at, too.
    func look(_ environment: Environment, checks: Bool = true) throws -> (Database, BlobModel) {
        let database = try open(Self.path, keys, environment)
        let model = try model(of: try database.defaultCollection.snapshot(), of: database)
        statistics.comparisons += 1
        guard states.afterPowerFailure.contains(model) else {
            let expected = states.current
            throw CampaignFault("none of the possible documents: \(model.difference(from: expected))")
        }
        if checks { try check(database) }
        return (database, model)
    }

    private func check(_ database: Database) throws {
        let report = try database.check()
        if report.isClean { return }
        let findings =
            report.file.findings.map(\.description) + report.findings.map { "\($0)" }
            + report.blobs.damaged.map { "\($0)" }
        throw CampaignFault("the check: \(findings)")
    }

    func model(of notes: CollectionSnapshot, of database: Database) throws -> BlobModel {
        try BlobModel(notes, of: database, contents: contents)
    }

    func open(
        _ path: String, _ keys: [Int], _ environment: Environment, readOnly: Bool = false
    ) throws -> Database {
        var options = DatabaseOptions(isReadOnly: readOnly, createsIfMissing: !readOnly)
        options.durability = durability
        for key in keys.dropLast() {
            options.key = Self.key(key)
            do throws(DatabaseError) {
                return try Database.open(path, options: options, environment: environment)
            } catch {
                guard error.code == .wrongKey else { throw error }
            }
        }
        options.key = keys.last.flatMap(Self.key)
        return try Database.open(path, options: options, environment: environment)
    }

    func say(_ line: @autoclosure () -> String) { log?(line()) }

    func finding(_ what: String) -> CampaignFinding {
        CampaignFinding(seed: seed, step: life, what: "documents with blobs, life \(life): \(what)")
    }
}

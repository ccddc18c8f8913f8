import Roost
import RoostCampaign
import RoostFile
import RoostIndex
import RoostSimulation
import RoostStorage

/// One seed's run: a database on a simulated disk with a view and indexes on it, through lives that end in crashes, deaths of
/// the process and failing calls.
///
/// Whatever became of the disk, the rows of the view, its sums and the answers to queries are those of a model that maps every
/// document of the moment anew; and nothing fails unless a call for the documents did, or would have.
package final class DerivedCampaign {
    static let path = "notes"
    private static let lives = 8

    private let seed: UInt64
    private let log: ((String) -> Void)?
    private let options: DatabaseOptions
    var simulation: Simulation
    var generator: SeededGenerator
    /// Decides about the power failures that are looked at beside the run.
    private var beside: SeededGenerator
    var statistics = CampaignStatistics()
    /// Whether calls may fail in the present life.
    var isTroubled = false
    private var life = 0

    /// - Parameter log: is told every step.
    package init(seed: UInt64, log: ((String) -> Void)? = nil) {
        self.seed = seed
        self.log = log
        simulation = Simulation(seed: seed)
        generator = simulation.choices(stream: 40)
        beside = simulation.choices(stream: 41)
        var options = DatabaseOptions()
        // What the crash takes with it then, indexes may have seen.
        if generator.chance(0.5) { options.durability = .unsynced }
        if generator.chance(0.3) { options.key = try? EncryptionKey(bytes: Array(0..<32)) }
        self.options = options
    }

    /// Runs to the end or to the first finding.
    package func run() -> CampaignReport {
        var found: CampaignFinding?
        do {
            for number in 0..<Self.lives {
                life = number
                try live()
            }
            try recover()
        } catch {
            found = error as? CampaignFinding ?? finding("\(error)")
        }
        return CampaignReport(
            seed: seed, statistics: statistics, traceHash: simulation.disk.traceHash, finding: found)
    }

    /// Opens the database, looks, works, and ends one way or another.
    private func live() throws {
        let database = try recover()
        let notes = try database.collection("notes")
        // What follows may meet trouble.
        planTrouble()
        try work(notes)
        if !isTroubled, generator.chance(0.3) { try database.close() }
        end()
    }

    /// Opens the database on what the last life left and compares all there is; the power may fail during that.
    @discardableResult
    private func recover() throws -> Database {
        while true {
            isTroubled = false
            let disk = simulation.disk
            if generator.chance(0.3) {
                disk.crash(atChange: disk.counts.changes + 1 + generator.next(below: 60))
            }
            do {
                let database = try Database.open(
                    Self.path, options: options, environment: simulation.environment)
                IndexManager.of(database).configure(Self.settings(&generator))
                let notes = try database.collection("notes")
                try compare(notes)
                try check(database)
                if !disk.hasCrashed {
                    disk.crash(atChange: .max)
                    return database
                }
            } catch let finding as CampaignFinding {
                throw finding
            } catch {
                guard disk.hasCrashed else { throw finding("after the last life: \(error)") }
            }
            say("    the power fails again")
            statistics.recoveryCrashes += 1
            crash()
        }
    }

    /// What upkeep may take: little, so that it happens often and in parts.
    private static func settings(_ generator: inout SeededGenerator) -> IndexSettings {
        var settings = IndexSettings()
        settings.overlayLimit = generator.next(below: 14)
        settings.buildMemory = 200 + generator.next(below: 20_000)
        // Nothing happens behind the run's back.
        settings.quiet = 1e6
        return settings
    }

    private func end() {
        if isTroubled || generator.chance(0.5) {
            say("  the power fails")
            crash()
        } else {
            say("  the process ends")
            statistics.processDeaths += 1
            simulation = simulation.afterProcessDeath()
        }
        simulation.disk.faults = FaultPlan()
    }

    private func crash() {
        statistics.crashes += 1
        simulation.disk.crash()
        let fates: [CrashFate] = [.random, .random, .losesAll, .keepsAll]
        simulation = simulation.afterCrash(fates[generator.next(below: fates.count)])
    }

    /// Looks at disks that a power failure at this moment might leave, without disturbing the run: what is derived fits the
    /// documents that are left.
    func examineOutcomes() throws {
        for _ in 0..<2 where !simulation.disk.hasCrashed {
            let seed = beside.next()
            statistics.outcomes += 1
            let disk = simulation.disk.crashed(seed: seed)
            disk.faults.capacity = nil
            let environment = Environment(
                medium: disk, clock: SimulatedClock(), randomness: SeededRandomness(seed: seed))
            do {
                let database = try Database.open(Self.path, options: options, environment: environment)
                IndexManager.of(database).configure(Self.settings(&beside))
                try compare(try database.collection("notes"))
            } catch let finding as CampaignFinding {
                throw finding
            } catch {
                throw finding("at outcome \(seed): \(error)")
            }
        }
    }

    /// Every store of what is derived is whole.
    private func check(_ database: Database) throws {
        for store in try database.derivedStores(checking: CheckOptions()) {
            if let damage = store.damage, !simulation.disk.hasCrashed {
                throw finding("\(store.file): \(damage)")
            }
        }
    }

    func say(_ line: @autoclosure () -> String) { log?(line()) }

    func finding(_ what: String) -> CampaignFinding {
        CampaignFinding(seed: seed, step: life, what: "views and indexes, life \(life): \(what)")
    }
}

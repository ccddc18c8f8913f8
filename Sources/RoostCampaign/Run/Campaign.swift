import RoostFile
import RoostSimulation
import RoostStorage

/// One seed's run: random work on a store on a simulated disk, beside a model, with crashes and faults.
///
/// The seed decides everything: the work, the options, the faults, what each crash leaves. Two runs of one seed
/// make the same calls. After every crash the store must show the model as of some commit that is not older than the
/// last durable one; everything that was acknowledged as durable is in it, and nothing is there in part.
package final class Campaign {
    package static let path = "store"

    let seed: UInt64
    package let settings: CampaignSettings
    let log: ((String) -> Void)?
    /// Changes the plan of faults that every disk starts with: for media that lie.
    let sabotage: ((inout FaultPlan) -> Void)?
    var simulation: Simulation
    var workload: Workload
    var generator: SeededGenerator
    /// Decides about what runs of a seed did not do at first, so that the rest stays what it was.
    var later: SeededGenerator
    var states = PossibleStates(StoreModel())
    var store: Store?
    /// Whether the open store acknowledges commits before they are synced.
    var isRelaxed = false
    /// What the backup may hold, `nil` while none was begun.
    var backup: PossibleStates<StoreModel>?
    /// Whether a backup was ever completed.
    var hasBackup = false
    /// A reader beside the writer, as another process would have it.
    var follower: Store?
    var snapshots: [(snapshot: Snapshot, model: StoreModel)] = []
    /// Whether a sync may have failed since the contents were known last: the system's cache may then have lost what it was to
    /// write, so that the death of the process shows as little as a power failure.
    var isCacheDoubtful = false
    /// Decides what comes beside calls that are under way.
    var beside: SeededGenerator
    var visitors = Visitors.nobody
    var visitCount = 0
    /// What became of what came beside the present call, if that is no good.
    var visitFailure: (any Error)?
    /// The commit that is on its way to the medium: its number, what it makes of the store, and which attempt it is.
    var staged: (number: UInt64, model: StoreModel, attempt: Int)?
    var guests: [Guest] = []
    var statistics = CampaignStatistics()
    private var step = 0

    /// - Parameters:
    ///   - log: is told every step.
    ///   - cipher: seals the chunks of runs that are encrypted, in place of one that only looks like it. With one whose
    ///     bytes are random, runs of a seed differ in these.
    ///   - sabotage: adds faults that no medium may have, to see whether the run notices.
    package init(
        seed: UInt64, log: ((String) -> Void)? = nil, cipher: CampaignSettings.Cipher? = nil,
        sabotage: ((inout FaultPlan) -> Void)? = nil
    ) {
        self.seed = seed
        self.log = log
        self.sabotage = sabotage
        let origin = Simulation(seed: seed)
        generator = origin.choices(stream: 0)
        later = origin.choices(stream: 18)
        beside = origin.choices(stream: 20)
        var settings = CampaignSettings(
            &generator, encryption: origin.choices(stream: 2), shapes: origin.choices(stream: 17),
            turns: origin.choices(stream: 19))
        if let cipher { settings.cipher = cipher }
        self.settings = settings
        simulation = Simulation(seed: seed, tearing: settings.tearing)
        workload = Workload(settings, origin.choices(stream: 1), groups: origin.choices(stream: 4))
    }

    /// Runs to the end or to the first finding.
    package func run() -> CampaignReport {
        var found: CampaignFinding?
        do {
            say("\(settings)")
            prepareDisk()
            if later.chance(0.6) { simulation.disk.crash(atChange: 4 + later.next(below: 6)) }
            try guarded(.openStore)
            while step < settings.steps {
                step += 1
                try guarded(CampaignAction.draw(&generator))
            }
            try finish()
        } catch {
            found = error as? CampaignFinding ?? finding("\(error)")
            abandonGuests()
        }
        noteCalls()
        statistics.steps = step
        return CampaignReport(
            seed: seed, statistics: statistics, traceHash: simulation.disk.traceHash, finding: found)
    }

    /// Does `action`. Only a crash may keep it from succeeding; recovery follows at once.
    private func guarded(_ action: CampaignAction) throws {
        say("\(step): \(action)")
        do {
            try perform(action)
        } catch let finding as CampaignFinding {
            throw finding
        } catch  where simulation.disk.hasCrashed {
            try recover(later.chance(action == .openStore ? 0.7 : 0.3) ? .process : .power)
        } catch {
            throw finding("\(action) failed although nothing was wrong: \(error)")
        }
    }

    private func finish() throws {
        do {
            try compare()
            try reopen()
            try compare()
        } catch  where simulation.disk.hasCrashed {
            try recover(.power)
        }
        simulation.disk.crash()
        try recover(.power)
    }

    /// The store's file as the run left it.
    package var file: [UInt8]? { simulation.disk.contents(of: Self.path) }

    func say(_ line: @autoclosure () -> String) { log?(line()) }

    func finding(_ what: String) -> CampaignFinding { CampaignFinding(seed: seed, step: step, what: what) }

    /// The store, which every action but opening finds open.
    func openStore() throws -> Store {
        guard let store else { throw finding("the run lost its store") }
        return store
    }

    /// Gives a disk the faults that it always has.
    func prepareDisk() {
        var plan = FaultPlan()
        if settings.isNoisy {
            for kind in [CallKind.read, .write] {
                plan.fail(kind, probability: 0.1, with: .short)
                plan.fail(kind, probability: 0.1, with: .error(.interrupted))
            }
        }
        sabotage?(&plan)
        simulation.disk.faults = plan
        simulation.disk.beginInterludes(SeededGenerator(seed: beside.next())) { [weak self] kind in
            self?.visit(at: kind)
        }
    }
}

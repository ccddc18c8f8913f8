import RoostFile
import RoostSimulation
import RoostStorage

/// Crashes of the machine and of the process, and what must be true afterwards.
extension Campaign {
    enum CrashKind {
        /// The power fails: what was not synced may be lost, in any part.
        case power
        /// The process ends: what it wrote stays in the system's cache.
        case process
    }

    /// What another process may be shown while the machine stays up.
    var shownByCache: ArraySlice<StoreModel> {
        isCacheDoubtful ? states.afterPowerFailure : states.afterProcessDeath
    }

    /// Some later call that changes the medium will be the last one.
    func planCrash() {
        let disk = simulation.disk
        disk.crash(atChange: disk.counts.changes + 1 + generator.next(below: 12))
    }

    /// Crashes, opens the store again, and finds the contents among the possible ones. Now and then the power fails
    /// during recovery, several times in a row.
    func recover(_ kind: CrashKind) throws {
        var possible = kind == .power ? states.afterPowerFailure : shownByCache
        var kind = kind
        // Whoever dies closes nothing.
        simulation.disk.crash()
        letGo()
        while true {
            crash(kind)
            if generator.chance(0.4) { simulation.disk.crash(atChange: 1 + generator.next(below: 5)) }
            do {
                try open()
                let found = try settle(among: possible, "after a \(kind) crash")
                isCacheDoubtful = false
                if generator.chance(0.3) { try check() }
                try compareBackup()
                say("    found the contents \(found) of \(possible.count)")
                return
            } catch  where !(error is CampaignFinding) && simulation.disk.hasCrashed {
                statistics.recoveryCrashes += 1
                kind = generator.chance(0.8) ? .power : .process
                if kind == .power { possible = states.afterPowerFailure }
                say("    again during recovery: \(kind)")
            } catch let error as StoreError {
                throw finding("opening after a \(kind) crash: \(error)")
            }
        }
    }

    /// Forgets everything that the process had open.
    func letGo() {
        abandonGuests()
        visitFailure = nil
        store = nil
        follower = nil
        snapshots = []
    }

    private func crash(_ kind: CrashKind) {
        noteCalls()
        switch kind {
        case .power:
            statistics.crashes += 1
            let fate: CrashFate = [.random, .random, .random, .losesAll, .keepsAll][generator.next(below: 5)]
            simulation = simulation.afterCrash(fate)
        case .process:
            statistics.processDeaths += 1
            simulation = simulation.afterProcessDeath()
        }
        prepareDisk()
    }

    /// Counts what befell calls on the present disk, once, before another takes its place.
    func noteCalls() {
        statistics.shortCalls += simulation.disk.counts.shortened
        statistics.interruptedCalls += simulation.disk.counts.interrupted
    }

    /// Takes what the open store shows as the state to go on from; it must be one of `possible`.
    func settle(among possible: ArraySlice<StoreModel>, _ occasion: String) throws -> Int {
        let index = try index(of: try openStore().snapshot(), among: possible, occasion)
        // Opening for writing makes everything that it shows durable.
        states.settle(on: possible[index])
        return index - possible.startIndex
    }

    /// Which of `possible`, the newest where there are several, `snapshot` shows; it must be one of them.
    func index(
        of snapshot: Snapshot, among possible: ArraySlice<StoreModel>, _ occasion: String
    ) throws -> Int {
        statistics.comparisons += 1
        if let index = try possible.indices.last(where: { try Contents.shows(snapshot, possible[$0]) }) {
            return index
        }
        let found = try Contents.read(snapshot)
        let differences = possible.map { ContentComparison.difference(found, $0) ?? "" }
        throw finding(
            "\(occasion): none of \(possible.count) possible states; "
                + differences.enumerated().map { "(\($0)) \($1)" }.joined(separator: "; "))
    }

    /// Looks at a few disks that a power failure at this moment might leave, without disturbing the run.
    func examineOutcomes() throws {
        for _ in 0..<3 { try examineOutcome() }
    }

    /// Looks at a disk that a power failure at this moment might leave, and that a second one leaves of what is then opened.
    func examineOutcome() throws {
        let seed = beside.next()
        statistics.outcomes += 1
        let disk = simulation.disk.crashed(seed: seed)
        disk.faults.capacity = nil
        try examine(disk, seed)
    }

    private func examine(_ disk: SimulatedMedium, _ seed: UInt64) throws {
        let environment = Environment(
            medium: disk, clock: SimulatedClock(), randomness: SeededRandomness(seed: seed))
        var options = settings.options(&generator)
        options.durability = .full
        do {
            let possible = states.afterPowerFailure
            let index = try index(
                of: try Store.open(Self.path, options: options, environment: environment).snapshot(),
                among: possible, "outcome \(seed)")
            // What recovery showed must survive the next power failure too.
            let again = Environment(
                medium: disk.crashed(seed: seed, .losesAll), clock: SimulatedClock(),
                randomness: SeededRandomness(seed: seed))
            try compareAll(
                try Store.open(Self.path, options: options, environment: again).snapshot(), possible[index],
                "outcome \(seed) after a second crash")
            if beside.chance(0.2) { try readBackup(again) }
        } catch let error as StoreError {
            throw finding("opening outcome \(seed): \(error)")
        }
    }
}

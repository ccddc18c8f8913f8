import Roost
import RoostFile
import RoostSimulation

/// What may go wrong in a life.
extension BlobCampaign {
    /// Lets calls fail, a crash come or the disk run full, or nothing of it.
    func planTrouble() {
        let disk = simulation.disk
        isTroubled = true
        switch generator.next(below: 8) {
        case 0, 1: disk.crash(atChange: disk.counts.changes + 1 + generator.next(below: 80))
        case 2:
            let kinds: [CallKind] = [
                .write, .sync, .create, .open, .read, .truncate, .remove, .rename, .syncDirectory, .list,
                .status,
            ]
            let kind = kinds[generator.next(below: kinds.count)]
            disk.faults.fail(kind, probability: 0.04)
            say("  calls fail: \(kind)")
        case 3: disk.faults.fail(nil, at: disk.counts.total + 1 + generator.next(below: 300))
        case 4:
            let used = disk.contents(of: "\(Self.path)/data.roost")?.count ?? 0
            disk.faults.capacity = UInt64(used + (2 + generator.next(below: 30)) * 4096)
            say("  the disk is nearly full")
        default: isTroubled = false
        }
    }

    /// Comes between two changes of the disk: looks, now and then, at what a power failure would leave.
    func watch() {
        guard isWatched, found == nil, !simulation.disk.hasCrashed, generator.chance(0.06) else { return }
        isWatched = false
        defer { isWatched = true }
        do {
            try examine(seed: generator.next())
        } catch let fault as CampaignFault {
            found = finding("at an outcome, \(fault.what)")
        } catch {
            found = finding("at an outcome: \(error)")
        }
    }

    /// Looks at a disk that a power failure at this moment might leave, and that a second one leaves of what is then opened.
    private func examine(seed: UInt64) throws {
        statistics.outcomes += 1
        let disk = simulation.disk.crashed(seed: seed)
        disk.faults.capacity = nil
        var choices = SeededGenerator(seed: seed)
        let (_, model) = try look(environment(disk, seed), checks: choices.chance(0.25))
        let again = disk.crashed(seed: seed, .losesAll)
        let (_, kept) = try look(environment(again, seed), checks: false)
        guard kept == model else {
            throw CampaignFault("what was shown is gone: \(kept.difference(from: model))")
        }
        try readBackup(environment(again, seed))
    }

    private func environment(_ disk: SimulatedMedium, _ seed: UInt64) -> Environment {
        Environment(medium: disk, clock: SimulatedClock(), randomness: SeededRandomness(seed: seed))
    }

    /// Whatever happened, the backup is as it was or complete; and once completed it is there.
    func readBackup(_ environment: Environment) throws {
        guard let backup else { return }
        let database: Database
        do {
            database = try open(Self.backupPath, backupKeys, environment, readOnly: true)
        } catch let error as DatabaseError where error.code == .notFound && !hasBackup {
            return
        }
        let notes = try database.defaultCollection.snapshot()
        let model = try model(of: notes, of: database)
        guard backup.afterPowerFailure.contains(model) else {
            throw CampaignFault("the backup: \(model.difference(from: backup.current))")
        }
    }
}

import RoostFile
import RoostSimulation
import RoostStorage

/// Calls that fail while the machine stays up.
extension Campaign {
    /// Lets one of the next calls of some kind fail during a little work; afterwards everything must be as before, at
    /// once or after the store was opened again.
    func failCalls() throws {
        // Half of the time what every commit calls; the rest is called only now and then, so that it seldom fails.
        let common: [CallKind] = [.write, .sync, .read]
        let rare: [CallKind] = [
            .truncate, .size, .open, .lock, .status, .create, .rename, .remove, .syncDirectory, .identity,
        ]
        let kinds = generator.chance(0.5) ? common : rare
        let kind = kinds[generator.next(below: kinds.count)]
        let codes: [FileError.Code] = kind == .write ? [.inputOutput, .noSpace] : [.inputOutput]
        let code = codes[generator.next(below: codes.count)]
        let number = simulation.disk.counts[kind] + 1 + generator.next(below: 3)
        var plan = FaultPlan()
        plan.fail(kind, at: number, with: .error(code))
        simulation.disk.faults = plan
        isCacheDoubtful = [.sync, .syncDirectory].contains(kind)
        say("    \(kind) number \(number) fails: \(code)")
        try workUnderFaults(expecting: [.inputOutput, .noSpace, .writerFailed])
        isCacheDoubtful = false
    }

    /// Fills the disk up, commits until there is no space left, and frees it again.
    func fillDisk() throws {
        let used = ["store", "backup"].reduce(0) {
            $0 + (simulation.disk.contents(of: $1)?.count ?? 0)
        }
        let pages = (used + 4095) / 4096 + 2 + generator.next(below: 60)
        simulation.disk.faults.capacity = UInt64(pages * 4096)
        say("    the disk holds \(pages) pages")
        try workUnderFaults(expecting: [.noSpace, .writerFailed])
    }

    private func workUnderFaults(expecting codes: Set<StoreError.Code>) throws {
        var error: StoreError?
        do {
            for _ in 0...generator.next(below: 4) { try work() }
        } catch let failure as StoreError where !simulation.disk.hasCrashed {
            error = failure
        }
        simulation.disk.faults.capacity = nil
        prepareDisk()
        if let error {
            guard codes.contains(error.code) else {
                throw finding("a failed call was answered by \(error.code): \(error)")
            }
            statistics.failures += 1
            say("    \(error)")
            try goOn(after: error)
        }
        try commit()
        try compare()
    }

    private func work() throws {
        switch generator.next(below: 10) {
        case 0: try compare()
        case 1: try reopen()
        case 2: try rollBack(explicitly: true)
        case 3: try sync()
        case 4: try compact()
        case 5: try backUp()
        default: try commit()
        }
    }

    /// After a failed sync only opening the store again helps, and every call before says so; after other failures the
    /// handle stays good.
    private func goOn(after error: StoreError) throws {
        guard let store else { return try open() }
        do {
            try store.beginWriting().rollback()
            if error.code == .writerFailed { throw finding("a writer goes on after a failed sync") }
        } catch let refusal as StoreError {
            guard [.writerFailed, .closed].contains(refusal.code) else { throw refusal }
            let possible = states.afterPowerFailure
            try? store.close()
            letGo()
            try open()
            _ = try settle(among: possible, "after \(error.code)")
        }
    }
}

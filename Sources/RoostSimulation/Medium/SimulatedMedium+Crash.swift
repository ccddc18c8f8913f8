extension SimulatedMedium {
    /// The power goes now: every later call on this disk and its files throws ``FileError/Code/other`` with the
    /// operation "crashed".
    package func crash() {
        withState { $0.hasCrashed = true }
    }

    /// The power goes in the midst of change number `number`, counted as in ``CallCounts/changes``.
    ///
    /// That call, and every later one, throws as after ``crash()``; what it was about to do may have been done.
    package func crash(atChange number: Int) {
        withState { $0.crashPoint = number }
    }

    package var hasCrashed: Bool {
        withState { $0.hasCrashed }
    }

    /// The disk after a power failure and a reboot; this one is dead from now on.
    ///
    /// On the new disk nothing is unsynced, open or locked, no fault is planned (the capacity stays), and calls are
    /// counted from 1. Linear in the number of pages and of unsynced bytes.
    package func afterCrash(_ fate: CrashFate = .random) -> SimulatedMedium {
        withState { disk in
            disk.hasCrashed = true
            return SimulatedMedium(disk.afterPowerFailure(fate, disk.generator))
        }
    }

    /// A disk as ``afterCrash(_:)`` might give it now, drawn from a seed of its own; this one goes on undisturbed.
    ///
    /// So one run can be examined at many places and with many outcomes each.
    package func crashed(seed: UInt64, _ fate: CrashFate = .random) -> SimulatedMedium {
        withState { SimulatedMedium($0.afterPowerFailure(fate, SeededGenerator(seed: seed))) }
    }

    /// The disk as the next process finds it when this one was killed; this one is dead from now on.
    ///
    /// Nothing is lost, but what was unsynced still is, until it is synced or ``afterCrash(_:)`` decides.
    package func afterProcessDeath() -> SimulatedMedium {
        withState { disk in
            disk.hasCrashed = true
            return SimulatedMedium(disk.afterProcessDeath())
        }
    }
}

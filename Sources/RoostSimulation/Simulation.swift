import RoostFile

/// A disk, a clock and randomness that all follow from one seed.
///
/// ```
/// let simulation = Simulation(seed: 42)
/// simulation.disk.crash(atChange: 17)
/// try? work(simulation.environment)
/// let rebooted = simulation.afterCrash()
/// try check(rebooted.environment)
/// ```
package struct Simulation: Sendable {
    package let seed: UInt64
    package let disk: SimulatedMedium
    package let clock: SimulatedClock
    package let randomness: SeededRandomness

    package init(seed: UInt64, tearing: Tearing = .sectors) {
        self.init(
            seed: seed,
            disk: SimulatedMedium(seed: seed, tearing: tearing),
            clock: SimulatedClock(),
            randomness: SeededRandomness(seed: ~seed))
    }

    private init(seed: UInt64, disk: SimulatedMedium, clock: SimulatedClock, randomness: SeededRandomness) {
        self.seed = seed
        self.disk = disk
        self.clock = clock
        self.randomness = randomness
    }

    /// What the engine is given.
    package var environment: Environment {
        Environment(medium: disk, clock: clock, randomness: randomness)
    }

    /// A generator for the harness's own choices; those of different streams, and the disk's, are independent.
    package func choices(stream: UInt64) -> SeededGenerator {
        SeededGenerator(seed: seed, stream: stream &+ 1)
    }

    /// The same machine after a power failure; see ``SimulatedMedium/afterCrash(_:)``. Clock and randomness go on.
    package func afterCrash(_ fate: CrashFate = .random) -> Simulation {
        Simulation(seed: seed, disk: disk.afterCrash(fate), clock: clock, randomness: randomness)
    }

    /// The same machine as a power failure might leave it now, which goes on undisturbed; see
    /// ``SimulatedMedium/crashed(seed:_:)``.
    package func crashed(seed: UInt64) -> Simulation {
        Simulation(seed: self.seed, disk: disk.crashed(seed: seed), clock: clock, randomness: randomness)
    }

    /// The same machine after the process was killed; see ``SimulatedMedium/afterProcessDeath()``.
    package func afterProcessDeath() -> Simulation {
        Simulation(seed: seed, disk: disk.afterProcessDeath(), clock: clock, randomness: randomness)
    }
}

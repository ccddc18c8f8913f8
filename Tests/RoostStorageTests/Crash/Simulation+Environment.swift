import RoostFile
import RoostSimulation

extension Simulation {
    /// An environment of `disk`, a still clock and randomness that is the same each time.
    static func environment(of disk: some Medium) -> Environment {
        Environment(medium: disk, clock: SimulatedClock(), randomness: SeededRandomness(seed: 1))
    }
}

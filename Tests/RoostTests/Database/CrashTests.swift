import Roost
import RoostSimulation
import Testing

/// The power fails at any write or sync: every batch that was acknowledged is there, any other whole or not at all, and
/// orders, counts and bodies agree.
@Suite struct CrashTests {
    @Test(arguments: 1...60)
    func batchesSurviveAPowerFailure(seed: Int) throws {
        let simulation = Simulation(seed: UInt64(seed))
        // Opening takes some ten changes of the disk; each batch two or so.
        simulation.disk.crash(atChange: 1 + seed)
        var generator = SeededGenerator(seed: UInt64(seed))
        var contents: [[String]?] = [nil]
        var attempts = 0
        try? run(simulation, &generator, &contents, &attempts)

        let rebooted = simulation.afterCrash()
        let database = try Database.open("db", environment: rebooted.environment)
        let notes = try database.collection("notes")
        try notes.snapshot().expectConsistency()
        let found = try notes.snapshot().content()
        let known = contents.last ?? nil
        if attempts < contents.count {
            #expect(found == known ?? ["0 0"], "nothing was under way")
        } else if found != known ?? ["0 0"] {
            // The batch under way is there: done again on what was acknowledged, it gives the same.
            #expect(try replayed(seed, attempts) == found)
        }
        try database.close()
    }

    /// Makes batches until the disk dies, noting the content after each that was acknowledged.
    private func run(
        _ simulation: Simulation, _ generator: inout SeededGenerator, _ contents: inout [[String]?],
        _ attempts: inout Int, upTo limit: Int = 40
    ) throws {
        let database = try Database.open("db", environment: simulation.environment)
        let notes = try database.collection("notes")
        contents[0] = try notes.snapshot().content()
        for _ in 0..<limit {
            attempts += 1
            let size = Int.random(in: 1...6, using: &generator)
            try database.write { batch in
                for _ in 0..<size { try notes.change(batch, &generator) }
            }
            contents.append(try notes.snapshot().content())
        }
        try database.close()
    }

    /// The content after so many batches where nothing fails.
    private func replayed(_ seed: Int, _ batches: Int) throws -> [String]? {
        let simulation = Simulation(seed: UInt64(seed))
        var generator = SeededGenerator(seed: UInt64(seed))
        var contents: [[String]?] = [nil]
        var attempts = 0
        try run(simulation, &generator, &contents, &attempts, upTo: batches)
        return contents.last ?? nil
    }
}

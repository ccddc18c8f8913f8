import Roost
import RoostFile
import RoostSimulation
import Synchronization
import Testing

/// Compactions of one database by two who write it by turns, one in the midst of the other.
@Suite struct CompactionTurnsTests {
    private let simulation = Simulation(seed: 29)

    private func open(_ medium: any Medium) throws -> Database {
        try Database.open(
            "a", options: TwoOpenings.options(),
            environment: Environment(
                medium: medium, clock: simulation.clock, randomness: simulation.randomness))
    }

    /// The first one's compaction has chosen what to copy when the second's puts a new file in the place of that, to which
    /// the second commits more.
    @Test(arguments: [0, 1, 10, 40, 60, 80, 400])
    func whatTheOtherCommittedAfterItsCompactionStays(later: Int) throws {
        let medium = LockingMedium(simulation.disk)
        let (first, second) = (try open(medium), try open(simulation.disk))
        let mine = try first.defaultCollection
        for number in 0..<60 { try mine.save(json: #"{"v":\#(number)}"#, id: "d\(number % 5)") }
        try second.refresh()
        let theirs = try second.defaultCollection
        let failure = Mutex<(any Error)?>(nil)
        // The first one waits for its turn to make the new file.
        medium.beforeLock {
            do {
                try second.compact()
                for number in 0..<later { try theirs.save(json: #"{"v":\#(number)}"#, id: "l\(number)") }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        let error = #expect(throws: DatabaseError.self) { try first.compact() }
        #expect(error?.code == .locked)
        #expect(failure.withLock { $0 } == nil)
        #expect(try theirs.count == 5 + later)
        try first.compact()
        for database in [first, second, try open(simulation.disk)] {
            try database.refresh()
            #expect(try database.defaultCollection.count == 5 + later)
            #expect(try database.check().isClean)
            try database.close()
        }
    }
}

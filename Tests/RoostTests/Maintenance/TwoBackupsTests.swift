import Roost
import RoostFile
import RoostSimulation
import Synchronization
import Testing

/// Two processes that back up to one place.
@Suite struct TwoBackupsTests {
    /// The second comes when the first has copied the documents and is about to remove blobs of an earlier backup.
    @Test(arguments: [false, true])
    func theSecondWaitsUntilTheFirstHasTidiedUp(isIncremental: Bool) throws {
        let simulation = Simulation(seed: 2)
        let medium = ListeningMedium(simulation.disk)
        let writer = try Database.open("db", environment: simulation.environment)
        let blobs = Mutex([try writer.saveBlob([1])])
        try writer.defaultCollection.save(["picture": blobs.withLock { $0[0] }], id: "n0")
        if isIncremental {
            try writer.backup(to: "copy")
            try writer.defaultCollection.save(json: "{}", id: "between")
        }
        let reader = try Database.open(
            "db", options: DatabaseOptions(isReadOnly: true),
            environment: Environment(
                medium: medium, clock: simulation.clock, randomness: simulation.randomness))
        let outcome = Mutex<DatabaseError?>(nil)
        let hasCome = Mutex(false)
        try reader.backup(to: "copy") { _ in
            // What the earlier backup has is looked at before this.
            medium.before(.list, of: "blobs") {
                hasCome.withLock { $0 = true }
                do throws(DatabaseError) {
                    let blob = try writer.saveBlob([2])
                    blobs.withLock { $0.append(blob) }
                    try writer.defaultCollection.save(["picture": blob], id: "n1")
                    try writer.backup(to: "copy")
                } catch {
                    outcome.withLock { $0 = error }
                }
            }
            return true
        }
        #expect(hasCome.withLock { $0 })
        #expect(outcome.withLock { $0?.code } == .locked)
        for isAgain in [false, true] {
            if isAgain { try writer.backup(to: "copy") }
            let copy = try Database.open(
                "copy", options: DatabaseOptions(isReadOnly: true), environment: simulation.environment)
            for (number, blob) in blobs.withLock({ $0 }).enumerated()
            where try copy.defaultCollection.contains("n\(number)") {
                #expect(try copy.blobReader(blob)?.readAll() == [UInt8(number + 1)])
            }
            #expect(try copy.defaultCollection.contains("n1") == isAgain)
            #expect(try copy.check().isClean)
        }
    }
}

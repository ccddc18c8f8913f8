import Roost
import RoostSimulation
import Testing

/// The power fails while a database is made: whoever reads finds none, or the empty one, and whoever writes ends the work.
@Suite struct MakingTests {
    @Test(arguments: [nil, EncryptionKey.random()])
    func aPowerFailureLeavesNoDatabaseOrAnEmptyOne(key: EncryptionKey?) throws {
        var options = DatabaseOptions()
        options.key = key
        var reading = options
        reading.isReadOnly = true
        var codes: Set<DatabaseError.Code> = []
        var messages: Set<String> = []
        var point = 0
        var isDone = false
        while !isDone {
            point += 1
            for fate in [CrashFate.random, .losesAll, .keepsAll] {
                let simulation = Simulation(seed: UInt64(point))
                simulation.disk.crash(atChange: point)
                let database = try? Database.open("db", options: options, environment: simulation.environment)
                isDone = !simulation.disk.hasCrashed
                let rebooted = simulation.afterCrash(fate)
                do {
                    let reader = try Database.open("db", options: reading, environment: rebooted.environment)
                    #expect(try reader.collection("notes", createsIfMissing: false).count == 0)
                } catch {
                    codes.insert(error.code)
                    if !error.message.contains("notes") { messages.insert(error.message) }
                }
                let writer = try Database.open("db", options: options, environment: rebooted.environment)
                try writer.defaultCollection.save(json: "{}", id: "d")
                try writer.close()
                let reader = try Database.open("db", options: reading, environment: rebooted.environment)
                #expect(try reader.defaultCollection.count == 1, "change \(point), \(fate)")
                try? database?.close()
            }
        }
        #expect(point > 8)
        #expect(codes == [.notFound], "\(messages)")
        #expect(messages.contains { $0.contains("making it was begun") })
    }

    @Test func blobsWithoutDocumentsAreNotMadeANewDatabase() throws {
        let simulation = Simulation(seed: 1)
        let database = try Database.open("db", environment: simulation.environment)
        _ = try database.saveBlob([1, 2, 3])
        try database.close()
        try simulation.disk.remove("db/data.roost")
        let before = try simulation.disk.list("db/blobs").sorted()
        let error = #expect(throws: DatabaseError.self) {
            try Database.open("db", environment: simulation.environment)
        }
        #expect(error?.code == .notADatabase)
        #expect(try simulation.disk.list("db") == ["blobs"])
        #expect(try simulation.disk.list("db/blobs").sorted() == before)
    }
}

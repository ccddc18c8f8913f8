import RoostSimulation
import RoostStorage
import Testing

@testable import Roost

/// What a removal of blobs must ask before it takes one away.
@Suite struct UnnamedBlobTests {
    private let simulation = Simulation(seed: 31)

    private func open(_ simulation: Simulation) throws -> Database {
        var options = DatabaseOptions()
        options.durability = .relaxed(interval: 3600)
        return try Database.open("db", options: options, environment: simulation.environment)
    }

    private let hour: UInt64 = 3_700_000_000

    /// A power failure may bring back a document whose deletion was not on the medium.
    @Test func documentsAreOnTheMediumBeforeTheirBlobsGo() throws {
        let database = try open(simulation)
        let notes = try database.collection("notes")
        // History begins here, so that no earlier commit names the blob.
        try database.compact()
        let blob = try database.saveBlob([1, 2, 3])
        try notes.save(["picture": blob], id: "a")
        try database.core.store.sync()
        try notes.delete("a")
        simulation.clock.advance(by: hour)
        #expect(try database.core.removeUnreferencedBlobs().count == 1)
        for seed in 0..<20 as Range<UInt64> {
            let after = try open(simulation.crashed(seed: seed))
            if try after.collection("notes").contains("a") {
                #expect(try after.blobReader(blob)?.readAll() == [1, 2, 3], "seed \(seed)")
            }
        }
    }

    /// The oldest commit that can be gone back to shows its documents with their blobs.
    @Test func whatTheOldestCommitNamesStays() throws {
        let database = try open(simulation)
        let notes = try database.collection("notes")
        let blob = try database.saveBlob([1, 2, 3])
        try notes.save(["picture": blob], id: "a")
        try database.compact()
        try notes.delete("a")
        simulation.clock.advance(by: hour)
        #expect(try database.core.removeUnreferencedBlobs().count == 0)
        #expect(try database.blobReader(blob)?.readAll() == [1, 2, 3])
        try database.compact()
        #expect(try database.blobReader(blob) == nil)
    }
}

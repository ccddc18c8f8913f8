import Foundation
import Roost
import RoostFile
import RoostSimulation
import Synchronization
import Testing

/// No blob is removed that another process may need, of a database that processes write by turns.
@Suite struct SharedBlobTests {
    private let openings = TwoOpenings()

    @Test(arguments: [false, true])
    func aBlobOfTheOtherWaitsForItsDocument(isEncrypted: Bool) throws {
        let options = TwoOpenings.options(isEncrypted ? .random() : nil)
        let (first, second) = (try openings.open(options), try openings.open(options))
        let blob = try second.saveBlob([1, 2, 3])
        try first.compact()
        try second.defaultCollection.save(["b": blob], id: "a")
        try first.compact()
        #expect(try first.defaultCollection.document("a") != nil)
        #expect(try first.blobReader(blob)?.readAll() == [1, 2, 3])
    }

    /// A snapshot shows what was there, as long as it is open, whoever has removed that.
    @Test func aSnapshotOfTheOtherKeepsItsBlobs() throws {
        let (first, second) = (try openings.open(), try openings.open())
        let blob = try first.saveBlob([1])
        try first.defaultCollection.save(["b": blob], id: "a")
        try second.refresh()
        let snapshot = try second.defaultCollection.snapshot()
        try first.defaultCollection.delete("a")
        try first.close()
        let third = try openings.open()
        try third.compact()
        #expect(try snapshot.document("a") != nil)
        #expect(try second.blobReader(blob)?.readAll() == [1])
    }

    @Test func whatNobodyNeedsGoesOnceTheOtherHasLeft() throws {
        let (first, second) = (try openings.open(), try openings.open())
        let (named, other) = (try second.saveBlob([1]), try second.saveBlob([2]))
        try first.compact()
        #expect(try first.blobs().count == 2)
        // Its last commit, which the first has not seen.
        try second.defaultCollection.save(["b": named], id: "a")
        try second.close()
        try first.compact()
        #expect(try first.blobReader(other) == nil)
        #expect(try first.blobReader(named)?.readAll() == [1])
    }

    @Test func whatTheOtherIsWritingIsNoLeftover() throws {
        let first = try openings.open()
        let writer = try first.makeBlobWriter()
        try writer.write([1, 2])
        try openings.open().close()
        try writer.write([3])
        let blob = try writer.finish()
        #expect(try first.blobReader(blob)?.readAll() == [1, 2, 3])
    }

    // MARK: While blobs are looked for

    /// Two openings of one database on a simulated disk, on which the second is made while the first looks for blobs.
    private final class Meeting: Sendable {
        let simulation = Simulation(seed: 1)
        let medium: ListeningMedium
        let environment: Environment
        let second = Mutex<Database?>(nil)

        init() {
            medium = ListeningMedium(simulation.disk)
            environment = Environment(
                medium: medium, clock: simulation.clock, randomness: simulation.randomness)
        }

        func open() throws -> Database {
            try Database.open("a", options: TwoOpenings.options(), environment: environment)
        }
    }

    @Test func openingWaitsForNoSearchForUnnamedBlobs() throws {
        let meeting = Meeting()
        let leftover = try meeting.open().saveBlob([1])
        let first = try meeting.open()
        meeting.medium.before(.list, of: "blobs") {
            let opened = try? meeting.open()
            meeting.second.withLock { $0 = opened }
        }
        try first.compact()
        let second = try #require(meeting.second.withLock { $0 })
        #expect(try second.blobReader(leftover)?.readAll() == [1])
        try second.close()
        try first.compact()
        #expect(try first.blobs().isEmpty)
    }

    @Test func whatAnotherNamesDuringTheSearchStays() throws {
        let meeting = Meeting()
        let (named, other) = try {
            let database = try meeting.open()
            return (try database.saveBlob([1]), try database.saveBlob([2]))
        }()
        let first = try meeting.open()
        meeting.medium.before(.list, of: "blobs") {
            guard let second = try? meeting.open() else { return }
            _ = try? second.defaultCollection.save(["b": named], id: "a")
            try? second.close()
        }
        try first.compact()
        #expect(try first.defaultCollection.document("a") != nil)
        #expect(try first.blobReader(named)?.readAll() == [1])
        try first.compact()
        #expect(try first.blobReader(named)?.readAll() == [1])
        #expect(try first.blobReader(other) == nil)
    }

    // MARK: While the database is made

    /// Another process makes the database and stores a blob while this one looks whether blobs have lost their documents.
    @Test(arguments: ["blobs", "data.roost"])
    func blobsOfADatabaseThatIsJustMadeAreNoOrphans(name: String) throws {
        let meeting = Meeting()
        // Keeps its name, as without one nothing is looked for.
        try meeting.simulation.disk.createDirectory("a")
        meeting.medium.before(.status, of: name) {
            let made = try? meeting.open()
            _ = try? made?.saveBlob([1])
            meeting.second.withLock { $0 = made }
        }
        let first = try meeting.open()
        let second = try #require(meeting.second.withLock { $0 })
        #expect(first.publicUUID == second.publicUUID)
        #expect(try first.blobs().count == 1)
    }
}

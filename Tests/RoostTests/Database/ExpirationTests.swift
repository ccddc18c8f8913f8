import Foundation
import RoostFile
import RoostSimulation
import Synchronization
import Testing

@testable import Roost

@Suite struct ExpirationTests {
    let files: TemporaryDatabase
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        notes = try files.open().collection("notes")
    }

    private let later = Date(timeIntervalSinceNow: 3600)

    @Test func expirationsAreSetQueriedAndCleared() throws {
        for id in ["a", "b", "c"] { try notes.save(json: "{}", id: id) }
        #expect(try notes.setExpiration(later, of: "a"))
        #expect(try notes.setExpiration(later + 60, of: "b"))
        #expect(try !notes.setExpiration(later, of: "none"))
        let snapshot = try notes.snapshot()
        let date = try #require(try snapshot.expiration(of: "a"))
        #expect(abs(date.timeIntervalSince(later)) < 0.001)
        #expect(try snapshot.expiration(of: "c") == nil)
        #expect(try snapshot.expirations().map(\.id) == ["a", "b"])
        #expect(try snapshot.expirations(before: later + 30).map(\.id) == ["a"])
        #expect(snapshot.lastSequence == 3, "it is not an edit")
        try notes.setExpiration(nil, of: "a")
        try notes.setExpiration(later - 60, of: "b")
        #expect(try notes.snapshot().expirations().map(\.id) == ["b"])
        #expect(try notes.database.purgeExpired() == 0)
    }

    @Test func anEditKeepsTheExpirationAndAPurgeEndsIt() throws {
        try notes.save(json: "{}", id: "a")
        try notes.setExpiration(later, of: "a")
        try notes.save(json: #"{"v":2}"#, id: "a")
        #expect(try notes.snapshot().expiration(of: "a") != nil)
        try notes.purge("a")
        #expect(try notes.snapshot().expirations().isEmpty)
        try notes.save(json: "{}", id: "a")
        #expect(try notes.snapshot().expiration(of: "a") == nil)
    }

    @Test func documentsArePurgedWhenTheyExpire() async throws {
        try await notes.save(json: "{}", id: "a")
        try await notes.save(json: "{}", id: "b")
        try await notes.setExpiration(Date(timeIntervalSinceNow: 0.05), of: "a")
        #expect(try await eventually { try notes.document("a") == nil })
        #expect(try notes.snapshot().changes().map(\.id) == ["b"], "purged, not deleted")
        #expect(try notes.count == 1)
    }

    /// By a clock that is set: all are due when the timer looks for the first time after that.
    @Test func documentsThatExpireOneAfterTheOtherArePurgedTogether() async throws {
        let simulation = Simulation(seed: 3)
        let database = try Database.open("db", environment: simulation.environment)
        let notes = try database.collection("notes")
        database.core.expirations.stop()
        let start = Date(timeIntervalSince1970: Double(simulation.clock.now()) / 1e6 + 30)
        try await database.write { batch in
            for number in 0..<50 {
                try batch.save(json: "{}", id: "n\(number)", in: notes)
                try batch.setExpiration(start + Double(number) / 100, of: "n\(number)", in: notes)
            }
        }
        let number = database.core.store.snapshot().commit.number
        simulation.clock.advance(by: 60_000_000)
        database.core.expirations.start(database.core)
        #expect(try await eventually { try notes.count == 0 })
        #expect(database.core.store.snapshot().commit.number == number + 1, "one commit of all purges")
        try database.close()
    }

    /// Between the look at what is due and the transaction another process keeps a document longer.
    @Test func anExpirationThatIsChangedBeforeThePurgeBeginsCounts() throws {
        let simulation = Simulation(seed: 4)
        let medium = LockingMedium(simulation.disk)
        func open(_ medium: any Medium) throws -> Database {
            var options = DatabaseOptions()
            options.writers = .takingTurns
            let database = try Database.open(
                "db", options: options,
                environment: Environment(
                    medium: medium, clock: simulation.clock, randomness: simulation.randomness))
            database.core.expirations.stop()
            return database
        }
        let (other, database) = (try open(simulation.disk), try open(medium))
        let notes = try other.defaultCollection
        let due = Date(timeIntervalSince1970: Double(simulation.clock.now()) / 1e6 + 10)
        for id in ["kept", "gone"] {
            try notes.save(json: "{}", id: id)
            try notes.setExpiration(due, of: id)
        }
        try database.refresh()
        simulation.clock.advance(by: 60_000_000)
        let wasChanged = Mutex(false)
        medium.beforeLock {
            _ = try? notes.setExpiration(nil, of: "kept")
            wasChanged.withLock { $0 = true }
        }
        #expect(try database.purgeExpired() == 1)
        #expect(wasChanged.withLock { $0 })
        #expect(try database.defaultCollection.contains("kept"))
        #expect(try !database.defaultCollection.contains("gone"))
        try database.close()
        try other.close()
    }

    @Test func openingCatchesUp() async throws {
        let expired = Date(timeIntervalSinceNow: 0.02)
        let notes = notes
        let database = notes.database
        try await database.write { batch in
            for number in 0..<1500 {
                try batch.save(json: "{}", id: "n\(number)", in: notes)
                try batch.setExpiration(Date(timeIntervalSinceNow: 60), of: "n\(number)", in: notes)
            }
            try batch.save(json: "{}", id: "kept", in: notes)
        }
        try await database.write { batch in
            for number in 0..<1500 { try batch.setExpiration(expired, of: "n\(number)", in: notes) }
        }
        try database.close()
        let again = try files.open().collection("notes")
        #expect(try await eventually { try again.count == 1 })
        #expect(try again.snapshot().expirations().isEmpty)
    }
}

import Foundation
import Roost
import Synchronization
import Testing

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
        #expect(try await eventually { try notes.get("a") == nil })
        #expect(try notes.snapshot().changes().map(\.id) == ["b"], "purged, not deleted")
        #expect(try notes.count == 1)
    }

    @Test func documentsThatExpireOneAfterTheOtherArePurgedTogether() async throws {
        let notes = notes
        let purges = Mutex(0)
        let start = Date(timeIntervalSinceNow: 0.1)
        try await notes.database.write { batch in
            for number in 0..<50 {
                try batch.save(json: "{}", id: "n\(number)", in: notes)
                try batch.setExpiration(start + Double(number) / 100, of: "n\(number)", in: notes)
            }
        }
        let observation = try notes.observe(since: notes.snapshot().lastSequence) { changes in
            if changes.contains(where: \.isPurged) { purges.withLock { $0 += 1 } }
        }
        #expect(try await eventually { try notes.count == 0 })
        observation.cancel()
        // Half a second, in tenths.
        #expect(purges.withLock { $0 } < 15)
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

import Foundation
import Roost
import Testing

/// What a peer, or whoever derives something from documents, needs to know of a collection's history.
@Suite struct CollectionHistoryTests {
    let files: TemporaryDatabase
    let database: Database
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
        notes = try database.collection("notes")
    }

    // MARK: Epochs

    @Test func everyCollectionHasAnEpochThatStays() throws {
        let epoch = try notes.snapshot().epoch
        #expect(try epoch != database.defaultCollection.snapshot().epoch)
        try notes.save(json: "{}", id: "a")
        try database.compact()
        #expect(try notes.snapshot().epoch == epoch)
        try database.close()
        #expect(try files.use { try $0.collection("notes").snapshot().epoch } == epoch)
    }

    @Test func aCollectionThatIsMadeAgainHasAnotherEpoch() throws {
        let epoch = try notes.snapshot().epoch
        try database.drop(notes)
        #expect(try database.collection("notes").snapshot().epoch != epoch)
    }

    @Test func aRestoredBackupBeginsAnotherHistory() throws {
        try notes.save(json: "{}", id: "a")
        let epoch = try notes.snapshot().epoch
        let copy = files.directory + "/Copy.roost"
        try database.backup(to: copy)
        let reader = try Database.open(copy, options: DatabaseOptions(isReadOnly: true))
        #expect(try reader.collection("notes").snapshot().epoch == epoch, "reading begins nothing")
        try reader.close()
        try notes.save(json: "{}", id: "b")
        #expect(try database.backup(to: copy).isIncremental)
        let restored = try Database.open(copy)
        let other = try restored.collection("notes").snapshot().epoch
        #expect(try other != epoch && restored.collection("notes").count == 2)
        #expect(restored.publicUUID == database.publicUUID)
        try restored.close()
        let again = try Database.open(copy)
        #expect(try again.collection("notes").snapshot().epoch == other, "it begins once")
        #expect(try notes.snapshot().epoch == epoch)
    }

    @Test func aSalvagedDatabaseBeginsAnotherHistory() throws {
        try notes.save(json: "{}", id: "a")
        let epoch = try notes.snapshot().epoch
        try database.close()
        let rescued = files.directory + "/Rescued.roost"
        try Database.salvage(files.path, to: rescued)
        let database = try Database.open(rescued)
        #expect(try database.collection("notes").snapshot().epoch != epoch)
        #expect(try database.collection("notes").snapshot().document("a") != nil)
    }

    @Test func theTimeOfCreationStays() throws {
        let made = try notes.snapshot().creationDate
        #expect(abs(made.timeIntervalSinceNow) < 600 && database.creationDate <= made)
        let databaseMade = database.creationDate
        try database.compact()
        try database.close()
        let again = try files.open()
        #expect(try again.collection("notes").snapshot().creationDate == made)
        #expect(again.creationDate == databaseMade)
    }

    // MARK: Purges

    @Test func purgesAreRememberedInOrder() throws {
        try notes.insert("a", "2-bb 1-aa")
        try notes.insert("a", "2-cc 1-aa")
        try notes.save(json: "{}", id: "b")
        #expect(try notes.snapshot().purgeSequence == 0 && notes.snapshot().purges(since: 0) == [])
        try notes.purge("a", revisions: ids("2-bb 1-aa"))
        try notes.purge("a", revisions: ids("9-99"))
        try notes.purge("nothing")
        let last = try #require(try notes.document("b")).revision
        try notes.purge("b")
        #expect(try notes.snapshot().purgeSequence == 2)
        let purges = try #require(try notes.snapshot().purges(since: 0))
        #expect(purges.map(\.id) == ["a", "b"] && purges.map(\.sequence) == [1, 2])
        #expect(try purges.map(\.revisions) == [ids("2-bb"), [last]])
        #expect(try notes.snapshot().purges(since: 1)?.map(\.id) == ["b"])
        #expect(try notes.snapshot().purges(since: 2) == [] && notes.snapshot().purges(since: .max) == [])
    }

    @Test func expirationsAreRememberedAsPurges() async throws {
        try await notes.save(json: "{}", id: "a")
        try await notes.setExpiration(.distantPast, of: "a")
        // The database does so by itself, too, and may be about to.
        try database.purgeExpired()
        #expect(try await eventually { try notes.snapshot().purges(since: 0)?.map(\.id) == ["a"] })
    }

    @Test func theLastThousandPurgesAreRemembered() throws {
        try database.write { batch in
            for number in 0..<1010 {
                try batch.save(json: "{}", id: "n\(number)", in: notes)
                try batch.purge("n\(number)", in: notes)
            }
        }
        let snapshot = try notes.snapshot()
        #expect(snapshot.purgeSequence == 1010)
        #expect(try snapshot.purges(since: 0) == nil && snapshot.purges(since: 9) == nil)
        #expect(try snapshot.purges(since: 10)?.map(\.sequence) == Array(11...1010))
        #expect(try snapshot.purges(since: 1009)?.map(\.id) == ["n1009"])
    }

    // MARK: Metadata, sizes, the default collection

    @Test func metadataStaysApartFromDocuments() throws {
        #expect(try notes.metadata("security") == nil)
        try notes.setMetadata([1, 2, 3], name: "security")
        try notes.setMetadata([], name: "other")
        #expect(try notes.metadata("security") == [1, 2, 3] && notes.metadata("other") == [])
        let snapshot = try notes.snapshot()
        #expect(try snapshot.count == 0 && snapshot.lastSequence == 0 && snapshot.localDocumentNames.isEmpty)
        try database.compact()
        try database.close()
        try files.use { database in
            let notes = try database.collection("notes")
            #expect(try notes.metadata("security") == [1, 2, 3])
            try notes.setMetadata(nil, name: "security")
            #expect(try notes.metadata("security") == nil && notes.metadata("other") == [])
            #expect(code { try notes.setMetadata([], name: "") } == .invalidName)
            #expect(
                code { try notes.setMetadata([], name: String(repeating: "x", count: 256)) } == .invalidName)
            let large = [UInt8](repeating: 1, count: (1 << 20) + 1)
            #expect(code { try notes.setMetadata(large, name: "x") } == .limitExceeded)
        }
    }

    @Test func collectionsTellTheirSizes() throws {
        let small = try database.collection("small")
        try small.save(json: "{}", id: "a")
        try database.write { batch in
            for number in 0..<1000 {
                let json = #"{"text":"\#(String(repeating: "x", count: 500))"}"#
                try batch.save(json: json, id: "n\(number)", in: notes)
            }
        }
        try database.compact()
        let (stored, whole) = (try notes.snapshot().storedBytes, try database.statistics().fileBytes)
        #expect(stored > 500_000 && stored <= whole)
        #expect(try small.snapshot().storedBytes < 10_000)
    }

    @Test func theDefaultCollectionIsEmptiedByDropping() throws {
        let old = try database.defaultCollection
        try old.save(json: "{}", id: "a")
        let epoch = try old.snapshot().epoch
        try database.drop(old)
        #expect(code { _ = try old.document("a") } == .notFound)
        let new = try database.defaultCollection
        #expect(try new.count == 0 && new.snapshot().epoch != epoch)
        #expect(try new.save(json: "{}", id: "b").sequence == 1)
        #expect(try database.collections().map(\.collectionName) == ["_default", "notes"])
    }
}

import FieldNotesModel
import Foundation
import Roost
import RoostSync
import Testing

/// How an app's model is tested: with databases in memory, which leave nothing behind.
@Suite struct JournalTests {
    private let noon = Date(timeIntervalSince1970: 1_778_000_000)

    private func journal() throws -> Journal {
        var options = DatabaseOptions()
        options.keptRevisions = 3
        return try Journal(Database.inMemory(options: options))
    }

    @Test func theNewestComeFirstPageByPage() async throws {
        let journal = try journal()
        // Some at the same moment, so that a page ends among them.
        for number in 0..<120 {
            try await journal.add(Sighting(species: "Swift \(number)", date: noon + Double(number / 7)))
        }
        var dates: [Date] = []
        var ids: Set<String> = []
        var page = try await journal.page()
        while true {
            dates += page.values.map(\.date)
            ids.formUnion(page.values.map(\.id))
            guard let next = page.next else { break }
            page = try await journal.page(after: next)
        }
        #expect(ids.count == 120 && dates == dates.sorted(by: >))
    }

    @Test func wordsAreFoundWhileTheyAreTyped() async throws {
        let journal = try journal()
        try await journal.add(Sighting(species: "Common swift", note: "nesting in a gable", date: noon))
        try await journal.add(Sighting(species: "Barn owl", date: noon))
        for typed in ["swi", "com gab", "\"swift", "gable)"] {
            #expect(try await journal.search(typed).map(\.species) == ["Common swift"], "\(typed)")
        }
        #expect(try await journal.search("swift owl").isEmpty)
        #expect(try await journal.search(" \"").isEmpty)
    }

    @Test func aPhotoIsKept() async throws {
        let journal = try journal()
        let photo = Data([0xFF, 0xD8, 1, 2, 3])
        let stored = try await journal.add(Sighting(species: "Owl", date: noon), photo: photo)
        #expect(try await journal.photo(of: stored.id) == photo && stored.hasPhoto == true)
        // An edit keeps it.
        var edited = stored
        edited.count = 3
        try await journal.save(&edited)
        #expect(try await journal.photo(of: stored.id) == photo)
    }

    @Test func aStaleEditIsAConflictAndAnEditIsUndone() async throws {
        let journal = try journal()
        var mine = try await journal.add(Sighting(species: "Owl", date: noon))
        var other = mine
        other.count = 2
        try await journal.save(&other)
        mine.note = "stale"
        await #expect(throws: DatabaseError.self) { try await journal.save(&mine) }
        #expect(try await journal.undo(mine.id))
        #expect(try await journal.page().values.map(\.count) == [1])
        #expect(try await !journal.undo("nobody"))
    }

    /// A migration is tested with what the version before has stored, as text.
    @Test func databasesOfTheFirstVersionAreMigrated() async throws {
        let database = try Database.inMemory()
        try await database.collection("sightings").save(
            json: #"{"bird": "Swift", "note": "", "date": "2026-05-05T12:00:00.000Z"}"#, id: "old")
        let values = try await Journal(database).page().values
        #expect(values.map(\.species) == ["Swift"] && values.map(\.count) == [1])
        #expect(try DatabaseMigrator.journal.appliedMigrations(of: database).count == 2)
    }

    /// Two devices sync without a network between them.
    @Test func twoDevicesComeToTheSame() async throws {
        let (phone, tablet) = (try journal(), try journal())
        try await phone.add(Sighting(species: "Swift", date: noon), photo: Data([1, 2, 3]))
        try await tablet.add(Sighting(species: "Owl", date: noon + 1))
        let replication = try phone.database.collection("sightings").replicate(
            with: tablet.database.collection("sightings"))
        #expect(try await replication.finished.problemCount == 0)
        for journal in [phone, tablet] {
            let values = try await journal.page().values
            #expect(values.map(\.species) == ["Owl", "Swift"])
            #expect(try await journal.photo(of: values[1].id) == Data([1, 2, 3]))
        }
    }

    @MainActor @Test func theModelFollowsTheDatabase() async throws {
        let journal = try journal()
        let model = JournalModel(journal)
        for number in 0..<Journal.pageLength + 1 {
            try await journal.add(Sighting(species: "Swift \(number)", date: noon + Double(number)))
        }
        while model.sightings.first?.species != "Swift \(Journal.pageLength)" { await Task.yield() }
        #expect(model.sightings.count == Journal.pageLength && model.hasMore)
        model.showMore()
        while model.sightings.count <= Journal.pageLength { await Task.yield() }
        #expect(!model.hasMore)
        model.searched = "17"
        while model.sightings.count != 1 { await Task.yield() }
        #expect(model.sightings[0].species == "Swift 17" && model.failure == nil)
    }
}

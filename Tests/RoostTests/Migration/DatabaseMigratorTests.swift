import Foundation
import Roost
import Testing

/// Migrations of an app's model.
@Suite struct DatabaseMigratorTests {
    private struct Failure: Error {}

    private let files: TemporaryDatabase
    private let database: Database

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
    }

    private func migrator(_ names: String...) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for name in names {
            migrator.registerMigration(name) { step in
                try step.transaction.save(json: "{}", in: try step.collection("log"))
            }
        }
        return migrator
    }

    private func failure(_ body: () throws -> Void) -> DatabaseError? {
        do {
            try body()
            return nil
        } catch {
            return error as? DatabaseError
        }
    }

    // MARK: Steps

    @Test func stepsAreAppliedOnceInOrderAndForGood() throws {
        #expect(try migrator("one").migrate(database) == 1)
        #expect(try migrator("one", "two", "three").migrate(database) == 2)
        try database.close()
        let reopened = try files.open()
        let all = migrator("one", "two", "three")
        #expect(try all.hasCompletedMigrations(of: reopened))
        #expect(try all.migrate(reopened) == 0)
        #expect(try all.appliedMigrations(of: reopened) == ["one", "two", "three"])
        #expect(try reopened.collection("log").count == 3)
    }

    @Test func aStepThatFailsIsUndoneAndThoseBeforeItStay() throws {
        var broken = migrator("one")
        broken.registerMigration("two") { step in
            try step.transaction.save(json: "{}", id: "half", in: try step.collection("new"))
            throw Failure()
        }
        #expect(throws: Failure.self) { try broken.migrate(database) }
        #expect(try broken.appliedMigrations(of: database) == ["one"])
        #expect(failure { _ = try database.collection("new", createsIfMissing: false) }?.code == .notFound)

        var mended = migrator("one")
        mended.registerMigration("two") { step in
            try step.transaction.save(json: "{}", id: "whole", in: try step.collection("new"))
        }
        #expect(try mended.migrate(database) == 1)
        #expect(try database.collection("new").contains("whole"))
    }

    @Test func aDatabaseOfANewerVersionIsRefused() throws {
        try migrator("one", "two").migrate(database)
        let old = migrator("one")
        for call in [{ try old.migrate(database) == 0 }, { try old.hasCompletedMigrations(of: database) }] {
            let error = failure { _ = try call() }
            #expect(error?.code == .unsupportedFormat)
            #expect(error?.message.contains("\"two\"") == true, "\(error?.message ?? "")")
        }
        #expect(
            failure { _ = try migrator("one", "zwei", "three").migrate(database) }?.code == .unsupportedFormat
        )
        #expect(try database.collection("log").count == 2)
    }

    @Test func migrationsGoUpToAStepThatIsNamed() throws {
        let migrator = migrator("one", "two", "three")
        #expect(try migrator.migrate(database, upTo: "two") == 2)
        #expect(try !migrator.hasCompletedMigrations(of: database))
        #expect(failure { try migrator.migrate(database, upTo: "four") }?.code == .notFound)
        #expect(try migrator.migrate(database) == 1)
    }

    @Test func theVersionIsNoDocument() throws {
        var migrator = migrator("one")
        migrator.registerMigration("save") { step in
            let home = try step.database.defaultCollection
            try step.transaction.save(json: "{}", id: "late", in: home)
        }
        try migrator.migrate(database)
        #expect(try database.defaultCollection.snapshot().lastSequence == 1)
        #expect(try database.defaultCollection.count == 1)
    }

    @Test func tasksMigrateToo() async throws {
        #expect(try await migrator("one", "two").migrate(database) == 2)
        #expect(try migrator("one", "two").hasCompletedMigrations(of: database))
    }

    // MARK: Documents

    private struct NoteOne: Codable, Sendable { var title: String }
    private struct NoteTwo: Codable, Sendable {
        var title: String
        var stars: Int
    }
    private struct NoteThree: Codable, Sendable, Equatable {
        var heading: String
        var stars: Int
    }

    private static let modelMigrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { step in
            try step.transaction.save(
                NoteOne(title: "Welcome"), id: "welcome", in: try step.collection("notes"))
        }
        migrator.registerMigration("stars") { step in
            let notes = try step.collection("notes")
            try step.updateAll(in: notes) { note in
                if note["stars"] == nil { note["stars"] = 0 }
            }
        }
        migrator.registerMigration("headings") { step in
            let notes = try step.collection("notes", of: NoteThree.self)
            try step.convertAll(in: notes, from: NoteTwo.self) { old in
                old.title.isEmpty ? nil : NoteThree(heading: old.title, stars: old.stars)
            }
        }
        return migrator
    }()

    @Test func threeVersionsOfAModelComeToTheNewest() throws {
        let migrator = Self.modelMigrator
        try migrator.migrate(database, upTo: "notes")
        let first = try database.collection("notes", of: NoteOne.self)
        try first.save(NoteOne(title: "Swifts"), id: "swifts")
        try first.save(NoteOne(title: ""), id: "empty")
        try migrator.migrate(database, upTo: "stars")
        try database.collection("notes", of: NoteTwo.self).update("swifts") { $0.stars = 3 }
        try migrator.migrate(database)

        let notes = try database.collection("notes", of: NoteThree.self)
        #expect(
            try notes.all().map(\.value) == [
                NoteThree(heading: "Swifts", stars: 3), NoteThree(heading: "Welcome", stars: 0),
            ])
        #expect(try notes.documents.document("swifts")?.json() == #"{"heading":"Swifts","stars":3}"#)
    }

    @Test func documentsThatAStepLeavesAreNotSaved() throws {
        let notes = try database.collection("notes")
        try notes.save(json: #"{"stars": 1}"#, id: "a")
        try notes.save(json: "{}", id: "b")
        let before = try notes.snapshot().lastSequence
        var migrator = DatabaseMigrator()
        migrator.registerMigration("stars") { step in
            let count = try step.updateAll(in: try step.collection("notes")) { note in
                if note["stars"] == nil { note["stars"] = 0 }
            }
            #expect(count == 1)
        }
        try migrator.migrate(database)
        #expect(try notes.snapshot().lastSequence == before + 1)
        #expect(try notes.document("a")?.revision.generation == 1 && notes.document("b")?["stars"].int == 0)
    }

    @Test func aCollectionOfTheStepItselfHasNothingToChange() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("new") { step in
            let fresh = try step.collection("fresh", scope: "birds")
            try step.transaction.save(json: "{}", id: "a", in: fresh)
            #expect(try step.transaction.document("a", in: fresh) != nil)
            #expect(try step.updateAll(in: fresh) { $0["seen"] = true } == 0)
        }
        try migrator.migrate(database)
        #expect(try database.collection("fresh", scope: "birds").contains("a"))
    }
}

import Roost
import Testing

/// A transaction with typed collections.
@Suite struct TypedBatchTests {
    private struct Note: Codable, Sendable, Identifiable, Equatable {
        var id: String
        var title: String
        var stars = 0
    }

    private let files: TemporaryDatabase
    private let database: Database
    private let notes: TypedCollection<Note>

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
        notes = try database.collection("notes", of: Note.self)
    }

    @Test func valuesAreSavedReadChangedAndDeletedInOneTransaction() throws {
        try database.write { batch in
            var swift = try batch.save(Note(id: "swifts", title: "Swifts"), in: notes)
            swift.stars = 1
            try batch.save(&swift, in: notes)
            try batch.save(Note(id: "owls", title: "Owls"), in: notes)
            try batch.save(Note(id: "storks", title: "Storks"), in: notes)
            #expect(try batch.update("swifts", in: notes) { $0.stars += 1 }?.stars == 2)
            #expect(
                try batch.document("swifts", in: notes)?.value
                    == Note(id: "swifts", title: "Swifts", stars: 2))
            let owl = try #require(try batch.document("owls", in: notes))
            try batch.delete(owl, in: notes)
            try batch.delete("storks", in: notes)
            #expect(try notes.count == 0)
        }
        #expect(try notes.all().map(\.value) == [Note(id: "swifts", title: "Swifts", stars: 2)])
    }

    @Test func aStaleValueIsAConflict() throws {
        try notes.save(Note(id: "a", title: "Apus"))
        var stale = try #require(try notes.document("a"))
        try notes.update("a") { $0.stars = 5 }
        let error = #expect(throws: DatabaseError.self) {
            try database.write { batch in
                try batch.save(Note(id: "b", title: "Bubo"), in: notes)
                try batch.save(&stale, in: notes)
            }
        }
        #expect(error?.code == .conflict)
        #expect(try !notes.contains("b") && notes.document("a")?.stars == 5)
    }

    @Test func conflictsAreResolvedWithAValue() throws {
        try database.write { batch in
            for digest in ["2-bb", "2-cc"] {
                try batch.insert(
                    json: #"{"title": "\#(digest)", "stars": 0}"#, id: "a",
                    history: [digest, "1-aa"].compactMap { RevisionID($0) }, in: notes.documents)
            }
            try batch.resolve("a", with: Note(id: "a", title: "both"), in: notes)
        }
        let document = try #require(try notes.documents.document("a"))
        #expect(!document.isConflicted && document["title"].string == "both")
    }
}

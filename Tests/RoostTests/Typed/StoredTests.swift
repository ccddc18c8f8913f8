import Foundation
import Roost
import Testing

/// Values that are read and saved as what they are: no update is lost unnoticed.
@Suite struct StoredTests {
    private let files: TemporaryDatabase
    private let database: Database
    private let notes: TypedCollection<Note>

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
        notes = try database.collection("notes", of: Note.self)
    }

    private struct Note: Codable, Hashable, Sendable, Identifiable {
        var id: String
        var title: String
        var stars = 0
    }

    private func code(_ body: () throws -> Void) -> DatabaseError.Code? {
        (#expect(throws: DatabaseError.self) { try body() })?.code
    }

    // MARK: Saving

    @Test func aStaleValueConflicts() throws {
        try notes.save(Note(id: "n", title: "Swifts"))
        var mine = try #require(try notes.document("n"))
        var theirs = try #require(try notes.documents.document("n", as: Note.self))
        mine.stars = 1
        theirs.stars = 2
        try notes.documents.save(&theirs)
        #expect(code { try notes.save(&mine) } == .conflict)
        #expect(code { try notes.delete(mine) } == .conflict)
        #expect(try notes["n"]?.stars == 2)
        theirs.stars = 3
        try notes.save(&theirs)
        try notes.save(&mine, expecting: .any)
        #expect(try notes["n"]?.stars == 1)
        #expect(code { try notes.save(&theirs) } == .conflict)
        mine.stars = 4
        try notes.save(&mine)
        #expect(try notes["n"] == mine)
    }

    @Test func aStaleValueConflictsInTasks() async throws {
        try await notes.save(Note(id: "n", title: "Swifts"))
        var mine = try #require(try notes.document("n"))
        var theirs = mine
        try await notes.save(&theirs)
        let before = mine
        do {
            try await notes.save(&mine)
            Issue.record("saved over a newer revision")
        } catch { #expect(error.code == .conflict) }
        #expect(mine == before)
        try await notes.delete(theirs)
        #expect(try notes.document("n") == nil)
    }

    @Test func aNewValueReplacesNothing() throws {
        let first = try notes.save(Note(id: "n", title: "Swifts"))
        #expect(first.id == "n" && first.title == "Swifts")
        #expect(code { try notes.save(Note(id: "n", title: "Owls")) } == .conflict)
        #expect(code { try notes.documents.save(["title": "Owls"], id: "n") } == .conflict)
        #expect(try notes["n"] == first)
        try notes.save(Note(id: "n", title: "Owls"), expecting: .any)
        #expect(try notes["n"]?.title == "Owls")
        try notes.delete("n")
        try notes.save(Note(id: "n", title: "Martins"))
        #expect(try notes["n"]?.title == "Martins")
    }

    @Test func updatesComeOneAfterTheOther() async throws {
        try await notes.save(Note(id: "n", title: "Swifts"))
        let notes = notes
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await notes.update("n") { $0.stars += 1 } } }
            try await group.waitForAll()
        }
        #expect(try notes["n"]?.stars == 20)
        #expect(try await notes.update("none") { $0.stars += 1 } == nil)
    }

    @Test func batchesReadAndUpdate() throws {
        struct Stop: Error {}
        try notes.save(Note(id: "n", title: "Swifts"))
        try database.write { batch in
            var note = try #require(try batch.document("n", as: Note.self, in: notes.documents))
            note.stars = 1
            try batch.save(&note, in: notes.documents)
            #expect(try batch.document("n", as: Note.self, in: notes.documents) == note)
            let updated = try batch.update("n", as: Note.self, in: notes.documents) { $0.stars += 1 }
            #expect(updated?.stars == 2)
        }
        #expect(throws: Stop.self) {
            try notes.update("n") { note in
                note.stars = 9
                throw Stop()
            }
        }
        #expect(try notes["n"]?.stars == 2)
    }

    @Test func valuesAreListed() throws {
        for id in ["b", "a", "c"] { try notes.save(Note(id: id, title: id.uppercased())) }
        #expect(try notes.all().map(\.title) == ["A", "B", "C"])
        #expect(try notes.all(from: "b", isDescending: true).map(\.id) == ["c", "b"])
        #expect(try notes.count == 3 && notes.contains("a"))
        try notes.documents.save(json: "{}", id: "d")
        #expect(code { _ = try notes.all() } == .decodingFailed)
    }

    @Test func conflictsAreResolvedWithValues() throws {
        let documents = notes.documents
        try documents.insert("n", "1-aa", json: #"{"title":"Swifts"}"#)
        try documents.insert("n", "1-bb", json: #"{"title":"Owls"}"#)
        try documents.resolve("n", with: Note(id: "n", title: "Both", stars: 2))
        #expect(try documents.snapshot().conflicts(of: "n").isEmpty)
        #expect(try notes["n"]?.value == Note(id: "n", title: "Both", stars: 2))
        #expect(try documents.resolve("none", with: Note(id: "none", title: "")) == nil)
    }

    // MARK: Identifiers

    @Test func theIDIsNoProperty() throws {
        let saved = try notes.documents.save(Note(id: "n", title: "Swifts"))
        #expect(saved.id == "n")
        #expect(saved.json() == #"{"stars":0,"title":"Swifts"}"#)
        #expect(try saved.decode(Note.self) == Note(id: "n", title: "Swifts"))
        try notes.documents.save(json: #"{"id":"other","title":"Owls","stars":1}"#, id: "m")
        #expect(try notes["m"]?.value.id == "m")
        #expect(try notes.documents.save(Note(id: "n", title: "Owls"), id: "given").id == "given")
        #expect(try notes["given"]?.value.id == "given")
    }

    @Test func identifiersMayBeUUIDsOrMadeUp() throws {
        struct Bird: Codable, Identifiable { var id = UUID() }
        let birds = try database.collection("birds", of: Bird.self)
        let bird = Bird()
        #expect(try birds.save(bird).id == bird.id.uuidString)
        #expect(try birds.document(bird.id.uuidString)?.value.id == bird.id)
        // As another writer may have named it.
        let other = UUID()
        try birds.documents.save(json: "{}", id: other.uuidString.lowercased())
        var found = try #require(try birds.document(other.uuidString.lowercased()))
        #expect(found.value.id == other)
        try birds.save(&found)
        #expect(try birds.count == 2)

        struct Egg: Codable, Identifiable {
            var id: String?
            var colour: String
        }
        let eggs = try database.collection("eggs", of: Egg.self)
        let egg = try eggs.save(Egg(colour: "white"))
        #expect(egg.value.id == egg.id && !egg.id.isEmpty)
        #expect(try eggs.save(Egg(id: "mine", colour: "blue")).value.id == "mine")

        struct Key: RawRepresentable, Codable, Hashable { var rawValue: String }
        struct Nest: Codable, Identifiable { var id: Key }
        let nests = try database.collection("nests", of: Nest.self)
        #expect(try nests.save(Nest(id: Key(rawValue: "gable"))).value.id == Key(rawValue: "gable"))
    }

    @Test func onlyTheDocumentsOwnIDIsItsName() throws {
        struct Part: Codable, Equatable { var id: String }
        struct Whole: Codable, Identifiable, Equatable {
            var id: String?
            var part: Part
            var parts: [Part]
        }
        let wholes = try database.collection("wholes", of: Whole.self)
        let json = #"{"id":"no name","part":{"id":"a"},"parts":[{"id":"b"},{"id":"c"}]}"#
        try wholes.documents.save(json: json, id: "w")
        let expected = Whole(id: "w", part: Part(id: "a"), parts: [Part(id: "b"), Part(id: "c")])
        #expect(try wholes.document("w")?.value == expected)

        struct Looking: Decodable, Identifiable {
            var id: String
            var hasNil = true
            var keys: [String]
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                guard container.contains(.id) else {
                    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no id"))
                }
                hasNil = try container.decodeNil(forKey: .id)
                id = try container.decodeIfPresent(String.self, forKey: .id) ?? ""
                keys = container.allKeys.map(\.stringValue)
            }
            enum CodingKeys: CodingKey { case id, part }
        }
        try wholes.documents.save(json: #"{"part":null}"#, id: "bare")
        let bare = try #require(try wholes.documents["bare"]).decode(Looking.self)
        #expect(bare.id == "bare" && !bare.hasNil && bare.keys == ["part"])
    }

    @Test func computedAndRenamedIdentifiersCount() throws {
        struct Book: Codable, Identifiable {
            var isbn: String
            var id: String { isbn }
        }
        let books = try database.collection("books", of: Book.self)
        #expect(try books.save(Book(isbn: "978-3")).id == "978-3")
        #expect(try books.document("978-3")?.isbn == "978-3")

        struct Row: Codable, Identifiable {
            var id: String
            enum CodingKeys: String, CodingKey { case id = "_id" }
        }
        let rows = try database.collection("rows", of: Row.self)
        #expect(try rows.save(Row(id: "r")).value.id == "r")
        #expect(try rows.documents["r"]?.json() == "{}")
    }

    @Test func noIDIsMadeUpWhereThereIsOne() throws {
        struct Plain: Codable { var id: String }
        struct Numbered: Codable, Identifiable { var id: Int }
        struct Hidden: Codable, Identifiable {
            var id: Int { 5 }
            var title = ""
        }
        let documents = notes.documents
        #expect(code { try documents.save(Plain(id: "a")) } == .invalidDocumentID)
        #expect(code { try documents.save(Numbered(id: 1)) } == .invalidDocumentID)
        #expect(code { try documents.save(Hidden()) } == .invalidDocumentID)
        #expect(try documents.count == 0)
        #expect(try documents.save(Plain(id: "a"), id: "b").json() == #"{"id":"a"}"#)
        #expect(try documents.save(Hidden(), id: "h").id == "h")
    }

    @Test func anIDThatWasReadStays() throws {
        var note = try notes.save(Note(id: "n", title: "Swifts"))
        note.value.id = "m"
        #expect(code { try notes.save(&note) } == .invalidDocumentID)
        #expect(try notes.all().map(\.id) == ["n"])
        try notes.save(note.value)
        #expect(try notes.all().map(\.id) == ["m", "n"])
    }

    // MARK: Values

    @Test func olderDocumentsGetDefaults() throws {
        struct Entry: DecodableWithDefaults, Identifiable {
            var id = ""
            var title = "untitled"
            var price = Decimal(string: "19.99")!
        }
        let entries = try database.collection("entries", of: Entry.self)
        try entries.documents.save(json: #"{"title":"old"}"#, id: "old")
        var old = try #require(try entries.document("old"))
        #expect(old.title == "old" && old.price == Decimal(string: "19.99"))
        try entries.save(&old)
        #expect(try entries.documents["old"]?.json() == #"{"price":19.99,"title":"old"}"#)
    }

    @Test func datesAndDecimalsComeBackEqual() throws {
        struct Entry: Codable, Equatable, Identifiable {
            var id: String
            var made = Date()
            var price = Decimal(string: "0.12345678901234567890123")!
        }
        let entries = try database.collection("entries", of: Entry.self)
        let entry = Entry(id: "e")
        #expect(try entries.save(entry).value == entry)
        #expect(try entries.document("e")?.value == entry)
    }
}

import Foundation
import Roost
import RoostQuery
import Testing

/// Queries put together in Swift.
@Suite struct TypedQueryTests {
    struct Note: Codable, Sendable, Identifiable, Equatable {
        struct Place: Codable, Sendable, Equatable {
            var city: String
            var floor: Int?
        }

        var id: String
        var title: String
        var stars = 0
        var isOpen = true
        var tags: [String] = []
        var place: Place?
        var visits: [Place] = []

        var shout: String { title.uppercased() }
    }

    let fixture: QueryFixture
    let notes: TypedCollection<Note>

    init() throws {
        fixture = try QueryFixture()
        notes = try fixture.database.collection("notes", of: Note.self)
        try notes.save(
            Note(
                id: "a", title: "Apus", stars: 5, tags: ["sea", "sky"], place: .init(city: "Rome", floor: 3)))
        try notes.save(
            Note(
                id: "b", title: "Bubo", stars: 3, isOpen: false, tags: ["wood"],
                visits: [.init(city: "Oslo"), .init(city: "Rome", floor: 1)]))
        try notes.save(Note(id: "c", title: "ciconia", stars: 5, tags: ["sky"], place: .init(city: "Oslo")))
        try notes.save(Note(id: "d", title: "Dryo", stars: 0))
    }

    private func ids(_ condition: (QueryField<Note>) -> QueryCondition) throws -> String {
        try notes.query().where(condition).fetch().map(\.id).joined()
    }

    /// A property that is coded under another name is never taken for one that happens to have its name.
    @Test func renamedPropertiesAreRefused() throws {
        struct Renamed: Codable, Sendable, Identifiable {
            struct Inner: Codable, Sendable {
                var city: String
                enum CodingKeys: String, CodingKey { case city = "c" }
            }
            var id: String
            var title: String
            var stars: Int
            var inner: Inner
            enum CodingKeys: String, CodingKey { case id, title = "t", stars, inner }
        }
        let renamed = try fixture.database.collection("renamed", of: Renamed.self)
        try renamed.save(Renamed(id: "a", title: "Apus", stars: 5, inner: .init(city: "Rome")))
        #expect(try renamed.query().where { $0.stars == 5 && $0.id == "a" }.count() == 1)
        #expect(try renamed.query().where { $0.named("t", as: String.self) == "Apus" }.count() == 1)
        for query in [
            renamed.query().where { $0.title == "Apus" }, renamed.query().where { $0.inner.city == "Rome" },
            renamed.query().order(by: \.title),
        ] {
            #expect { try query.count() } throws: {
                ($0 as? DatabaseError)?.message.contains("is coded under another name") == true
            }
        }
        #expect(throws: DatabaseError.self) { try renamed.createIndex("by-title", on: \.title) }
        try renamed.createIndex("by-stars", on: \.stars)
    }

    @Test func aParameterThatIsNotSetIsAnError() throws {
        let query = try fixture.database.query("SELECT title FROM notes WHERE stars > $min")
        #expect { try query.fetch() } throws: {
            ($0 as? DatabaseError)?.message
                == "The parameter $min is not set. Give it a value, .null for none."
        }
        #expect(throws: DatabaseError.self) { try query.with(["mni": 3]).count() }
        #expect(try query.with(["min": 3]).count() == 2)
        #expect(try query.with(["min": .null]).count() == 0)
    }

    @Test func conditionsAreMet() throws {
        #expect(try ids { $0.stars > 3 } == "ac")
        #expect(try ids { $0.stars >= 3 && $0.isOpen == true } == "ac")
        #expect(try ids { $0.stars < 1 || $0.title == "Bubo" } == "bd")
        #expect(try ids { !($0.stars == 5) } == "bd")
        #expect(try ids { !$0.isOpen } == "b")
        #expect(try ids { $0.stars != 5 } == "bd")
        #expect(try ids { $0.tags.contains("sky") } == "ac")
        #expect(try ids { $0.place.city == "Oslo" } == "c")
        #expect(try ids { $0.place.floor == nil } == "bcd")
        #expect(try ids { $0.place.floor != nil } == "a")
        #expect(try ids { $0.stars.isIn([0, 3]) } == "bd")
        #expect(try ids { $0.title.hasPrefix("D") } == "d")
        #expect(try ids { $0.title.isLike("%u%o") } == "b")
        #expect(try ids { $0.title.contains("ico") } == "c")
        #expect(try ids { $0.title.matches("^[A-B]") } == "ab")
        #expect(try ids { $0.title.caseInsensitive == "APUS" } == "a")
        #expect(try ids { $0.visits.contains { $0.city == "Rome" && $0.floor == 1 } } == "b")
        #expect(try ids { $0.tags.allSatisfy { $0 == "sky" } } == "cd")
        #expect(try ids { $0.id > "b" } == "cd")
        #expect(try ids { $0.named("title", as: String.self) == "Apus" } == "a")
    }

    @Test func valuesComeInOrder() throws {
        let query = notes.query().order(by: \.stars, .descending).order { $0.title.caseInsensitive }
        #expect(try query.fetch().map(\.id) == ["a", "c", "b", "d"])
        #expect(try query.offset(1).limit(2).fetch().map(\.id) == ["c", "b"])
        #expect(try query.first()?.value.title == "Apus")
        #expect(try query.where { $0.stars > 9 }.first() == nil)
        #expect(try query.count() == 4)
        #expect(try query.limit(3).count() == 3)
        #expect(try query.fetch()[0].value.place?.floor == 3)
    }

    @Test func documentsAreChangedTogether() throws {
        #expect(try notes.query().where { $0.stars == 5 }.update { $0.stars += 1 } == 2)
        #expect(try notes.query().where { $0.stars == 6 }.count() == 2)
        let sequence = try fixture.database.collection("notes").snapshot().lastSequence
        #expect(try notes.query().where { $0.stars == 99 }.delete() == 0)
        #expect(try fixture.database.collection("notes").snapshot().lastSequence == sequence)
        #expect(try notes.query().where { $0.stars < 4 }.delete() == 2)
        #expect(try notes.query().fetch().map(\.id) == ["a", "c"])
    }

    @Test func computedPropertiesAreRefused() throws {
        let message = QueryFixture.message { _ = try notes.query().where { $0.shout == "X" }.fetch() }
        #expect(message.contains("is no stored property") || message == "no error")
    }

    @Test func valuesAreToldWhenTheyChange() async throws {
        let query = notes.query().where { $0.stars > 2 }.order(by: \.title)
        var updates = query.updates.makeAsyncIterator()
        #expect(try await updates.next()?.map(\.id) == ["a", "b", "c"])
        // Of no interest, and then of some.
        try await notes.save(Note(id: "d", title: "Dryo", stars: 1), expecting: .any)
        try await notes.save(Note(id: "e", title: "Bubulcus", stars: 4))
        let values = try #require(try await updates.next())
        #expect(values.map(\.title) == ["Apus", "Bubo", "Bubulcus", "ciconia"])
        #expect(values[2].stars == 4)
        var refused = notes.query().where { $0.matching("sky", in: "none") }.updates.makeAsyncIterator()
        await #expect(throws: DatabaseError.self) { try await refused.next() }
    }

    @Test func listsOfValuesAreToldWhatToDo() async throws {
        var differences = notes.query().where { $0.stars > 2 }.order(by: \.title).differences
            .makeAsyncIterator()
        #expect(try await differences.next()?.insertions == [0, 1, 2])
        let documents = notes.documents
        try await fixture.database.write { batch in
            try batch.delete("a", in: documents)
            try batch.save(
                json: #"{"title":"zonata","stars":3,"isOpen":true,"tags":[],"visits":[]}"#, id: "b",
                in: documents)
        }
        let difference = try #require(try await differences.next())
        #expect(difference.values.map(\.title) == ["ciconia", "zonata"])
        #expect(difference.removals == [0] && difference.insertions.isEmpty)
        #expect(difference.moves.count == 1 && difference.updates == [1])
    }

    @Test func textsAreSearched() throws {
        try notes.documents.createTextIndex("titles", on: "title, tags")
        #expect(
            try notes.query().where { $0.matching("apus OR sky", in: "titles") }.fetch().map(\.id) == [
                "a", "c",
            ])
        #expect(
            try notes.query().where { $0.title == "Apus" && $0.matching("sky", in: "titles") }.first()?.id
                == "a")
        #expect(
            QueryFixture.message { _ = try notes.query().where { $0.matching("sky", in: "other") }.fetch() }
                .contains("other"))
    }
}

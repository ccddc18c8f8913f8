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

// MARK: - Typed field tests

/// Typed queries of properties of all kinds, their figures, projections and joins.
@Suite struct TypedFieldTests {
    enum Size: String, Codable, Sendable { case small, large }
    enum Rank: Int, Codable, Sendable, QueryComparable { case low = 1, high = 2 }

    struct Thing: Codable, Sendable, Identifiable {
        var id: String
        var size = Size.small
        var grade = Rank.low
        var link: URL?
        var token = UUID()
        var weight: Float = 0
        var count: Int32 = 0
        var price: Decimal = 0
        var limit: Int32 = 0
        var owner = "nobody"
        var sizes: [Size] = []
        var kind: Size?
    }

    struct Owner: Codable, Sendable, Identifiable {
        var id: String
        var name: String
    }

    let fixture: QueryFixture
    let things: TypedCollection<Thing>
    let token = UUID()

    init() throws {
        fixture = try QueryFixture()
        things = try fixture.database.collection("things", of: Thing.self)
        try things.save(
            Thing(
                id: "a", size: .large, grade: .high, link: URL(string: "https://a.example/x"), token: token,
                weight: 1.1,
                count: 3, price: Decimal(string: "19.99")!, limit: 5, owner: "o1", sizes: [.large]))
        try things.save(
            Thing(id: "b", weight: 2.5, count: 5, price: Decimal(10) / 3, limit: 5, owner: "o2", kind: .large)
        )
        try things.save(Thing(id: "c", size: .large, count: 7, price: 100, limit: 5, owner: "o1"))
    }

    private func ids(_ condition: (QueryField<Thing>) -> QueryCondition) throws -> String {
        try things.query().where(condition).order(by: \.id).fetch().map(\.id).joined()
    }

    @Test func propertiesOfAllKindsAreCompared() throws {
        #expect(try ids { $0.size == .large } == "ac")
        #expect(try ids { $0.size != .large } == "b")
        #expect(try ids { $0.size.isIn([.small]) } == "b")
        #expect(try ids { $0.kind == .large } == "b")
        #expect(try ids { $0.kind == nil } == "ac")
        #expect(try ids { $0.sizes.contains(.large) } == "a")
        #expect(try ids { $0.grade > .low } == "a")
        #expect(try ids { $0.link == URL(string: "https://a.example/x") } == "a")
        #expect(try ids { $0.link == nil } == "bc")
        #expect(try ids { $0.token == token } == "a")
        #expect(try ids { $0.weight == 1.1 } == "a")
        #expect(try ids { $0.weight >= 1.1 } == "ab")
        #expect(try ids { $0.count > 3 && $0.count < 7 } == "b")
        #expect(try ids { $0.price > 50 } == "c")
        #expect(try ids { $0.price == Decimal(10) / 3 } == "b")
        #expect(throws: DatabaseError.self) { try ids { $0.weight == .nan || $0.count == 3 } }
    }

    @Test func propertiesAreComparedWithEachOther() throws {
        #expect(try ids { $0.count == $0.limit } == "b")
        #expect(try ids { $0.count != $0.limit } == "ac")
        #expect(try ids { $0.count < $0.limit } == "a")
        #expect(try ids { $0.count <= $0.limit } == "ab")
        #expect(try ids { $0.count > $0.limit } == "c")
        #expect(try ids { $0.count >= $0.limit } == "bc")
    }

    @Test func figuresOfValues() throws {
        let all = things.query()
        #expect(try all.sum { $0.count } == 15)
        #expect(try all.average { $0.count } == 5)
        #expect(try all.minimum { $0.count } == 3)
        #expect(try all.maximum { $0.price } == 100)
        #expect(try all.minimum { $0.owner } == "o1")
        #expect(try all.where { $0.count > 99 }.sum { $0.count } == 0)
        #expect(try all.where { $0.count > 99 }.average { $0.count } == nil)
        #expect(try all.order(by: \.count, .descending).limit(2).sum { $0.count } == 12)
        #expect(try all.order(by: \.count).offset(1).limit(1).maximum { $0.count } == 5)
        #expect(throws: DatabaseError.self) {
            let _: Int8? = try things.query().maximum { $0.named("token") }
        }
    }

    @Test func partsOfValues() throws {
        #expect(try things.query().order(by: \.id).select { $0.owner } == ["o1", "o2", "o1"])
        let pairs = try things.query().order(by: \.count, .descending).limit(2).select {
            ($0.id, $0.count, $0.kind)
        }
        #expect(
            pairs.map(\.0) == ["c", "b"] && pairs.map(\.1) == [7, 5] && pairs.map(\.2) == [nil, .large])
        let message = QueryFixture.message {
            let _: [Int] = try things.query().select { $0.named("owner", as: Int.self) }
        }
        #expect(message.contains("\"o1\""), "\(message)")
    }

    @Test func valuesAreJoinedByProperties() throws {
        let owners = try fixture.database.collection("owners", of: Owner.self)
        try owners.save(Owner(id: "o1", name: "Ada"))
        try owners.save(Owner(id: "o2", name: "Bob"))
        let joined = things.query().where { $0.count < 9 }.joined(with: owners, on: \.owner, equals: \.id)
        let pairs = try joined.order(.descending) { _, owner in owner.name }.order { thing, _ in thing.id }
            .fetch()
        #expect(pairs.map { "\($0.0.id)\($0.1.name)" } == ["bBob", "aAda", "cAda"])
        #expect(try joined.where { thing, owner in thing.size == .large && owner.name == "Ada" }.count() == 2)
        #expect(try joined.limit(1).fetch().count == 1)
        let other = try Database.inMemory().collection("owners", of: Owner.self)
        #expect(throws: DatabaseError.self) {
            try things.query().joined(with: other, on: \.owner, equals: \.id).fetch()
        }
        #expect(throws: DatabaseError.self) {
            try things.query().limit(1).joined(with: owners, on: \.owner, equals: \.id).fetch()
        }
    }

    @Test func tasksAskWithoutWaiting() async throws {
        let query = things.query().where { $0.count > 3 }.order(by: \.id)
        #expect(try await query.fetch().map(\.id) == ["b", "c"])
        #expect(try await query.first()?.id == "b")
        #expect(try await query.count() == 2)
    }

    @Test func oneDocumentThatIsNoValueHidesNoOther() throws {
        try things.documents.save(json: #"{"count":"many"}"#, id: "bad")
        let message = QueryFixture.message { _ = try things.query().fetch() }
        #expect(message.contains("\"bad\""), "\(message)")
        #expect(try things.query().skippingInvalid().order(by: \.id).fetch().map(\.id) == ["a", "b", "c"])
        #expect(try things.query().skippingInvalid().order(by: \.id, .descending).first()?.id == "c")
    }

    // MARK: Names

    /// Two properties, each coded under the name of the other.
    struct Swapped: Codable, Sendable, Identifiable {
        var id: String
        var first: String
        var second: String
        enum CodingKeys: String, CodingKey { case id, first = "second", second = "first" }
    }

    struct Followed: Codable, Sendable, Identifiable {
        struct Inner: Codable, Sendable {
            var city: String
            enum CodingKeys: String, CodingKey, CaseIterable { case city = "c" }
        }
        var id: String
        var title: String
        var inner: Inner
        var tags: [String] = []
        enum CodingKeys: String, CodingKey, CaseIterable { case id, title = "t", inner = "i", tags = "g" }
    }

    @Test func namesThatWereChangedForEachOtherAreRefused() throws {
        let swapped = try fixture.database.collection("swapped", of: Swapped.self)
        try swapped.save(Swapped(id: "a", first: "1", second: "2"))
        #expect {
            try swapped.query().where { $0.first == "1" }.count()
        } throws: {
            ($0 as? DatabaseError)?.message.contains("is coded under another name") == true
        }
    }

    @Test func namesOfKeysThatCanBeGoneThroughAreFollowed() throws {
        let followed = try fixture.database.collection("followed", of: Followed.self)
        try followed.save(Followed(id: "a", title: "Apus", inner: .init(city: "Rome"), tags: ["sky"]))
        try followed.save(Followed(id: "b", title: "Bubo", inner: .init(city: "Oslo")))
        #expect(try followed.query().where { $0.title == "Apus" }.fetch().map(\.id) == ["a"])
        #expect(try followed.query().where { $0.inner.city == "Oslo" }.fetch().map(\.id) == ["b"])
        #expect(try followed.query().order(by: \.title, .descending).select { $0.title } == ["Bubo", "Apus"])
        // Of few documents none is looked for in an index.
        try fixture.fill(
            "followed",
            (0..<300).map { #"{"_id":"f\#($0)","t":"T\#($0)","i":{"c":"C\#($0)"},"g":["g\#($0)"]}"# })
        try followed.createIndex("by-title", on: \.title)
        try followed.createIndex("by-city") { $0.inner.city }
        #expect(throws: DatabaseError.self) { try followed.createIndex("other", on: \.inner.city) }
        try followed.createIndex("tags", unnesting: \.tags)
        try followed.createTextIndex("words", on: \.title, \.tags)
        #expect(
            try followed.query().where { $0.title == "Apus" }.explain().description.contains("USING by-title")
        )
        #expect(
            try followed.query().where { $0.inner.city == "Rome" }.explain().description.contains(
                "USING by-city"))
        #expect(
            try followed.query().where { $0.tags.contains("sky") }.explain().description.contains(
                "USING tags"))
        #expect(try followed.query().where { $0.matching("sky") }.fetch().map(\.id) == ["a"])
    }
}

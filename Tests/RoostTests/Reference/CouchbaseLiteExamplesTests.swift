import Foundation
import Roost
import Testing

/// The examples of Couchbase Lite's page on documents, as one writes them with Roost; the JSON ones are in
/// `CouchbaseLiteJSONTests`.
@Suite struct CouchbaseLiteExamplesTests {
    let files: TemporaryDatabase
    let database: Database
    let hotels: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        database = try Database.open(files.path)
        hotels = try database.collection("hotels")
    }

    @Test func constructingADocument() throws {
        var hotel = MutableDocument()
        hotel["type"] = "hotel"
        hotel["name"] = "Hotel Java Mo"
        hotel["room_rate"] = 121.75
        hotel["address"] = [
            "street": "1 Main st.", "city": "San Francisco", "state": "CA", "country": "USA", "code": "90210",
        ]
        hotel["phones"] = ["650-000-0000", "650-000-0001"]
        try hotels.save(&hotel)
        try database.close()

        let id = try #require(hotel.id)
        let read = try files.use { try $0.collection("hotels")[id] }
        #expect(read?["address"]["city"].string == "San Francisco")
        #expect(read?["phones"][1].string == "650-000-0001")
        #expect(read?["room_rate"].double == 121.75)
    }

    @Test func checkingADocumentsProperties() throws {
        let hotel = try hotels.save(json: #"{"rooms":12}"#)
        #expect(hotel.contains("rooms") && !hotel.contains("stars"))
        #expect(hotel.int("stars") == 0 && hotel.double("stars") == 0 && !hotel.bool("stars"))
        #expect(hotel.string("stars") == nil)
    }

    @Test func example1DatesAreText() throws {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        var task = MutableDocument()
        task["createdAt"].date = now
        let saved = try hotels.save(&task)
        #expect(saved["createdAt"].date == now)
        #expect(saved["createdAt"].string == "2023-11-14T22:13:20.000Z")
    }

    @Test func example2ReadingADictionary() throws {
        try hotels.save(json: #"{"address":{"street":"1 Main st.","city":"Bern"}}"#, id: "doc1")
        let document = try #require(try hotels["doc1"])
        let address = document["address"]
        #expect(address["street"].string == "1 Main st.")
        var lines: [String] = []
        for (key, value) in address.dictionary ?? .empty { lines.append("\(key) = \(value)") }
        #expect(lines == [#"city = "Bern""#, #"street = "1 Main st.""#])

        var copy = DocumentValue(address)
        copy["city"] = "Basel"
        #expect(copy["city"].string == "Basel" && address["city"].string == "Bern")
    }

    @Test func example3MakingADictionary() throws {
        var address: DocumentValue = ["street": "1 Main st."]
        address["city"] = "San Francisco"
        address["geo"]["lat"].double = 37.75
        var hotel = MutableDocument(id: "doc1")
        hotel["address"] = address
        #expect(
            try hotels.save(&hotel).json()
                == #"{"address":{"city":"San Francisco","geo":{"lat":37.75},"street":"1 Main st."}}"#)
    }

    @Test func example4ReadingAnArray() throws {
        let document = try hotels.save(json: #"{"phones":["650-000-0000","650-000-0001"]}"#)
        let phones = try #require(document["phones"].array)
        #expect(phones.count == 2 && phones[1].string == "650-000-0001")
        #expect(phones[7].string == nil, "outside of the array there is no value, and no trap")
        #expect(phones.compactMap(\.string) == ["650-000-0000", "650-000-0001"])
    }

    @Test func example5MakingAnArray() throws {
        var phones: DocumentValue = ["650-000-0000"]
        phones.array?.append("650-000-0001")
        var hotel = MutableDocument(id: "doc1")
        hotel["phones"] = phones
        hotel["phones"].array?.append("650-000-0002")
        #expect(
            try hotels.save(&hotel).json() == #"{"phones":["650-000-0000","650-000-0001","650-000-0002"]}"#)
    }

    @Test func example6PersistingADocument() throws {
        var task = MutableDocument(["type": "task", "owner": "todo"])
        task["createdAt"].date = Date()
        try hotels.save(&task)
        #expect(try hotels[#require(task.id)]?["owner"].string == "todo")
        #expect(try hotels["none"] == nil)
    }

    @Test func example7MakingADocumentMutable() throws {
        try hotels.save(json: #"{"name":"pears"}"#, id: "xyz")
        var document = try #require(try hotels["xyz"]).mutableCopy()
        document["name"] = "apples"
        try hotels.save(&document)
        #expect(try hotels["xyz"]?["name"].string == "apples")
        document["_id"] = "zyx"
        #expect(code { try hotels.save(&document) } == .corruptRevisionData)
    }

    @Test func example8BatchesAreOneCommit() throws {
        let before = try hotels.snapshot()
        let commits = try database.statistics().commit
        try database.write { batch in
            for number in 0..<10 {
                var user = MutableDocument(["type": "user", "name": "user \(number)", "admin": false])
                try batch.save(&user, in: hotels)
            }
        }
        #expect(before.count == 0)
        #expect(try hotels.count == 10)
        #expect(try database.statistics().commit == commits + 1)
    }

    @Test func example9ListeningToADocument() async throws {
        let users = hotels
        try await users.save(json: #"{"verified_account":"no"}"#, id: "user.john")
        let (statuses, continuation) = AsyncStream<String?>.makeStream()
        let observation = try users.observe("user.john") { change in
            continuation.yield(try? users[change.id]?["verified_account"].string)
        }
        try await users.save(json: "{}", id: "user.jane")
        try await users.save(json: #"{"verified_account":"yes"}"#, id: "user.john")
        #expect(await statuses.first { _ in true } == "yes")
        observation.cancel()
    }

    @Test func example10Expiration() throws {
        try hotels.save(json: "{}", id: "doc123")
        try hotels.save(json: "{}", id: "soon")
        try hotels.setExpiration(.now + 24 * 3600, of: "doc123")
        try hotels.setExpiration(.now + 60, of: "soon")
        #expect(try hotels.expirations(before: .now + 5 * 60).map(\.id) == ["soon"])
        #expect(try #require(try hotels.expiration(of: "doc123")) > .now + 23 * 3600)
        try hotels.setExpiration(nil, of: "doc123")
        #expect(try hotels.expiration(of: "doc123") == nil)
    }

    @Test(arguments: ["_attachments", "_deleted", "_id", "_removed", "_rev", "_sequence"])
    func example11ReservedKeys(_ name: String) throws {
        var document = MutableDocument(["type": "hotel"])
        document[name] = "mine"
        let expected = name == "_rev" ? DatabaseError.Code.invalidRevisionID : .corruptRevisionData
        #expect(code { try hotels.save(&document) } == expected)
        document[name] = nil
        document["_other"] = "allowed"
        document["inner"][name] = "allowed"
        #expect(try hotels.save(&document)["inner"][name].string == "allowed")
    }
}

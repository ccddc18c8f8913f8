import Foundation
import Roost
import Testing

/// The examples of working with JSON on Couchbase Lite's page on documents, as one writes them with Roost. What they
/// do with queries is not here.
@Suite struct CouchbaseLiteJSONTests {
    let files: TemporaryDatabase
    let database: Database
    let hotels: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        database = try Database.open(files.path)
        hotels = try database.collection("hotels")
    }

    @Test func example12Arrays() throws {
        let text = #"[{"id":"1000","name":"Ritz"},{"id":"1001","name":"Grand"}]"#
        let list = try DocumentValue(json: text)
        for hotel in list.array ?? [] {
            var document = MutableDocument(id: hotel["id"].string, hotel.dictionary ?? [:])
            try hotels.save(&document)
        }
        #expect(try hotels.documents().map { $0["name"].string } == ["Ritz", "Grand"])

        var whole = MutableDocument(id: "1002", ["features": list])
        let features = try hotels.save(&whole)["features"]
        #expect(features.array?.map { $0["id"].string } == ["1000", "1001"])
        #expect(features.json() == text)
    }

    @Test func example13Blobs() throws {
        let picture = try database.saveBlob(Array("abc".utf8), contentType: "text/plain")
        let hotel = try hotels.save(["picture": picture], id: "h1")
        let text =
            #"{"@type":"blob","content_type":"text/plain","digest":"sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=","length":3}"#
        #expect(hotel["picture"].json() == text)
        #expect(try picture.value.json() == text)
        #expect(Blob(hotel["picture"]) == picture)
        #expect(try Blob(DocumentValue(json: text)) == picture)
        let others = try hotels.save(
            json:
                #"{"a":{"@type":"blob","length":3},"b":{"@type":"blob","digest":"x","length":-1},"c":"blob"}"#
        )
        for key in ["a", "b", "c", "none"] {
            #expect(Blob(others[key]) == nil && Blob(DocumentValue(others[key])) == nil, "\(key)")
        }
    }

    @Test func example14Dictionaries() throws {
        let text = #"{"id":"1002","name":"Hotel Ted","rooms":[1,2.0,null]}"#
        let hotel = try DocumentValue(json: text)
        #expect(hotel["name"].string == "Hotel Ted")
        #expect(hotel.dictionary?.keys.sorted() == ["id", "name", "rooms"])
        #expect(hotel["rooms"][2].isNull)
        #expect(try hotel.json() == text)
        #expect("\(hotel)" == text)
    }

    @Test func example15DocumentsGoToAnotherDatabase() throws {
        try hotels.save(json: #"{"type":"hotel","name":"Ted"}"#, id: "1")
        try hotels.save(json: #"{"type":"hotel","name":"Bob"}"#, id: "2")
        let otherFiles = try TemporaryDatabase()
        let others = try otherFiles.open().collection("hotels")
        for hotel in try hotels.documents() {
            var copy = try MutableDocument(id: hotel.id, json: hotel.json())
            try others.save(&copy)
        }
        #expect(try others.documents() == hotels.documents(), "the same edit is the same revision")
        for hotel in try others.documents() { #expect(hotel.keys == ["name", "type"]) }
    }

    @Test func example16ResultsBecomeValuesOfMyOwn() throws {
        struct Hotel: Codable, Equatable, Identifiable {
            var id: String
            var type: String
            var name: String
        }
        try hotels.save(Hotel(id: "h1", type: "hotel", name: "Ted"))
        let document = try #require(try hotels["h1"])
        let json = try JSONSerialization.jsonObject(with: Data(document.json().utf8)) as? [String: String]
        #expect(json == ["type": "hotel", "name": "Ted"])
        #expect(try document.decode(Hotel.self) == Hotel(id: "h1", type: "hotel", name: "Ted"))
        #expect(try hotels.document("h1", as: Hotel.self)?.name == "Ted")
    }

    @Test func aSubsetOfThePropertiesIsJSONToo() throws {
        let hotel = try hotels.save(json: #"{"name":"Ted","address":{"city":"Bern"},"rooms":[1,2]}"#)
        let subset: DocumentValue = [
            "name": DocumentValue(hotel["name"]) ?? nil,
            "city": DocumentValue(hotel[path: "address.city"]) ?? nil,
            "last": DocumentValue(hotel[path: "rooms[-1]"]) ?? nil,
        ]
        #expect(try subset.json() == #"{"city":"Bern","last":2,"name":"Ted"}"#)
    }
}

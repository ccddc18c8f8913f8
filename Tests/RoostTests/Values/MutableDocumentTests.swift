import Foundation
import Roost
import Testing

@Suite struct MutableDocumentTests {
    let files: TemporaryDatabase
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        notes = try files.open().collection("notes")
    }

    @Test func aHotelIsBuiltAndReadBack() throws {
        var hotel = MutableDocument(id: "hotel")
        hotel["type"] = "hotel"
        hotel["name"].string = "Hotel Java Mo"
        hotel["room_rate"] = 121.75
        hotel["address"]["street"].string = "1 Main st."
        hotel["address"]["city"] = "San Francisco"
        hotel["phones"] = ["650-000-0000", "650-000-0001"]
        hotel["phones"][2].string = "650-000-0002"
        hotel["phones"][0] = nil
        hotel["pool"] = .null
        let saved = try notes.save(&hotel)
        #expect(hotel.revision == saved.revision)
        let read = try #require(try notes.document("hotel"))
        #expect(read == saved)
        #expect(read["address"]["street"].string == "1 Main st.")
        #expect(read[path: "phones[-1]"].string == "650-000-0002")
        #expect(read["phones"].array?.count == 2)
        #expect(read["room_rate"].double == 121.75)
        #expect(read.keys == ["address", "name", "phones", "pool", "room_rate", "type"])
        #expect(read.mutableCopy() == hotel)
    }

    @Test func missingAndNullAndDefaults() throws {
        let document = try notes.save(json: #"{"null":null,"zero":0,"text":"x","half":0.5,"yes":true}"#)
        #expect(document.int("missing") == 0 && document.int("zero") == 0)
        #expect(!document.contains("missing") && document.contains("zero") && document.contains("null"))
        #expect(document.int("missing", default: 7) == 7)
        #expect(document.string("missing") == nil && document.string("zero") == nil)
        #expect(document.double("half") == 0.5 && document.double("zero") == 0 && document.bool("yes"))
        #expect(document.int("text") == 0 && document.int("half") == 0)
        #expect(document["null"].isNull && !document["missing"].isNull)
        let copy = document.mutableCopy()
        #expect(copy["null"].isNull && !copy["missing"].isNull && copy.contains("null"))
        #expect(copy.int("missing") == 0 && copy.double("half") == 0.5 && copy.bool("yes"))
    }

    @Test func datesAreText() throws {
        var draft = MutableDocument()
        let date = Date(timeIntervalSince1970: 1_700_000_000.25)
        draft["at"].date = date
        #expect(draft["at"].string == "2023-11-14T22:13:20.250Z")
        let saved = try notes.save(&draft)
        #expect(saved.date("at") == date)
        #expect(saved.mutableCopy().date("at") == date)
        #expect(saved["at"].string == "2023-11-14T22:13:20.250Z")
    }

    @Test func pathsReadAndWrite() throws {
        var draft = try MutableDocument(json: #"{"phones":[{"kind":"home"}]}"#)
        #expect(draft[path: "phones[0].kind"].string == "home")
        draft[path: "phones[0].kind"] = "work"
        draft[path: "a.b.c"] = 1
        draft[path: "phones[5].kind"] = "nowhere"
        #expect(try draft.json() == #"{"a":{"b":{"c":1}},"phones":[{"kind":"work"}]}"#)
        draft[path: "a.b"] = nil
        #expect(try draft.json() == #"{"a":{},"phones":[{"kind":"work"}]}"#)
    }

    @Test func numbersKeepTheirKind() throws {
        let json = #"{"big":18446744073709551615,"min":-9223372036854775808,"one":1,"one.0":1.0}"#
        var draft = try MutableDocument(json: json)
        #expect(try draft.json() == json)
        #expect(try notes.save(&draft).json() == json)
        #expect(draft["big"].int == nil && draft["one.0"].int == 1 && draft["one"].double == 1)
    }

    @Test func whatCannotBeStoredIsRefused() throws {
        var draft = MutableDocument(["x": .double(.nan)])
        #expect(code { try notes.save(&draft) } == .invalidDocument)
        #expect(draft.id == nil, "a draft that was not saved stays as it was")
        #expect(code { _ = try MutableDocument(json: "[]") } == .invalidDocument)
        draft = MutableDocument(id: "_bad")
        #expect(code { try notes.save(&draft) } == .invalidDocumentID)
    }

    @Test(arguments: ["_id", "_rev", "_deleted"])
    func reservedPropertiesMayNotBeChanged(_ name: String) throws {
        var draft = MutableDocument(id: "a")
        try notes.save(&draft)
        draft[name] = ["_id": "b", "_rev": "1-aa", "_deleted": true][name]
        #expect(code { try notes.save(&draft) } == .corruptRevisionData)
        draft[name] = ["_id": "a", "_rev": .string("\(draft.revision!)"), "_deleted": false][name]
        try notes.save(&draft)
        #expect(try notes.document("a")?.contains(name) == false)
    }

    // MARK: Policies

    @Test func theSecondToSaveIsInConflict() throws {
        var one = MutableDocument(id: "a", ["v": 1])
        try notes.save(&one)
        var other = try #require(try notes.document("a")).mutableCopy()
        one["v"] = 2
        try notes.save(&one)
        other["v"] = 3
        #expect(code { try notes.save(&other) } == .conflict)
        #expect(try notes.document("a")?["v"].int == 2)
        try notes.save(&other, onConflict: .lastWriteWins)
        #expect(try notes.document("a")?["v"].int == 3)
        one["v"] = 4
        #expect(code { try notes.save(&one) } == .conflict)
        var new = MutableDocument(id: "a")
        #expect(code { try notes.save(&new) } == .conflict, "the ID of a new document is taken")
    }

    @Test func aMergeSeesBoth() throws {
        var one = MutableDocument(id: "a", ["mine": 0, "theirs": 0])
        try notes.save(&one)
        var other = one
        other["theirs"] = 1
        try notes.save(&other)
        one["mine"] = 1
        let saved = try notes.save(
            &one,
            onConflict: .merge { mine, theirs in
                var merged = mine
                merged["theirs"].int = theirs?.int("theirs")
                return merged
            })
        #expect(saved.json() == #"{"mine":1,"theirs":1}"#)
        #expect(try one.json() == saved.json() && one.revision == saved.revision)
        #expect(try notes.snapshot().openRevisions(of: "a").count == 1)
        try notes.save(&one)
        #expect(code { try notes.save(&other, onConflict: .merge { _, _ in nil }) } == .conflict)
    }

    @Test func aMergeMayFindADeletion() throws {
        var draft = MutableDocument(id: "a", ["v": 1])
        try notes.save(&draft)
        try notes.delete("a")
        #expect(code { try notes.save(&draft) } == .conflict)
        try notes.save(&draft, onConflict: .merge { mine, theirs in theirs == nil ? mine : nil })
        #expect(try notes.document("a")?["v"].int == 1)
    }

    @Test func aDocumentIsDeletedAsItWasRead() throws {
        let read = try notes.save(json: "{}", id: "a")
        try notes.save(json: #"{"v":1}"#, id: "a")
        #expect(code { try notes.delete(read) } == .conflict)
        try notes.delete(try #require(try notes.document("a")))
        #expect(try notes.document("a") == nil)
    }

    // MARK: Codable

    private struct Person: Codable, Equatable {
        enum Colour: String, Codable { case red, green }
        var name: String
        var born: Date
        var home: URL?
        var photo = Data([0, 255])
        var colours: [Colour] = []
        var children: [Person] = []
        var scores: [String: Double] = [:]
        var big: UInt64 = .max
    }

    private final class Animal: Codable {
        var name = ""
        init(name: String) { self.name = name }
    }

    @Test func structsAndClassesGoInAndOut() throws {
        let child = Person(name: "Ada", born: Date(timeIntervalSince1970: 0.5))
        let person = Person(
            name: "Byron", born: Date(timeIntervalSince1970: -5_000_000_000),
            home: URL(string: "https://example.org/a"),
            colours: [.red, .green], children: [child], scores: ["a": 1, "b": 0.5])
        try notes.save(person, id: "p")
        #expect(try notes.document("p", as: Person.self)?.value == person)
        #expect(try notes.document("p")?["children"][0]["name"].string == "Ada")
        try notes.save(Animal(name: "Rex"), id: "rex")
        let animal: Versioned<Animal>? = try notes.document("rex")
        #expect(animal?.name == "Rex")
        #expect(try notes.document("none", as: Person.self) == nil)
        #expect(code { _ = try notes.document("rex", as: Person.self) } == .decodingFailed)
    }

    @Test func whatIsNoObjectCannotBeSaved() throws {
        #expect(code { try notes.save([1, 2], id: "a") } == .invalidDocument)
        #expect(code { try notes.save("text", id: "a") } == .invalidDocument)
        #expect(code { try notes.save(["x": Double.nan], id: "a") } == .invalidDocument)
        #expect(code { try notes.save(["_deleted": true], id: "a") } == .corruptRevisionData)
        try notes.save(["x": 1], id: "a")
        #expect(try notes.document("a")?.json() == #"{"x":1}"#)
    }

    @Test func valuesAreCodableThemselves() throws {
        struct Mixed: Codable, Equatable { var any: DocumentValue }
        let mixed = Mixed(any: ["a": [1, 2.5, "x", nil, true]])
        try notes.save(mixed, id: "m")
        #expect(try notes.document("m", as: Mixed.self)?.value == mixed)
        let data = try JSONEncoder().encode(mixed)
        #expect(try JSONDecoder().decode(Mixed.self, from: data) == mixed)
    }

    @Test func descriptionsSayWhatItIs() throws {
        let document = try notes.save(json: #"{"v":1}"#, id: "a")
        #expect("\(document)" == "a at \(document.revision): {\"v\":1}")
        #expect("\(document.mutableCopy())" == "a at \(document.revision): {\"v\":1}")
        #expect("\(MutableDocument(["v": 1]))" == "(new): {\"v\":1}")
        #expect("\(notes)" == "_default.notes")
        let change = try #require(try notes.snapshot().changes().first)
        #expect("\(change)" == "1: a at \(document.revision)")
    }
}

/// Names that differ only in Unicode's normal form are different names, as they are in JSON and in the file.
@Suite struct NormalFormTests {
    let files = TemporaryFiles()
    let notes: DocumentCollection
    let composed = "\u{E9}"
    let decomposed = "e\u{301}"

    init() throws { notes = try files.open("a").collection("notes") }

    @Test func aDraftKeepsBothProperties() throws {
        try notes.save(
            json: "{\"\(composed)\":1,\"\(decomposed)\":2,\"in\":{\"\(composed)\":3,\"\(decomposed)\":4}}",
            id: "n")
        var draft = try #require(try notes.document("n")).mutableCopy()
        #expect(draft.properties.count == 3 && draft[composed] == 1 && draft[decomposed] == 2)
        draft[composed] = 10
        draft["in"][decomposed].int = 40
        let saved = try notes.save(&draft)
        #expect(saved[composed].int == 10 && saved[decomposed].int == 2)
        #expect(saved["in"][composed].int == 3 && saved["in"][decomposed].int == 40)
        draft[decomposed] = nil
        #expect(
            draft.properties.keys.map { Array($0.utf8) }
                == [Array("in".utf8), Array(composed.utf8)].sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test func bothAttachmentsAreKept() throws {
        let json =
            "{\"_attachments\":{\"\(composed)\":{\"data\":\"YWJj\"},\"\(decomposed)\":{\"data\":\"YWJk\"}}}"
        let saved = try notes.save(json: json, id: "n")
        #expect(saved.attachments.count == 2)
        var draft = saved.mutableCopy()
        draft["v"] = 1
        #expect(try notes.save(&draft).attachments == saved.attachments)
        #expect(saved.attachments[composed]?.digest != saved.attachments[decomposed]?.digest)
    }

    @Test func bothIDsNameDocuments() throws {
        try notes.save(json: #"{"v":1}"#, id: composed)
        try notes.save(json: #"{"v":2}"#, id: decomposed)
        #expect(try notes.document(composed)?["v"].int == 1 && notes.document(decomposed)?["v"].int == 2)
        #expect(try notes.document(composed) != notes.document(decomposed))
        #expect(MutableDocument(id: composed) != MutableDocument(id: decomposed))
    }

    @Test func namedValuesCompareByBytes() {
        let values: NamedValues<Int> = [composed: 1, decomposed: 2, "a": 3, "a": 4]
        #expect(values.count == 3 && values["a"] == 4)
        #expect(values.map(\.value) == [4, 2, 1], "in byte order")
        #expect(NamedValues([composed: 1]) != NamedValues([decomposed: 1]))
        #expect("\(NamedValues(["b": 1, "a": 2]))" == #"["a": 2, "b": 1]"#)
    }
}

import Fleece
import Foundation
import Testing

/// Types that got properties after values of theirs had been stored.
@Suite struct DefaultsTests {
    private struct Note: DecodableWithDefaults, Equatable {
        var title = "untitled"
        var stars = 3
        var isOpen = true
        var tags = ["new"]
        var origin = Origin()
        var seen: Date? = Date(timeIntervalSince1970: 0)
        var price = Decimal(string: "19.99")!
    }

    private struct Origin: DecodableWithDefaults, Equatable {
        var place = "gable"
        var height = 2.5
    }

    private struct Box<Content: Decodable>: Decodable {
        var content: Content
    }

    private func decode<T: Decodable>(_ json: String, as type: T.Type = T.self) throws -> T {
        try FleeceDecoder().decode(type, from: FleeceDocument(json: json).root)
    }

    @Test func missingPropertiesHaveTheirDefaults() throws {
        var expected = Note()
        expected.seen = nil
        #expect(try decode("{}") == expected)
        expected.stars = 5
        expected.origin.height = 1
        #expect(try decode(#"{"stars": 5, "origin": {"height": 1}}"#) == expected)
    }

    @Test func whatIsThereCounts() throws {
        let note = Note(
            title: "a", stars: 0, isOpen: false, tags: [], origin: Origin(place: "", height: 0),
            seen: Date(timeIntervalSince1970: 9), price: 0)
        let stored = try FleeceDocument(validating: FleeceEncoder().encode(note)).root
        #expect(try FleeceDecoder().decode(Note.self, from: stored) == note)
    }

    @Test func valuesInsideOthersHaveThem() throws {
        #expect(
            try decode(#"{"content": [{"place": "roof"}, {}]}"#, as: Box<[Origin]>.self).content == [
                Origin(place: "roof"), Origin(),
            ])
    }

    @Test func nullAndOtherKindsAreNotMissing() throws {
        for json in [#"{"stars": null}"#, #"{"stars": "5"}"#, #"{"tags": {}}"#, #"{"origin": 1}"#] {
            #expect(throws: DecodingError.self) { try decode(json, as: Note.self) }
        }
    }

    @Test func othersMissWhatTheyMiss() throws {
        struct Strict: Decodable { var stars = 3 }
        #expect(throws: DecodingError.self) { try decode(#"{"title": "a"}"#, as: Box<Strict>.self) }
        // Nor do defaults of the value around it count.
        #expect(throws: DecodingError.self) { try decode("{}", as: Box<Note>.self) }
    }

    @Test func defaultsAreMadeForEachValue() throws {
        struct Named: DecodableWithDefaults { var id = UUID() }
        #expect(try decode("{}", as: Named.self).id != decode("{}", as: Named.self).id)
    }
}

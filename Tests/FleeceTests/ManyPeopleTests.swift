import Fleece
import Foundation
import Testing

/// A thousand people with the properties of `Vectors/1person.json`, as in the larger one of Fleece's data files.
@Suite struct ManyPeopleTests {
    private static let words = ["quis", "laborum", "officia", "adipisicing", "et", "tempor", "sunt", "anim"]

    private static func person(_ index: Int, _ random: inout Random) -> String {
        func word() -> String { words[Int(random.next() % UInt64(words.count))] }
        func list(_ count: Int, _ element: (Int) -> String) -> String {
            "[" + (0..<count).map(element).joined(separator: ",") + "]"
        }
        let about = (0..<40).map { _ in word() }.joined(separator: " ")
        let tags = list(7) { _ in "\"\(word())\"" }
        let friends = list(3) { #"{"id":\#($0),"name":"\#(word()) \#(word())"}"# }
        let latitude = Double(Int(random.next() % 180_000_000) - 90_000_000) / 1e6
        return
            #"{"_id":"\#(String(random.next(), radix: 16))","about":"\#(about)\r\n","age":\#(20 + random.next() % 20),"#
            + #""friends":\#(friends),"index":\#(index),"isActive":\#(random.next() % 2 == 0),"latitude":\#(latitude),"#
            + #""tags":\#(tags),"type":"person"}"#
    }

    private static let json: String = {
        var random = Random(state: 1000)
        return "[" + (0..<1000).map { person($0, &random) }.joined(separator: ",") + "]"
    }()

    @Test func theyComeBackAsTheyWere() throws {
        let people = try FleeceDocument(validating: converted(Self.json))
        #expect(people.root.json() == Self.json)
        #expect(people.root.array?.count == 1000)
        #expect(people[path: "[999].index"].int == 999)
        #expect(people[path: "[-1].friends[2].id"].int == 2)
        let expected = try JSONDecoder().decode([Person].self, from: Data(Self.json.utf8))
        #expect(try FleeceDecoder().decode([Person].self, from: people.root) == expected)
    }

    @Test func repeatedStringsAndSharedKeysMakeThemSmaller() throws {
        let plain = try converted(Self.json)
        var writer = FleeceWriter(sharedKeys: SharedKeys())
        try writer.write(json: Self.json)
        let shared = try writer.finish()
        #expect(plain.count < Self.json.utf8.count)
        #expect(shared.count < plain.count)
        let value = try root(shared, sharedKeys: writer.sharedKeys)
        #expect(value.json() == Self.json)
    }

    private struct Person: Codable, Equatable {
        struct Friend: Codable, Equatable {
            var id: Int
            var name: String
        }
        var index: Int
        var isActive: Bool
        var latitude: Double
        var about: String
        var tags: [String]
        var friends: [Friend]
    }
}

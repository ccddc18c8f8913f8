import Fleece
import Foundation

/// F1: one property of a document of some kilobytes, from Fleece in place and from JSON by decoding.
enum PropertyRow {
    /// What Foundation is asked for: nothing but the property.
    private struct Person: Decodable {
        struct Friend: Decodable { let name: String }
        let friends: [Friend]
    }

    static func run(on stage: Stage) throws {
        let json = Array(person.utf8)
        let body = try FleeceDocument(json: json).bytes
        let expected = "Owens Everett"
        stage.record(
            .propertyOfFleece,
            try rate(stage) {
                FleeceDocument(trusting: body)["friends"][2]["name"].string == expected
            })
        let data = Data(json)
        let decoder = JSONDecoder()
        stage.record(
            .propertyOfJSON,
            try rate(stage) {
                try decoder.decode(Person.self, from: data).friends[2].name == expected
            })
    }

    /// How often a second `read` succeeds.
    private static func rate(_ stage: Stage, _ read: () throws -> Bool) throws -> Double {
        var count = 0
        let measurement = try stage.measure {
            let start = Clock.now()
            repeat {
                for _ in 0..<64 where try !read() {
                    throw BenchmarkError("a property reads as something else than was stored")
                }
                count += 64
            } while Clock.seconds(since: start) < stage.seconds
        }
        return Double(count) / measurement.seconds
    }

    /// About 2 KB: scalars, a long text, a list of tags and one of objects.
    private static let person: String = {
        let text = String(repeating: "Swifts nest under eaves and sleep on the wing. ", count: 24)
        let tags = (0..<20).map { "\"tag \($0)\"" }.joined(separator: ",")
        let friends = ["Magdalena Moore", "Nina Ortiz", "Owens Everett", "Pat Quinn"].enumerated()
            .map { #"{"id":\#($0),"name":"\#($1)","since":"2019-04-0\#($0 + 1)T10:00:00Z"}"# }
            .joined(separator: ",")
        let numbers = (0..<12).map { #""number\#($0)":\#($0 * 1_000_003)"# }.joined(separator: ",")
        return #"{"about":"\#(text)","active":true,"latitude":40.941286,\#(numbers),"tags":[\#(tags)],"#
            + #""friends":[\#(friends)],"nothing":null}"#
    }()
}

import Foundation
import Testing

@testable import RoostCommand

/// `roost index create --text` and `roost search`.
@Suite struct SearchCommandTests {
    private let tool = Tool()

    init() {
        _ = tool.run(
            "put", "owl", #"{"title":"The owl","body":"An owl nests under\nthe gable of the old barn."}"#)
        _ = tool.run("put", "barn", #"{"title":"The barn","body":"Owls are running from it."}"#)
        _ = tool.run("put", "cafe", #"{"title":"Das Café","body":"Straße 🦉 Café"}"#)
        _ = tool.run("index", "create", "words", "--text", "title, body", "--language", "en")
    }

    private func lines(_ arguments: String...) -> [String] {
        let collector = Console.Collector()
        let status = Console.$collector.withValue(collector) {
            RoostTool.run(["search", tool.path, "words"] + arguments)
        }
        return status == 0 ? collector.content.split(separator: "\n").map(String.init) : []
    }

    @Test func whatIsFoundIsShownTheBestFirst() throws {
        let found = lines("owl")
        #expect(found.count == 5 && found.last == "2 found")
        #expect(found.first?.hasPrefix("owl  ") == true && found[2].hasPrefix("barn  "))
        // What was found is marked, and not by colours, as this is no terminal.
        #expect(found[1] == "    The [owl]")
        #expect(found[3] == "    [Owls] are running from it.")
        #expect(!found.joined().contains("\u{1B}"))
        #expect(lines("gull") == ["0 found"])
    }

    @Test func limitAndOffset() {
        let first = lines("owl", "--limit", "1")
        #expect(first.count == 3 && first[0].hasPrefix("owl  ") && first[2] == "1 of 2 found")
        let second = lines("owl", "--limit", "1", "--offset", "1")
        #expect(second.count == 3 && second[0].hasPrefix("barn  ") && second[2] == "1 of 2 found")
    }

    @Test func resultsAsJSON() throws {
        let found = lines("cafe OR owl", "--json")
        #expect(found.count == 3)
        var places: [String: [String]] = [:]
        for line in found {
            let hit = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let snippet = try #require(hit["snippet"] as? String) as NSString
            #expect((hit["score"] as? Double ?? 0) > 0)
            #expect(["title", "body"].contains(hit["column"] as? String))
            let ranges = try #require(hit["ranges"] as? [[Int]])
            places[try #require(hit["id"] as? String)] = ranges.map {
                snippet.substring(with: NSRange(location: $0[0], length: $0[1] - $0[0]))
            }
        }
        #expect(places == ["owl": ["owl"], "barn": ["Owls"], "cafe": ["Café"]])
    }

    @Test func theIndexIsListedAndDropped() {
        #expect(tool.output("index", "list") == "words of the words in title, body, english\n")
        #expect(tool.run("index", "drop", "words").status == 0)
        let answer = tool.run("search", "words", "owl")
        #expect(answer.status == 1 && answer.output.contains("There is no full-text index \"words\" here"))
    }

    @Test func anIndexOfTrigramsIsListed() {
        #expect(tool.run("index", "create", "parts", "--trigrams", "title, body").status == 0)
        #expect(tool.output("index", "list").hasPrefix("parts of the trigrams in title, body\n"))
        let answer = tool.run("search", "parts", "owl")
        #expect(answer.status == 1 && answer.output.contains("has trigrams, not words"))
        #expect(tool.run("index", "drop", "parts").status == 0)
    }

    @Test func mistakesAreTold() {
        let wrong = tool.run("search", "words", "owl AND (barn")
        #expect(wrong.status == 1 && wrong.output.contains("can't be understood, at byte"))
        #expect(lines("owl AND (barn", "--forgiving").last?.hasSuffix("found") == true)
        let column = tool.run("search", "words", "author: owl")
        #expect(column.status == 1 && column.output.contains("no column \"author\""))
        let other = tool.run("search", "other", "owl")
        #expect(other.status == 1 && other.output.contains("there is \"words\""))
        let language = tool.run("index", "create", "more", "--text", "title", "--language", "xx")
        #expect(language.status == 2 && language.output.contains("not \"xx\""))
    }
}

import Roost
import RoostQuery
import RoostText
import Testing

/// Full-text indexes whose words an app finds itself.
@Suite struct OwnTokenizerTests {
    /// Words between hyphens, `rot-13` fashion: with version 2, the first letter alone is what words have in common.
    private struct Parts: Tokenizer {
        let number: Int
        var version: String { "parts \(number)" }

        func words(of text: String, into words: inout WordList) {
            let bytes = Array(text.utf8)
            for part in bytes.indices.split(whereSeparator: { bytes[$0] == UInt8(ascii: "-") }) {
                words.append(
                    String(decoding: bytes[part.startIndex..<part.endIndex], as: UTF8.self),
                    at: part.startIndex..<part.endIndex)
            }
        }

        func terms(of word: String) -> WordTerms {
            WordTerms(root: number == 1 ? word : String(word.prefix(1)), exact: word)
        }
    }

    /// Says of words that they stand where there is no text, and makes terms that no key can have.
    private struct Hostile: Tokenizer {
        let version = "hostile"

        func words(of text: String, into words: inout WordList) {
            let length = text.utf8.count
            words.append("late", at: length * 3..<length * 4)
            words.append("early", at: -5..<length + 5)
            words.append("a\u{0}b", at: 1..<2)
            words.append("between", at: 1..<max(1, length - 1))
            words.append(String(repeating: "long", count: 1_000), at: 0..<1)
            words.append("", at: 0..<0)
        }

        func terms(of word: String) -> WordTerms {
            WordTerms(root: word + "\u{0}" + String(repeating: "x", count: 500), exact: word)
        }
    }

    private func fill(_ fixture: QueryFixture) throws -> DocumentCollection {
        let notes = try fixture.database.collection("notes")
        try fixture.fill(
            "notes",
            [
                #"{"_id":"a","text":"one two-three","plain":"owl"}"#, #"{"_id":"b","text":"three-tw"}"#,
                #"{"_id":"c","text":"four"}"#,
            ])
        return notes
    }

    @Test func wordsAreThoseOfTheTokenizer() throws {
        let fixture = try QueryFixture()
        let notes = try fill(fixture)
        fixture.database.register(Parts(number: 1), named: "parts")
        try notes.createTextIndex("parts", on: "text", tokenizer: "parts")
        let hits = try notes.search("parts", "three")
        #expect(Set(hits.map(\.id)) == ["a", "b"])
        #expect(Set(hits.map { $0.snippet.marked("[", "]") }) == ["one two-[three]", "[three]-tw"])
        #expect(try notes.searchCount("parts", "one") == 0)
        #expect(try notes.searchCount("parts", "tw*") == 1)
        #expect(try fixture.rows("SELECT _id FROM notes WHERE MATCH(parts, 'four')") == [#""c""#])
        try notes.save(json: #"{"text":"four-five"}"#, id: "d")
        #expect(try notes.searchCount("parts", "four") == 2)
        #expect(try notes.textIndexes().first?.tokenizer == "parts")
    }

    @Test func aMissingOneIsAnError() throws {
        let fixture = try QueryFixture()
        let notes = try fill(fixture)
        let message = QueryFixture.message {
            try notes.createTextIndex("parts", on: "text", tokenizer: "parts")
        }
        #expect(message.contains("tokenizer \"parts\""), "\(message)")
        #expect(try notes.textIndexes().isEmpty)
        fixture.database.register(Parts(number: 1), named: "parts")
        try notes.createTextIndex("parts", on: "text", tokenizer: "parts")
        try notes.createTextIndex("plain", on: "plain")
        try fixture.database.close()
        let again = try Database.open(fixture.directory + "/Test.roost")
        let reopened = try again.collection("notes")
        for ask in [
            { _ = try reopened.search("parts", "three") },
            { _ = try again.query("SELECT _id FROM notes WHERE MATCH(parts, 'three')").fetch() },
        ] {
            #expect(QueryFixture.message(ask).contains("tokenizer \"parts\""))
        }
        #expect(try reopened.searchCount("plain", "owl") == 1)
        again.register(Parts(number: 1), named: "parts")
        #expect(try reopened.searchCount("parts", "three") == 2)
        try again.close()
    }

    /// What was made by another version is rebuilt.
    @Test func aChangedOneMakesTheIndexAnew() throws {
        let fixture = try QueryFixture()
        let notes = try fill(fixture)
        fixture.database.register(Parts(number: 1), named: "parts")
        try notes.createTextIndex("parts", on: "text", tokenizer: "parts")
        #expect(try notes.searchCount("parts", "tx") == 0)
        try fixture.database.close()
        let again = try Database.open(fixture.directory + "/Test.roost")
        again.register(Parts(number: 2), named: "parts")
        let reopened = try again.collection("notes")
        #expect(try reopened.searchCount("parts", "tx") == 2)
        #expect(try reopened.searchCount("parts", "=tw") == 1)
        try again.close()
    }

    @Test func whatItSaysIsNotTrusted() throws {
        let fixture = try QueryFixture([
            "{\"text\":\"\u{E9}\u{E9} \u{1F989}\"}", #"{"text":"x"}"#, #"{"text":""}"#,
        ])
        let notes = try fixture.database.defaultCollection
        fixture.database.register(Hostile(), named: "hostile")
        try notes.createTextIndex("hostile", on: "text", tokenizer: "hostile")
        for word in ["late", "early", "=between", "lon*", "\"late early\"", "between~"] {
            let hits = try notes.search("hostile", word)
            for hit in hits { _ = (hit.snippet.marked("[", "]"), hit.snippet(words: 1), hit.highlights) }
        }
        #expect(try notes.completions("hostile", of: "x").count < 10)
    }
}

import Foundation
import Roost
import RoostQuery
import Testing

@testable import RoostCommand

/// What Tab offers.
@Suite struct ShellCompletionTests {
    private let tool = Tool()
    private let session: ShellSession

    init() throws {
        _ = tool.output("put", "city-1", #"{"title":"Rome","we-ird":1}"#)
        _ = tool.output("put", "city-2", #"{"title":"Oslo"}"#)
        _ = tool.output("mkcoll", "notes")
        _ = tool.output("index", "create", "bytitle", "--on", "title")
        _ = tool.output("index", "create", "words", "--text", "title")
        session = ShellSession(
            path: tool.path, try Database.open(tool.path, options: DatabaseOptions(isReadOnly: true)),
            collection: nil,
            mode: .table)
        session.parameters["least"] = 1
    }

    private func words(_ text: String) -> [String] { ShellCompletion(session).completions(of: text).words }

    @Test func commandsAreCompletedByTheirArguments() {
        #expect(words("ind") == ["index"])
        #expect(words("get city-") == ["city-1", "city-2"])
        #expect(
            ShellCompletion(session).completions(of: "get city-1")
                == Completion(words: ["city-1"], replaced: 6))
        #expect(words("search ") == ["words"])
        #expect(words("index d") == ["drop"])
        #expect(words("index drop ") == ["bytitle", "words"])
        #expect(words("use ") == ["_default", "notes"])
        #expect(words("ls --collection n") == ["notes"])
        #expect(words("mode c") == ["chart", "csv"])
        #expect(words("count; ge") == ["get"])
    }

    @Test func viewsAndFilesAreCompleted() throws {
        let directory = tool.path + "-files"
        try FileManager.default.createDirectory(atPath: directory + "/sub", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try Data().write(to: URL(fileURLWithPath: directory + "/n.jsonl"))
        #expect(words("import \(directory)/n") == [directory + "/n.jsonl"])
        #expect(words("import \(directory)/") == [directory + "/n.jsonl", directory + "/sub/"])
        let design =
            #"{"language":"query","views":{"all":{"map":{"fields":{"title":"asc"}},"reduce":"_count"}}}"#
        #expect(tool.run("put", "_design/d", design).status == 0)
        #expect(words("view ") == ["d/all"])
    }

    @Test func queriesOfferWhatMayFollowFirst() {
        #expect(words("SELECT title FROM _ ").prefix(2) == ["WHERE", "ORDER BY"])
        #expect(words("SELECT title FROM _ WHERE title = 'x' ").prefix(2) == ["AND", "OR"])
        #expect(words("SELECT title FROM _ ORDER BY title ").first == "DESC")
        #expect(words("SELECT title FROM _ WHERE ti") == ["title"])
        #expect(words("SELECT title ").first == "FROM")
        #expect(words("SELECT title\nFROM ") == ["_default", "notes", "_"])
        #expect(words("select title from _ wh").first == "where")
        #expect(words("SELECT title FROM _ ORD") == ["ORDER BY"])
    }

    @Test func quotedNamesAndParametersAreCompleted() {
        #expect(
            ShellCompletion(session).completions(of: "SELECT `we")
                == Completion(words: ["we-ird`"], replaced: 2))
        #expect(words("SELECT 1 FROM `no") == ["notes`"])
        #expect(words("SELECT $") == ["$least"])
    }
}

import Foundation
import Roost
import RoostQuery

/// `roost search DB NAME QUERY`
enum SearchCommand: Command {
    static let name = "search"
    static let summary = "finds documents by their words, the best ones first"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "NAME", help: "a full-text index: see roost index create --text"),
        Parameter(
            label: "QUERY", help: "words and what joins them: 'owl NEAR gable', '\"as well as\" OR wat*'"),
    ]
    static let options = [
        .collection,
        Option("--limit", "N", "at most N documents (20 unless told)"),
        Option("--offset", "N", "pass over the best N"),
        Option("--forgiving", nil, "any text will do, as people type it"),
        .json,
    ]
    static let notes = """
        A, B and C are found together by `A B C`, any of them by `A OR B OR C`, A without B by `A NOT B`; `"A B"` stands side by
        side, `A NEAR/3 B` at most three words apart; `wat*` begins so, `owl~` is almost so, `=running` is no other form, `title: A` is in
        that column, `^A` begins it, `A^2` counts twice.
        """

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let found = try invocation.collection(of: database).search(
            invocation[1], invocation[2], limit: try invocation.number("--limit") ?? 20,
            offset: try invocation.number("--offset") ?? 0, isForgiving: invocation.has("--forgiving"))
        for hit in found {
            if invocation.has("--json") { try printJSON(hit) } else { printText(hit) }
        }
        if !invocation.has("--json") {
            Console.print(
                found.count == found.total ? "\(found.total) found" : "\(found.count) of \(found.total) found"
            )
        }
    }

    private static func printText(_ hit: SearchHit) {
        Console.print("\(hit.id)  \((hit.score * 1_000).rounded() / 1_000)")
        let (opening, closing) = Console.hasColours ? ("\u{1B}[1;33m", "\u{1B}[0m") : ("[", "]")
        let text = hit.snippet.text
        func shown(_ range: Range<String.Index>) -> String {
            let line = text[range].map { $0.isNewline ? " " : String($0) }.joined()
            return Console.isTerminal(STDOUT_FILENO) ? ControlCharacters.escaped(in: line) : line
        }
        var line = "    "
        var place = text.startIndex
        for range in hit.snippet.ranges {
            line += shown(place..<range.lowerBound) + opening + shown(range) + closing
            place = range.upperBound
        }
        Console.printPainted(line + shown(place..<text.endIndex))
    }

    private struct Line: Encodable {
        let id: String
        let score: Double
        let column: String
        let snippet: String
        /// Where something was found: beginnings and ends in the snippet, in UTF-16 as in JavaScript.
        let ranges: [[Int]]
    }

    private static func printJSON(_ hit: SearchHit) throws {
        let snippet = hit.snippet
        let ranges = snippet.ranges.map { range in
            [range.lowerBound, range.upperBound].map { $0.utf16Offset(in: snippet.text) }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = Line(
            id: hit.id, score: hit.score, column: snippet.column, snippet: snippet.text, ranges: ranges)
        Console.print(String(decoding: try encoder.encode(line), as: UTF8.self))
    }
}

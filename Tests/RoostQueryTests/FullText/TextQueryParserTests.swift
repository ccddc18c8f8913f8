import Roost
import Testing

@testable import RoostQuery

/// The language of full-text queries.
@Suite struct TextQueryParserTests {
    private func word(_ text: String, _ kind: TextPhrase.Kind = .words) -> TextQuery {
        .phrase(TextPhrase(text: text, kind: kind))
    }

    @Test func wordsAndTheirJoints() throws {
        let (a, b, c, d) = (word("a"), word("b"), word("c"), word("d"))
        for (text, query) in [
            ("a", a), ("a b", .all([a, b])), ("a AND b c", .all([a, b, c])), ("a OR b", .any([a, b])),
            ("a b OR c d", .any([.all([a, b]), .all([c, d])])), ("a AND (b OR c)", .all([a, .any([b, c])])),
            ("a NOT b", .all([a, .not(b)])), ("a AND NOT b", .all([a, .not(b)])), ("NOT a", .not(a)),
            ("a -b", .all([a, .not(b)])), ("a OR b NOT c", .any([a, .all([b, .not(c)])])),
            ("((a))", a), ("or and near", .all([word("or"), word("and"), word("near")])),
            ("\"a  \"\"b\"\"\"", word("a  \"b\"")), ("a-b", word("a-b")), ("don't", word("don't")),
        ] as [(String, TextQuery)] {
            #expect(try TextQueryParser.parse(text) == query, "\(text)")
        }
    }

    @Test func phrasesWithSigns() throws {
        #expect(try TextQueryParser.parse("wat*") == word("wat", .prefix))
        #expect(try TextQueryParser.parse("\"as well a\"*") == word("as well a", .prefix))
        #expect(try TextQueryParser.parse("=running") == word("running", .exact))
        #expect(
            try TextQueryParser.parse("owl~ gables~ owl~2")
                == .all([
                    word("owl", .fuzzy(1)), word("gables", .fuzzy(2)), word("owl", .fuzzy(2)),
                ]))
        #expect(
            try TextQueryParser.parse("^owl^2.5")
                == .phrase(TextPhrase(text: "owl", isAnchored: true, boost: 2.5)))
    }

    @Test func wordsNearEachOther() throws {
        let phrases = [TextPhrase(text: "owl"), TextPhrase(text: "the gable")]
        #expect(try TextQueryParser.parse("owl NEAR \"the gable\"") == .near(phrases, distance: 10))
        #expect(try TextQueryParser.parse("owl NEAR/3 \"the gable\"") == .near(phrases, distance: 3))
        #expect(try TextQueryParser.parse("NEAR(owl \"the gable\", 4)") == .near(phrases, distance: 4))
        #expect(try TextQueryParser.parse("NEAR ( owl )") == word("owl"))
    }

    @Test func columns() throws {
        let owl = TextPhrase(text: "owl", columns: [ByteKey("title")])
        let other = TextPhrase(
            text: "owl", columns: [ByteKey("title"), ByteKey("body")], excludesColumns: true)
        #expect(try TextQueryParser.parse("title:owl") == .phrase(owl))
        #expect(try TextQueryParser.parse("title : owl barn") == .all([.phrase(owl), word("barn")]))
        #expect(try TextQueryParser.parse("-{title \"body\"} : owl") == .phrase(other))
        #expect(try TextQueryParser.parse("title:(owl OR owl)") == .any([.phrase(owl), .phrase(owl)]))
    }

    @Test(arguments: [
        ("", "missing at the end"), ("a AND", "missing at the end"), ("(a", "closing parenthesis"),
        ("a)", "Nothing more"),
        ("\"a", "closing quote"), ("a~3", "1 or 2"), ("*", "expected here"), ("a OR OR b", "expected here"),
        ("- a", "after -"), ("NEAR()", "at least one"), ("{a: b", "expected"),
        ("(a) NEAR", "missing at the end"),
        ("(a OR b) NEAR c", "between words"), (String(repeating: "(", count: 1_000), "too deeply"),
        (String(repeating: "NOT ", count: 1_000), "too deeply"),
    ])
    func malformedQueriesAreToldWhere(_ text: String, _ message: String) {
        let error = #expect(throws: TextQueryError.self) { try TextQueryParser.parse(text) }
        #expect(error?.message.contains(message) ?? false, "\(error?.message ?? "")")
        #expect(error.map { 0...text.utf8.count ~= $0.offset } ?? false)
    }

    @Test func anyTextIsSomeSearch() throws {
        #expect(TextQueryParser.words("owl \"the gable") == .all([word("owl"), word("the gable")]))
        #expect(
            TextQueryParser.words("owl -barn wat*) (")
                == .all([
                    word("owl"), .not(word("barn")), word("wat*)"), word("("),
                ]))
    }
}

import Roost
import RoostIndex
import RoostSimulation
import RoostText
import Testing

@testable import RoostQuery

/// Searches of a collection, alone and within queries.
@Suite struct SearchTests {
    let fixture: QueryFixture
    let notes: DocumentCollection

    init() throws {
        fixture = try QueryFixture()
        notes = try fixture.database.collection("notes")
        try fixture.fill(
            "notes",
            [
                #"{"_id":"owl","title":"The owl","body":"An owl nests under the gable of the old barn.","stars":5}"#,
                #"{"_id":"barn","title":"The barn","body":"The barn stands empty; owls are running from it.","stars":3}"#,
                #"{"_id":"gable","title":"Gables","body":"A gable is the part of a wall. It has nothing to do with an animal.","stars":5}"#,
                #"{"_id":"cafe","title":"Das Café","body":"Straße, Wetter, naïve Gäste","tags":["owl", "sea"],"stars":1}"#,
                #"{"_id":"tokyo","title":"東京都","body":"東京に行く","stars":2}"#,
            ])
        try notes.createTextIndex("text", on: "title, body, tags", language: .english, weights: [2])
    }

    private func ids(_ query: String, isForgiving: Bool = false) throws -> [String] {
        try notes.search("text", query, isForgiving: isForgiving).map(\.id)
    }

    @Test func searchesByRank() throws {
        #expect(Set(try ids("owl")) == ["owl", "barn", "cafe"])
        #expect(try ids("owl").first == "owl")
        #expect(try ids("owl NOT barn") == ["cafe"])
        #expect(try ids("\"under the gable\"") == ["owl"])
        #expect(try ids("runs") == ["barn"])
        #expect(try ids("=runs") == [] && ids("=running") == ["barn"])
        #expect(try ids("title:gable*") == ["gable"])
        #expect(try ids("cafe strasse naive") == ["cafe"])
        #expect(try ids("京") == ["tokyo"] && ids("東京都") == ["tokyo"] && ids("京東") == [])
        #expect(Set(try ids("gabel~")) == ["gable", "owl"])
        #expect(try ids("owl NEAR/1 nests") == ["owl"])
    }

    @Test func limitOffsetAndTotal() throws {
        let all = try notes.search("text", "owl OR gable")
        #expect(all.total == 4 && all.count == 4)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.score >= $1.score })
        let some = try notes.search("text", "owl OR gable", limit: 2, offset: 1)
        #expect(some.map(\.id) == all[1..<3].map(\.id) && some.total == 4)
        #expect(try notes.search("text", "owl", limit: 0).isEmpty)
        #expect(try notes.searchCount("text", "owl") == 3)
    }

    @Test func anUpdateIsFoundAtOnce() throws {
        try notes.save(json: #"{"title":"東京都","body":"An owl in Tokyo"}"#, id: "tokyo", expecting: .any)
        #expect(Set(try ids("owl")).contains("tokyo"))
        #expect(try ids("行く") == [])
        try notes.delete(try #require(try notes.document("owl")))
        #expect(try !ids("owl").contains("owl"))
    }

    @Test func whatIsTypedIntoASearchBoxNeverFails() throws {
        for text in ["\"", "owl AND", "(((", "title:", "nosuch:owl", "-", "*", "", "owl\" -barn", "a~9"] {
            _ = try ids(text, isForgiving: true)
        }
        #expect(try ids("\"owl AND", isForgiving: true) == [])
        #expect(try ids("owl (nests", isForgiving: true) == ["owl"])
    }

    @Test func malformedSearchesAndMissingIndexesAreTold() throws {
        #expect(QueryFixture.message { _ = try ids("owl AND") }.contains("at byte 7"))
        #expect(QueryFixture.message { _ = try ids("nosuch:owl") }.contains("it has title, body, tags"))
        #expect(QueryFixture.message { _ = try notes.search("nosuch", "owl") }.contains("there is \"text\""))
        #expect(QueryFixture.message { try notes.createTextIndex("bad", on: "title +") }.contains("bad"))
    }

    @Test func highlightsAreInTheOriginalText() throws {
        let hit = try #require(try notes.search("text", "run OR owls").first { $0.id == "barn" })
        #expect(
            hit.highlights.map { $0.marked("[", "]") } == [
                "The barn stands empty; [owls] are [running] from it."
            ])
        let cafe = try #require(try notes.search("text", "cafe strasse gast*").first)
        #expect(
            cafe.highlights.map { $0.marked("[", "]") } == ["Das [Café]", "[Straße], Wetter, naïve [Gäste]"])
        let tokyo = try #require(try notes.search("text", "東京").first)
        #expect(tokyo.highlights.map { $0.marked("[", "]") } == ["[東京]都", "[東京]に行く"])
        let near = try #require(try notes.search("text", "\"the gable\"").first)
        #expect(
            near.highlights.map { $0.marked("[", "]") } == [
                "An owl nests under [the] [gable] of the old barn."
            ])
    }

    @Test func snippetsShowWhereMostWasFound() throws {
        let long = (0..<200).map { $0 == 120 ? "owl" : $0 == 123 ? "gable" : "word\($0)" }.joined(
            separator: " ")
        try notes.save(json: #"{"title":"long owl","body":"\#(long)"}"#, id: "long")
        let hit = try #require(try notes.search("text", "owl gable word1*").first { $0.id == "long" })
        let snippet = hit.snippet(words: 10).marked("[", "]")
        #expect(
            snippet.contains("[owl]") && snippet.contains("[gable]") && snippet.hasPrefix("…")
                && snippet.hasSuffix("…"))
        #expect(hit.snippet(words: 10).text.split(separator: " ").count == 10)
    }

    @Test func completionsByFrequency() throws {
        #expect(try notes.completions("text", of: "Ow").map(\.word) == ["owl", "owls"])
        #expect(try notes.completions("text", of: "the", limit: 1).map(\.count) == [3])
        #expect(try notes.completions("text", of: "").isEmpty)
    }

    // MARK: In queries

    @Test func matchAnywhereInACondition() throws {
        for (condition, expected) in [
            ("MATCH(text, 'owl')", ["barn", "cafe", "owl"]), ("MATCH(text, $q)", ["barn"]),
            ("MATCH(text, 'owl') AND stars > 2", ["barn", "owl"]),
            ("stars = 2 OR MATCH(text, 'gable')", ["gable", "owl", "tokyo"]),
            ("NOT MATCH(text, 'owl')", ["gable", "tokyo"]),
            ("MATCH(text, 'owl') AND MATCH(text, 'gable')", ["owl"]),
            ("MATCH(text, 'owl') AND NOT MATCH(text, 'gable')", ["barn", "cafe"]),
        ] {
            let rows = try fixture.rows(
                "SELECT META().id FROM notes WHERE \(condition) ORDER BY META().id", ["q": "runs"])
            #expect(rows == expected.map { "\"\($0)\"" }, "\(condition)")
        }
    }

    @Test func rankOrdersRows() throws {
        let found = try notes.search("text", "owl OR gable")
        let text =
            "SELECT META().id, RANK(text) FROM notes WHERE MATCH(text, 'owl OR gable') ORDER BY RANK(text) DESC"
        let query = try fixture.database.query(text)
        #expect(try query.fetch().map { $0[0].string ?? "" } == found.map(\.id))
        #expect(try query.fetch().map { $0[1].double ?? 0 } == found.map(\.score))
        let first = try fixture.database.query(text + " LIMIT 2").cursor()
        var ids: [String] = []
        while let row = try first.next() { ids.append(row[0].string ?? "") }
        #expect(ids == found.prefix(2).map(\.id) && first.documentsRead == 2)
        #expect(try fixture.rows("SELECT count(*) FROM notes WHERE MATCH(text, 'owl')") == ["3"])
    }

    @Test func searchesReadFewDocuments() throws {
        let cursor = try fixture.database.query("SELECT title FROM notes WHERE MATCH(text, 'runs')").cursor()
        #expect(try cursor.next() != nil && cursor.next() == nil && cursor.documentsRead == 1)
        try notes.createIndex("stars", on: "stars")
        let both = try fixture.database.query(
            "SELECT title FROM notes WHERE MATCH(text, 'owl') AND stars = 3"
        ).cursor()
        #expect(try both.next() != nil && both.next() == nil && both.documentsRead == 1)
    }

    @Test func explainTellsOfSearches() throws {
        func plan(_ query: String) throws -> String {
            try fixture.database.query(query).explain().description
        }
        let ranked = "SELECT title FROM notes WHERE MATCH(text, 'owl') ORDER BY RANK(text) DESC"
        #expect(try plan(ranked).contains("SEARCH notes USING text (MATCH(text, 'owl')), 3 to read"))
        #expect(try plan(ranked).contains("SORT"))
        #expect(try plan(ranked + " LIMIT 1 OFFSET 1").contains("the best 2, 2 to read"))
        #expect(try !plan(ranked + " LIMIT 1 OFFSET 1").contains("SORT"))
        let count = try plan("SELECT count(*) FROM notes WHERE MATCH(text, 'owl')")
        #expect(count == "COUNT notes USING text (MATCH(text, 'owl')), without documents")
        try notes.createIndex("stars", on: "stars")
        let narrow = try plan("SELECT title FROM notes WHERE MATCH(text, 'owl') AND stars = 3")
        #expect(narrow.contains("USING stars (stars = 3), 1 to read"))
        let wide = try plan("SELECT title FROM notes WHERE MATCH(text, 'runs') AND stars > 0")
        #expect(wide.contains("USING text") && wide.contains("NOT USED stars"))
    }

    @Test func searchesWithIndexesGroupsAndOffsets() throws {
        let all = try notes.search("text", "owl OR gable").map { "\"\($0.id)\"" }
        let ranked =
            "SELECT META().id FROM notes WHERE MATCH(text, 'owl OR gable') ORDER BY RANK(text) DESC"
        #expect(try fixture.rows(ranked + " LIMIT 2 OFFSET 1") == Array(all[1..<3]))
        #expect(try fixture.rows(ranked + " LIMIT 9") == all)
        let grouped = "SELECT stars, count(*) FROM notes WHERE MATCH(text, 'owl OR gable') GROUP BY stars"
        let covered = "SELECT stars FROM notes WHERE stars > 0 AND NOT MATCH(text, 'owl') ORDER BY stars"
        let before = [try fixture.rows(grouped + " ORDER BY stars"), try fixture.rows(covered)]
        #expect(before[1] == ["2", "5"])
        try notes.createIndex("stars", on: "stars")
        #expect(before == [try fixture.rows(grouped + " ORDER BY stars"), try fixture.rows(covered)])
        let count = "SELECT count(*) FROM notes WHERE MATCH(text, 'owl') AND stars > 2"
        #expect(try fixture.rows(count) == ["2"])
    }

    @Test func whatCannotBeRankedIsTold() throws {
        #expect(
            QueryFixture.message { _ = try fixture.rows("SELECT RANK(text) FROM notes") }.contains(
                "MATCH(text"))
        #expect(
            QueryFixture.message { _ = try fixture.rows("SELECT 1 FROM notes WHERE MATCH(other, 'a')") }
                .contains("\"text\""))
        #expect(
            QueryFixture.message { _ = try fixture.rows("SELECT 1 FROM notes WHERE MATCH(text, $q)") }
                .contains("parameter"))
    }

    @Test func inTheJSONSchema() throws {
        let rows = try fixture.rows(
            json:
                #"{"WHAT":[["._id"]],"FROM":[{"COLLECTION":"notes"}],"WHERE":["MATCH()","text","owl NOT barn"]}"#
        )
        #expect(rows == ["\"cafe\""])
    }

    @Test(arguments: [
        (#"{"$text":"owl NOT barn"}"#, ["cafe"]), (#"{"$text":"owl","stars":{"$gt":2}}"#, ["barn", "owl"]),
        (#"{"$and":[{"$text":"owl"},{"$text":"gable"}]}"#, ["owl"]),
        (#"{"$or":[{"$text":"gable"},{"stars":2}]}"#, ["gable", "owl", "tokyo"]),
        (#"{"$not":{"$text":"owl"}}"#, ["gable", "tokyo"]),
        (#"{"$nor":[{"$text":"owl OR gable"}]}"#, ["tokyo"]),
        (#"{"$text":{"$search":"runs","$index":"text"}}"#, ["barn"]), (#"{"$text":"title: barn"}"#, ["barn"]),
    ])
    func inSelectors(_ selector: String, _ expected: [String]) throws {
        let found = try notes.find(json: #"{"selector":\#(selector)}"#)
        #expect(found.documents.map { $0["_id"].string ?? "" }.sorted() == expected)
    }

    @Test func selectorsAnswerTheBestFirst() throws {
        let ranked = try notes.search("text", "owl OR gable").map(\.id)
        #expect(ranked.sorted() != ranked)
        func find(_ more: DocumentValue) throws -> MangoResult {
            try notes.find(["selector": more, "limit": 2])
        }
        let best = try find(["$text": "owl OR gable"])
        #expect(best.documents.map { $0["_id"].string ?? "" } == Array(ranked.prefix(2)))
        #expect(best.documentsExamined == 2)
        let sorted = try notes.find(["selector": ["$text": "owl OR gable"], "sort": ["_id"]])
        #expect(sorted.documents.map { $0["_id"].string ?? "" } == ranked.sorted())
    }

    @Test(arguments: [
        (#"{"title":{"$text":"owl"}}"#, "$text searches whole documents"),
        (#"{"tags":{"$elemMatch":{"$text":"owl"}}}"#, "$text searches whole documents"),
        (#"{"$text":5}"#, "$text takes a string"), (#"{"$text":{"search":"owl"}}"#, "$text takes a string"),
        (#"{"$text":{"$search":"owl","$index":"other"}}"#, "There is no full-text index \"other\" here"),
        (#"{"$text":"owl AND"}"#, "at byte 7"),
    ])
    func selectorsThatCannotBeSearchedAreTold(_ selector: String, _ message: String) throws {
        let told = QueryFixture.message { _ = try notes.find(json: #"{"selector":\#(selector)}"#) }
        #expect(told.contains(message))
    }

    @Test func anUnnamedIndexIsTheOnlyOne() throws {
        try notes.createTextIndex("other", on: "body")
        #expect(
            QueryFixture.message { _ = try notes.find(["selector": ["$text": "owl"]]) }
                == "There are several full-text indexes here, and none is named: other, text")
        try notes.dropTextIndex("other")
        try notes.dropTextIndex("text")
        #expect(
            QueryFixture.message { _ = try notes.find(["selector": ["$text": "owl"]]) }
                .hasPrefix("There is no full-text index here: create one"))
    }

    @Test func inTypedQueries() throws {
        struct Note: Codable, Sendable {
            var title: String
            var stars: Int
        }
        let typed = notes.query(Note.self)
        func ids(_ query: TypedQuery<Note>) throws -> [String] { try query.fetch().map(\.id) }
        let both = typed.where { $0.matching("owl OR gable") && $0.stars > 3 }
        #expect(try ids(both).sorted() == ["gable", "owl"])
        #expect(try ids(typed.where { !$0.matching("owl", in: "text") }).sorted() == ["gable", "tokyo"])
        let ranked = typed.where { $0.matching("owl OR gable") }.order(.descending) { $0.rank() }
        let expected = try notes.search("text", "owl OR gable").map(\.id)
        #expect(try ids(ranked) == expected && ids(ranked.limit(1)) == Array(expected.prefix(1)))
        #expect(try ranked.count() == 4)
        #expect(
            QueryFixture.message { _ = try ids(typed.where { $0.title.matching("owl") }) }.contains(
                "is said of whole documents"))
    }

    @Test func aPreparedQueryFollowsTheIndex() throws {
        let query = try fixture.database.query(
            "SELECT META().id FROM notes WHERE MATCH(text, 'owls') ORDER BY META().id")
        #expect(try QueryFixture.texts(query.fetch()).count == 3)
        try notes.createTextIndex("text", on: "title, body")
        #expect(try QueryFixture.texts(query.fetch()) == ["\"barn\""])
        try notes.dropTextIndex("text")
        #expect(QueryFixture.message { _ = try query.fetch() }.contains("no full-text index"))
        #expect(try notes.textIndexes().isEmpty)
    }
}

// MARK: - Text build tests

@Suite struct TextBuildTests {
    /// Words of many segments are merged in the end, and what that leaves unused is given back before the build is done.
    @Test func aBuildInLittleMemoryFindsAllAndLeavesLittleLying() throws {
        let fixture = try QueryFixture()
        let notes = try fixture.database.collection("notes")
        var settings = IndexSettings()
        settings.buildMemory = 1 << 20
        settings.quiet = 1e6
        IndexManager.of(fixture.database).configure(settings)
        var random = SeededGenerator(seed: 5)
        try fixture.database.write { batch in
            for number in 0..<8_000 {
                let words = (0..<12).map { _ in "w\(random.next())" } + ["every", "n\(number % 10)"]
                try batch.save(
                    json: #"{"text":"\#(words.joined(separator: " "))"}"#, id: "d\(number)", in: notes)
            }
        }
        try notes.createTextIndex("text", on: "text")
        let derived = try #require(try fixture.database.derivedStores().first)
        let size = try #require(derived.indexes.first).bytes
        #expect(size > 2 << 20, "too little to be compacted")
        #expect(derived.fileBytes < size * 3 / 2, "\(derived.fileBytes) bytes for \(size)")
        #expect(try notes.searchCount("text", "every") == 8_000)
        #expect(try notes.searchCount("text", "every n3") == 800)
    }
}

// MARK: - Text query parser tests

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

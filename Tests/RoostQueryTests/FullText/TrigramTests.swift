import Roost
import RoostIndex
import RoostSimulation
import Testing

@testable import RoostQuery

/// Patterns find the same documents with an index of trigrams as by reading all.
@Suite struct TrigramTests {
    private static let parts = [
        "owl", "Owl", "OWL", "gable", "Gable", "ab", "a", "%", "_", "\\", " ", "é", "e\u{301}", "É", "東京",
        "京都",
        "ß", "SS", "\u{130}", "i", "σ", "ς", "Σ", "\u{212A}", "k", "Ａ", "が", "か\u{3099}", "🦉", "\n", "한국",
        "12",
        "ﬁ", "fi", "\u{0}x",
    ]

    private func text(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0..<9, using: &random)).map { _ in Self.parts.randomElement(using: &random)! }
            .joined()
    }

    /// A condition on the columns `title` and `body`, with its patterns as parameters.
    private func condition(
        _ random: inout SeededGenerator, _ parameters: inout [String: DocumentValue], depth: Int = 0
    ) -> String {
        let column = ["title", "body"].randomElement(using: &random)!
        let name = "p\(parameters.count)"
        let part = (0..<Int.random(in: 1..<4, using: &random)).map { _ in
            Self.parts.randomElement(using: &random)!
        }.joined()
        func inner() -> String { condition(&random, &parameters, depth: depth + 1) }
        switch Int.random(in: 0..<(depth < 2 ? 11 : 8), using: &random) {
        case 0...2:
            parameters[name] = .string("%\(part)%")
            return "\(column) LIKE $\(name)\(collation(&random))"
        case 3:
            parameters[name] = .string(part)
            return "\(column) LIKE '%' || $\(name) || '_%'"
        case 4, 5:
            parameters[name] = .string(part)
            return "(contains(\(column), $\(name)))\(collation(&random))"
        case 6, 7:
            let more = Self.parts.randomElement(using: &random)!
            parameters[name] = .string(
                [
                    part, "(?i)\(part)", "\(part)|\(more)", "(\(part)){1,2}\(more)", "(\(part))?\(more)",
                    "^\(part).*\(more)$", "[ab]\(part)+", "(?:\(part)|\(more)o)wl",
                ].randomElement(using: &random)!)
            return "regexp_like(\(column), $\(name))"
        case 8: return "(\(inner()) OR \(inner()))"
        case 9: return "NOT \(inner())"
        default: return "(\(inner()) AND \(inner()))"
        }
    }

    private func collation(_ random: inout SeededGenerator) -> String {
        ["", "", " COLLATE NOCASE", " COLLATE (UNICODE NOCASE)", " COLLATE (UNICODE NOCASE NODIAC)"]
            .randomElement(using: &random)!
    }

    @Test("Random patterns, with edits, deletions, purges, reopening and damage", arguments: 0..<6)
    func model(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let simulation = Simulation(seed: UInt64(seed))
        func open() throws -> (Database, DocumentCollection) {
            let database = try Database.open("db", environment: simulation.environment)
            var settings = IndexSettings()
            settings.overlayLimit = Int.random(in: 0..<8, using: &random)
            IndexManager.of(database).configure(settings)
            return (database, try database.collection("notes"))
        }
        var (database, notes) = try open()
        try notes.createTrigramIndex("parts", on: "title, body")
        var used = 0
        for round in 0..<16 {
            for _ in 0..<12 {
                let id = "n\(Int.random(in: 0..<60, using: &random))"
                switch Int.random(in: 0..<6, using: &random) {
                case 0: _ = try notes.purge(id)
                case 1: if let document = try notes.document(id) { try notes.delete(document) }
                default:
                    let texts: DocumentValue = [
                        "title": .string(text(&random)), "body": .string(text(&random)),
                    ]
                    try notes.save(json: texts.json(), id: id, expecting: .any)
                }
            }
            if Int.random(in: 0..<3, using: &random) == 0 {
                try database.close()
                if round % 2 == 0 { damage(simulation, &random) }
                (database, notes) = try open()
            }
            for _ in 0..<25 {
                var parameters: [String: DocumentValue] = [:]
                let condition = condition(&random, &parameters)
                func query(_ condition: String) throws -> DatabaseQuery {
                    try database.query(
                        "SELECT meta().id FROM notes WHERE \(condition) ORDER BY meta().id",
                        parameters: parameters)
                }
                // What is no column is read.
                let other = condition.replacing("title", with: "(title || '')").replacing(
                    "body", with: "(body || '')")
                do {
                    let expected = try QueryFixture.texts(query(other).fetch())
                    let found = try QueryFixture.texts(query(condition).fetch())
                    #expect(found == expected, "\(condition) \(parameters)")
                    let steps = try query(condition).explain().steps
                    if steps.contains(where: { $0.index == "parts" }) { used += 1 }
                } catch let error as DatabaseError where error.code == .invalidQuery {
                    // A random expression may be malformed.
                }
            }
        }
        #expect(used > 20)
        try database.close()
    }

    private func damage(_ simulation: Simulation, _ random: inout SeededGenerator) {
        for file in (try? simulation.disk.list("db/derived")) ?? [] where file.hasSuffix(".roost") {
            let size = simulation.disk.contents(of: "db/derived/\(file)")?.count ?? 0
            for _ in 0..<20 where size > 0 {
                simulation.disk.flip(
                    "db/derived/\(file)", at: UInt64.random(in: 0..<UInt64(size), using: &random))
            }
        }
    }

    // MARK: By hand

    @Test func explained() throws {
        let fixture = try QueryFixture(
            (0..<100).map { #"{"name":"part \#($0)","note":"An owl, no. \#($0)"}"# })
        let notes = try fixture.database.defaultCollection
        try notes.createTrigramIndex("parts", on: "name")
        func plan(_ condition: String) throws -> String {
            try fixture.database.query("SELECT name FROM _ WHERE \(condition)").explain().description
        }
        #expect(try plan("name LIKE '%rt 77%'").contains("USING parts (name LIKE '%rt 77%')"))
        #expect(try plan("regexp_like(name, '7[67]$') AND name LIKE '%rt 7%'").contains("USING parts"))
        #expect(try plan("contains(name, '77')").contains("USING parts"))
        #expect(try plan("name LIKE '%art%'").contains("NOT USED parts: it would lead to 100 documents"))
        #expect(try plan("name LIKE '%a%'").contains("NOT USED parts: the patterns name no two characters"))
        #expect(try plan("note LIKE '%owl%'").contains("parts") == false)
        #expect(try fixture.rows("SELECT count(*) FROM _ WHERE name LIKE '%rt 7_'") == ["10"])
        #expect(
            try fixture.rows(
                "SELECT name FROM _ WHERE name LIKE '%rt 7_' ORDER BY meta().id DESC LIMIT 2")
                == [#""part 79""#, #""part 78""#])
    }

    @Test func searchesAreForWords() throws {
        let fixture = try QueryFixture([#"{"name":"part"}"#])
        let notes = try fixture.database.defaultCollection
        try notes.createTrigramIndex("parts", on: "name")
        #expect(QueryFixture.message { _ = try notes.search("parts", "art") }.contains("trigrams"))
        #expect(
            QueryFixture.message { _ = try fixture.rows("SELECT name FROM _ WHERE MATCH(parts, 'art')") }
                .contains("trigrams"))
        // What names no index takes the only one of words.
        try notes.createTextIndex("words", on: "name")
        #expect(try notes.find(["selector": ["$text": "part"]]).documents.count == 1)
    }

    @Test func conditionsOfPatterns() {
        func text(_ string: String) -> TrigramCondition { .text(string.unicodeScalars.map(\.value)) }
        #expect(
            TrigramCondition(like: "%Owl_gable%x%", isCaseless: false) == .all([text("owl"), text("gable")]))
        #expect(TrigramCondition(like: "100\\%", isCaseless: false) == text("100%"))
        #expect(TrigramCondition(expression: "ab(c|d)ef+") == text("ab"))
        #expect(TrigramCondition(expression: "(?i)A\u{30A}(bc|de)") == .any([text("bc"), text("de")]))
        #expect(TrigramCondition(expression: "abc|def") == .any([text("abc"), text("def")]))
        #expect(TrigramCondition(expression: "abc|.") == .anything)
        #expect(TrigramCondition(expression: "(abc)+x*(?=y)de") == .all([text("abc"), text("de")]))
        #expect(TrigramCondition(expression: "(ab") == .anything)
    }
}

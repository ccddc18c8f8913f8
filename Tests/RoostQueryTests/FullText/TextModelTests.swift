import Roost
import RoostFile
import RoostIndex
import RoostSimulation
import RoostText
import Testing

@testable import RoostQuery

/// A full-text index finds what looking at all words of all documents finds, with the same scores, whatever was done to
/// documents and index meanwhile.
@Suite struct TextModelTests {
    private static let vocabulary = [
        "owl", "owls", "owl's", "run", "running", "runs", "barn", "barns", "nest", "nested", "the", "the",
        "the", "of", "Straße",
        "café", "cafe", "東京都", "東京", "京都に行く", "สวัสดี", "gable", "gables", "night", "nights", "x", "foo_bar",
        "3.14", "🦉",
    ]
    private static let words = [
        "owl", "running", "barn", "nest", "the", "gable", "cafe", "京", "東京", "東京都", "สวัส", "night", "zzz",
        "strasse", "!",
    ]

    private func text(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0..<12, using: &random)).map { _ in Self.vocabulary.randomElement(using: &random)!
        }
        .joined(separator: [" ", ", "].randomElement(using: &random)!)
    }

    private func phrase(_ random: inout SeededGenerator) -> TextPhrase {
        let count = [1, 1, 1, 2, 3].randomElement(using: &random)!
        let words = (0..<count).map { _ in Self.words.randomElement(using: &random)! }
        var phrase = TextPhrase(text: words.joined(separator: " "))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: phrase.kind = .exact
        case 1:
            phrase.kind = .prefix
            phrase.text = String(phrase.text.unicodeScalars.dropLast())
        case 2: phrase.kind = .fuzzy(Int.random(in: 1...2, using: &random))
        default: break
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: phrase.isAnchored = true
        case 1: phrase.columns = [ByteKey("title")]
        case 2:
            phrase.columns = [ByteKey("title")]
            phrase.excludesColumns = true
        case 3: phrase.boost = 2.5
        default: break
        }
        return phrase
    }

    private func query(_ random: inout SeededGenerator, depth: Int = 0) -> TextQuery {
        func parts() -> [TextQuery] {
            (0..<Int.random(in: 2...3, using: &random)).map { _ in query(&random, depth: depth + 1) }
        }
        switch Int.random(in: 0..<(depth < 2 ? 10 : 4), using: &random) {
        case 4:
            return .near(
                (0..<Int.random(in: 2...3, using: &random)).map { _ in phrase(&random) },
                distance: Int.random(in: 0..<5, using: &random))
        case 5, 6: return .all(parts())
        case 7, 8: return .any(parts())
        case 9: return .not(query(&random, depth: depth + 1))
        default: return .phrase(phrase(&random))
        }
    }

    private func check(
        _ notes: DocumentCollection, _ index: CompiledTextIndex, _ model: TextModel,
        _ random: inout SeededGenerator
    ) throws {
        try notes.indexes.readStored(index.definition, of: notes) { kept in
            let reader = try TextReader(kept, index)
            for _ in 0..<12 {
                let query = query(&random)
                let compiled = try CompiledTextQuery(query, index)
                let expected = model.scores(query, weights: index.weights)
                let found = try reader.matches(compiled, weights: index.weights)
                var scores: [String: Double] = [:]
                for match in found {
                    let id = try reader.id(match.number)
                    scores[id] = match.score
                    #expect(try reader.number(id) == match.number)
                }
                #expect(Set(scores.keys) == Set(expected.keys), "\(query)")
                for (id, score) in scores {
                    #expect(abs(score - (expected[id] ?? -1)) < 1e-9, "\(query) \(id)")
                }
                #expect(try reader.count(compiled) == expected.count, "\(query)")
                let best = try reader.best(compiled, 5, weights: index.weights)
                let order = found.sorted { ($1.score, $0.number) < ($0.score, $1.number) }.prefix(5)
                #expect(best.map(\.number) == order.map(\.number), "\(query)")
                let counted = try reader.bestAndTotal(compiled, 5, weights: index.weights)
                #expect(counted.best.map(\.number) == order.map(\.number), "\(query)")
                #expect(counted.total == expected.count, "\(query)")
            }
        }
    }

    /// Changes some bytes of the derived store, if there is one.
    private func damage(_ simulation: Simulation, _ random: inout SeededGenerator) {
        let files = (try? simulation.disk.list("db/derived")) ?? []
        guard let file = files.first(where: { $0.hasSuffix(".roost") }) else { return }
        let size = simulation.disk.contents(of: "db/derived/\(file)")?.count ?? 0
        for _ in 0..<20 {
            simulation.disk.flip(
                "db/derived/\(file)", at: UInt64.random(in: 0..<UInt64(size), using: &random))
        }
    }

    @Test("Edits, deletions, purges, reopening, damage, merges", arguments: 0..<4)
    func history(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let simulation = Simulation(seed: UInt64(seed))
        var description = TextIndex("text", on: "title, body", weights: seed % 3 == 0 ? [2, 0.5] : [])
        if seed % 2 == 0 { description.language = .english }
        if seed % 5 == 0 { description.stopWords = ["the", "of"] }
        var index = try CompiledTextIndex(description)
        var model = TextModel(index.tokenizer, columns: ["title", "body"])
        func open() throws -> (Database, DocumentCollection) {
            let database = try Database.open("db", environment: simulation.environment)
            var settings = IndexSettings()
            settings.overlayLimit = Int.random(in: 0..<8, using: &random)
            IndexManager.of(database).configure(settings)
            return (database, try database.collection("notes"))
        }
        var (database, notes) = try open()
        for round in 0..<24 {
            for _ in 0..<Int.random(in: 1..<12, using: &random) {
                let id = "n\(Int.random(in: 0..<40, using: &random))"
                if Int.random(in: 0..<4, using: &random) == 0 {
                    if Int.random(in: 0..<2, using: &random) == 0 {
                        _ = try notes.purge(id)
                    } else if let document = try notes.document(id) {
                        try notes.delete(document)
                    }
                    model.set(id, nil)
                    continue
                }
                let texts = [text(&random), text(&random)]
                try notes.save(
                    json: #"{"title":"\#(texts[0])","body":"\#(texts[1])"}"#, id: id, expecting: .any)
                model.set(id, texts)
            }
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                try database.close()
                (database, notes) = try open()
            case 1:
                try database.close()
                damage(simulation, &random)
                (database, notes) = try open()
            case 2:
                index = try CompiledTextIndex(description)
                try notes.indexes.drop(index.definition.name)
            default: break
            }
            if round % 2 == 1 { try check(notes, index, model, &random) }
        }
        try database.close()
    }

    @Test("Documents that change again and again, which the index learns of later", arguments: 0..<3)
    func changesAreNotKept(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let fixture = try QueryFixture()
        let index = try CompiledTextIndex(TextIndex("text", on: "title, body"))
        var model = TextModel(index.tokenizer, columns: ["title", "body"])
        let notes = try fixture.database.collection("notes")
        var settings = IndexSettings()
        settings.overlayLimit = 1_000
        settings.quiet = 1e6
        IndexManager.of(fixture.database).configure(settings)
        func change(_ id: String) throws {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                if let document = try notes.document(id) { try notes.delete(document) }
                model.set(id, nil)
            case 1:
                _ = try notes.purge(id)
                model.set(id, nil)
            default:
                let texts = [text(&random), text(&random)]
                try notes.save(
                    json: #"{"title":"\#(texts[0])","body":"\#(texts[1])"}"#, id: id, expecting: .any)
                model.set(id, texts)
            }
        }
        for number in 0..<50 { try change("n\(number)") }
        try check(notes, index, model, &random)
        for _ in 0..<40 {
            for _ in 0..<Int.random(in: 1..<4, using: &random) {
                try change("n\(Int.random(in: 0..<60, using: &random))")
            }
            try check(notes, index, model, &random)
            try notes.indexes.readStored(index.definition, of: notes) { kept in
                let changes = try ChangedTexts(kept, index, first: TextState(#require(kept.rows)).next)
                #expect(changes.segments.count <= 7)
            }
        }
    }

    @Test(
        "Many documents: blocks of many documents, and segments that were merged",
        arguments: [false, true])
    func manyDocuments(isStemmed: Bool) throws {
        var random = SeededGenerator(seed: 7)
        let fixture = try QueryFixture()
        var description = TextIndex("text", on: "title, body")
        if isStemmed { description.language = .english }
        let index = try CompiledTextIndex(description)
        var model = TextModel(index.tokenizer, columns: ["title", "body"])
        let notes = try fixture.database.collection("notes")
        var settings = IndexSettings()
        settings.overlayLimit = 0
        IndexManager.of(fixture.database).configure(settings)
        for round in 0..<10 {
            try fixture.database.write { batch in
                for number in 0..<150 {
                    let texts = ["the \(text(&random))", text(&random)]
                    // Some of the documents of earlier rounds are replaced.
                    let id = "n\(round * 130 + number)"
                    try batch.save(
                        json: #"{"title":"\#(texts[0])","body":"\#(texts[1])"}"#, id: id, in: notes,
                        expecting: .any)
                    model.set(id, texts)
                }
            }
            try notes.indexes.update(notes, building: .one(index.definition.name))
            try notes.indexes.readStored(index.definition, of: notes) { kept in
                if round < 7 { return }
                let state = try TextState(#require(kept.rows))
                #expect(state.segments.count <= 8 && state.documents == 130 * round + 150)
            }
        }
        try check(notes, index, model, &random)
    }
}

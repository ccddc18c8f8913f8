import Roost
import RoostIndex
import RoostSimulation
import RoostText
import Testing

@testable import RoostQuery

/// The best documents of searches for several words, found without looking at all that match.
@Suite struct BestMatchesTests {
    private static let queries = [
        "rare", "often", "often OR rare", "often rare", "often OR rare OR seldom", "often seldom always",
        "(often OR rare) seldom", "often NEAR seldom", "\"often seldom\"", "\"often seldom\" OR rare",
        "always OR often OR seldom OR rare OR none", "always NOT often", "(always NOT rare) OR seldom",
        "rar* OR often",
        "title: often OR rare", "^often OR always^0.1", "often^4 OR rare", "=often OR =rare", "none OR often",
        "(often seldom) OR (always rare)", "NOT rare",
    ]

    private let fixture: QueryFixture
    private let notes: DocumentCollection

    /// Words of different frequency in documents of different length, over several segments and thousands of documents.
    init() throws {
        fixture = try QueryFixture()
        notes = try fixture.database.collection("notes")
        var settings = IndexSettings()
        settings.overlayLimit = 0
        IndexManager.of(fixture.database).configure(settings)
    }

    private func fill(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for round in 0..<3 {
            try fixture.database.write { batch in
                for number in 0..<1_200 {
                    var words = ["always"]
                    for (word, chance) in [("often", 2), ("seldom", 12), ("rare", 150)]
                    where Int.random(in: 0..<chance, using: &random) == 0 {
                        words += Array(repeating: word, count: Int.random(in: 1..<5, using: &random))
                    }
                    let length = Int.random(in: 0..<40, using: &random)
                    words += (0..<length).map { "w\($0)" }
                    words.shuffle(using: &random)
                    let title = words.prefix(3).joined(separator: " ")
                    let body = words.dropFirst(3).joined(separator: " ")
                    // Some of the documents before are replaced.
                    try batch.save(
                        json: #"{"title":"\#(title)","body":"\#(body)"}"#, id: "n\(round * 1_000 + number)",
                        in: notes,
                        expecting: .any)
                }
            }
            if round == 0 {
                try notes.createTextIndex("text", on: "title, body", weights: seed == 1 ? [3, 1] : [])
            }
            _ = try notes.searchCount("text", "rare")
        }
    }

    @Test(arguments: 0..<2) func theSameAsOfAllMatches(seed: Int) throws {
        try fill(seed)
        let description = try #require(try notes.textIndexes().first)
        let index = try CompiledTextIndex(description)
        try notes.indexes.readKept(index.definition, of: notes) { kept in
            for text in Self.queries {
                let query = try index.query(text)
                let all = try TextReader(kept, index).matches(query, weights: index.weights)
                    .sorted { ($1.score, $0.number) < ($0.score, $1.number) }
                for limit in [1, 3, 10, 100] {
                    let best = try TextReader(kept, index).best(query, limit, weights: index.weights)
                    #expect(
                        best.map(\.number) == all.prefix(limit).map(\.number), "\(text), the best \(limit)")
                    #expect(best.map(\.score) == all.prefix(limit).map(\.score), "\(text), the best \(limit)")
                }
            }
        }
    }

    /// What can't be among the best is passed over.
    @Test func fewAreLookedAt() throws {
        try fill(0)
        let description = try #require(try notes.textIndexes().first)
        let index = try CompiledTextIndex(description)
        try notes.indexes.readKept(index.definition, of: notes) { kept in
            for (text, most) in [
                ("often", 0.7), ("often OR rare", 0.5), ("always OR rare", 0.2),
                ("always OR seldom OR rare", 0.3),
            ] {
                let reader = try TextReader(kept, index)
                let query = try index.query(text)
                let count = try reader.count(query)
                _ = try reader.best(query, 5, weights: index.weights)
                #expect(
                    Double(reader.scoredCount) < most * Double(count),
                    "\(text): \(reader.scoredCount) of \(count)")
            }
        }
    }
}

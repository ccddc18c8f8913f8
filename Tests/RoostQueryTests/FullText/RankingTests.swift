import Roost
import RoostIndex
import RoostSimulation
import RoostText
import Testing

@testable import RoostQuery

/// Scores beside those that SQLite's FTS5 (3.40.1, tokenizer unicode61) gives the same documents: `-bm25(t, weight, 1.0)`.
@Suite struct RankingTests {
    let fixture: QueryFixture
    let notes: DocumentCollection

    init() throws {
        fixture = try QueryFixture()
        notes = try fixture.database.collection("notes")
        let documents = [
            ("a", "The owl", "An owl nests under the gable of the old barn"),
            ("b", "The barn", "The old barn stands empty and no owl lives there"),
            ("c", "Gables", "A gable is a part of a wall and the wall is old"), ("d", "Owl owl owl", "owl"),
            (
                "e", "A long tale",
                "Once an owl flew over the river the field the wood and the hill until it found the mill by the sea where "
                    + "it rested for a while"
            ),
            ("f", "River", "The river runs past the mill and past the old barn to the sea"),
            ("g", "Mill and sea", "At the mill by the sea a miller sees the sea every day"),
            ("h", "Swifts", "Swifts nest under the gable and swifts fly over the barn"), ("i", "Empty", ""),
            ("j", "Wood", "A wood of oak and beech beside the field"),
            ("k", "Old barn", "old old barn barn barn"), ("l", "Letters", "No bird is named in here"),
        ]
        try fixture.fill(
            "notes", documents.map { #"{"_id":"\#($0.0)","title":"\#($0.1)","body":"\#($0.2)"}"# })
    }

    /// A query, the weight of the title, and what FTS5 answers.
    static let answers: [(String, Double, [(String, Double)])] = [
        ("owl", 1, [("d", 1.214988), ("a", 0.869283), ("b", 0.630501), ("e", 0.380783)]),
        ("owl", 3, [("d", 1.319182), ("a", 1.072340), ("b", 0.630501), ("e", 0.380783)]),
        ("barn", 1, [("k", 0.564365), ("b", 0.423926), ("a", 0.307479), ("h", 0.307479), ("f", 0.278627)]),
        ("barn", 3, [("k", 0.598880), ("b", 0.522952), ("a", 0.307479), ("h", 0.307479), ("f", 0.278627)]),
        ("sea", 1, [("g", 1.456247), ("f", 0.897028), ("e", 0.597845)]),
        ("sea", 3, [("g", 1.683206), ("f", 0.897028), ("e", 0.597845)]),
        (
            "owl OR gable", 1,
            [
                ("a", 1.859195), ("d", 1.214988), ("h", 0.989913), ("c", 0.925990), ("b", 0.630501),
                ("e", 0.380783),
            ]
        ),
        (
            "owl OR gable", 3,
            [
                ("a", 2.062252), ("d", 1.319182), ("h", 0.989913), ("c", 0.925990), ("b", 0.630501),
                ("e", 0.380783),
            ]
        ),
        ("old barn", 1, [("k", 1.097976), ("b", 0.731405), ("a", 0.614957), ("f", 0.557255)]),
        ("old barn", 3, [("k", 1.183459), ("b", 0.830430), ("a", 0.614957), ("f", 0.557255)]),
        (#""old barn""#, 1, [("k", 0.986665), ("a", 0.630501), ("b", 0.630501), ("f", 0.571340)]),
        (#""old barn""#, 3, [("k", 1.157259), ("a", 0.630501), ("b", 0.630501), ("f", 0.571340)]),
        (
            #""old barn" OR swifts OR sea"#, 1,
            [
                ("h", 3.186287), ("f", 1.468368), ("g", 1.456247), ("k", 0.986665), ("a", 0.630501),
                ("b", 0.630501), ("e", 0.597845),
            ]
        ),
        (
            #""old barn" OR swifts OR sea"#, 3,
            [
                ("h", 3.602696), ("g", 1.683206), ("f", 1.468368), ("k", 1.157259), ("a", 0.630501),
                ("b", 0.630501), ("e", 0.597845),
            ]
        ),
        ("river AND mill", 1, [("f", 2.727845), ("e", 1.457068)]),
        ("river AND mill", 3, [("f", 3.214681), ("e", 1.457068)]),
        ("owl NOT barn", 1, [("d", 1.214988), ("e", 0.380783)]),
        ("owl NOT barn", 3, [("d", 1.319182), ("e", 0.380783)]),
        ("(owl OR swifts) AND barn", 1, [("h", 3.493766), ("a", 1.176761), ("b", 1.054427)]),
        ("(owl OR swifts) AND barn", 3, [("h", 3.910174), ("a", 1.379818), ("b", 1.153453)]),
        ("wood OR field OR letters", 1, [("j", 3.587706), ("l", 2.440482), ("e", 1.718445)]),
        ("wood OR field OR letters", 3, [("j", 4.021059), ("l", 3.504386), ("e", 1.718445)]),
    ]

    @Test(arguments: answers.indices)
    func scoresAreThoseOfFTS5(_ number: Int) throws {
        let (query, weight, expected) = Self.answers[number]
        try notes.createTextIndex("text", on: "title, body", weights: [weight])
        let found = try notes.search("text", query)
        // Those with the same score come in any order.
        let sorted = found.sorted { ($1.score, $0.id) < ($0.score, $1.id) }
        #expect(sorted.map(\.id) == expected.map(\.0), "\(query)")
        for (hit, answer) in zip(sorted, expected) {
            #expect(abs(hit.score - answer.1) < 1e-6, "\(query): \(hit.id) \(hit.score), not \(answer.1)")
        }
        #expect(zip(found, found.dropFirst()).allSatisfy { $0.score >= $1.score })
    }
}

// MARK: - Best matches tests

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
        try notes.indexes.readStored(index.definition, of: notes) { kept in
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
        try notes.indexes.readStored(index.definition, of: notes) { kept in
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

// MARK: - Segment choice tests

/// Which segments of a full-text index are merged.
@Suite struct SegmentChoiceTests {
    private func state(_ counts: [Int], dead: [Int: Int] = [:]) -> TextState {
        var state = TextState()
        for (index, count) in counts.enumerated() {
            let documents = state.next..<state.next + count
            state.segments.append(
                TextState.Segment(
                    number: UInt32(index), documents: documents, count: count, dead: dead[index] ?? 0))
            state.next += count
        }
        return state
    }

    @Test func eightOfASizeBecomeOne() {
        #expect(state(Array(repeating: 200, count: 7)).merge == nil)
        #expect(state(Array(repeating: 200, count: 8)).merge == 0..<8)
    }

    @Test func aLargeOneIsNotWrittenAgainForAFewSmallOnes() {
        #expect(state([1_000_000] + Array(repeating: 200, count: 7)).merge == nil)
        #expect(state([1_000_000] + Array(repeating: 200, count: 8)).merge == 1..<9)
        #expect(state([1_000_000, 100_000, 20_000, 3_000, 400, 50, 6, 1]).merge == nil)
    }

    @Test func smallerOnesAmongThemAreTakenAlong() {
        let counts =
            [1_000_000] + Array(repeating: 2_000, count: 4) + [3, 70] + Array(repeating: 2_000, count: 4) + [
                5
            ]
        #expect(state(counts).merge == 1..<12)
    }

    @Test func whatIsDeadIsWrittenNoMore() {
        #expect(state([1_000, 1_000], dead: [1: 199]).merge == nil)
        #expect(state([1_000, 1_000], dead: [1: 200]).merge == 1..<2)
    }

    /// Each posting is written about once for each level, whatever the order of sizes.
    @Test func mergingWritesInProportion() {
        var state = TextState()
        var (written, added) = (0, 0)
        for round in 0..<4_000 {
            let count = 1 + round * 7_919 % 300
            added += count
            state.segments.append(
                TextState.Segment(
                    number: 0, documents: state.next..<state.next + count, count: count, dead: 0))
            state.next += count
            while let range = state.merge {
                let merged = state.segments[range].reduce(0) { $0 + $1.count }
                written += merged
                let documents =
                    state.segments[range.lowerBound].documents
                    .lowerBound..<state.segments[range.upperBound - 1]
                    .documents.upperBound
                state.segments.replaceSubrange(
                    range, with: [TextState.Segment(number: 0, documents: documents, count: merged, dead: 0)])
            }
            #expect(state.segments.count <= 7 * 8)
        }
        #expect(written <= added * 8, "\(written) for \(added)")
        #expect(state.segments.reduce(0) { $0 + $1.count } == added)
    }
}

import Roost
import RoostQuery
import Testing

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

import Roost
import RoostQuery
import Testing

/// Values that are too long for the keys of an index, which are cut then: queries answer as they do without it.
@Suite struct LongKeyTests {
    /// Keys are cut behind 1,500 bytes, and values that are looked for behind 1,400.
    private static let lengths = [3, 1_395, 1_397, 1_450, 1_497, 1_499, 1_500, 1_600]
    /// What is requested.
    private static let parameters: [[String: DocumentValue]] = [3, 1_397, 1_497, 1_600].map { length in
        [
            "v": .string(String(repeating: "x", count: length) + "b"),
            "w": .string(String(repeating: "y", count: 1_495) + "4"),
        ]
    }

    /// Documents whose values begin alike and differ before, at and behind the place where keys are cut.
    private static let documents: [DocumentValue] = {
        var documents: [DocumentValue] = []
        var number: Int64 = 0
        func add(_ a: DocumentValue?) {
            number += 1
            var document: DocumentValue = ["b": .integer(number * 7 % 5), "n": .integer(number)]
            if let a { document["a"] = a }
            if number % 4 != 0 {
                document["c"] = .string(String(repeating: "y", count: 1_495) + "\(number * 11 % 13)")
            }
            documents.append(document)
        }
        for length in lengths {
            let start = String(repeating: "x", count: length)
            for end in ["", "b", "a", "A", "aa", "B\u{E9}", "b"] { add(.string(start + end)) }
            add(.array([.string(start), 2]))
            add(.array([.string(start), 1]))
            add(.dictionary(["k": .string(start + "b")]))
            add(.dictionary(["k": .string(start + "a"), "l": 1]))
        }
        for value: DocumentValue in [.null, true, -1, 2.5, 300, "", "x"] { add(value) }
        add(nil)
        return documents
    }()

    private static let queries: [String] = {
        var queries: [String] = []
        for collated in ["", " COLLATE NOCASE", " COLLATE UNICODE"] {
            for order in ["", " DESC"] {
                // What a collation holds equal comes in any order.
                if collated.isEmpty { queries.append("SELECT a FROM _ ORDER BY a\(order)") }
                queries.append("SELECT a, n FROM _ ORDER BY a\(collated)\(order), n")
                queries.append("SELECT a, n FROM _ ORDER BY a\(collated)\(order), n LIMIT 9 OFFSET 30")
                queries.append("SELECT b, a, n FROM _ ORDER BY b, a\(collated)\(order), n LIMIT 30 OFFSET 21")
                queries.append(
                    "SELECT a, n FROM _ WHERE b = 3 ORDER BY a\(collated)\(order), n LIMIT 5 OFFSET 7")
            }
            // Which of equal values stands for them is nobody's promise.
            queries.append("SELECT count(*) FROM (SELECT DISTINCT a\(collated) AS v FROM _) AS d")
        }
        queries += [
            "SELECT a, count(*), sum(n) FROM _ GROUP BY a",
            "SELECT b, a, count(*), sum(n) FROM _ GROUP BY b, a",
            "SELECT b, count(*), min(a), max(a), count(a), sum(n) FROM _ GROUP BY b",
            "SELECT b, max(a), count(a) FROM _ WHERE b = 2 GROUP BY b",
            "SELECT min(a), max(a), count(a), sum(n) FROM _", "SELECT c, count(*) FROM _ GROUP BY c",
            "SELECT a, count(a), min(b), max(b), count(b) FROM _ GROUP BY a",
            "SELECT a, c, count(*) AS k FROM _ GROUP BY a, c HAVING count(*) > 0",
            "SELECT b, min(c), max(c), count(c) FROM _ GROUP BY b", "SELECT count(*) FROM _ WHERE a IS NULL",
        ]
        for sign in ["=", "<", "<=", ">", ">="] {
            queries += [
                "SELECT n FROM _ WHERE a \(sign) $v", "SELECT count(*) FROM _ WHERE a \(sign) $v",
                "SELECT n FROM _ WHERE b = 2 AND a \(sign) $v",
                "SELECT n FROM _ WHERE a = $v AND c \(sign) $w",
                "SELECT n FROM _ WHERE a \(sign) $v ORDER BY a, n",
                "SELECT n FROM _ WHERE c \(sign) $w AND a = $v",
                "SELECT count(*) FROM _ WHERE a = $v AND c \(sign) $w",
            ]
        }
        return queries + [
            "SELECT n FROM _ WHERE a IN ($v, 2.5)", "SELECT n FROM _ WHERE ANY x IN a SATISFIES x = $v END",
        ]
    }()

    private static let indexes: [[ValueIndex]] = [
        [ValueIndex("a", on: "a, n", including: "b, c")],
        [ValueIndex("a", on: "a DESC, n DESC", including: "b")],
        [ValueIndex("a", on: "a COLLATE NOCASE, n", including: "b, c")],
        [ValueIndex("a", on: "a COLLATE UNICODE, n", including: "b, c")],
        [ValueIndex("ba", on: "b, a, n", including: "c", summing: "n")],
        [ValueIndex("ba", on: "b, a DESC, n", summing: "n")], [ValueIndex("ac", on: "a, c", summing: "n")],
        [ValueIndex("a", on: "a", summing: "n")],
        [ValueIndex("c", on: "c DESC, b"), ValueIndex("bc", on: "b, c")],
        [ValueIndex("ca", on: "c, a, b, n"), ValueIndex("elements", unnesting: "a")],
    ]

    /// Each query with what it is given.
    private static let asked: [(query: String, parameters: [String: DocumentValue])] = queries.flatMap {
        query in
        (query.contains("$") ? parameters : [[:]]).map { (query, $0) }
    }

    private static func answers(_ fixture: QueryFixture) throws -> [[String]] {
        try asked.map { asked in
            let rows = try fixture.rows(asked.query, asked.parameters)
            return asked.query.contains("ORDER BY") ? rows : rows.sorted()
        }
    }

    private static let withoutIndexes = Result {
        try answers(QueryFixture(documents.map(\.description)))
    }

    @Test(arguments: indexes) func rowsAreTheSame(indexes: [ValueIndex]) throws {
        let fixture = try QueryFixture(Self.documents.map(\.description))
        let collection = try fixture.database.defaultCollection
        for index in indexes {
            try collection.createIndex(
                index.name, on: index.columns, including: index.including, summing: index.summing,
                unnesting: index.unnesting)
        }
        let (found, expected) = (try Self.answers(fixture), try Self.withoutIndexes.get())
        for (asked, (found, wanted)) in zip(Self.asked, zip(found, expected)) where found != wanted {
            let length = asked.parameters["v"]?.string?.count ?? 0
            Issue.record("\(asked.query) of \(length): \(Self.difference(found, wanted))")
        }
    }

    /// A query is in the required order without sorting, so that the test above is one of the index.
    @Test func theIndexGivesTheOrder() throws {
        let fixture = try QueryFixture(Self.documents.map(\.description))
        try fixture.database.defaultCollection.createIndex("a", on: "a, n", including: "b, c")
        let plan = try fixture.database.query("SELECT a, n FROM _ ORDER BY a, n LIMIT 9 OFFSET 30").explain()
        #expect(plan.description.contains("ORDER by a, n, as they are read"), "\(plan)")
        #expect(plan.description.contains("SKIP 30 by rank"), "\(plan)")
    }

    private static func difference(_ found: [String], _ wanted: [String]) -> String {
        guard found.count == wanted.count else { return "\(found.count) rows, not \(wanted.count)" }
        let first = zip(found, wanted).enumerated().first { $0.element.0 != $0.element.1 }
        return
            "row \(first?.offset ?? -1) is …\(first?.element.0.suffix(30) ?? ""), not …\(first?.element.1.suffix(30) ?? "")"
    }
}

import Roost
import RoostQuery
import Testing

/// Groups that an index yields one after the other.
@Suite struct GroupStreamTests {
    private static let queries = [
        "SELECT a, count(*), sum(b), avg(c), min(b), max(c) FROM _ GROUP BY a",
        "SELECT a, count(DISTINCT b), array_agg(c) FROM _ GROUP BY a",
        "SELECT a, b, count(*), sum(DISTINCT c) FROM _ GROUP BY b, a",
        "SELECT a, b, count(*) AS k FROM _ WHERE a >= 1 GROUP BY a, b HAVING count(*) > 1 ORDER BY k, a, b",
        "SELECT b, count(DISTINCT c) FROM _ WHERE a = 2 GROUP BY b",
        "SELECT a, max(b) AS m FROM _ GROUP BY a ORDER BY a DESC LIMIT 3",
        "SELECT a + 1, count(DISTINCT b) FROM _ GROUP BY a",
        "SELECT lower(a), count(DISTINCT b) FROM _ GROUP BY a",
        "SELECT x.a, count(DISTINCT y.c) FROM _ x JOIN _ y ON x.b = y.b WHERE x.a IS VALUED GROUP BY x.a",
        "SELECT x.a, count(*), count(DISTINCT e) FROM _ x UNNEST x.list AS e WHERE x.a > 0 GROUP BY x.a",
    ]

    /// The rows, in an order of their own; equal numbers look alike, and elements of arrays come in any order.
    private func rows(_ query: String, _ fixture: QueryFixture) throws -> [String] {
        func name(_ value: DocumentValue?) -> String {
            guard case .array(let elements)? = value else { return ReferenceOrder.name(value) }
            return "[\(elements.map { ReferenceOrder.name($0) }.sorted().joined(separator: ","))]"
        }
        return try fixture.database.query(query).fetch().map { row in
            (0..<row.count).map { name(row[$0].exists ? DocumentValue(row[$0]) : nil) }.joined(separator: "|")
        }.sorted()
    }

    @Test(arguments: 0..<6 as Range<UInt64>) func rowsAreTheSame(seed: UInt64) throws {
        var random = QueryGenerator(seed: seed &+ 7_000)
        let fixture = try QueryFixture((0..<120).map { _ in random.document().description })
        let collection = try fixture.database.defaultCollection
        let expected = try Self.queries.map { try rows($0, fixture) }
        for columns in ["a, b DESC", "a DESC, b, c", "b, a, c"] {
            try collection.createIndex("i", on: columns, including: "b, c, list")
            for (query, rows) in zip(Self.queries, expected) {
                #expect(try self.rows(query, fixture) == rows, "\(query) with \(columns)")
            }
        }
        // Changes that the index has not seen.
        for number in stride(from: 0, to: 120, by: 9) {
            try collection.save(json: random.document().json(), id: "d\(number)", expecting: .any)
        }
        let changed = try Self.queries.map { try rows($0, fixture) }
        try collection.dropIndex("i")
        for (query, rows) in zip(Self.queries, changed) {
            #expect(try self.rows(query, fixture) == rows, "\(query) after changes")
        }
    }

    /// Groups of more than the memory in all, of which each is small: what is gathered of one goes when the next begins.
    @Test func oneGroupIsInMemory() throws {
        let text = String(repeating: "x", count: 100)
        let fixture = try QueryFixture(
            (0..<3_000).map { #"{"g":\#($0 % 500),"n":\#($0),"t":"\#(text)\#($0)"}"# })
        let sql = "SELECT g, array_agg(t), count(DISTINCT n) FROM _ GROUP BY g"
        func run() throws -> [String] {
            var query = try fixture.database.query(sql)
            query.options.memoryLimit = 1 << 16
            return try QueryFixture.texts(try query.fetch())
        }
        #expect(throws: DatabaseError.self) { try run() }
        try fixture.database.defaultCollection.createIndex("by-g", on: "g", including: "t, n")
        let rows = try run()
        #expect(rows.count == 500)
        #expect(rows.first?.hasPrefix("[0,[\"\(text)0\",") == true)
        #expect(rows.allSatisfy { $0.hasSuffix("],6]") })
        let plan = try fixture.database.query(sql).explain()
        #expect(plan.description.contains("GROUP by g, one after the other, as they are read"), "\(plan)")
    }
}

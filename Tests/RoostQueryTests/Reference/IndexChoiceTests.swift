import Roost
import RoostQuery
import Testing

/// Random queries answer the same whatever indexes there are.
@Suite struct IndexChoiceTests {
    private static let indexes = [
        ValueIndex("a", on: "a"), ValueIndex("ab", on: "a, b DESC", including: "c"),
        ValueIndex("ba", on: "b, a", summing: "a, b"),
        ValueIndex("c", on: "c COLLATE NOCASE", including: "a"),
        ValueIndex("list", unnesting: "list"), ValueIndex("part", on: "b", where: "a > 0"),
        ValueIndex("sum", on: "a + b", summing: "a"), ValueIndex("cab", on: "c, a, b", summing: "b"),
    ]

    @Test(arguments: 0..<6 as Range<UInt64>)
    func rowsAreTheSame(seed: UInt64) throws {
        var random = QueryGenerator(seed: seed &+ 5000)
        var documents = (0..<90).map { _ in random.document() }
        let fixture = try QueryFixture(documents.map(\.description))
        let collection = try fixture.database.defaultCollection
        let queries = (0..<60).map { _ in random.query() }
        let expected = try queries.map { try rows($0, fixture) }
        var made: [String] = []
        for _ in 0..<4 {
            let index = Self.indexes[random.number(Self.indexes.count)]
            made.append(index.name)
            try collection.createIndex(
                index.name, on: index.columns, including: index.including, summing: index.summing,
                where: index.condition, unnesting: index.unnesting)
            for (query, rows) in zip(queries, expected) {
                let found = try self.rows(query, fixture)
                let plan = try fixture.database.query(query).explain()
                #expect(found == rows, "\(query) with \(made): \(plan)")
            }
        }
        // Changes that the indexes have not seen.
        for number in stride(from: 0, to: 90, by: 8) {
            documents[number] = random.document()
            try collection.save(json: documents[number].json(), id: "d\(number)")
        }
        let changed = try queries.map { try rows($0, fixture) }
        for index in try collection.valueIndexes() { try collection.dropIndex(index.name) }
        for (query, rows) in zip(queries, changed) {
            #expect(try self.rows(query, fixture) == rows, "\(query) with \(made) after changes")
        }
    }

    /// The rows, sorted unless the query says how; equal numbers look alike.
    private func rows(_ query: String, _ fixture: QueryFixture) throws -> [String] {
        let rows = try fixture.database.query(query).fetch().map { row in
            (0..<row.count).map { ReferenceOrder.name(row[$0].exists ? DocumentValue(row[$0]) : nil) }
                .joined(separator: "|")
        }
        return query.contains("ORDER BY") ? rows : rows.sorted()
    }
}

extension QueryGenerator {
    /// A query that has one answer: where it has a limit, its rows have one order.
    mutating func query() -> String {
        let condition = number(5) == 0 ? "" : " WHERE \(self.condition(depth: 2).sql)"
        func name(_ number: Int) -> String { ["a", "b", "c"][number] }
        switch number(6) {
        case 0:
            let order = [name(number(3)), name(number(3))].joined(
                separator: number(2) == 0 ? ", " : " DESC, ")
            return
                "SELECT a, b, _id FROM _\(condition) ORDER BY \(order), _id LIMIT \(number(20)) OFFSET \(number(30))"
        case 1:
            let order = "a\(number(2) == 0 ? " DESC" : "")"
            return "SELECT a FROM _\(condition) ORDER BY \(order) LIMIT \(number(20)) OFFSET \(number(40))"
        case 2:
            let group = name(number(3))
            return """
                SELECT \(group), count(*), count(a), sum(a), avg(b), count(b) FROM _\(condition) GROUP BY \(group)
                """
        case 3: return "SELECT count(*), sum(a), sum(b), avg(b), count(b), count(a) FROM _\(condition)"
        case 4: return "SELECT DISTINCT \(name(number(3))) FROM _\(condition)"
        default: return "SELECT \(name(number(3))), \(name(number(3))) AS x, _id FROM _\(condition)"
        }
    }
}

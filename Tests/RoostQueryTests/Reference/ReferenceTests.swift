import Roost
import RoostQuery
import Testing

/// Random queries over random documents, beside an interpreter that knows neither plans nor indexes.
@Suite struct ReferenceTests {
    @Test(arguments: 0..<12 as Range<UInt64>)
    func conditionsHoldOfTheSameDocuments(seed: UInt64) throws {
        var random = QueryGenerator(seed: seed)
        let documents = (0..<60).map { _ in random.document() }
        let fixture = try QueryFixture(documents.map(\.description))
        let collection = try fixture.database.defaultCollection
        let conditions = (0..<60).map { _ in random.condition(depth: 3) }
        try check(conditions, documents, fixture, "without indexes")
        try collection.createIndex("a", on: "a, b DESC")
        try collection.createIndex("c", on: "c COLLATE NOCASE")
        try collection.createIndex("sum", on: "a + b", where: "a IS VALUED")
        try collection.createIndex("list", unnesting: "list")
        try check(conditions, documents, fixture, "with indexes")
        // What has changed since the indexes were built is looked at while they are read.
        var changed = documents
        for number in stride(from: 0, to: 60, by: 7) {
            changed[number] = random.document()
            try collection.save(json: changed[number].json(), id: "d\(number)")
        }
        try check(conditions, changed, fixture, "with indexes, after changes")
    }

    private func check(
        _ conditions: [ReferenceCondition], _ documents: [DocumentValue], _ fixture: QueryFixture,
        _ when: Comment
    ) throws {
        for condition in conditions {
            let expected = documents.indices.filter { condition.truth(documents[$0]) == .yes }
            let rows = try fixture.database.query("SELECT _id FROM _ WHERE \(condition.sql)").fetch()
            let found = rows.compactMap { $0[0].string.flatMap { Int($0.dropFirst()) } }.sorted()
            #expect(found == expected, "\(when): \(condition.sql)")
            let count = try fixture.database.query("SELECT count(*) FROM _ WHERE \(condition.sql)").first()?[
                0
            ].int
            #expect(count == expected.count, "\(when): \(condition.sql)")
            let json = try fixture.database.query(json: #"{"WHAT":["_id"],"WHERE":\#(condition.json)}"#)
                .count()
            #expect(json == expected.count, "\(when): \(condition.json)")
        }
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func rowsComeInTheSameOrder(seed: UInt64) throws {
        var random = QueryGenerator(seed: seed &+ 1000)
        let documents = (0..<80).map { _ in random.document() }
        let fixture = try QueryFixture(documents.map(\.description))
        let collection = try fixture.database.defaultCollection
        for round in 0..<2 {
            if round == 1 { try collection.createIndex("ab", on: "a, b") }
            for text in ["a, b", "a DESC, b DESC", "a, b DESC", "b", "b DESC, a", "c, a"] {
                let parts = text.split(separator: ",").map { $0.split(separator: " ").map(String.init) }
                let expected = documents.indices.sorted { left, right in
                    for part in parts {
                        let order = ReferenceOrder.compare(
                            documents[left][part[0]], documents[right][part[0]])
                        if order != 0 { return part.count == 2 ? order > 0 : order < 0 }
                    }
                    return false
                }.map { number in
                    parts.map { ReferenceOrder.name(documents[number][$0[0]]) }.joined(separator: "|")
                }
                let limit = random.number(30), offset = random.number(20)
                let rows = try fixture.database.query(
                    "SELECT \(parts.map { $0[0] }.joined(separator: ", ")) FROM _ ORDER BY \(text) LIMIT \(limit) OFFSET \(offset)"
                ).fetch()
                let found = rows.map { row in
                    parts.indices.map { ReferenceOrder.name(DocumentValue(row[$0])) }.joined(
                        separator: "|")
                }
                #expect(
                    found == Array(expected.dropFirst(offset).prefix(limit)),
                    "ORDER BY \(text) LIMIT \(limit) OFFSET \(offset)")
            }
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func groupsAreTheSame(seed: UInt64) throws {
        var random = QueryGenerator(seed: seed &+ 2000)
        let documents = (0..<80).map { _ in random.document() }
        let fixture = try QueryFixture(documents.map(\.description))
        var groups: [String: (count: Int, values: Int, sum: Double)] = [:]
        for document in documents {
            let key = ReferenceOrder.name(document["a"])
            let number = ReferenceOrder.number(document["b"])
            let isThere = document["b"].map { !$0.isNull } ?? false
            let old = groups[key] ?? (0, 0, 0)
            groups[key] = (old.count + 1, old.values + (isThere ? 1 : 0), old.sum + (number ?? 0))
        }
        let rows = try fixture.database.query("SELECT a, count(*), count(b), sum(b) FROM _ GROUP BY a")
            .fetch()
        #expect(rows.count == groups.count)
        for row in rows {
            let group = try #require(groups[ReferenceOrder.name(row[0].exists ? DocumentValue(row[0]) : nil)])
            #expect(row[1].int == group.count)
            #expect(row[2].int == group.values)
            #expect(abs((row[3].double ?? 0) - group.sum) < 1e-6)
        }
        let distinct = try fixture.database.query("SELECT DISTINCT a FROM _").count()
        #expect(distinct == groups.count)
    }
}

// MARK: - Index choice tests

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

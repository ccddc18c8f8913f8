import Roost
import RoostQuery
import Testing

/// Joined rows, beside loops within loops that know neither plans nor indexes.
@Suite struct JoinTests {
    /// Documents of three collections, whose small numbers `a`, `b` and `c` often match and sometimes lack.
    private struct Model {
        let names = ["people", "cities", "lands"]
        var rows: [[[String: Int]]] = []

        init(_ random: inout QueryGenerator) {
            func value(_ random: inout QueryGenerator) -> Int? {
                random.number(8) == 0 ? nil : random.number(6)
            }
            for count in [40, 20, 12] {
                rows.append(
                    (0..<count).map { _ in
                        var row: [String: Int] = [:]
                        for name in ["a", "b", "c"] { row[name] = value(&random) }
                        return row
                    })
            }
        }

        func fill(_ fixture: QueryFixture) throws {
            for (name, rows) in zip(names, rows) {
                try fixture.fill(
                    name,
                    rows.map { row in
                        "{\(row.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}"
                    })
            }
        }
    }

    /// A condition on what two of the sources have, or one has and a number.
    private struct Condition {
        let left: (source: Int, name: String)
        let right: (source: Int, name: String)?
        let number: Int
        let sign: String

        init(_ first: Int, _ second: Int?, _ random: inout QueryGenerator, equal: Bool = false) {
            let names = ["a", "b", "c"]
            left = (first, names[random.number(3)])
            right = second.map { ($0, names[random.number(3)]) }
            number = random.number(6)
            sign = equal ? "=" : ["=", "<", ">=", "!="][random.number(4)]
        }

        var sql: String {
            "s\(left.source).\(left.name) \(sign) "
                + (right.map { "s\($0.source).\($0.name)" } ?? "\(number)")
        }

        func holds(_ rows: [[String: Int]?]) -> Bool {
            guard let a = rows[left.source]?[left.name],
                let b = right.map({ rows[$0.source]?[$0.name] }) ?? number
            else { return false }
            switch sign {
            case "=": return a == b
            case "<": return a < b
            case ">=": return a >= b
            default: return a != b
            }
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func rowsAreThoseOfLoops(seed: UInt64) throws {
        var random = QueryGenerator(seed: seed &+ 9000)
        let model = Model(&random)
        let fixture = try QueryFixture()
        try model.fill(fixture)
        var queries: [(sql: String, rows: [String])] = []
        for _ in 0..<30 { queries.append(query(model, &random)) }
        for round in 0..<3 {
            for (sql, rows) in queries {
                let plan = try fixture.database.query(sql).explain()
                #expect(try fixture.rows(sql).sorted() == rows, "\(sql), round \(round): \(plan)")
            }
            for name in model.names {
                let on = [["a", "b DESC, a", "c"], ["b", "c, a", "a"]][round % 2][random.number(3)]
                try fixture.database.collection(name).createIndex("index \(round)", on: on)
            }
        }
    }

    private func query(_ model: Model, _ random: inout QueryGenerator) -> (sql: String, rows: [String]) {
        let collections = (0..<3).map { _ in random.number(3) }
        var sql = "SELECT s0._id, s1._id, s2._id FROM \(model.names[collections[0]]) AS s0"
        var found: [[Int?]] = model.rows[collections[0]].indices.map { [$0] }
        func rows(_ places: [Int?]) -> [[String: Int]?] {
            zip(collections, places).map { collection, place in place.map { model.rows[collection][$0] } }
        }
        for source in 1..<3 {
            let isLeft = random.number(4) == 0
            var on = [Condition(random.number(source), source, &random, equal: true)]
            if random.number(3) == 0 { on.append(Condition(source, nil, &random)) }
            sql += " \(isLeft ? "LEFT " : "")JOIN \(model.names[collections[source]]) AS s\(source)"
            sql += " ON \(on.map(\.sql).joined(separator: " AND "))"
            found = found.flatMap { before -> [[Int?]] in
                let matches = model.rows[collections[source]].indices.map { before + [$0] }
                    .filter { places in on.allSatisfy { $0.holds(rows(places)) } }
                return matches.isEmpty && isLeft ? [before + [nil]] : matches
            }
        }
        var conditions = [Condition(random.number(3), nil, &random)]
        if random.number(3) == 0 { conditions.append(Condition(0, 2, &random)) }
        sql += " WHERE \(conditions.map(\.sql).joined(separator: " AND "))"
        found = found.filter { places in conditions.allSatisfy { $0.holds(rows(places)) } }
        if random.number(3) == 0 {
            let inner = Condition(random.number(3), 3, &random, equal: true)
            let collection = random.number(3)
            sql += " AND EXISTS (SELECT 1 FROM \(model.names[collection]) AS s3 WHERE \(inner.sql))"
            found = found.filter { places in
                model.rows[collection].contains { inner.holds(rows(places) + [$0]) }
            }
        }
        let texts = found.map { places in
            "[\(places.map { $0.map { "\"d\($0)\"" } ?? "MISSING" }.joined(separator: ","))]"
        }
        return (sql, texts.sorted())
    }

    @Test(arguments: [
        // A table by k would hold the rows of the first ID only.
        (
            "SELECT a._id, b._id FROM _ a JOIN _ b ON a.k = b.k WHERE b._id = a.friend",
            [#"["d0","d2"]"#, #"["d1","d3"]"#]
        ),
        (
            "SELECT a._id, b._id FROM _ a JOIN _ b ON a.k = b.k WHERE b._id > a._id",
            [#"["d0","d2"]"#, #"["d1","d3"]"#]
        ),
        // Of the rows that a query in FROM has for the first row.
        (
            "SELECT a._id, q.id FROM _ a JOIN (SELECT c.k AS k, c._id AS id FROM _ c WHERE c._id = a.friend) q ON q.k = a.k",
            [#"["d0","d2"]"#, #"["d1","d3"]"#]
        ),
    ])
    func whatDependsOnARowIsReadForEach(query: String, rows: [String]) throws {
        let fixture = try QueryFixture([
            #"{"k":1,"friend":"d2"}"#, #"{"k":2,"friend":"d3"}"#, #"{"k":1,"friend":"d9"}"#,
            #"{"k":2,"friend":"d9"}"#,
        ])
        #expect(try fixture.rows(query).sorted() == rows)
    }

    // MARK: What is read

    private func orders() throws -> QueryFixture {
        let fixture = try QueryFixture()
        try fixture.fill("orders", (0..<2000).map { #"{"customer":\#($0 % 500),"amount":\#($0)}"# })
        try fixture.fill("customers", (0..<500).map { #"{"number":\#($0),"name":"name \#($0)"}"# })
        return fixture
    }

    @Test func fewRowsAreJoinedByAnIndex() throws {
        let fixture = try orders()
        try fixture.database.collection("orders").createIndex("customer", on: "customer")
        let query = try fixture.database.query(
            "SELECT o.amount FROM customers c JOIN orders o ON o.customer = c.number WHERE c._id = 'd7'")
        let plan = try query.explain().description
        #expect(plan.contains("JOIN SEARCH orders AS o USING customer (o.customer = c.number)"), "\(plan)")
        let cursor = try query.cursor()
        while try cursor.next() != nil {}
        #expect(cursor.documentsRead == 5)
    }

    @Test func theSourceOfFewestRowsComesFirst() throws {
        let fixture = try orders()
        try fixture.database.collection("orders").createIndex("customer", on: "customer")
        try fixture.database.collection("customers").createIndex("name", on: "name")
        let query = try fixture.database.query(
            "SELECT * FROM orders o JOIN customers c ON o.customer = c.number WHERE c.name = $name",
            parameters: ["name": "name 7"])
        #expect(query.columnNames == ["o", "c"])
        let steps = try query.explain().steps
        #expect(steps.first?.index == "name")
        let rows = try query.fetch()
        #expect(rows.map { $0.o["amount"].int ?? 0 }.sorted() == [7, 507, 1007, 1507])
        #expect(rows.allSatisfy { $0.c["number"].int == 7 })
        let cursor = try query.cursor()
        while try cursor.next() != nil {}
        #expect(cursor.documentsRead == 5)
    }

    @Test func manyRowsAreJoinedByATable() throws {
        let fixture = try orders()
        try fixture.database.collection("orders").createIndex("customer", on: "customer")
        let query = try fixture.database.query(
            "SELECT sum(o.amount) FROM customers c JOIN orders o ON o.customer = c.number")
        let plan = try query.explainAnalyze()
        #expect(plan.description.contains("JOIN SCAN orders AS o into a table by o.customer"), "\(plan)")
        #expect(try query.first()?[0].int == 1_999_000)
    }

    @Test func aQueryWithinAnotherReadsItsDocumentsOnce() throws {
        let fixture = try orders()
        let query = try fixture.database.query(
            """
            SELECT c._id FROM customers c
            WHERE NOT (EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.number AND o.amount > 1990))
            """)
        let cursor = try query.cursor()
        var rows = 0
        while try cursor.next() != nil { rows += 1 }
        #expect(rows == 491)
        #expect(cursor.documentsRead == 2500)
    }
}

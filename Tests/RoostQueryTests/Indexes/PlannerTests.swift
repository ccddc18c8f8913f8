import Foundation
import Roost
import Testing

@testable import RoostQuery

/// What is read to answer a query, and what `explain` says of it.
@Suite struct PlannerTests {
    let fixture: QueryFixture
    let sales: DocumentCollection

    init() throws {
        fixture = try QueryFixture()
        sales = try fixture.database.collection("sales")
        try fixture.database.write { batch in
            for number in 0..<1000 {
                let sale: DocumentValue = [
                    "city": .string("city\(number % 10)"), "day": .integer(Int64(number / 10)),
                    "amount": number % 7 == 0 ? .double(Double(number) / 2) : .integer(Int64(number)),
                    "customer": ["name": .string("c\(number % 333)")],
                    "tags": [.string("t\(number % 40)"), .string("t\(number % 40)"), "all"],
                ]
                try batch.save(json: sale.json(), id: "s\(1000 + number)", in: sales)
            }
        }
    }

    private struct Answer {
        let rows: [String]
        let documents: Int
        let entries: Int
        let plan: String
    }

    private func run(_ text: String) throws -> Answer {
        let query = try fixture.database.query(text)
        let cursor = try query.cursor()
        var rows: [ResultRow] = []
        while let row = try cursor.next() { rows.append(row) }
        return Answer(
            rows: try QueryFixture.texts(rows), documents: cursor.documentsRead,
            entries: cursor.indexRowsRead, plan: try query.explain().description)
    }

    /// The rows are those without indexes.
    private func check(
        _ text: String, documents: Int, entries: Int, says words: String, _ make: () throws -> Void
    ) throws {
        let before = try run(text)
        try make()
        let after = try run(text)
        #expect(after.rows.sorted() == before.rows.sorted())
        if text.contains("ORDER BY") { #expect(after.rows == before.rows) }
        #expect(after.documents <= documents, "\(after.plan)")
        #expect(after.entries <= entries, "\(after.plan)")
        #expect(after.plan.contains(words), "\(after.plan)")
    }

    @Test(arguments: [
        ("SELECT city, day FROM sales WHERE day = 7", "day, city", ""),
        ("SELECT day, amount FROM sales WHERE day >= 99", "day DESC", "amount"),
        ("SELECT s.customer.name, META(s).id FROM sales s WHERE s.day = 3", "day", "customer"),
        (
            "SELECT city FROM sales WHERE (city = 'CITY3' COLLATE NOCASE) AND day < 10",
            "city COLLATE NOCASE", "day"
        ),
        ("SELECT amount FROM sales WHERE amount < 100 ORDER BY amount", "amount", ""),
    ])
    func coveringIndexesReadNoDocuments(_ text: String, _ columns: String, _ including: String) throws {
        try check(text, documents: 0, entries: 120, says: "COVERING") {
            try sales.createIndex("i", on: columns, including: including.isEmpty ? nil : including)
        }
    }

    @Test func whatIsNotInTheIndexIsReadFromDocuments() throws {
        try sales.createIndex("i", on: "day", including: "amount")
        #expect(try run("SELECT city FROM sales WHERE day = 7").documents == 10)
        #expect(try run("SELECT _sequence FROM sales WHERE day = 7").documents == 10)
        #expect(try run("SELECT * FROM sales WHERE day = 7").documents == 10)
        #expect(try run("SELECT amount FROM sales WHERE day = 7").documents == 0)
    }

    @Test func offsetsAreSkippedByRank() throws {
        try check(
            "SELECT day, city FROM sales ORDER BY day, city LIMIT 5 OFFSET 700", documents: 0, entries: 5,
            says: "SKIP 700 by rank"
        ) { try sales.createIndex("i", on: "day, city") }
        let back = try run("SELECT day FROM sales WHERE day < 90 ORDER BY day DESC LIMIT 2 OFFSET 898")
        #expect(back.rows == ["0", "0"] && back.entries == 2)
        #expect(try run("SELECT day FROM sales ORDER BY day LIMIT 5 OFFSET 1000").rows.isEmpty)
    }

    @Test(arguments: [
        "SELECT count(*), sum(amount), avg(amount), min(amount), max(amount), count(amount) FROM sales WHERE day >= 20 AND day < 70",
        "SELECT sum(amount) FROM sales", "SELECT sum(amount) FROM sales WHERE day IN (3, 5, 7)",
        "SELECT min(day), max(day), count(day) FROM sales", "SELECT max(day) FROM sales WHERE day < 50",
        "SELECT count(*), min(amount) FROM sales WHERE day = 1000",
        "SELECT sum(amount), max(amount) FROM sales WHERE day > 1000",
    ])
    func totalsAreKnownWithoutReading(_ text: String) throws {
        try check(text, documents: 0, entries: 4, says: "GROUP all rows into one, from what the index has") {
            try sales.createIndex("by-day", on: "day", summing: "amount")
        }
        // Rows that changed after the index was kept up are looked at.
        let query = try fixture.database.query("SELECT sum(amount) FROM sales WHERE day = 5")
        let before = try #require(try query.first()?[0].double)
        try sales.save(json: #"{"day":5,"amount":1000.5}"#, id: "new")
        #expect(try query.first()?[0].double == before + 1000.5)
    }

    @Test func groupsAreGoneThroughByTheIndex() throws {
        try check(
            "SELECT city, count(*), sum(amount), max(day) FROM sales GROUP BY city ORDER BY city",
            documents: 0, entries: 60, says: "going from one to the next"
        ) { try sales.createIndex("i", on: "city, day", summing: "amount") }
        #expect(
            try run("SELECT city, count(*) FROM sales WHERE city > 'city6' GROUP BY city").rows.count == 3)
        #expect(
            try run("SELECT day, count(*) FROM sales WHERE city = 'city3' AND day < 4 GROUP BY day").rows
                == ["[0,1]", "[1,1]", "[2,1]", "[3,1]"])
        #expect(
            try run(
                "SELECT city, count(*), max(day) FROM sales WHERE city = 'city3' AND day < 4 GROUP BY city"
            ).rows
                == ["[\"city3\",4,3]"])
        // A single row in each group: these are read rather than gone to.
        #expect(
            !(try run("SELECT city, day, count(*) FROM sales GROUP BY city, day").plan.contains("going from"))
        )
    }

    @Test func fewLeadingValuesAreSkippedThrough() throws {
        try check(
            "SELECT city, day FROM sales WHERE day = 42", documents: 0, entries: 20,
            says: "SKIPPING through city"
        ) { try sales.createIndex("i", on: "city, day") }
        #expect(try run("SELECT count(*) FROM sales WHERE day >= 98").rows == ["20"])
        for number in 0..<150 { try sales.save(json: #"{"city":"x\#(number)","day":42}"#, id: "x\(number)") }
        #expect(try run("SELECT city FROM sales WHERE day = 42").rows.count == 160)
    }

    @Test func conditionsJoinedByOrUseAnIndexEach() throws {
        let text = "SELECT amount, city FROM sales WHERE (day = 42 OR customer.name = 'c7') AND amount > 3"
        let before = try run(text)
        try sales.createIndex("day", on: "day")
        #expect(try run(text).plan.contains("SCAN"))
        try sales.createIndex("name", on: "customer.name")
        let after = try run(text)
        #expect(after.rows.sorted() == before.rows.sorted())
        #expect(after.documents <= 14 && after.plan.contains("USING day (day = 42"), "\(after.plan)")
        // A document that meets both comes once.
        #expect(
            try run(
                "SELECT _id FROM sales WHERE day = 42 OR (day = 42 AND city = 'city3') OR customer.name = 'c7'"
            ).rows.count == 13)
    }

    @Test func indexesAreIntersected() throws {
        try sales.createIndex("day", on: "day")
        try check(
            "SELECT amount FROM sales WHERE city = 'city3' AND ANY t IN tags SATISFIES t = 't13' END",
            documents: 25, entries: 200, says: " AND "
        ) {
            try sales.createIndex("city", on: "city")
            try sales.createIndex("tags", unnesting: "tags")
        }
    }

    @Test func elementsThatUnnestMakesRowsOfAreFound() throws {
        try check(
            "SELECT s.day, t FROM sales s UNNEST s.tags AS t WHERE t = 't5'", documents: 25, entries: 50,
            says: "USING tags"
        ) { try sales.createIndex("tags", unnesting: "tags") }
    }

    @Test func partialIndexesServeNarrowerConditions() throws {
        try sales.createIndex("big", on: "day", where: "amount > 500")
        #expect(try run("SELECT city FROM sales WHERE amount > 900 AND day = 95").plan.contains("USING big"))
        #expect(
            try run("SELECT city FROM sales WHERE amount >= 500 AND day = 95").plan.contains("NOT USED big"))
        try sales.createIndex("named", on: "day", where: "customer.name IS VALUED")
        #expect(
            try run("SELECT city FROM sales WHERE customer.name = 'c3' AND day = 3").plan.contains(
                "USING named"))
    }

    @Test func plansAreToldInJSONWithFigures() throws {
        try sales.createIndex("day", on: "day")
        try sales.createIndex("city", on: "city")
        let query = try fixture.database.query("SELECT amount FROM sales WHERE day = 3 AND amount > 33")
        let plan = try DocumentValue(json: try query.explainAnalyze().json)
        #expect(plan["steps"]?[0]?["operation"]?.string == "SEARCH")
        #expect(plan["steps"]?[0]?["estimate"]?.int == 10)
        #expect(plan["steps"]?[0]?["rows"]?.int == 5)
        #expect(plan["analysis"]?["documents"]?.int == 10)
        #expect(plan["analysis"]?["indexRows"]?.int == 10)
        #expect(plan["steps"]?[1]?["details"]?.string == "city: no condition says what city is")
        let scan = try query.with([:]).explain().description
        #expect(scan.contains("SEARCH sales USING day (day = 3), 10 to read"))
        let all = try fixture.database.query("SELECT amount FROM sales WHERE day >= 0").explain().description
        #expect(
            all.contains("NOT USED day: it would read 1,000 of its rows, and all 1,000 documents take less"),
            "\(all)")
    }

    /// Parentheses around what is computed first anyway make no other expression.
    @Test func indexesOnChainsOfOperators() throws {
        try sales.createIndex("sum", on: "amount + day - 1")
        for text in ["amount + day - 1", "(amount + day) - 1"] {
            let answer = try run("SELECT META().id FROM sales WHERE \(text) = 1")
            #expect(answer.plan.contains("USING sum ((amount + day - 1) = 1)"), "\(answer.plan)")
        }
        #expect(!(try run("SELECT META().id FROM sales WHERE amount + (day - 1) = 1")).plan.contains("USING"))
    }
}

// MARK: - Totals tests

/// What indexes tell of groups and sums is what their documents tell.
@Suite struct TotalsTests {
    private func rows(
        _ text: String, _ fixture: QueryFixture, with indexes: [(String, summing: String?)]
    ) throws -> [[String]] {
        let documents = try fixture.database.defaultCollection
        var found = [try fixture.rows(text)]
        for (columns, summing) in indexes {
            try documents.createIndex("own", on: columns, summing: summing)
            #expect(try fixture.database.query(text).explain().description.contains("own"))
            found.append(try fixture.rows(text))
        }
        return found
    }

    /// Values of groups are read before those of aggregates, and are needed after them.
    @Test(arguments: [
        "SELECT shop, max(price), min(price) FROM _ GROUP BY shop",
        "SELECT shop, max(price) FROM _ GROUP BY shop HAVING shop LIKE 'shop%' ORDER BY shop LIMIT 3",
    ])
    func groupsKeepTheirValues(text: String) throws {
        let fixture = try QueryFixture(
            (0..<400).map { number in
                let price =
                    number % 3 == 0 ? "\(number).0" : number % 7 == 0 ? #"["list",\#(number)]"# : "\(number)"
                return #"{"shop":"shop \#(number % 8)","price":\#(price)}"#
            })
        let found = try rows(text, fixture, with: [("shop, price", nil), ("shop, price", "n")])
        #expect(found[0] == found[1] && found[0] == found[2])
        #expect(found[0].first?.contains("shop 0") == true)
    }

    @Test func greatWholeNumbersStayWhole() throws {
        let fixture = try QueryFixture([
            #"{"g":1,"v":18446744073709551615}"#, #"{"g":2,"v":18446744073709551613}"#, #"{"g":2,"v":1}"#,
            #"{"g":3,"v":9223372036854775809}"#,
        ])
        let extremes = try rows("SELECT max(v), min(v) FROM _ WHERE g >= 1", fixture, with: [("g", "v")])
        #expect(extremes == [["[18446744073709551615,1]"], ["[18446744073709551615,1]"]])
        let sums = try rows("SELECT sum(v) FROM _ WHERE g = 2", fixture, with: [("g", "v")])
        #expect(sums == [["18446744073709551614"], ["18446744073709551614"]])
    }

    @Test func sumsDependOnNoOrder() throws {
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
            let values = [Int64.max, 1, -1]
            let fixture = try QueryFixture(order.map { #"{"g":1,"v":\#(values[$0])}"# })
            let found = try rows("SELECT sum(v), avg(v) FROM _ WHERE g = 1", fixture, with: [("g", "v")])
            #expect(found[0] == ["[9223372036854775807,3.0744573456182584e+18]"])
            #expect(found[0] == found[1])
        }
    }

    /// When a document is to be purged changes without it, so that no index would notice.
    @Test func noIndexHasExpirations() throws {
        let fixture = try QueryFixture([])
        let notes = try fixture.database.defaultCollection
        let message = "The index \"x\": No index has META().expiration"
        for columns in ["META().expiration", "_expiration", "META()", "ifnull(META().expiration, 1)"] {
            #expect(
                QueryFixture.message { try notes.createIndex("x", on: columns) }.hasPrefix(message),
                "\(columns)")
        }
        let partial = QueryFixture.message {
            try notes.createIndex("x", on: "n", where: "META().expiration IS MISSING")
        }
        #expect(partial.hasPrefix(message))
        let included = QueryFixture.message {
            try notes.createIndex("x", on: "n", including: "_expiration")
        }
        #expect(included.hasPrefix(message))
        #expect(try notes.valueIndexes().isEmpty)
    }

    @Test func noIndexHasParameters() throws {
        let fixture = try QueryFixture([])
        let notes = try fixture.database.defaultCollection
        for (columns, condition) in [("n + $p", nil), ("n", "n > $p")] {
            let message = QueryFixture.message { try notes.createIndex("x", on: columns, where: condition) }
            #expect(message.contains("An index has no parameters, and $p is one."))
        }
    }

    /// An index that was made in another time zone has other rows, and is rebuilt.
    @Test func indexesOfLocalTimeNameTheirZone() throws {
        let zone = TimeZone.current.identifier
        func signature(_ columns: String, where condition: String? = nil) throws -> String {
            try CompiledIndex(ValueIndex("x", on: columns, where: condition)).definition.signature
        }
        #expect(try signature("str_to_millis(s)").hasSuffix("; local time of \(zone)"))
        #expect(try signature("n", where: "millis_to_str(n) > '2020'").hasSuffix("; local time of \(zone)"))
        #expect(try signature("lower(date_add_str(s, 1, 'day'))").hasSuffix("; local time of \(zone)"))
        #expect(try !signature("millis_to_utc(n)").contains("local time"))
    }
}

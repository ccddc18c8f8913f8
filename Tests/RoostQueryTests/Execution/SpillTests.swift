import Foundation
import Roost
import RoostBytes
import Testing

@testable import RoostQuery

/// Queries whose rows exceed the memory answer as others do: what is too much is spilled on disk, and removed.
@Suite struct SpillTests {
    private static let documents = (0..<3000).map { number in
        let text = String(repeating: "x\(number % 7)", count: 20)
        return
            #"{"_id":"d\#(number)","n":\#((number &* 7919) % 3000),"g":"group \#(number % 1500) \#(text)"}"#
    }

    /// Little beside the rows, of which 64 KiB at least are sorted at once.
    private static let limit = 1 << 16

    private func rows(_ text: String, _ fixture: QueryFixture, limit: Int?) throws -> [String] {
        var query = try fixture.database.query(text)
        if let limit { query.options.memoryLimit = limit }
        return try QueryFixture.texts(try query.fetch())
    }

    private func spills(_ fixture: QueryFixture) -> [String] {
        let files = try? FileManager.default.contentsOfDirectory(
            atPath: fixture.directory + "/Test.roost/derived")
        return (files ?? []).filter { $0.hasPrefix("spill-") }
    }

    @Test func rowsAreThoseOfUnlimitedMemory() throws {
        let fixture = try QueryFixture(Self.documents)
        for text in [
            "SELECT n, g FROM _ ORDER BY n", "SELECT n, g FROM _ ORDER BY g DESC, n",
            "SELECT n, g FROM _ ORDER BY n LIMIT 2000 OFFSET 500", "SELECT g FROM _ ORDER BY n % 10",
            "SELECT g, count(*), sum(n), max(n), min(n), avg(n), count(n), array_agg(n) FROM _ GROUP BY g",
            "SELECT g, n, count(*) FROM _ GROUP BY g, n HAVING n > 100 ORDER BY n DESC",
            "SELECT DISTINCT g FROM _ ORDER BY g", "SELECT DISTINCT g, n FROM _ ORDER BY n",
            "SELECT count(DISTINCT n), sum(DISTINCT n), avg(DISTINCT n), count(DISTINCT g), max(DISTINCT g) FROM _",
            "SELECT g, count(DISTINCT n), sum(DISTINCT n % 3), min(DISTINCT n) FROM _ GROUP BY g",
            "SELECT n % 3, count(DISTINCT g), sum(DISTINCT n) FROM _ GROUP BY n % 3",
            "SELECT n % 700, count(DISTINCT n), count(DISTINCT g) FROM _ GROUP BY n % 700",
            "SELECT count(DISTINCT n % 1000), count(DISTINCT g || 'x'), count(DISTINCT n % 7) FROM _",
            """
            SELECT CASE WHEN META().id < 'd5' THEN n ELSE -1 END AS k, count(DISTINCT n), sum(DISTINCT n % 50) FROM _
            GROUP BY CASE WHEN META().id < 'd5' THEN n ELSE -1 END
            """,
            "SELECT n, row_number() OVER (PARTITION BY g ORDER BY n), lag(g, 2) OVER (PARTITION BY g ORDER BY n) FROM _ ORDER BY n",
            "SELECT n, sum(n) OVER (ORDER BY n), ntile(7) OVER (ORDER BY n DESC), count(*) OVER () FROM _ ORDER BY n",
            "SELECT n, max(g) OVER (ORDER BY n ROWS BETWEEN 40 PRECEDING AND 40 FOLLOWING), lead(n, 2500) OVER (ORDER BY n) FROM _ ORDER BY n",
            "SELECT a.n, b.n AS m FROM _ a JOIN _ b ON a.g = b.g WHERE a.n < 900 ORDER BY a.n, m",
            "SELECT a.n, b.c FROM _ a JOIN (SELECT g, count(*) AS c FROM _ GROUP BY g) AS b ON a.g = b.g ORDER BY a.n",
        ] {
            let expected = try rows(text, fixture, limit: nil)
            #expect(!expected.isEmpty)
            #expect(try rows(text, fixture, limit: Self.limit) == expected, "\(text)")
        }
        let all = try rows("SELECT DISTINCT g FROM _", fixture, limit: nil)
        #expect(try rows("SELECT DISTINCT g FROM _", fixture, limit: Self.limit).sorted() == all.sorted())
        #expect(spills(fixture).isEmpty)
    }

    @Test func whatIsSpilledGoesWithTheQuery() throws {
        let fixture = try QueryFixture(Self.documents)
        var query = try fixture.database.query("SELECT n, g FROM _ ORDER BY n")
        query.options.memoryLimit = Self.limit
        do {
            let cursor = try query.cursor()
            #expect(try cursor.next()?[0].int == 0)
            #expect(spills(fixture).count == 1)
        }
        #expect(spills(fixture).isEmpty)
        // What a crash left goes when the indexes are next used.
        let left = fixture.directory + "/Test.roost/derived/spill-1a.roost"
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: left))
        let path = fixture.directory + "/Test.roost"
        try fixture.database.close()
        let again = try Database.open(path)
        try again.defaultCollection.createIndex("n", on: "n")
        #expect(!FileManager.default.fileExists(atPath: left))
        try again.close()
    }

    @Test func whatIsSpilledIsEncrypted() throws {
        let directory = NSTemporaryDirectory() + "roost-spill-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let database = try Database.open(
            directory, options: DatabaseOptions(key: EncryptionKey(bytes: Array(repeating: 7, count: 32))))
        defer { try? database.close() }
        let collection = try database.defaultCollection
        try database.write { batch in
            for number in 0..<3000 {
                try batch.save(
                    json: #"{"n":\#(number),"secret":"canary\#(number)canary"}"#, id: "d\(number)",
                    in: collection)
            }
        }
        var query = try database.query("SELECT secret FROM _ ORDER BY n DESC")
        query.options.memoryLimit = Self.limit
        let cursor = try query.cursor()
        #expect(try cursor.next()?[0].string == "canary2999canary")
        let files = try FileManager.default.contentsOfDirectory(atPath: directory + "/derived").filter {
            $0.hasPrefix("spill-")
        }
        #expect(!files.isEmpty)
        for file in files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/derived/\(file)"))
            #expect(bytes.count > 1 << 16 && bytes.range(of: Data("canary".utf8)) == nil)
        }
    }

    @Test func whatCannotBeSpilledIsRefused() throws {
        let fixture = try QueryFixture(Self.documents)
        for text in [
            "SELECT array_agg(g) FROM _", "SELECT array_agg(DISTINCT g) FROM _",
            "SELECT array_agg(g) OVER () FROM _ LIMIT 1",
            "SELECT n FROM _ WHERE g IN (SELECT g FROM _)",
        ] {
            #expect(
                QueryFixture.message { _ = try rows(text, fixture, limit: Self.limit) }
                    .contains(
                        "can't be spilled, such as the array of an array_agg or the rows of a subquery"),
                "\(text)")
            #expect(try !rows(text, fixture, limit: nil).isEmpty)
        }
    }

    @Test func aDatabaseForReadingOnlyPutsAsideElsewhere() throws {
        let fixture = try QueryFixture(Self.documents)
        try fixture.database.close()
        let reader = try Database.open(
            fixture.directory + "/Test.roost", options: DatabaseOptions(isReadOnly: true))
        defer { try? reader.close() }
        var query = try reader.query("SELECT n, g FROM _ ORDER BY n")
        query.options.memoryLimit = Self.limit
        let files = try FileManager.default.subpathsOfDirectory(atPath: fixture.directory)
        do {
            let cursor = try query.cursor()
            #expect(try (0..<3000).allSatisfy { try cursor.next()?[0].int == $0 })
            // It is in a file that has no name, and not with the database.
            #expect(try FileManager.default.subpathsOfDirectory(atPath: fixture.directory) == files)
            let temporary = try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())
            #expect(!temporary.contains { $0.hasPrefix("roost-spill-") && $0.hasSuffix(".roost") })
        }
        query = try reader.query("SELECT n FROM _ ORDER BY n LIMIT 1")
        query.options.memoryLimit = 300
        #expect(try query.fetch().count == 1)
    }
}

// MARK: - Byte table tests

struct ByteTableTests {
    @Test func numbersStringsInTheOrderInWhichTheyCame() {
        var table = ByteTable()
        let strings = (0..<5_000).map { Array("string \($0 * 7 % 5_000)".utf8) }
        for (number, string) in strings.enumerated() {
            #expect(string.withView { table.number(of: $0) } == nil)
            let (found, isNew) = string.withView { table.insert($0) }
            #expect(found == number && isNew)
        }
        for (number, string) in strings.enumerated() {
            let (found, isNew) = string.withView { table.insert($0) }
            #expect(found == number && !isNew)
            #expect(Array(table[number]) == string)
        }
        #expect(table.count == 5_000 && !table.hasSecretHashes)
        #expect(
            table.sorted().map { Array(table[$0]) } == strings.sorted { $0.lexicographicallyPrecedes($1) })
    }

    /// Strings whose eight first bytes are those of XXH3's secret are multiplied by zero: their second eight don't count.
    @Test func takesHashesThatNobodyForeseesOnceStringsWereMadeToHaveTheSame() {
        let secret: [UInt8] = [0xB8, 0xFE, 0x6C, 0x39, 0x23, 0xA4, 0x4B, 0xBE]
        let strings = (0..<4_000).map { number in
            secret + (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
                + [UInt8](repeating: 7, count: 16)
        }
        #expect(Set(strings.map { string in string.withView { XXH3.hash($0) } }).count == 1)
        var table = ByteTable()
        for string in strings { _ = string.withView { table.insert($0) } }
        #expect(table.hasSecretHashes)
        for (number, string) in strings.enumerated() {
            #expect(string.withView { table.number(of: $0) } == number)
        }
    }
}

// MARK: - Group stream tests

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

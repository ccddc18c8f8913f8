import Foundation
import Roost
import RoostQuery
import Testing

/// Queries whose rows exceed the memory answer as others do: what is too much is put aside on disk, and removed.
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

    @Test func whatIsPutAsideGoesWithTheQuery() throws {
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

    @Test func whatIsPutAsideIsEncrypted() throws {
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

    @Test func whatCannotBePutAsideIsRefused() throws {
        let fixture = try QueryFixture(Self.documents)
        for text in [
            "SELECT array_agg(g) FROM _", "SELECT array_agg(DISTINCT g) FROM _",
            "SELECT n FROM _ WHERE g IN (SELECT g FROM _)",
        ] {
            #expect(
                QueryFixture.message { _ = try rows(text, fixture, limit: Self.limit) }
                    .contains(
                        "can't be put aside, such as the array of an array_agg or the rows of a subquery"),
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

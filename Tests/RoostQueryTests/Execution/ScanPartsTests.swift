import Roost
import RoostQuery
import Testing

/// Queries whose documents are read by several threads answer as one thread does.
@Suite struct ScanPartsTests {
    private static let documents = (0..<997).map { number in
        let name = ["oak", "Elm", "elm", "ash", "ÉLM"][number % 5]
        return """
            {"_id":"d\(number &* 7919 % 997)","n":\((number &* 613) % 97),"name":"\(name) \(number % 3)",\
            "list":[\(number % 4),\(number % 6)],"at":{"x":\(number % 11)}\(number % 13 == 0 ? "" : #","odd":\#(number)"#)}
            """
    }

    private func query(
        _ text: String, _ fixture: QueryFixture, threads: Int, parts: Int = 40, memory: Int = 256 << 20
    ) throws -> DatabaseQuery {
        var query = try fixture.database.query(text)
        query.options.threads = threads
        query.options.documentsPerPart = parts
        query.options.memoryLimit = memory
        return query
    }

    private static let accumulator = [
        "SELECT count(*) FROM _ WHERE n > 40",
        "SELECT count(*), count(odd), sum(n), avg(n), min(name), max(name), min(odd) FROM _",
        "SELECT name, count(*), sum(n), avg(n), min(at), max(list) FROM _ GROUP BY name",
        // The first document of each group answers what is no aggregate.
        "SELECT name COLLATE NOCASE, META().id, n, count(*) FROM _ GROUP BY name COLLATE NOCASE",
        "SELECT n % 10, array_agg(META().id), count(*) FROM _ GROUP BY n % 10 HAVING count(*) > 99",
        "SELECT n, count(*) AS c FROM _ GROUP BY n ORDER BY c DESC, n LIMIT 7 OFFSET 2",
        "SELECT DISTINCT count(*) FROM _ GROUP BY n",
        "SELECT e, count(*), min(DISTINCT n) FROM _ UNNEST _.list AS e GROUP BY e",
        "SELECT count(*), sum(n), min(n) FROM _ WHERE n > 1000",
        "SELECT n, count(*) FROM _ WHERE n > 1000 GROUP BY n",
        "SELECT count(*) FROM _ WHERE ANY e IN list SATISFIES e = 5 END",
        "SELECT META().id, n FROM _ ORDER BY n LIMIT 10",
        "SELECT META().id, n FROM _ ORDER BY n DESC LIMIT 100 OFFSET 50",
        // Many are equal in the order, and stay in that of their IDs.
        "SELECT META().id, at.x FROM _ WHERE n > 10 ORDER BY at.x DESC LIMIT 200",
        "SELECT META().id, odd FROM _ ORDER BY name COLLATE NOCASE, odd LIMIT 30",
        "SELECT META().id, e FROM _ UNNEST _.list AS e ORDER BY e DESC LIMIT 300",
        "SELECT META().id FROM _ ORDER BY n LIMIT 0",
        "SELECT META().id FROM _ WHERE n > 1000 ORDER BY n LIMIT 5",
    ]

    @Test(arguments: accumulator)
    func rowsAreThoseOfOneThread(text: String) throws {
        let fixture = try QueryFixture(Self.documents)
        // Tombstones are no documents.
        let notes = try fixture.database.defaultCollection
        try fixture.database.write { batch in
            for number in stride(from: 0, to: 997, by: 31) { try batch.delete("d\(number)", in: notes) }
        }
        let expected = try QueryFixture.texts(try query(text, fixture, threads: 1).fetch())
        for (threads, parts) in [(2, 40), (3, 7), (8, 1)] {
            let several = try query(text, fixture, threads: threads, parts: parts)
            #expect(try several.explain().description.contains("on \(threads) threads"))
            #expect(try QueryFixture.texts(try several.fetch()) == expected, "\(threads) threads")
        }
    }

    @Test func sumsOfFractionsAreAsNear() throws {
        let fixture = try QueryFixture((0..<500).map { #"{"f":\#(Double($0) / 7)}"# })
        let sum = try query("SELECT sum(f), avg(f) FROM _", fixture, threads: 4).first()
        #expect(abs((sum?[0].double ?? 0) - 124_750 / 7) < 1e-6)
        #expect(abs((sum?[1].double ?? 0) - 124_750 / 3500) < 1e-6)
    }

    /// What can't be put together from parts is left to one thread, and so is what exceeds the memory.
    @Test func someIsLeftToOneThread() throws {
        let fixture = try QueryFixture(Self.documents)
        for text in [
            "SELECT n FROM _ WHERE n > 40", "SELECT DISTINCT name FROM _",
            "SELECT META().id FROM _ ORDER BY n",
            "SELECT count(DISTINCT name) FROM _", "SELECT count(*) FROM _ WHERE META().id > 'd5'",
            "SELECT count(*) FROM _ WHERE n > (SELECT avg(b.n) FROM _ AS b)[0]",
            "SELECT count(*) FROM _ AS a JOIN _ AS b ON a.n = b.n",
            "SELECT META().id FROM _ ORDER BY META().id DESC LIMIT 3", "SELECT count(*) FROM _",
        ] {
            let several = try query(text, fixture, threads: 4)
            #expect(try !several.explain().description.contains("threads"), "\(text)")
            let expected = try query(text, fixture, threads: 1).fetch()
            #expect(try QueryFixture.texts(several.fetch()) == QueryFixture.texts(expected), "\(text)")
        }
        for text in [
            "SELECT META().id, count(*) FROM _ GROUP BY META().id",
            "SELECT META().id, n, list, name FROM _ ORDER BY n LIMIT 900",
        ] {
            let narrow = try query(text, fixture, threads: 4, memory: 1 << 16)
            let expected = try query(text, fixture, threads: 1).fetch()
            #expect(try QueryFixture.texts(narrow.fetch()) == QueryFixture.texts(expected), "\(text)")
        }
        let tooMuch = try query("SELECT array_agg(name) FROM _", fixture, threads: 4, memory: 1 << 14)
        #expect(throws: DatabaseError.self) { try tooMuch.fetch() }
    }

    @Test func allDocumentsAreCounted() throws {
        let fixture = try QueryFixture(Self.documents)
        let query = try query("SELECT count(*) FROM _ WHERE n > 40", fixture, threads: 3)
        let analysis = try #require(try query.explainAnalyze().analysis)
        #expect(analysis.documents == 997)
        #expect(analysis.rows == 1)
        let cursor = try query.cursor()
        let count = try #require(try cursor.next()?[0].int)
        #expect(cursor.documentsRead == 997)
        #expect(try query.explainAnalyze().steps.contains { $0.operation == "SCAN" && $0.rows == count })
    }

    @Test func whoeverWaitsMayGo() throws {
        let fixture = try QueryFixture(Self.documents)
        for text in ["SELECT n, count(*) FROM _ GROUP BY n", "SELECT n FROM _ ORDER BY n LIMIT 3"] {
            // The thread that waits is asked, and there may be none but it.
            let cursor = try query(text, fixture, threads: 2, parts: 400).cursor { true }
            #expect(QueryFixture.message { _ = try cursor.next() }.contains("cancelled"))
        }
    }

    @Test func anErrorInAPartIsTheQuerys() throws {
        let fixture = try QueryFixture(Self.documents)
        try fixture.database.defaultCollection.save(json: #"{"n":1,"bad":"("}"#, id: "d5000")
        let query = try query("SELECT count(*) FROM _ WHERE regexp_contains('x', bad)", fixture, threads: 4)
        let one = try self.query(
            "SELECT count(*) FROM _ WHERE regexp_contains('x', bad)", fixture, threads: 1)
        let message = QueryFixture.message { _ = try one.fetch() }
        #expect(QueryFixture.message { _ = try query.fetch() } == message)
    }
}

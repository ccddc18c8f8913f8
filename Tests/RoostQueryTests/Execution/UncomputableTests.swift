import Foundation
import Roost
import RoostQuery
import Testing

/// What can't be computed ends a query with an error wherever it is computed, and is never a wrong or a missing row.
@Suite struct UncomputableTests {
    /// An array that is nested as deeply as a document can be.
    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
    }

    private func code(_ body: () throws -> Void) -> DatabaseError.Code? {
        do { try body() } catch let error as DatabaseError { return error.code } catch {}
        return nil
    }

    /// The deepest array that a document may have.
    private static func deepest(_ fixture: QueryFixture) throws -> Int {
        for depth in (1...600).reversed()
        where (try? fixture.fill("_default", [#"{"a":\#(nested(depth))}"#])) != nil {
            return depth
        }
        return 0
    }

    @Test func valuesBeyondTheDepthLimitEndTheQuery() throws {
        let fixture = try QueryFixture()
        let depth = try Self.deepest(fixture)
        try #require(depth > 10)
        for text in ["SELECT [[a]] FROM _", "SELECT a FROM _ WHERE array_length([[[a]]]) = 1"] {
            #expect(code { _ = try fixture.rows(text) } == .limitExceeded, "\(text)")
        }
    }

    @Test func anIndexFailsWhereAScanDoes() throws {
        let fixture = try QueryFixture()
        let depth = try Self.deepest(fixture)
        try #require(depth > 10)
        let documents = try fixture.database.defaultCollection
        let condition = "array_length([[[a]]]) = 1"
        #expect(code { _ = try fixture.rows("SELECT _id FROM _ WHERE \(condition)") } == .limitExceeded)
        #expect(code { try documents.createIndex("i", on: "array_length([[[a]]])") } == .limitExceeded)
        #expect(code { try documents.createTextIndex("t", on: "[[[a]]]") } == .limitExceeded)
        #expect(code { _ = try fixture.rows("SELECT _id FROM _ WHERE \(condition)") } == .limitExceeded)
    }

    /// Threads that execute one prepared query have the content of blobs at once.
    @Test func blobsAreReadByExpressions() async throws {
        let fixture = try QueryFixture()
        let database = fixture.database
        let digest = try await database.saveBlob(Data("hello".utf8)).digest
        try fixture.fill(
            "_default",
            [#"{"f":{"@type":"blob","digest":"\#(digest)","length":5}}"#, #"{"f":{"digest":"sha1-x"}}"#])
        let query = try database.query("SELECT BLOB(f) AS content FROM _ ORDER BY _id")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let rows = try query.fetch()
                    #expect(rows[0].content.data.map { String(decoding: $0, as: UTF8.self) } == "hello")
                    #expect(!rows[1].content.exists)
                }
            }
            try await group.waitForAll()
        }
    }
}

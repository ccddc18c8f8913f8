import Roost
import RoostQuery
import Testing

/// Queries that tell when their answers change.
@Suite struct QueryUpdatesTests {
    @Test func onlyChangesOfTheAnswerAreTold() async throws {
        let fixture = try QueryFixture([#"{"n":1}"#, #"{"n":5}"#])
        let notes = try fixture.database.defaultCollection
        let query = try fixture.database.query("SELECT n FROM _ WHERE n > 2 ORDER BY n")
        var updates = query.updates.makeAsyncIterator()
        #expect(try await updates.next()?.map { $0.n.int } == [5])
        // Of no interest, and then of some.
        try await notes.save(json: #"{"n":0}"#, id: "x")
        try await notes.save(json: #"{"n":9}"#, id: "y")
        #expect(try await updates.next()?.map { $0.n.int } == [5, 9])
        try await notes.delete("y")
        #expect(try await updates.next()?.map { $0.n.int } == [5])
    }

    @Test func joinsListenToAllTheirCollections() async throws {
        let fixture = try QueryFixture([#"{"k":"a"}"#])
        try fixture.fill("names", [#"{"_id":"a","name":"Anna"}"#])
        let query = try fixture.database.query(
            "SELECT n.name FROM _ AS d JOIN names AS n ON META(n).id = d.k")
        var updates = query.updates.makeAsyncIterator()
        #expect(try await updates.next()?.map { $0.name.string } == ["Anna"])
        try await fixture.database.collection("names").save(json: #"{"name":"Ann"}"#, id: "a")
        #expect(try await updates.next()?.map { $0.name.string } == ["Ann"])
    }

    @Test func aCancelledTaskHearsNoMore() async throws {
        let fixture = try QueryFixture([#"{"n":1}"#])
        let query = try fixture.database.query("SELECT n FROM _")
        let task = Task {
            var count = 0
            for try await _ in query.updates { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value <= 1)
    }
}

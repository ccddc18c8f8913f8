import Foundation
import Roost
import RoostREST
import RoostWire
import Testing

@testable import RoostSync

/// Replications that documents of `_replicator` and requests ask for, through the router.
@Suite struct ReplicatorManagerTests {
    private let peers: Peers
    private let databases: DatabaseDirectory
    private let router: Router

    init() throws {
        peers = try Peers()
        databases = try DatabaseDirectory(peers.directory + "/served")
        router = Router(databases)
        for name in ["a", "b"] { try databases.create(name) }
    }

    private func collection(_ name: String) throws -> DocumentCollection {
        guard let database = try databases.database(name) else { throw CancellationError() }
        return try database.defaultCollection
    }

    /// The status and the JSON of an answer.
    @discardableResult
    private func ask(
        _ method: String, _ target: String, _ json: String? = nil
    ) async throws -> (status: Int, json: DocumentValue) {
        let request = json.map { HTTPRequest.json(method, target, $0) } ?? HTTPRequest(method, target)
        let response = await router.respond(to: request, as: .admin)
        let text = String(decoding: try await response.bytes(), as: UTF8.self)
        return (response.status, try DocumentValue(json: text))
    }

    /// Waits until a document of `_replicator` says that its job is `state`.
    private func waitFor(_ state: String, of id: String) async throws -> Document {
        let jobs = try collection("_replicator")
        for try await change in jobs.changes(since: 0) where change.id == id {
            if let document = try jobs.find(id), document["_replication_state"].string == state {
                return document
            }
        }
        throw CancellationError()
    }

    @Test func aDocumentBecomesAJobAndTellsWhatCameOfIt() async throws {
        for number in 0..<5 { try collection("a").put("n\(number)") }
        await router.replicator.start()
        let saved = try await ask("PUT", "/_replicator/job", #"{"source":"a","target":"b"}"#)
        #expect(saved.status == 201)
        let document = try await waitFor("completed", of: "job")
        #expect(document["_replication_stats"]["docs_written"].int == 5)
        #expect(document["_replication_state_time"].string?.hasSuffix("Z") == true)
        #expect(try collection("a").replicated() == collection("b").replicated())
        let row = try await ask("GET", "/_scheduler/docs/_replicator/job").json
        #expect(row["state"]?.string == "completed")
        #expect(try await ask("GET", "/_scheduler/jobs").json["total_rows"]?.int == 0)
        await router.replicator.stop()
    }

    @Test func aContinuousJobGoesOnUntilItsDocumentIsDeleted() async throws {
        await router.replicator.start()
        let saved = try await ask(
            "PUT", "/_replicator/job", #"{"source":"a","target":"b","continuous":true}"#)
        try collection("a").put("x")
        try await collection("b").waitFor("x")
        let jobs = try await ask("GET", "/_scheduler/jobs").json
        #expect(jobs["jobs"]?[0]?["doc_id"]?.string == "job")
        let tasks = try await ask("GET", "/_active_tasks").json
        #expect(tasks[0]?["type"]?.string == "replication" && tasks[0]?["continuous"] == .bool(true))
        let revision = try #require(saved.json["rev"]?.string)
        #expect(try await ask("DELETE", "/_replicator/job?rev=\(revision)").status == 200)
        while try await ask("GET", "/_scheduler/jobs").json["total_rows"]?.int != 0 { await Task.yield() }
        await router.replicator.stop()
    }

    /// What a manager left behind when the program ended, another one goes on with.
    @Test func jobsBeginAgainWhereTheyWere() async throws {
        try collection("a").put("x")
        await router.replicator.start()
        try await ask("PUT", "/_replicator/job", #"{"source":"a","target":"b","continuous":true}"#)
        try await collection("b").waitFor("x")
        await router.replicator.stop()
        #expect(try await ask("GET", "/_scheduler/jobs").json["total_rows"]?.int == 0)
        try collection("a").put("y")
        let second = Router(databases)
        await second.replicator.start()
        try await collection("b").waitFor("y")
        await second.replicator.stop()
    }

    @Test func aMissingDatabaseIsTriedAgain() async throws {
        var options = ReplicatorManager.Options()
        options.firstDelay = 0.01
        let databases = databases
        let manager = ReplicatorManager(
            ReplicatorManager.Databases { name in
                try databases.database(name)?.defaultCollection
            } create: { name in
                try databases.create(name).defaultCollection
            }, options: options)
        await manager.start()
        let jobs = try databases.create("_replicator").defaultCollection
        try jobs.put("job", #"{"source":"none","target":"b"}"#)
        while await manager.jobRows().first?.row["history"]?[1] == nil { await Task.yield() }
        let row = try #require(await manager.jobRows().first?.row)
        #expect("\(row)".contains("There is no database none."))
        try databases.create("none").defaultCollection.put("x")
        try await collection("b").waitFor("x")
        await manager.stop()
    }

    /// More continuous jobs than may run at a time all come to their turn.
    @Test func jobsTakeTurns() async throws {
        var options = ReplicatorManager.Options()
        options.runningJobs = 2
        options.turnSeconds = 0.01
        let databases = databases
        let manager = ReplicatorManager(
            ReplicatorManager.Databases { name in
                try databases.database(name)?.defaultCollection
            } create: { name in
                try databases.create(name).defaultCollection
            }, options: options)
        try collection("a").put("x")
        for number in 0..<6 {
            let request = try ReplicationRequest(
                DocumentValue(
                    json: #"{"source":"a","target":"t\#(number)","continuous":true,"create_target":true}"#))
            _ = try await manager.replicate(request)
        }
        for number in 0..<6 {
            while try databases.database("t\(number)") == nil { await Task.yield() }
            try await collection("t\(number)").waitFor("x")
        }
        #expect(await manager.jobRows().count == 6)
        await manager.stop()
    }

    @Test func requestsRunToTheirEnd() async throws {
        try collection("a").put("x")
        let first = try await ask(
            "POST", "/_replicate", #"{"source":"a","target":"new","create_target":true}"#)
        #expect(first.status == 200 && first.json["ok"] == .bool(true))
        #expect(first.json["history"]?[0]?["docs_written"]?.int == 1)
        let again = try await ask("POST", "/_replicate", #"{"source":"a","target":"new"}"#)
        #expect(again.json["no_changes"] == .bool(true))
        #expect(again.json["session_id"] == first.json["session_id"])
        let missing = try await ask("POST", "/_replicate", #"{"source":"none","target":"b"}"#)
        #expect(missing.status == 404 && missing.json["error"]?.string == "db_not_found")
        let request = #"{"source":"a","target":"b","continuous":true"#
        #expect(try await ask("POST", "/_replicate", request + "}").status == 202)
        try await collection("b").waitFor("x")
        #expect(try await ask("POST", "/_replicate", request + #","cancel":true}"#).status == 200)
        #expect(try await ask("POST", "/_replicate", request + #","cancel":true}"#).status == 404)
    }

    @Test func aJobIsCancelledByItsName() async throws {
        let request = #"{"source":"a","target":"b","continuous":true}"#
        for suffix in ["+continuous", ""] {
            let begun = try await ask("POST", "/_replicate", request)
            let id = try #require(begun.json["_local_id"]?.string)
            #expect(id.hasSuffix("+continuous"))
            for (name, other) in [("replication_id", 200), ("_local_id", 404)] {
                let cancellation = #"{"\#(name)":"\#(id.dropLast(11) + suffix)","cancel":true}"#
                let answer = try await ask("POST", "/_replicate", cancellation)
                #expect(answer.status == other)
                if other == 200 { #expect(answer.json["_local_id"]?.string == id) }
            }
        }
    }

    @Test func sessionsHaveTimesAndRequestsForDocumentsTheirCounts() async throws {
        for id in ["x", "y", "z"] { try collection("a").put(id) }
        let answer = try await ask(
            "POST", "/_replicate", #"{"source":"a","target":"b","doc_ids":["x","z","none"]}"#
        )
        .json
        let session = try #require(answer["history"]?[0])
        for name in ["start_time", "end_time"] {
            let date = try #require(session[name]?.string)
            #expect(try !date.matches(of: Regex(#"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$"#)).isEmpty)
            #expect(answer[name]?.string == date)
        }
        #expect(session["start_last_seq"]?.int == 0 && session["end_last_seq"] == answer["source_last_seq"])
        for (name, count) in [("docs_read", 2), ("docs_written", 2), ("doc_write_failures", 0)] {
            #expect(answer[name]?.int == count && session[name]?.int == count)
        }
        let whole = try await ask("POST", "/_replicate", #"{"source":"a","target":"b"}"#).json
        #expect(whole["docs_read"] == nil && whole["history"]?[0]?["docs_written"]?.int == 1)
    }

    @Test(arguments: [
        "{}", #"{"source":"a"}"#, #"{"source":1,"target":"b"}"#, #"{"source":"a","target":{"headers":{}}}"#,
        #"{"source":"a","target":"b","doc_ids":[1]}"#,
        #"{"source":"a","target":"b","doc_ids":[],"filter":"x/y"}"#,
        #"{"source":"a","target":"b","continuous":"yes"}"#, #"{"source":"http://","target":"b"}"#,
        #"{"source":"a","target":"http://h:99999/x"}"#, #"{"source":"a","target":"b","http_connections":-1}"#,
    ])
    func documentsThatCantBeAreRefused(json: String) async throws {
        let saved = try await ask("PUT", "/_replicator/job", json)
        #expect(saved.status == 403 && saved.json["error"]?.string == "forbidden")
        #expect(try await ask("POST", "/_replicate", json).status == 400)
    }

    @Test func passwordsAreNotTold() async throws {
        await router.replicator.start()
        try await ask(
            "PUT", "/_replicator/job",
            #"{"source":"http://anna:secret@127.0.0.1:1/x","target":{"url":"http://127.0.0.1:1/y","#
                + #""auth":{"basic":{"username":"anna","password":"secret"}}}}"#)
        while try await ask("GET", "/_scheduler/jobs").json["total_rows"]?.int == 0 { await Task.yield() }
        for path in ["/_scheduler/jobs", "/_scheduler/docs", "/_active_tasks"] {
            #expect(try await !ask("GET", path).json.json().contains("secret"))
        }
        await router.replicator.stop()
    }

    @Test func onlyAdministratorsMay() async throws {
        for (method, target) in [
            ("POST", "/_replicate"), ("GET", "/_scheduler/jobs"), ("GET", "/_active_tasks"),
            ("GET", "/_replicator/x"),
            ("PUT", "/_replicator/x"),
        ] {
            let response = await router.respond(
                to: .json(method, target, "{}"), as: UserContext(name: "bert"))
            #expect(response.status == 401 || response.status == 403, "\(method) \(target)")
        }
    }
}

import Fleece
import Foundation
import Roost
import RoostREST
import RoostWire
import Synchronization
import Testing

/// Functions that may refuse a document are asked before the write, and once more where what they looked at has changed.
@Suite(.timeLimit(.minutes(5))) struct JudgementTests {
    /// What a validation was shown: the document's ID, and the value that the one that was there had.
    private final class Questions: Sendable {
        private let all = Mutex<[String]>([])

        func add(_ new: ExaminedDocument, _ old: Document?) {
            let value = old.map { $0["n"].json() } ?? "none"
            all.withLock { $0.append("\(new.id) on \(value)") }
        }

        var list: [String] { all.withLock { $0 } }
    }

    /// Saves a document with some members in one of the ways that there are.
    private func save(
        _ way: String, _ id: String, _ members: String, in test: TestRouter
    ) async throws -> TestRouter.Answer {
        let rest = members.isEmpty ? "" : ",\(members)"
        switch way {
        case "PUT": return try await test.ask("PUT", "/db/\(id)", "{\(members)}")
        case "POST": return try await test.ask("POST", "/db", #"{"_id":"\#(id)"\#(rest)}"#)
        case "bulk":
            return try await test.ask(
                "POST", "/db/_bulk_docs", #"{"docs":[{"_id":"\#(id)"\#(rest)},{"_id":"with"}]}"#)
        default:
            return try await test.ask("PUT", "/db/\(id)?new_edits=false", #"{"_rev":"1-a"\#(rest)}"#)
        }
    }

    @Test(arguments: ["PUT", "POST", "bulk", "insert"])
    func aFunctionThatTakesLongHoldsUpNoOtherWrite(way: String) async throws {
        let gate = TestGate()
        let test = try TestRouter { _, hooks in
            hooks.validations["slow"] = { new, _, _ in if new.id == "slow" { gate.pass() } }
        }
        try await test.ask("PUT", "/db")
        async let slow = save(way, "slow", "", in: test)
        try await gate.wait(for: 1)
        #expect(try await test.ask("PUT", "/db/other", "{}").status == 201)
        #expect(try await test.ask("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"b"}]}"#).status == 201)
        gate.open()
        #expect(try await slow.status == 201)
        #expect(try await test.ask("GET", "/db/slow").status == 200)
    }

    @Test func aSyncFunctionThatTakesLongHoldsUpNoOtherWrite() async throws {
        let gate = TestGate()
        let test = try TestRouter { _, hooks in
            hooks.sync = SyncFunction { document, _, _ in if document.id == "slow" { gate.pass() } }
        }
        try await test.ask("PUT", "/db")
        async let slow = test.ask("PUT", "/db/slow", "{}")
        try await gate.wait(for: 1)
        #expect(try await test.ask("PUT", "/db/other", "{}").status == 201)
        gate.open()
        #expect(try await slow.status == 201)
    }

    @Test func whatHasChangedMeanwhileIsJudgedOnceMore() async throws {
        let (gate, questions) = (TestGate(), Questions())
        let test = try TestRouter { _, hooks in
            hooks.validations["slow"] = { new, old, _ in
                questions.add(new, old)
                if new["waits"].bool == true { gate.pass() }
            }
        }
        try await test.ask("PUT", "/db")
        let first = try await test.put("/db/doc", #"{"n":1}"#)
        async let slow = test.ask(
            "PUT", "/db/doc?new_edits=false", #"{"_rev":"2-0","waits":true}"#)
        try await gate.wait(for: 1)
        try await test.put("/db/doc?rev=\(first)", #"{"n":2}"#)
        gate.open()
        #expect(try await slow.status == 201)
        #expect(questions.list == ["doc on none", "doc on 1", "doc on 1", "doc on 2"])
        // What nobody has changed is asked about once.
        try await test.put("/db/quiet", #"{"n":1}"#)
        #expect(questions.list.count == 5)
    }

    @Test func accessThatIsWithdrawnMeanwhileIsMissing() async throws {
        let gate = TestGate()
        let test = try TestRouter { _, hooks in
            hooks.sync = SyncFunction { document, _, sync in
                sync.channel("!")
                if document["gives"].bool == true { sync.access("ann", "room") }
                if document["waits"].bool == true {
                    try sync.requireAccess("room")
                    gate.pass()
                }
            }
        }
        let ann = UserContext(name: "ann", roles: [])
        try await test.ask("PUT", "/db")
        try await test.ask("PUT", "/db/_security", "{}")
        let grant = try await test.put("/db/grant", #"{"gives":true}"#)
        async let slow = test.ask("PUT", "/db/doc", #"{"waits":true}"#, as: ann)
        try await gate.wait(for: 1)
        try await test.put("/db/grant?rev=\(grant)", "{}")
        gate.open()
        let answer = try await slow
        #expect(answer.status == 403 && answer["reason"] as? String == "missing channel access")
        #expect(try await test.ask("GET", "/db/doc").status == 404)
    }

    /// A collection that a function made before it knows.
    private final class Place: Sendable {
        private let known = Mutex<DocumentCollection?>(nil)

        var collection: DocumentCollection? { known.withLock { $0 } }
        func set(_ collection: DocumentCollection) { known.withLock { $0 = collection } }
    }

    /// A function that changes the document itself whenever it is asked about it would be asked for ever.
    @Test func judgingEndsWhereThingsDoNotComeToRest() async throws {
        let (questions, place) = (Questions(), Place())
        let test = try TestRouter { _, hooks in
            hooks.validations["restless"] = { new, _, _ in
                guard new.id == "doc" else { return }
                questions.add(new, nil)
                try place.collection?.save(json: #"{"n":1}"#, id: "doc")
            }
        }
        try await test.ask("PUT", "/db")
        let database = try #require(try test.router.databases.database("db"))
        place.set(try database.defaultCollection)
        #expect(try await test.ask("PUT", "/db/doc", "{}").status == 409)
        #expect((1...10).contains(questions.list.count))
        #expect(try await test.ask("PUT", "/db/doc?new_edits=false", #"{"_rev":"1-a"}"#).status == 503)
    }

    /// All of a document's conflicts in one request are judged once each, whatever wins in between.
    @Test func conflictsThatComeTogetherAreJudgedOnce() async throws {
        let questions = Questions()
        let test = try TestRouter { _, hooks in
            hooks.validations["count"] = { new, old, _ in questions.add(new, old) }
        }
        try await test.ask("PUT", "/db")
        let docs = (1...50).map { #"{"_id":"x","_rev":"1-\#(String($0 + 100))"}"# }
        let answer = try await test.ask(
            "POST", "/db/_bulk_docs", #"{"new_edits":false,"docs":[\#(docs.joined(separator: ","))]}"#)
        #expect(answer.text == "[]\n")
        #expect(questions.list.count == 50)
        let leaves = try await test.ask("GET", "/db/x?open_revs=all", headers: ["Accept": "application/json"])
        #expect((leaves.json as? [Any])?.count == 50)
    }

    // MARK: Inline attachments

    private static let inline = #""_attachments":{"a":{"content_type":"text/plain","data":"aGVsbG8="}}"#

    @Test(arguments: ["PUT", "bulk", "insert"])
    func contentInTheTextIsStoredBeforeTheWrite(way: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let database = try #require(try test.router.databases.database("db"))
        let gate = TestGate()
        let writer = Task { try await database.write { _ in gate.pass() } }
        try await gate.wait(for: 1)
        async let saved = save(way, "doc", Self.inline, in: test)
        // While another write is under way.
        while try database.blobs().isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        gate.open()
        _ = try await writer.value
        #expect(try await saved.status == 201)
        #expect(try await test.ask("GET", "/db/doc/a").text == "hello")
        let stub = try await test.ask("GET", "/db/doc")
        #expect(stub.text.contains(#""digest":"md5-XUFAKrxLKna5cZ2REBfFkg==""#), "\(stub.text)")
        #expect(stub.text.contains(#""content_type":"text/plain""#))
    }

    @Test func contentOfWhatIsRefusedIsNotStored() async throws {
        let test = try TestRouter { _, hooks in
            hooks.validations["no"] = { _, _, _ in throw ValidationFailure.forbidden("no") }
        }
        try await test.ask("PUT", "/db")
        let database = try #require(try test.router.databases.database("db"))
        #expect(try await test.ask("PUT", "/db/doc", "{\(Self.inline)}").status == 403)
        let bulk = #"{"docs":[{"_id":"doc",\#(Self.inline)}]}"#
        #expect(try await test.ask("POST", "/db/_bulk_docs", bulk).text.contains("forbidden"))
        #expect(try database.blobs().isEmpty)
    }
}

import Foundation
import RoostREST
import Testing

/// What `_find` and selectors know of documents besides their properties: attachments and conflicts.
@Suite struct FindMetadataTests {
    private static func ids(_ answer: TestRouter.Answer) -> [String] {
        let rows = (answer["docs"] ?? answer["results"]) as? [[String: Any]]
        return rows?.compactMap { ($0["_id"] ?? $0["id"]) as? String } ?? [answer.text]
    }

    /// Of the documents a, b and c, a has attachments, and b is in conflict.
    private static func filled(_ test: TestRouter) async throws -> TestRouter {
        try await test.put("/db/a", #"{"n":1,"channels":["!"],"_attachments":{"f.txt":{"data":"aGVsbG8="}}}"#)
        try await test.ask(
            "POST", "/db/_bulk_docs",
            #"""
            {"new_edits":false,"docs":[{"_id":"b","_rev":"1-aa","n":2,"channels":["!"]},
              {"_id":"b","_rev":"1-bb","n":3,"channels":["!"]}]}
            """#)
        try await test.put("/db/c", #"{"n":4,"channels":["!"]}"#)
        return test
    }

    private static func filled() async throws -> TestRouter {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        return try await filled(test)
    }

    /// What is found, edited and saved again keeps its attachments.
    @Test func attachmentsAreFound() async throws {
        let test = try await Self.filled()
        let stub = #""_attachments":{"f.txt":{"#
        let answer = try await test.ask("POST", "/db/_find", #"{"selector":{"n":1}}"#)
        #expect(answer.text.contains(stub) && answer.text.contains(#""stub":true"#), "\(answer.text)")
        #expect(answer.text.contains(#""digest":"md5-XUFAKrxLKna5cZ2REBfFkg==""#), "\(answer.text)")
        let documents = try #require(answer["docs"] as? [[String: Any]])
        let document = try JSONSerialization.data(withJSONObject: try #require(documents.first))
        try await test.put("/db/a", String(decoding: document, as: UTF8.self))
        #expect(try await test.ask("GET", "/db/a/f.txt").text == "hello")
        let named = try await test.ask(
            "POST", "/db/_find", #"{"selector":{},"fields":["_id","_attachments.f\\.txt.length"]}"#)
        #expect(
            named.text.hasPrefix(
                #"{"docs":[{"_attachments":{"f.txt":{"length":5}},"_id":"a"},{"_id":"b"},{"_id":"c"}]"#))
        let others = try await test.ask("POST", "/db/_find", #"{"selector":{},"fields":["n"]}"#)
        #expect(others.text.hasPrefix(#"{"docs":[{"n":1},{"n":3},{"n":4}]"#))
    }

    @Test(arguments: [
        (#"{"_attachments":{"$exists":true}}"#, ["a"]), (#"{"_attachments":{"$exists":false}}"#, ["b", "c"]),
        (#"{"_attachments.f\\.txt":{"$exists":true}}"#, ["a"]),
        (#"{"_attachments":{"f.txt":{"length":{"$gt":4}}}}"#, []),
        (#"{"_attachments":{"f\\.txt":{"length":{"$gt":4}}}}"#, ["a"]),
        (#"{"_attachments.f\\.txt.length":5}"#, ["a"]), (#"{"_attachments.f\\.txt.length":6}"#, []),
        (#"{"_conflicts":{"$exists":true}}"#, ["b"]), (#"{"_conflicts":{"$exists":false}}"#, ["a", "c"]),
        (#"{"_conflicts":{"$size":1}}"#, ["b"]), (#"{"_conflicts.0":"1-aa"}"#, ["b"]),
        (#"{"_conflicts":{"$in":["1-aa"]},"n":3}"#, ["b"]),
    ])
    func selectorsKnowThem(selector: String, expected: [String]) async throws {
        let test = try await Self.filled()
        for field in ["", "_attachments", "_conflicts"] {
            // An index of what is no property changes nothing.
            if !field.isEmpty {
                try await test.ask("POST", "/db/_index", #"{"index":{"fields":["\#(field)"]}}"#)
            }
            let found = try await test.ask("POST", "/db/_find", #"{"selector":\#(selector)}"#)
            #expect(Self.ids(found) == expected, "\(field): \(found.text)")
        }
        let changes = try await test.ask(
            "POST", "/db/_changes?filter=_selector", #"{"selector":\#(selector)}"#)
        #expect(Self.ids(changes).filter { !$0.hasPrefix("_") } == expected, "\(changes.text)")
    }

    @Test func conflictsAreToldWhereAsked() async throws {
        let test = try await Self.filled()
        let told = try await test.ask(
            "POST", "/db/_find", #"{"selector":{},"conflicts":true,"fields":["_id","_rev","_conflicts"]}"#)
        #expect(told.text.contains(#"{"_conflicts":["1-aa"],"_id":"b","_rev":"1-bb"}"#), "\(told.text)")
        #expect(told.text.components(separatedBy: "_conflicts").count == 2)
        let usual = try await test.ask("POST", "/db/_find", #"{"selector":{}}"#)
        #expect(!usual.text.contains("_conflicts"))
    }

    /// Who sees no more than their channels learns nothing of conflicts, which may be with what they don't see.
    @Test func conflictsAreNotForEverybody() async throws {
        let test = try await Self.filled(try await channelRouter())
        for request in [
            #"{"selector":{},"conflicts":true}"#, #"{"selector":{"$not":{"_conflicts":{"$exists":true}}}}"#,
            #"{"selector":{"_conflicts.0":"1-aa"}}"#, #"{"selector":{},"sort":["_conflicts"]}"#,
        ] {
            let answer = try await test.ask("POST", "/db/_find", request, as: ann)
            #expect(answer.status == 400 && answer.text.contains("Conflicts are"), "\(answer.text)")
        }
        let changes = try await test.ask(
            "POST", "/db/_changes?filter=_selector", #"{"selector":{"_conflicts":{"$exists":true}}}"#, as: ann
        )
        #expect(changes.status == 403, "\(changes.text)")
        let found = try await test.ask("POST", "/db/_find", #"{"selector":{"_attachments":{}}}"#, as: ann)
        #expect(found.status == 200)
    }
}

import RoostREST
import Testing

/// Mistakes in design documents, as CouchDB 3.5 tells them.
@Suite struct DesignShapeTests {
    @Test(arguments: [
        (#"{"views":1}"#, "`views` field must have object type"),
        (#"{"views":{"a":1}}"#, "`views.a` field must have object type"),
        (#"{"views":{"a":{"map":1}}}"#, "`views.a.map` field must have string type"),
        (#"{"language":"query","views":{"a":{"map":""}}}"#, "`views.a.map` field must have object type"),
        (#"{"views":{"a":{"reduce":"_sum"}}}"#, "View `a` must contain map function"),
        (#"{"views":{"a":{"map":"","reduce":1}}}"#, "`views.a.reduce` field must have string type"),
        (#"{"views":{"a":{"map":"","reduce":"_nope"}}}"#, "`_nope` is not a supported reduce function."),
        (#"{"views":{"lib":"x"}}"#, "`views.lib` field must have object type"),
        (#"{"filters":1}"#, "`filters` field must have object type"),
        (#"{"filters":{"f":1}}"#, "`filters.f` field must have object or string type"),
        (#"{"validate_doc_update":1}"#, "`validate_doc_update` field must have string type"),
        (#"{"language":5}"#, "`language` field must have string type"),
        (#"{"options":{"local_seq":1}}"#, "`options.local_seq` field must have boolean type"),
        (#"{"rewrites":1}"#, "`rewrites` field must have string or array type"),
    ])
    func mistakesAreToldWhenTheDocumentIsSaved(design: String, reason: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let answer = try await test.ask("PUT", "/db/_design/d", design)
        #expect(answer.status == 400 && answer["error"] as? String == "invalid_design_doc")
        #expect(answer["reason"] as? String == reason)
        let bulk = try await test.ask(
            "POST", "/db/_bulk_docs", #"{"docs":[{"_id":"_design/d",\#(design.dropFirst())]}"#)
        #expect(bulk.text.contains(#""error":"invalid_design_doc""#), "\(bulk.text)")
        // A replicator brings what others have.
        let brought = #"{"_rev":"1-aa",\#(design.dropFirst())"#
        #expect(try await test.ask("PUT", "/db/_design/d?new_edits=false", brought).status == 201)
        let tombstone = #"{"_rev":"1-aa","_deleted":true,\#(design.dropFirst())"#
        #expect(try await test.ask("PUT", "/db/_design/d", tombstone).status == 200)
    }

    @Test(arguments: [
        #"{"views":{"lib":{"x":"exports.y = 1"},"a":{"map":"x","reduce":"_top_3 // of all"}},"filters":{"f":"x","g":{}}}"#,
        #"{"language":"roost","views":{"a":{"map":{"emit":[]}}},"options":{"local_seq":true},"rewrites":[]}"#,
        #"{"language":"query","views":{"a":{"map":{"fields":{}},"reduce":"_count"}}}"#, #"{"n":1}"#, "{}",
    ])
    func whatCanBeIsSaved(design: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        #expect(try await test.ask("PUT", "/db/_design/d", design).status == 201)
    }
}

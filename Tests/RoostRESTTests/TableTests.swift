import RoostREST
import RoostWire
import Testing

/// Requests one after another and the answers to them: status, and a part of the body.
@Suite struct TableTests {
    private struct Step {
        let method: String
        let target: String
        var body: String?
        let status: Int
        let part: String

        init(_ method: String, _ target: String, _ status: Int, _ part: String = "") {
            self.init(method, target, nil, status, part)
        }

        init(_ method: String, _ target: String, _ body: String?, _ status: Int, _ part: String = "") {
            self.method = method
            self.target = target
            self.body = body
            self.status = status
            self.part = part
        }
    }

    private func walk(_ steps: [Step], _ test: TestRouter? = nil) async throws {
        let test = try test ?? TestRouter()
        for step in steps {
            let answer = try await test.ask(step.method, step.target, step.body)
            #expect(
                answer.status == step.status && (step.part.isEmpty || answer.text.contains(step.part)),
                "\(step.method) \(step.target): \(answer.status) \(answer.text)")
            #expect(answer.status == 304 || step.method == "HEAD" || answer.text.hasSuffix("\n"))
        }
    }

    @Test func server() async throws {
        try await walk([
            Step("GET", "/", 200, #""couchdb":"Welcome""#), Step("GET", "/_up", 200, #""status":"ok""#),
            Step("POST", "/", 405, #""reason":"Only GET,HEAD allowed""#),
            Step("GET", "/_all_dbs", 200, "[]"), Step("PUT", "/b", 201, #"{"ok":true}"#),
            Step("PUT", "/a%2Fb/", 201), Step("GET", "/_all_dbs", 200, #"["a/b","b"]"#),
            Step("GET", "/_all_dbs?startkey=%22b%22", 200, #"["b"]"#),
            Step("GET", "/_all_dbs?descending=true&limit=1", 200, #"["b"]"#),
            Step("POST", "/_dbs_info", #"{"keys":["b","zz"]}"#, 200, #"{"key":"zz","error":"not_found"}"#),
            Step("GET", "/_uuids?count=2", 200, #"{"uuids":[""#), Step("GET", "/_uuids?count=2000", 400),
            Step("GET", "/_uuids?count=x", 400, "query_parse_error"),
            Step("GET", "/_active_tasks", 200, "[]"), Step("GET", "/_membership", 200, "nonode@nohost"),
            Step("GET", "/_cluster_setup", 200, "single_node_enabled"),
            Step("GET", "/_node/_local/_config/chttpd/enable_cors", 200, #""false""#),
            Step("GET", "/_node/_local/_config/chttpd/nothing", 404, "unknown_config_value"),
            Step("PUT", "/_node/_local/_config/chttpd/enable_cors", #""true""#, 403, "forbidden"),
            Step("GET", "/_scheduler/other", 404, "missing"),
            Step("GET", "/%zz", 400, "bad_request"), Step("GET", "/b?x=%", 400, "bad_request"),
        ])
    }

    @Test func databases() async throws {
        let missing = #"{"error":"not_found","reason":"Database does not exist."}"#
        try await walk([
            Step("GET", "/db", 404, missing), Step("PUT", "/db", 201), Step("PUT", "/db", 412, "file_exists"),
            Step("PUT", "/Db", 400, "illegal_database_name"),
            Step("PUT", "/_db", 400, "illegal_database_name"),
            Step("PUT", "/d.e.f.g", 400, "illegal_database_name"),
            Step("PUT", "/p?partitioned=true", 400), Step("GET", "/db", 200, #""doc_count":0"#),
            Step("GET", "/db/", 200, #""db_name":"db""#), Step("PUT", "/db.drafts", 201),
            Step("PUT", "/db.drafts/a", "{}", 201), Step("GET", "/db/a", 404, "missing"),
            Step("GET", "/db.drafts", 200, #""doc_count":1"#), Step("GET", "/db.work.drafts", 404, missing),
            Step("PUT", "/db.work.drafts", 201), Step("DELETE", "/db.drafts", 200),
            Step("GET", "/db.drafts", 404, missing), Step("GET", "/_all_dbs", 200, #"["db"]"#),
            Step("GET", "/db/_revs_limit", 200, "1000"), Step("PUT", "/db/_revs_limit", "5", 200),
            Step("GET", "/db/_revs_limit", 200, "5"), Step("PUT", "/db/_revs_limit", "0", 400),
            Step("POST", "/db/_compact", 202), Step("POST", "/db/_compact/ddoc", 404, "missing"),
            Step("PUT", "/db/_design/ddoc", "{}", 201), Step("POST", "/db/_compact/ddoc", 202),
            Step("PUT", "/db/_security", #"{"admins":"anna"}"#, 400, "admins must be a JSON object"),
            Step("PUT", "/db/_security", #"{"admins":{"names":[1]}}"#, 400, "JSON list of strings"),
            Step("POST", "/db/_view_cleanup", 202),
            Step("POST", "/db/_ensure_full_commit", 201, #""instance_start_time":""#),
            Step("GET", "/db/_ensure_full_commit", 405), Step("GET", "/db/_nonsense", 404, "missing"),
            Step("PUT", "/db/_nonsense", "{}", 400, "illegal_docid"), Step("GET", "/Db", 404, missing),
            Step("POST", "/db/_find", "{}", 400, "missing_required_key"),
            Step("GET", "/db/_index", 200, #""name":"_all_docs""#),
            Step("POST", "/db/_temp_view", "{}", 410, "gone"), Step("GET", "/db/_partition/x", 400),
            Step("GET", "/db/_design/d/_view/v", 404, "missing"),
            Step("GET", "/db/_design/d/_show/v", 501, "_show"),
            Step("DELETE", "/db?rev=1-aa", 400), Step("DELETE", "/db", 200),
            Step("DELETE", "/db", 404, missing),
        ])
    }

    @Test func documents() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let first = try await test.put("/db/a", #"{"n":1,"_local_seq":3,"_conflicts":[]}"#)
        let second = try await test.put("/db/a?rev=\(first)", #"{"n":2}"#)
        try await walk(
            [
                Step("GET", "/db/a", 200, #"{"_id":"a","_rev":"\#(second)","n":2}"#),
                Step("GET", "/db/a?rev=\(first)", 200, #"{"_id":"a","_rev":"\#(first)","n":1}"#),
                Step("GET", "/db/a?rev=x", 400, "Invalid rev format"),
                Step("GET", "/db/a?revs=true", 200, #""_revisions":{"start":2,"ids":["#),
                Step("GET", "/db/a?revs_info=true", 200, #"{"rev":"\#(first)","status":"available"}"#),
                Step("GET", "/db/a?local_seq=true", 200, #""_local_seq":"2-"#),
                Step("GET", "/db/a?revs=maybe", 400, "query_parse_error"),
                Step("PUT", "/db/a", "{}", 409, #""reason":"Document update conflict.""#),
                Step("PUT", "/db/a?rev=\(first)", #"{"_rev":"\#(second)"}"#, 400, "different values"),
                // The ID in the address counts.
                Step("PUT", "/db/own", #"{"_id":"other"}"#, 201, #""id":"own""#),
                Step("GET", "/db/own", 200, #"{"_id":"own","#), Step("GET", "/db/other", 404),
                Step("PUT", "/db/b", #"{"_deleted":"x"}"#, 400, "Bad special document member: _deleted"),
                Step("PUT", "/db/b", #"{"_attachments":1}"#, 400, "doc_validation"),
                Step("PUT", "/db/b", "[]", 400, "must be a JSON object"),
                Step("PUT", "/db/b", "{", 400, "invalid UTF-8 JSON"),
                Step("PUT", "/db/b", #"{"_odd":1}"#, 400, "Bad special document member: _odd"),
                Step("PUT", "/db/b", #"{"_rev":"1-aa"}"#, 409),
                Step("PUT", "/db/b?batch=ok", "{}", 202, #"{"ok":true,"id":"b"}"#),
                Step("PUT", "/db/_odd", "{}", 400, "illegal_docid"), Step("GET", "/db/none", 404, "missing"),
                Step("DELETE", "/db/none?rev=1-aa", 404), Step("DELETE", "/db/a", 409),
                Step("DELETE", "/db/a?rev=\(first)", 409),
                Step("DELETE", "/db/a?rev=\(second)", 200, #""rev":"3-"#),
                Step("DELETE", "/db/a?rev=\(second)", 404, "deleted"),
                Step("DELETE", "/db/a", 404, "deleted"),
                Step("GET", "/db/a", 404, "deleted"), Step("PUT", "/db/a", #"{"n":4}"#, 201, #""rev":"4-"#),
                Step("POST", "/db", #"{"_id":"posted"}"#, 201, "posted"), Step("POST", "/db", "{}", 201),
                // Nobody posts to the place of a document.
                Step("POST", "/db/c", "{}", 405, "Only GET,HEAD,PUT,DELETE,COPY allowed"),
                Step("GET", "/db/c", 404, "missing"),
                Step("PUT", "/db/_design/d", #"{"views":{}}"#, 201, "_design/d"),
                Step("GET", "/db/_design%2Fd", 200, "_design/d"),
                Step("PUT", "/db/x%2Fy", "{}", 201, #""id":"x/y""#),
                Step("GET", "/db/x%2Fy", 200), Step("GET", "/db/x%2Fy?open_revs=1", 400),
                Step("PUT", "/db/e?new_edits=false", "{}", 400),
                Step("PUT", "/db/g?new_edits=false&rev=1-aa", #"{"n":1}"#, 201, #""rev":"1-aa""#),
                Step("PUT", "/db/g?new_edits=false&rev=1-aa", #"{"_rev":"1-bb"}"#, 400, "different values"),
                Step("PUT", "/db/g?new_edits=false&rev=1-aa", #"{"_rev":"1-odd"}"#, 400),
                Step(
                    "PUT", "/db/e?new_edits=false",
                    #"{"_rev":"2-bb","_revisions":{"start":2,"ids":["bb","aa"]},"n":1}"#,
                    201, #""rev":"2-bb""#),
                Step(
                    "PUT", "/db/e?new_edits=false",
                    #"{"_rev":"2-cc","_revisions":{"start":2,"ids":["cc","aa"]}}"#, 201),
                Step("GET", "/db/e?conflicts=true", 200, #""_conflicts":["2-bb"]"#),
                Step(
                    "PUT", "/db/disagreeing?new_edits=false",
                    #"{"_rev":"3-cc","_revisions":{"start":2,"ids":["cc","aa"]}}"#, 201, #""rev":"2-cc""#),
                Step("GET", "/db/e?meta=true&rev=2-bb", 200, #""_conflicts":["2-cc"]"#),
                Step(
                    "PUT", "/db/f?new_edits=false", #"{"_revisions":{"start":1,"ids":["bb","aa"]}}"#, 400,
                    "doc_validation"),
            ], test)
    }

    @Test func localDocuments() async throws {
        try await walk([
            Step("PUT", "/db", 201), Step("GET", "/db/_local/a", 404, "missing"),
            Step(
                "PUT", "/db/_local/a", #"{"seq":1,"_revisions":{"start":0,"ids":["1"]}}"#, 201,
                #""rev":"0-1""#),
            Step("GET", "/db/_local/a", 200, #"{"_id":"_local/a","_rev":"0-1","seq":1}"#),
            Step("GET", "/db/_local%2Fa", 200),
            Step("GET", "/db/_local/a/file", 400, "_local documents do not accept attachments."),
            Step("PUT", "/db/_local/x%2Fy", "{}", 201), Step("DELETE", "/db/_local/x%2Fy?rev=0-1", 200),
            Step("PUT", "/db/_local/a", "{}", 409),
            Step("PUT", "/db/_local/a", #"{"_rev":"0-1","seq":2}"#, 201, #""rev":"0-2""#),
            Step("GET", "/db/_local_docs", 200, #""id":"_local/a""#),
            Step("GET", "/db/_all_docs", 200, #""total_rows":0"#),
            Step("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"_local/b","x":1}]}"#, 201, #""rev":"0-1""#),
            Step("DELETE", "/db/_local/a?rev=0-1", 409), Step("DELETE", "/db/_local/a?rev=0-2", 200),
            Step("DELETE", "/db/_local/a?rev=0-2", 404),
            Step(
                "POST", "/db", #"{"_id":"_local/c","x":1}"#, 201, #"{"ok":true,"id":"_local/c","rev":"0-1"}"#),
            Step("PUT", "/db/_local/c", #"{"_rev":"0-1","_deleted":true}"#, 200, #""rev":"0-0""#),
            Step("PUT", "/db/_local/d", "{}", 201),
            Step(
                "GET", "/db/_local_docs", 200,
                "{\"total_rows\":null,\"offset\":null,\"rows\":[{\"id\":\"_local/b\","),
            Step(
                "GET", "/db/_local_docs?startkey=%22_local/c%22", 200,
                #""rows":[{"id":"_local/d","key":"_local/d","value":{"rev":"0-1"}}]}"#),
            Step("GET", "/db/_local_docs?endkey=%22_local/b%22&inclusive_end=false", 200, #""rows":[]"#),
            Step("GET", "/db/_local_docs?key=%22_local/d%22", 200, #""rows":[{"id":"_local/d""#),
            Step("GET", "/db/_local_docs?descending=true&limit=1", 200, #""rows":[{"id":"_local/d""#),
            Step("GET", "/db/_local_docs?include_docs=true&limit=1", 200, #""doc":{"_id":"_local/b""#),
            Step(
                "POST", "/db/_local_docs", #"{"keys":["_local/d","_local/none"]}"#, 200,
                #",{"key":"_local/none","error":"not_found"}]}"#),
        ])
    }

    @Test func bulk() async throws {
        let test = try TestRouter()
        try await walk(
            [
                Step("PUT", "/db", 201), Step("POST", "/db/_bulk_docs", "{}", 400, "must include `docs`"),
                Step("POST", "/db/_bulk_docs", #"{"docs":1}"#, 400, "`docs` parameter must be an array."),
                Step("POST", "/db/_bulk_docs", #"{"docs":[],"new_edits":"x"}"#, 400, "`new_edits`"),
                Step(
                    "POST", "/db/_bulk_docs", #"{"docs":[{"_id":"a"},{"_id":"a"},{"n":1}]}"#, 201,
                    #"{"id":"a","error":"conflict""#),
                Step(
                    "POST", "/db/_bulk_docs",
                    #"{"docs":[{"_id":"b","_rev":"1-bb"},{"_id":"c"}],"new_edits":false}"#, 400,
                    "the document needs `_rev` or `_revisions`"),
                Step("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"b"},{"_id":"_c"}]}"#, 400, "illegal_docid"),
                Step("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"b"},{"_id":""}]}"#, 400, "illegal_docid"),
                Step(
                    "POST", "/db/_bulk_docs",
                    #"{"docs":[{"_id":"b"},{"_id":"c","_attachments":{"f":{"stub":true,"revpos":1}}}]}"#, 412,
                    "missing_stub"),
                // Nothing of a refused request is kept.
                Step("GET", "/db/b", 404, "missing"),
                Step(
                    "POST", "/db/_bulk_docs", #"{"docs":[{"_id":"b","_rev":"1-bb"}],"new_edits":false}"#, 201,
                    "[]\n"),
                Step(
                    "POST", "/db/_revs_diff", #"{"b":["1-bb"],"n":["1-ee"],"a":["2-ff"]}"#, 200,
                    #""n":{"missing":["1-ee"]}"#),
                Step(
                    "POST", "/db/_missing_revs", #"{"b":["1-bb"],"n":["1-ee"]}"#, 200,
                    #"{"missing_revs":{"n":["1-ee"]}}"#),
                Step("POST", "/db/_revs_diff", #"{"b":["y"]}"#, 400, "Invalid rev format"),
                Step(
                    "POST", "/db/_bulk_get?revs=true",
                    #"{"docs":[{"id":"b"},{"id":"b","rev":"1-bb"},{"id":"b","rev":"1-ee"},{"id":"zz"}]}"#,
                    200,
                    #"{"id":"b","docs":[{"error":{"id":"b","rev":"1-ee","error":"not_found","reason":"missing"}}]}"#
                ),
                Step("POST", "/db/_bulk_get?rev=1-aa", #"{"docs":[]}"#, 400),
                Step(
                    "POST", "/db/_bulk_docs", #"{"all_or_nothing":true,"docs":[{"_id":"all"},{}]}"#, 417,
                    #"[{"id":"all","error":"not_implemented","reason":"all_or_nothing is not supported"},{"id":""#
                ),
                Step("GET", "/db/all", 404),
                Step(
                    "POST", "/db/_bulk_docs", #"{"all_or_nothing":false,"docs":[{"_id":"all"}]}"#, 201,
                    #""id":"all""#),
                Step("POST", "/db/_bulk_get", "{}", 400),
                Step("POST", "/db/_bulk_get", #"{"docs":[]}"#, 200, #"{"results":[]}"#),
                // What can't be asked for is told in its place.
                Step(
                    "POST", "/db/_bulk_get",
                    #"{"docs":[{"rev":"1-bb"},{"id":"b","rev":1},{"id":"_b"},7,{"id":"b","rev":"1-bb"}]}"#,
                    200,
                    #"},{"id":"b","docs":[{"ok":{"_id":"b","_rev":"1-bb"}}]}]}"#),
                Step(
                    "POST", "/db/_bulk_get", #"{"docs":[{"rev":"1-bb"}]}"#, 200,
                    #""error":"bad_request","reason":"document id missed""#),
                Step("POST", "/db/_purge", #"{"b":["1-bb","1-ee"]}"#, 201, #""purged":{"b":["1-bb"]}"#),
                Step("GET", "/db/_purged_infos", 200, #"{"id":"b","revs":["1-bb"]}"#),
                Step("GET", "/db/b", 404, "missing"),
            ], test)
        let answer = try await test.ask("POST", "/db/_bulk_get", #"{"docs":[{"id":"zz"},{"id":"a"}]}"#)
        #expect((answer["results"] as? [[String: Any]])?.map { $0["id"] as? String } == ["zz", "a"])
        let plain = try await test.ask(
            "POST", "/db/_bulk_docs", "{}", headers: ["Content-Type": "text/plain"])
        #expect(plain.status == 415 && plain.text.contains("Content-Type must be application/json"))
    }

    @Test func lists() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        for id in ["a", "b", "c", "_design/d"] { _ = try await test.put("/db/\(id)", #"{"n":1}"#) }
        func ids(_ target: String, _ body: String? = nil) async throws -> [String] {
            let answer = try await test.ask(body == nil ? "GET" : "POST", "/db/" + target, body)
            return (answer["rows"] as? [[String: Any]])?.map { $0["id"] as? String ?? "-" } ?? [answer.text]
        }
        #expect(try await ids("_all_docs") == ["_design/d", "a", "b", "c"])
        #expect(try await ids("_all_docs?startkey=%22a%22&endkey=%22b%22") == ["a", "b"])
        #expect(try await ids("_all_docs?startkey=%22a%22&endkey=%22b%22&inclusive_end=false") == ["a"])
        #expect(
            try await ids("_all_docs?descending=true&start_key=%22b%22&end_key=%22a%22&inclusive_end=false")
                == ["b"])
        #expect(try await ids("_all_docs?skip=1&limit=2") == ["a", "b"])
        #expect(try await ids("_all_docs?key=%22b%22") == ["b"])
        #expect(try await ids("_design_docs", #"{"keys":["a","_design/d"]}"#) == ["_design/d"])
        #expect(try await test.ask("GET", "/db/_all_docs?group=true").status == 400)
        #expect(try await ids("_all_docs?key=%22none%22") == [])
        #expect(try await ids("_all_docs?key=5") == [])
        #expect(try await ids("_all_docs?key=%22a%22&keys=%5B%22a%22%5D") == ["a"])
        for other in ["key", "startkey", "start_key", "endkey", "end_key"] {
            let answer = try await test.ask(
                "POST", "/db/_all_docs?\(other)=%22a%22", #"{"keys":["a","b"]}"#)
            #expect(answer.status == 400 && answer.text.contains("`keys` is incompatible with"), "\(other)")
        }
        #expect(try await test.ask("GET", "/db/_all_docs?keys=%22a%22").status == 400)
        #expect(try await ids("_all_docs?startkey=5") == ["_design/d", "a", "b", "c"])
        #expect(try await ids("_all_docs?startkey=%7B%7D") == [])
        #expect(try await ids("_all_docs", #"{"keys":["c","z","a"]}"#) == ["c", "-", "a"])
        #expect(try await ids("_all_docs", #"{"startkey":"c"}"#) == ["c"])
        #expect(try await ids("_design_docs") == ["_design/d"])
        let queries = try await test.ask(
            "POST", "/db/_all_docs/queries", #"{"queries":[{"key":"a"},{"limit":1}]}"#)
        #expect((queries["results"] as? [Any])?.count == 2)
        let documents = try await test.ask("GET", "/db/_all_docs?include_docs=true&key=%22a%22")
        #expect(documents.text.contains(#""doc":{"_id":"a","_rev":"#))
        #expect(try await test.ask("GET", "/db/_all_docs?limit=x").status == 400)
    }
}

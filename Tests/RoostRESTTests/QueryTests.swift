import Foundation
import RoostREST
import RoostWire
import Testing

/// SQL++, views and filters over the wire.
@Suite struct QueryTests {
    private static let views =
        #"""
        {"language":"roost","views":{
          "stars":{"map":{"emit":[{"key":[".stars"],"value":[".kind"]}]}},
          "sum":{"map":{"emit":[{"key":["[]",[".kind"],[".stars"]],"value":[".stars"]}]},"reduce":"_sum"}}}
        """#

    // MARK: SQL++

    /// A statement of a user who may not query all collections of the file tells nothing of the others.
    @Test func aCollectionThatMayNotBeSeenIsAnsweredAsNone() async throws {
        let test = try TestRouter()
        let keeper = UserContext(name: "kim", roles: ["keeper"])
        for name in ["db", "db.secret"] { #expect(try await test.ask("PUT", "/\(name)").status == 201) }
        try await test.ask(
            "PUT", "/db/_security", #"{"admins":{"roles":["keeper"]},"members":{"names":["mia"]}}"#)
        try await test.put("/db.secret/x", #"{"n":1}"#)
        for statement in [
            "SELECT n FROM NAME", "SELECT _.n FROM _ JOIN NAME AS o ON o.n = _.n", "SELECT n FROM NAME WHERE",
            "SELECT (SELECT n FROM NAME) FROM _",
        ] {
            for more in ["", #","explain":true"#] {
                func ask(_ name: String, as user: UserContext) async throws -> String {
                    let text = statement.replacingOccurrences(of: "NAME", with: name)
                    let answer = try await test.ask(
                        "POST", "/db/_query", #"{"statement":"\#(text)"\#(more)}"#, as: user)
                    return "\(answer.status) \(answer.text.replacingOccurrences(of: name, with: "NAME"))"
                }
                for user in [UserContext(name: "mia"), keeper] {
                    #expect(try await ask("secret", as: user) == ask("absent", as: user), "\(statement)")
                }
                #expect(try await ask("absent", as: .admin).hasPrefix("400"))
            }
        }
        let seen = try await test.ask("POST", "/db/_query", #"{"statement":"SELECT n FROM secret"}"#)
        #expect(seen.status == 200)
    }

    @Test func statementsAreAnsweredAndExplained() async throws {
        let test = try await TestRouter.stars()
        let answer = try await test.ask(
            "POST", "/db/_query",
            #"{"statement":"SELECT stars, kind FROM _ WHERE stars > $min ORDER BY stars","parameters":{"min":6}}"#
        )
        #expect(
            answer.text == """
                {"columns":["stars","kind"],"rows":[
                {"kind":"b","stars":7},
                {"kind":"a","stars":8}
                ],"documents_read":8}

                """)
        let empty = try await test.ask("POST", "/db/_query", #"{"statement":"SELECT stars FROM _ LIMIT 0"}"#)
        #expect((empty["rows"] as? [Any])?.isEmpty == true)
        let plan = try await test.ask(
            "POST", "/db/_query", #"{"statement":"SELECT stars FROM _","explain":true}"#)
        #expect(plan["columns"] as? [String] == ["stars"] && plan["plan"] != nil && plan["rows"] == nil)
        #expect((plan["text"] as? [String])?.isEmpty == false)
        let wrong = [
            "{}": "missing_required_key", #"{"statement":"DELETE FROM _"}"#: "query_parse_error",
            #"{"statement":"SELECT x FROM nowhere"}"#: "query_parse_error",
            #"{"statement":"SELECT 1","parameters":[]}"#: "bad_request",
        ]
        for (body, word) in wrong {
            let refused = try await test.ask("POST", "/db/_query", body)
            #expect(refused.status == 400 && refused["error"] as? String == word, "\(body): \(refused.text)")
        }
        #expect(try await test.ask("GET", "/db/_query").status == 405)
    }

    /// More rows than are sent at a time come once each and in order, while others write.
    @Test func manyRowsOfAStatementAreOfOneMoment() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let documents = (0..<3_000).map { #"{"_id":"\#(10_000 + $0)","stars":\#($0)}"# }
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(documents.joined(separator: ","))]}")
        let answer = try await test.ask(
            "POST", "/db/_query", #"{"statement":"SELECT stars FROM _ ORDER BY stars DESC"}"#)
        let rows = try #require(answer["rows"] as? [[String: Int]])
        #expect(rows.compactMap { $0["stars"] } == Array((0..<3_000).reversed()))
    }

    /// A statement can name the other collections of a file, which have members of their own.
    @Test func statementsReachNoCollectionBesideTheirOwn() async throws {
        let test = try await TestRouter.stars()
        let reader = UserContext(name: "mia")
        try await test.ask("PUT", "/db/_security", #"{"members":{"names":["mia"]}}"#)
        let own = #"{"statement":"SELECT stars FROM _"}"#
        #expect(try await test.ask("POST", "/db/_query", own, as: reader).status == 200)
        #expect(try await test.ask("PUT", "/db.secrets").status == 201)
        for body in [own, #"{"statement":"SELECT x FROM secrets"}"#] {
            #expect(try await test.ask("POST", "/db/_query", body, as: reader).status == 403)
        }
        #expect(try await test.ask("POST", "/db/_query", own).status == 200)
    }

    // MARK: Views

    @Test func rowsOfAView() async throws {
        let test = try await TestRouter.stars()
        _ = try await test.put("/db/_design/v", Self.views)
        let all = try await test.ask("GET", "/db/_design/v/_view/stars")
        #expect(
            all.text.hasPrefix(
                "{\"total_rows\":8,\"offset\":0,\"rows\":[\n{\"id\":\"d1\",\"key\":1,\"value\":\"b\"},\n"))
        let cases: [(String, [String])] = [
            ("startkey=3&endkey=5", ["d3", "d4", "d5"]),
            ("start_key=3&end_key=5&inclusive_end=false", ["d3", "d4"]),
            ("descending=true&startkey=3", ["d3", "d2", "d1"]), ("key=7", ["d7"]),
            ("keys=[5,2,99,5]", ["d5", "d2", "d5"]), ("skip=6", ["d7", "d8"]), ("limit=0", []),
            ("startkey=3&startkey_docid=d4", ["d4", "d5", "d6", "d7", "d8"]),
            ("skip=2&limit=1&descending=true", ["d6"]),
        ]
        for (query, ids) in cases {
            let answer = try await test.ask("GET", "/db/_design/v/_view/stars?\(query)")
            #expect(answer.status == 200 && Self.ids(answer) == ids, "\(query): \(answer.text)")
        }
        let posted = try await test.ask(
            "POST", "/db/_design/v/_view/stars", #"{"keys":[8],"include_docs":true}"#)
        #expect(posted.text.contains(#""doc":{"_id":"d8","_rev":"1-"#))
        let several = try await test.ask(
            "POST", "/db/_design/v/_view/stars/queries", #"{"queries":[{"keys":[1]},{"limit":2,"skip":1}]}"#)
        let results = try #require(several["results"] as? [[String: Any]])
        #expect(results.map { ($0["rows"] as? [Any])?.count } == [1, 2])
    }

    /// More rows than are sent at a time come once each and in order, while others write.
    @Test func manyRowsAreOfOneMoment() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let documents = (0..<1_300).map { #"{"_id":"\#(10_000 + $0)","stars":\#($0 % 3)}"# }
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(documents.joined(separator: ","))]}")
        _ = try await test.put("/db/_design/v", Self.views)
        let response = await test.router.respond(to: .get("/db/_design/v/_view/stars"), as: .admin)
        guard case .stream(let stream, _) = response.body else {
            Issue.record("\(response)")
            return
        }
        var text = try #require(try await stream.next())
        let more = (0..<600).map { #"{"_id":"\#($0)","stars":0}"# }
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(more.joined(separator: ","))]}")
        text += try await stream.collect()
        let expected = (0..<3).flatMap { key in (0..<1_300).filter { $0 % 3 == key }.map { "\(10_000 + $0)" }
        }
        #expect(
            Self.ids(
                TestRouter.Answer(status: 200, headers: [:], text: String(decoding: text, as: UTF8.self)))
                == expected)
    }

    @Test func rowsWithoutTheirPlace() async throws {
        let test = try await TestRouter.stars()
        _ = try await test.put("/db/_design/v", Self.views)
        let rows = try await test.ask("GET", "/db/_design/v/_view/stars?sorted=false&limit=2")
        #expect(rows.text.hasPrefix("{\"rows\":[\n{\"id\":\"d1\"") && Self.ids(rows) == ["d1", "d2"])
    }

    @Test func reducedRows() async throws {
        let test = try await TestRouter.stars()
        _ = try await test.put("/db/_design/v", Self.views)
        let cases = [
            ("", "{\"rows\":[\n{\"key\":null,\"value\":36}\n]}\n"),
            (
                "group_level=1",
                "{\"rows\":[\n{\"key\":[\"a\"],\"value\":20},\n{\"key\":[\"b\"],\"value\":16}\n]}\n"
            ),
            ("group=true&limit=1", "{\"rows\":[\n{\"key\":[\"a\",2],\"value\":2}\n]}\n"),
            ("startkey=[\"b\"]", "{\"rows\":[\n{\"key\":null,\"value\":16}\n]}\n"),
            ("startkey=[\"z\"]", "{\"rows\":[\n\n]}\n"),
        ]
        for (query, text) in cases {
            let answer = try await test.ask("GET", "/db/_design/v/_view/sum?\(query)")
            #expect(answer.text == text, "\(query)")
        }
        let known = try #require(try await test.ask("GET", "/db")["update_seq"] as? String)
        let answer = try await test.ask("GET", "/db/_design/v/_view/sum?update_seq=true")
        #expect(answer.text == "{\"update_seq\":\"\(known)\",\"rows\":[\n{\"key\":null,\"value\":36}\n]}\n")
        let rows = try await test.ask("GET", "/db/_design/v/_view/sum?reduce=false&limit=1")
        #expect(Self.ids(rows) == ["d2"])
    }

    @Test(arguments: [
        ("_design/none/_view/x", 404, "missing"), ("_design/v/_view/none", 404, "missing_named_view"),
        ("_design/v/_view/stars?reduce=true", 400, "`reduce` is invalid for map-only views."),
        ("_design/v/_view/stars?group=true", 400, "Invalid use of grouping on a map view."),
        ("_design/v/_view/sum?include_docs=true", 400, "`include_docs` is invalid for reduce"),
        ("_design/v/_view/sum?keys=[1,2]", 400, "Multi-key fetches for reduce views must use `group=true`"),
        ("_design/v/_view/stars?startkey=5&endkey=1", 400, "query_parse_error"),
        ("_design/v/_view/stars?limit=-1", 400, "query_parse_error"),
        ("_design/v/_view/stars?keys=1", 400, "query_parse_error"),
        ("_design/v/_view/stars?stale=maybe", 400, "query_parse_error"),
        ("_design/js/_view/x", 501, "javascript"), ("_design/v/_show/x", 501, "_show"),
        ("_design/v/_nothing", 404, "missing"),
    ])
    func refusals(target: String, status: Int, words: String) async throws {
        let test = try await TestRouter.stars()
        _ = try await test.put("/db/_design/v", Self.views)
        _ = try await test.put("/db/_design/js", #"{"views":{"x":{"map":"function (doc) { emit(1) }"}}}"#)
        let answer = try await test.ask("GET", "/db/\(target)")
        #expect(answer.status == status && answer.text.contains(words), "\(answer.text)")
    }

    @Test func informationAndCleanUp() async throws {
        let test = try await TestRouter.stars()
        let revision = try await test.put("/db/_design/v", Self.views)
        func information() async throws -> [String: Any] {
            let answer = try await test.ask("GET", "/db/_design/v/_info")
            return try #require(answer["view_index"] as? [String: Any], "\(answer.text)")
        }
        #expect(try await information()["update_seq"] as? Int == 0)
        for view in ["stars", "sum"] { try await test.ask("GET", "/db/_design/v/_view/\(view)") }
        let kept = try await information()
        #expect(kept["update_seq"] as? Int == 9 && kept["row_count"] as? Int == 16)
        #expect((kept["updates_pending"] as? [String: Int])?["total"] == 0)
        try await test.ask("DELETE", "/db/_design/v?rev=\(revision)")
        #expect(try await test.ask("POST", "/db/_view_cleanup", "").status == 202)
        _ = try await test.put("/db/_design/v", Self.views)
        #expect(try await information()["update_seq"] as? Int == 0)
    }

    private static func ids(_ answer: TestRouter.Answer) -> [String] {
        ((answer["rows"] as? [[String: Any]]) ?? []).compactMap { $0["id"] as? String }
    }

    // MARK: Filters

    @Test func changesBySelectorAndView() async throws {
        let test = try await TestRouter.stars()
        _ = try await test.put(
            "/db/_design/v",
            #"{"language":"roost","views":{"six":{"map":{"emit":[{"key":[".stars"]}],"where":[">",[".stars"],6]}}}}"#
        )
        let selected = try await test.ask(
            "POST", "/db/_changes?filter=_selector", #"{"selector":{"stars":{"$lt":3}}}"#)
        #expect(Self.changed(selected) == ["d1", "d2"])
        let viewed = try await test.ask("GET", "/db/_changes?filter=_view&view=v/six")
        #expect(Self.changed(viewed) == ["d7", "d8"], "\(viewed.text)")
        #expect(try await test.ask("GET", "/db/_changes?filter=_view").status == 400)
        #expect(try await test.ask("GET", "/db/_changes?filter=_view&view=v/none").status == 404)
        for (body, reason) in [
            ("{}", "Selector must be specified in POST payload"),
            (#"{"selector":"stars"}"#, "Selector error: expected a JSON object"),
            (#"{"selector":{"stars":{"$no":1}}}"#, "$no"),
        ] {
            let refused = try await test.ask("POST", "/db/_changes?filter=_selector", body)
            #expect(refused.status == 400 && refused["error"] as? String == "bad_request")
            #expect((refused["reason"] as? String)?.contains(reason) == true)
        }
    }

    private static func changed(_ answer: TestRouter.Answer) -> [String] {
        ((answer["results"] as? [[String: Any]]) ?? []).compactMap { $0["id"] as? String }
    }
}

import RoostREST
import RoostWire
import Testing

/// Who may do what: route by route, each kind of user, the status.
@Suite struct AccessTests {
    private static let member = UserContext(name: "mia")
    private static let databaseAdmin = UserContext(name: "dora", roles: ["keeper"])
    private static let stranger = UserContext(name: "sam")

    /// What an answer says of access: 401 and 403, else that it was let through.
    private static func access(_ answer: TestRouter.Answer) -> Int {
        [401, 403].contains(answer.status) ? answer.status : 200
    }

    private struct Route {
        let method: String
        let target: String
        var body: String? = "{}"
        /// For somebody without a name, a stranger, a member, an administrator of the database, one of the server.
        let expected: [Int]
        /// Whether a member gets there who sees no more than their channels.
        var isOfChannels = false
    }

    private static let all = [200, 200, 200, 200, 200]
    private static let members = [401, 403, 200, 200, 200]
    private static let keepers = [401, 403, 403, 200, 200]
    private static let administrators = [401, 403, 403, 403, 200]

    private static let routes: [Route] = [
        Route(method: "GET", target: "/", expected: all, isOfChannels: true),
        Route(method: "GET", target: "/_up", expected: all, isOfChannels: true),
        Route(method: "GET", target: "/_session", expected: all, isOfChannels: true),
        Route(method: "GET", target: "/_uuids", expected: all, isOfChannels: true),
        Route(method: "GET", target: "/_all_dbs", expected: administrators),
        Route(method: "GET", target: "/_dbs_info", expected: administrators),
        Route(method: "GET", target: "/_active_tasks", expected: administrators),
        Route(method: "GET", target: "/_db_updates", expected: administrators),
        Route(method: "GET", target: "/_membership", expected: administrators),
        Route(method: "GET", target: "/_cluster_setup", expected: administrators),
        Route(method: "GET", target: "/_node/_local/_config", expected: administrators),
        Route(method: "GET", target: "/_node/_local/_stats", expected: administrators),
        Route(method: "GET", target: "/_node/_local/_system", expected: administrators),
        Route(method: "GET", target: "/_node/nonode@nohost/_prometheus", expected: administrators),
        Route(method: "PUT", target: "/new", expected: administrators),
        Route(method: "DELETE", target: "/new", expected: administrators),
        Route(method: "GET", target: "/db", expected: members, isOfChannels: true),
        Route(method: "GET", target: "/db/doc", expected: members, isOfChannels: true),
        Route(method: "PUT", target: "/db/doc", expected: members, isOfChannels: true),
        Route(method: "POST", target: "/db", expected: members, isOfChannels: true),
        Route(method: "DELETE", target: "/db/doc?rev=1-aa", expected: members, isOfChannels: true),
        Route(method: "GET", target: "/db/doc/file", expected: members, isOfChannels: true),
        Route(method: "PUT", target: "/db/doc/file", expected: members, isOfChannels: true),
        Route(method: "GET", target: "/db/_all_docs", expected: members, isOfChannels: true),
        Route(method: "GET", target: "/db/_local_docs", expected: members),
        Route(method: "PUT", target: "/db/_local/x", expected: members, isOfChannels: true),
        Route(method: "GET", target: "/db/_changes", expected: members, isOfChannels: true),
        Route(method: "GET", target: "/db/_blipsync", expected: members, isOfChannels: true),
        Route(
            method: "POST", target: "/db/_bulk_docs", body: #"{"docs":[]}"#, expected: members,
            isOfChannels: true),
        Route(
            method: "POST", target: "/db/_bulk_get", body: #"{"docs":[]}"#, expected: members,
            isOfChannels: true),
        Route(method: "POST", target: "/db/_revs_diff", expected: members, isOfChannels: true),
        Route(method: "GET", target: "/db/_security", expected: members),
        Route(method: "GET", target: "/db/_revs_limit", expected: members),
        Route(method: "POST", target: "/db/_ensure_full_commit", expected: members, isOfChannels: true),
        Route(
            method: "POST", target: "/db/_query", body: #"{"statement":"SELECT 1"}"#, expected: members),
        Route(
            method: "POST", target: "/_users/_query", body: #"{"statement":"SELECT 1"}"#,
            expected: administrators),
        Route(method: "POST", target: "/db/_compact", expected: keepers),
        Route(method: "POST", target: "/db/_view_cleanup", expected: keepers),
        Route(method: "PUT", target: "/db/_revs_limit", body: "1000", expected: keepers),
        Route(method: "PUT", target: "/db/_design/d", expected: keepers),
        Route(method: "GET", target: "/db/_user", expected: keepers),
        Route(method: "PUT", target: "/db/_user/ann", expected: keepers),
        Route(method: "DELETE", target: "/db/_role/staff", expected: keepers),
        Route(method: "POST", target: "/db/_purge", expected: administrators),
        Route(method: "GET", target: "/_users", expected: administrators),
        Route(method: "GET", target: "/_users/_all_docs", expected: administrators),
        Route(method: "GET", target: "/_users/_changes", expected: administrators),
        Route(method: "GET", target: "/_users/_design/d", expected: administrators),
        Route(method: "POST", target: "/_users/_bulk_docs", body: #"{"docs":[]}"#, expected: administrators),
        Route(method: "GET", target: "/closed", expected: administrators),
        Route(method: "GET", target: "/open/doc", expected: all, isOfChannels: true),
        Route(method: "PUT", target: "/open/doc", expected: all, isOfChannels: true),
        Route(method: "PUT", target: "/open/_design/d", expected: administrators),
    ]

    @Test func everyRouteLetsInWhomItShould() async throws {
        let test = try TestRouter()
        for name in ["db", "open", "closed"] { try await test.ask("PUT", "/\(name)") }
        try await test.ask("PUT", "/open/_security", "{}")
        try await test.ask(
            "PUT", "/db/_security", #"{"admins":{"roles":["keeper"]},"members":{"names":["mia"]}}"#)
        let users = [UserContext.anonymous, Self.stranger, Self.member, Self.databaseAdmin, .admin]
        for route in Self.routes {
            var found: [Int] = []
            for user in users {
                found.append(
                    Self.access(try await test.ask(route.method, route.target, route.body, as: user)))
            }
            #expect(found == route.expected, "\(route.method) \(route.target)")
        }
    }

    /// With a sync function, members reach only what answers by channels; whoever sees everything is let in as ever.
    @Test func membersOfChannelsReachWhatAnswersByThem() async throws {
        let test = try await channelRouter()
        for name in ["open", "closed"] { try await test.ask("PUT", "/\(name)") }
        try await test.ask("PUT", "/open/_security", "{}")
        try await test.ask(
            "PUT", "/db/_security", #"{"admins":{"roles":["keeper"]},"members":{"names":["mia"]}}"#)
        for route in Self.routes {
            var found: [Int] = []
            for user in [.anonymous, Self.stranger, Self.member, Self.databaseAdmin, .admin] {
                found.append(
                    Self.access(try await test.ask(route.method, route.target, route.body, as: user)))
            }
            let title = "\(route.method) \(route.target) \(found)"
            #expect((found[2] == 200) == route.isOfChannels, "\(title)")
            #expect(found[4] == route.expected[4], "\(title)")
            // Where nobody is named a member, an administrator of another database is a member as others are.
            let isOwn = route.target.hasPrefix("/db") || route.target.hasPrefix("/_users")
            if isOwn { #expect(found[3] == route.expected[3], "\(title)") }
            for place in 0...1 where route.expected[place] != 200 || route.target.hasPrefix("/db") {
                #expect(found[place] == route.expected[place], "\(title)")
            }
        }
    }

    // MARK: Hidden documents

    /// A request about a document NAME that saves nothing.
    private struct Question {
        let method: String
        let target: String
        var body: String?
        /// Whether an administrator gets another answer for a document than for none.
        var isAboutDocuments = true
    }

    private static let questions: [Question] = {
        let revision = "1-REV"
        var questions = [
            "/db/NAME", "/db/NAME?rev=\(revision)", "/db/NAME?rev=\(revision)&latest=true",
            "/db/NAME?revs=true",
            "/db/NAME?open_revs=all", "/db/NAME?open_revs=%5B%22\(revision)%22%5D",
            "/db/NAME?attachments=true",
            "/db/NAME/vote", "/db/NAME/vote?rev=\(revision)", "/db/_all_docs?key=%22NAME%22",
            "/db/_all_docs?keys=%5B%22NAME%22%5D&include_docs=true",
            "/db/_all_docs?startkey=%22NAME%22&endkey=%22NAME%22", "/db/_design/v/_view/all?key=%22NAME%22",
            "/db/_design/v/_view/all?startkey_docid=NAME&startkey=%22NAME%22&include_docs=true&limit=1",
            "/db/_design/v/_view/sum?group=true&key=%22NAME%22", "/db/_design/v/_view/sum?key=%22NAME%22",
            "/db/_changes?filter=_doc_ids&doc_ids=%5B%22NAME%22%5D",
            "/db/_changes?filter=_doc_ids&doc_ids=%5B%22NAME%22%5D&style=all_docs&include_docs=true",
        ].map { Question(method: "GET", target: $0) }
        questions += [
            "/db/NAME/none", "/db/NAME?rev=9-aa", "/db/NAME?conflicts=true", "/db/NAME?local_seq=true",
            "/db/_local/NAME", "/db/_design/NAME", "/db/_user/NAME", "/db/_design/v/_info", "/db/_index",
        ].map { Question(method: "GET", target: $0, isAboutDocuments: false) }
        let selectors = [
            #"{"_id":"NAME"}"#, #"{"_id":{"$in":["NAME"]}}"#, #"{"_id":{"$gte":"NAME","$lte":"NAME"}}"#,
            #"{"name":"NAME"}"#, #"{"name":{"$regex":"^NAME$"}}"#, #"{"$text":"NAME"}"#,
            #"{"name":"NAME","$text":"NAME"}"#, #"{"$or":[{"name":"NAME"},{"_id":"NAME"}]}"#,
        ]
        questions += selectors.flatMap { selector in
            ["", #","sort":["name"],"limit":1"#, #","use_index":"names","execution_stats":true"#].map {
                more in
                Question(method: "POST", target: "/db/_find", body: "{\"selector\":\(selector)\(more)}")
            }
        }
        questions += selectors.map {
            Question(
                method: "POST", target: "/db/_explain", body: "{\"selector\":\($0)}", isAboutDocuments: false)
        }
        questions += [
            ("/db/_bulk_get", #"{"docs":[{"id":"NAME"}]}"#),
            ("/db/_bulk_get", #"{"docs":[{"id":"NAME","rev":"\#(revision)"}]}"#),
            ("/db/_bulk_get?latest=true&revs=true", #"{"docs":[{"id":"NAME","rev":"\#(revision)"}]}"#),
            ("/db/_revs_diff", #"{"NAME":["\#(revision)","2-aa"]}"#),
            ("/db/_missing_revs", #"{"NAME":["\#(revision)"]}"#),
            ("/db/_all_docs", #"{"keys":["NAME","NAME"],"include_docs":true}"#),
            ("/db/_design/v/_view/all", #"{"keys":["NAME"],"include_docs":true}"#),
            (
                "/db/_design/v/_view/all/queries",
                #"{"queries":[{"key":"NAME"},{"startkey":"NAME","limit":1}]}"#
            ),
            ("/db/_changes?filter=_selector", #"{"selector":{"name":"NAME"}}"#),
            ("/db/_query", #"{"statement":"SELECT name FROM _ WHERE name = 'NAME'"}"#),
        ].map { Question(method: "POST", target: $0, body: $1) }
        questions += [
            ("PUT", "/db/NAME", #"{"refused":"no"}"#),
            ("PUT", "/db/NAME?rev=\(revision)", #"{"refused":"no"}"#),
            ("PUT", "/db/NAME?rev=9-aa", "{}"), ("PUT", "/db/NAME", "5"), ("DELETE", "/db/NAME", nil),
            ("DELETE", "/db/NAME?rev=9-aa", nil), ("DELETE", "/db/NAME/vote", nil),
            ("DELETE", "/db/NAME/x?rev=9-aa", nil),
            ("PUT", "/db/NAME/vote?rev=9-aa", "x"),
            ("PUT", "/db/NAME", #"{"_attachments":{"vote":{"stub":true}}}"#),
            ("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"NAME","refused":"no"}]}"#),
            (
                "POST", "/db/_bulk_docs",
                #"{"new_edits":false,"docs":[{"_id":"NAME","_rev":"9-aa","refused":"no"}]}"#
            ),
            ("COPY", "/db/NAME", nil), ("POST", "/db/_purge", #"{"NAME":["9-aa"]}"#),
        ].map { Question(method: $0, target: $1, body: $2, isAboutDocuments: false) }
        return questions
    }()

    /// Status, error and all of the text are the same for a document that is hidden as for none, whatever is asked; and the same work is
    /// done: of the hidden document nothing is read, so it does not matter that it can't be.
    @Test(arguments: [false, true]) func aHiddenDocumentIsAnsweredAsNone(isUnreadable: Bool) async throws {
        var test = try await channelRouter()
        let view = #"""
            {"language":"roost","views":{"all":{"map":{"emit":[{"key":[".name"],"value":[".link"]}]}},
              "sum":{"map":{"emit":[{"key":[".name"],"value":1}]},"reduce":"_sum"}}}
            """#
        try await test.put("/db/_design/v", view)
        try await test.ask(
            "POST", "/db/_index", #"{"index":{"fields":["name"]},"ddoc":"names","name":"names"}"#)
        let collection = try #require(try test.router.databases.database("db")).defaultCollection
        try collection.createTextIndex("words", on: "name")
        try await test.put("/db/seen", #"{"channels":["!"],"name":"seen","link":{"_id":"other"}}"#)
        try await test.put("/db/other", #"{"channels":["board"],"name":"other"}"#)
        let marker = String((0..<64).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "a" })
        let revision = try await test.put(
            "/db/hidden",
            #"{"channels":["board"],"name":"hidden","marker":"\#(marker)","_attachments":{"vote":{"data":"eWVz"}}}"#
        )
        try await test.ask(
            "PUT", "/db/_security", #"{"admins":{"roles":["keeper"]},"members":{"names":["mia"]}}"#)
        // Indexes and views are built by who may see everything.
        for question in Self.questions where question.isAboutDocuments {
            _ = try await Self.ask(question, "hidden", revision, test, as: .admin)
        }
        if isUnreadable { test = try await test.damaged(at: marker) }
        var told = 0
        for question in Self.questions {
            for user in [UserContext.anonymous, Self.stranger, Self.member] {
                let answers = try await [
                    Self.ask(question, "hidden", revision, test, as: user),
                    Self.ask(question, "absent", revision, test, as: user),
                ]
                #expect(
                    answers[0] == answers[1], "\(question.method) \(question.target) \(question.body ?? "")")
                #expect(!answers[0].hasPrefix("500"), "\(question.method) \(question.target): \(answers[0])")
            }
            guard !isUnreadable, question.isAboutDocuments else { continue }
            for user in [Self.databaseAdmin, .admin] {
                let answers = try await [
                    Self.ask(question, "hidden", revision, test, as: user),
                    Self.ask(question, "absent", revision, test, as: user),
                ]
                #expect(
                    answers[0] != answers[1], "\(question.method) \(question.target) \(question.body ?? "")")
                told += 1
            }
        }
        #expect(isUnreadable || told > 50)
        #expect(try await test.ask("GET", "/db/absent").status == 404)
        #expect(try await test.ask("GET", "/db/hidden").status == (isUnreadable ? 500 : 200))
    }

    /// Status and text of an answer, without the document's name.
    private static func ask(
        _ question: Question, _ name: String, _ revision: String, _ test: TestRouter, as user: UserContext
    ) async throws -> String {
        func filled(_ text: String) -> String {
            text.replacingOccurrences(of: "NAME", with: name).replacingOccurrences(
                of: "1-REV", with: revision)
        }
        let answer = try await test.ask(
            question.method, filled(question.target), question.body.map(filled),
            headers: ["Destination": "copied", "Accept": "application/json"], as: user)
        return "\(answer.status) \(answer.headers["ETag"] ?? "") "
            + answer.text.replacingOccurrences(of: name, with: "NAME")
    }

    @Test func designDocumentsInBulkNeedAnAdministrator() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/open")
        try await test.ask("PUT", "/open/_security", "{}")
        let answer = try await test.ask(
            "POST", "/open/_bulk_docs", #"{"docs":[{"_id":"_design/d"},{"_id":"a"}]}"#, as: Self.stranger)
        #expect(
            answer.text.contains(#"{"id":"_design/d","error":"forbidden""#)
                && answer.text.contains(#""id":"a","rev""#))
        #expect(try await test.ask("PUT", "/open/_security", "{}", as: Self.stranger).status == 403)
        #expect(try await test.ask("PUT", "/open/_security", #"{"admins":{"names":5}}"#).status == 400)
    }

    /// What `members` were called once keeps others out as well, and counts where there are no members only.
    @Test func readersAreMembers() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/old")
        let readers = #""readers":{"names":["mia"],"roles":[]}"#
        let guest = UserContext(name: nil, roles: [])
        let (mia, ann) = (UserContext(name: "mia", roles: []), UserContext(name: "ann", roles: []))
        func statuses() async throws -> [Int] {
            var statuses: [Int] = []
            for user in [mia, ann, guest] {
                statuses.append(try await test.ask("GET", "/old/_all_docs", as: user).status)
            }
            return statuses
        }
        #expect(try await test.ask("PUT", "/old/_security", "{\(readers)}").status == 200)
        #expect(try await statuses() == [200, 403, 401])
        let both = #"{"members":{"names":["ann"]},\#(readers)}"#
        #expect(try await test.ask("PUT", "/old/_security", both).status == 200)
        #expect(try await statuses() == [403, 200, 401])
        #expect(try await test.ask("PUT", "/old/_security", #"{"readers":{"names":"mia"}}"#).status == 400)
    }

    @Test func validationsOfTheAppAreAskedOfEveryWayIn() async throws {
        let test = try TestRouter { _, hooks in
            hooks.validations["author"] = { new, old, user in
                if new["author"].string != user.name { throw ValidationFailure.forbidden("sign as yourself") }
                if old?["locked"].bool == true { throw ValidationFailure.unauthorized("locked") }
            }
        }
        try await test.ask("PUT", "/db")
        try await test.ask("PUT", "/db/_security", "{}")
        let good = #"{"author":"mia","locked":true}"#
        let refused = try await test.ask("PUT", "/db/a", "{}", as: Self.member)
        #expect(refused.status == 403 && refused.text.contains(#""reason":"sign as yourself""#))
        let saved = try await test.ask("PUT", "/db/a", good, as: Self.member)
        let revision = try #require(saved["rev"] as? String)
        #expect(try await test.ask("PUT", "/db/a?rev=\(revision)", good, as: Self.member).status == 401)
        #expect(try await test.ask("PUT", "/db/a/file?rev=\(revision)", "x", as: Self.member).status == 401)
        #expect(try await test.ask("DELETE", "/db/a?rev=\(revision)", as: Self.member).status == 403)
        let bulk = try await test.ask(
            "POST", "/db/_bulk_docs", #"{"docs":[{"_id":"b"},{"_id":"c","author":"mia"}]}"#, as: Self.member)
        #expect(bulk.text.contains(#"{"id":"b","error":"forbidden","reason":"sign as yourself"}"#))
        let replicated = try await test.ask(
            "POST", "/db/_bulk_docs", #"{"docs":[{"_id":"d","_rev":"1-aa"}],"new_edits":false}"#,
            as: Self.member)
        #expect(replicated.text.contains(#""error":"forbidden""#))
        #expect(try await test.ask("GET", "/db/d").status == 404)
    }
}

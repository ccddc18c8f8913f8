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
    }

    private static let all = [200, 200, 200, 200, 200]
    private static let members = [401, 403, 200, 200, 200]
    private static let keepers = [401, 403, 403, 200, 200]
    private static let administrators = [401, 403, 403, 403, 200]

    private static let routes: [Route] = [
        Route(method: "GET", target: "/", expected: all), Route(method: "GET", target: "/_up", expected: all),
        Route(method: "GET", target: "/_session", expected: all),
        Route(method: "GET", target: "/_uuids", expected: all),
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
        Route(method: "GET", target: "/db", expected: members),
        Route(method: "GET", target: "/db/doc", expected: members),
        Route(method: "PUT", target: "/db/doc", expected: members),
        Route(method: "POST", target: "/db", expected: members),
        Route(method: "DELETE", target: "/db/doc?rev=1-aa", expected: members),
        Route(method: "GET", target: "/db/doc/file", expected: members),
        Route(method: "PUT", target: "/db/doc/file", expected: members),
        Route(method: "GET", target: "/db/_all_docs", expected: members),
        Route(method: "GET", target: "/db/_local_docs", expected: members),
        Route(method: "PUT", target: "/db/_local/x", expected: members),
        Route(method: "GET", target: "/db/_changes", expected: members),
        Route(method: "POST", target: "/db/_bulk_docs", body: #"{"docs":[]}"#, expected: members),
        Route(method: "POST", target: "/db/_bulk_get", body: #"{"docs":[]}"#, expected: members),
        Route(method: "POST", target: "/db/_revs_diff", expected: members),
        Route(method: "GET", target: "/db/_security", expected: members),
        Route(method: "GET", target: "/db/_revs_limit", expected: members),
        Route(method: "POST", target: "/db/_ensure_full_commit", expected: members),
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
        Route(method: "GET", target: "/open/doc", expected: all),
        Route(method: "PUT", target: "/open/doc", expected: all),
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

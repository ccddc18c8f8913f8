import Fleece
import Foundation
import Roost
import RoostREST
import RoostWire
import Testing

/// What a sync function decides on writes, by the router.
@Suite struct ChannelWritingTests {
    @Test func theFunctionIsAskedAboutEveryWrite() async throws {
        let router = try await channelRouter()
        let refused = #"{"refused":"not this"}"#
        let revision = try await router.put("/db/mine", #"{"channels":["!"],"owner":"ann"}"#)
        try await router.put("/db/source", #"{"channels":["!"],"owner":"bob"}"#)
        let writes = [
            ("PUT", "/db/a", refused), ("POST", "/db", refused),
            ("PUT", "/db/a?new_edits=false", #"{"_rev":"1-a","refused":"not this"}"#),
            ("PUT", "/db/mine?rev=\(revision)", "{}"), ("DELETE", "/db/mine?rev=\(revision)", nil),
            ("PUT", "/db/mine/file?rev=\(revision)", "text"),
        ]
        for (method, target, body) in writes {
            let answer = try await router.ask(method, target, body, as: bob)
            #expect(answer.status == 403 && answer["error"] as? String == "forbidden", "\(method) \(target)")
        }
        let copy = try await router.ask(
            "COPY", "/db/source", headers: ["Destination": "mine?rev=\(revision)"], as: bob)
        #expect(copy.status == 403 && copy["reason"] as? String == "wrong user")
        for edits in ["true", "false"] {
            let bulk = try await router.ask(
                "POST", "/db/_bulk_docs",
                #"{"new_edits":\#(edits),"docs":[{"_id":"b","_rev":"1-a","refused":"no"},{"_id":"c","_rev":"1-a","refused":"no"}]}"#,
                as: bob)
            #expect(
                bulk.text.components(separatedBy: "forbidden").count == 3 || edits == "true", "\(bulk.text)")
        }
        #expect(try await router.ask("GET", "/db/a").status == 404)
        #expect(try await router.ask("GET", "/db/b").status == 404)
        // A history that was made up changes nothing in who is asked for.
        let takeover = try await router.ask(
            "POST", "/db/_bulk_docs",
            #"{"new_edits":false,"docs":[{"_id":"mine","_rev":"99-aa","channels":["!"],"owner":"bob"}]}"#,
            as: bob)
        #expect(takeover.text.contains("wrong user"))
        #expect(try await router.ask("GET", "/db/mine")["owner"] as? String == "ann")
        #expect(try await router.ask("DELETE", "/db/mine?rev=\(revision)", as: ann).status == 200)
    }

    @Test func requirementsLookAtWhatTheUserHas() async throws {
        let router = try await channelRouter()
        let (role, access) = (#"{"needsRole":"role:staff"}"#, #"{"needsAccess":"news"}"#)
        #expect(try await router.ask("PUT", "/db/a", role, as: ann)["reason"] as? String == "missing role")
        #expect(
            try await router.ask("PUT", "/db/b", access, as: ann)["reason"] as? String
                == "missing channel access")
        let grant = try await router.put(
            "/db/grant", #"{"roles":{"ann":["staff"]},"access":{"role:staff":["news"]}}"#)
        #expect(try await router.ask("PUT", "/db/a", role, as: ann).status == 201)
        #expect(try await router.ask("PUT", "/db/b", access, as: ann).status == 201)
        #expect(try await router.ask("PUT", "/db/c", role, as: bob).status == 403)
        // The account's roles count, too.
        let staff = UserContext(name: "bob", roles: ["staff"])
        #expect(try await router.ask("PUT", "/db/d", access, as: staff).status == 201)
        try await router.ask("DELETE", "/db/grant?rev=\(grant)")
        #expect(try await router.ask("PUT", "/db/e", role, as: ann).status == 403)
        #expect(try await router.ask("PUT", "/db/f", access, as: staff).status == 403)
    }

    /// Who wrote without a network sends a room after the messages in it where it was edited later.
    @Test(arguments: [true, false]) func whatGivesAccessMayComeBehindWhatNeedsIt(edits: Bool) async throws {
        let router = try await channelRouter()
        let revision = edits ? "" : #""_rev":"1-aa","#
        let documents = [
            #"{"_id":"m1",\#(revision)"channels":["a"],"needsAccess":"a"}"#,
            #"{"_id":"m2",\#(revision)"channels":["b"],"needsAccess":"b"}"#,
            #"{"_id":"room",\#(revision)"channels":["a"],"access":{"ann":["a"]}}"#,
        ]
        let answer = try await router.ask(
            "POST", "/db/_bulk_docs",
            #"{"new_edits":\#(edits),"docs":[\#(documents.joined(separator: ","))]}"#, as: ann)
        let rows = try #require(answer.json as? [[String: Any]])
        #expect(rows.filter { $0["error"] as? String == "forbidden" }.map { $0["id"] as? String } == ["m2"])
        #expect(rows.compactMap { $0["id"] as? String } == (edits ? ["m1", "m2", "room"] : ["m2"]))
        for (id, status) in [("m1", 200), ("m2", 404), ("room", 200)] {
            #expect(try await router.ask("GET", "/db/\(id)", as: ann).status == status)
        }
    }

    @Test func namesThatLookTheSameAreDifferent() async throws {
        let router = try await channelRouter()
        try await router.put("/db/grant", #"{"access":{"role:staff":["a"],"jos\u00e9":["a"]}}"#)
        try await router.put("/db/doc", #"{"channels":["a"],"owner":"jos\u00e9"}"#)
        // An account called as the grants call a role is not the role.
        #expect(try await router.ask("GET", "/db/doc", as: UserContext(name: "role:staff")).status == 404)
        #expect(try await router.ask("GET", "/db/doc", as: UserContext(name: "jos\u{e9}")).status == 200)
        let other = UserContext(name: "jose\u{301}", roles: ["staff"])
        #expect(try await router.ask("GET", "/db/doc", as: UserContext(name: "jose\u{301}")).status == 404)
        let revision = try #require(try await router.ask("GET", "/db/doc", as: other)["_rev"] as? String)
        let edit = try await router.ask("PUT", "/db/doc?rev=\(revision)", "{}", as: other)
        #expect(edit["reason"] as? String == "wrong user")
        #expect(try await router.ask("PUT", "/db/x", #"{"channels":["e\u0301"]}"#).status == 500)
    }

    @Test func everybodyHasAChannelOfTheirOwn() async throws {
        let router = try await channelRouter()
        try await router.put("/db/note", #"{"channels":["user:ann"]}"#)
        try await router.put("/db/other", #"{"channels":["user:jos\u00e9"]}"#)
        #expect(try await router.ask("GET", "/db/note", as: ann).status == 200)
        #expect(try await changes(router, ann).map(\.id) == ["note"])
        #expect(try await router.ask("PUT", "/db/a", #"{"needsAccess":"user:ann"}"#, as: ann).status == 201)
        #expect(try await router.ask("PUT", "/db/b", #"{"needsAccess":"user:ann"}"#, as: bob).status == 403)
        for name in ["bob", "user:ann", "", "ANN"] {
            #expect(try await router.ask("GET", "/db/note", as: UserContext(name: name)).status == 404)
        }
        #expect(try await router.ask("GET", "/db/other", as: UserContext(name: "jos\u{e9}")).status == 200)
        #expect(try await router.ask("GET", "/db/other", as: UserContext(name: "jose\u{301}")).status == 404)
    }

    @Test func aNameThatIsTooLongRefusesTheDocument() async throws {
        let router = try await channelRouter()
        let name = String(repeating: "x", count: 201)
        for body in [#"{"channels":["\#(name)"]}"#, #"{"access":{"ann":[""]}}"#] {
            #expect(try await router.ask("PUT", "/db/doc", body).status == 500)
        }
        #expect(try await router.ask("GET", "/db/doc").status == 404)
    }
}

import Foundation
import RoostREST
import RoostWire
import Testing

/// What an administrator gives users and roles, in the form of Sync Gateway.
@Suite struct PrincipalTests {
    @Test func channelsOfAnAdministratorAreSeen() async throws {
        let router = try await channelRouter()
        for id in ["a1", "a2"] { try await router.put("/db/\(id)", #"{"channels":["a"]}"#) }
        let before = try await feed(router, ann)
        #expect(before.rows.isEmpty)
        let made = try await router.ask("PUT", "/db/_user/ann", #"{"admin_channels":["a"]}"#)
        #expect(made.status == 201, "\(made.text)")
        let given = try await feed(router, ann, since: before.last)
        #expect(given.rows.map(\.id) == ["a1", "a2"])
        #expect(try await feed(router, bob).rows.isEmpty)

        let changed = try await router.ask("PUT", "/db/_user/ann", #"{"admin_channels":["b"]}"#)
        #expect(changed.status == 200)
        let taken = try await feed(router, ann, since: given.last)
        #expect(taken.rows.map(\.id) == ["a1", "a2"] && taken.rows.allSatisfy(\.isRevoked))
    }

    /// What documents give and what an administrator gives are kept apart.
    @Test func whatSeveralGiveIsHeldUntilNobodyGivesIt() async throws {
        let router = try await channelRouter()
        try await router.put("/db/doc", #"{"channels":["a"]}"#)
        let grant = try await router.put("/db/grant", #"{"access":{"ann":["a"]}}"#)
        try await router.ask("PUT", "/db/_user/ann", #"{"admin_channels":["a"]}"#)
        try await router.ask("DELETE", "/db/grant?rev=\(grant)")
        #expect(try await router.ask("GET", "/db/doc", as: ann).status == 200)
        #expect(try await router.ask("DELETE", "/db/_user/ann").status == 200)
        #expect(try await router.ask("GET", "/db/doc", as: ann).status == 404)
    }

    @Test func rolesBringTheirChannels() async throws {
        let router = try await channelRouter()
        try await router.put("/db/doc", #"{"channels":["a"]}"#)
        try await router.ask("POST", "/db/_role", #"{"name":"staff","admin_channels":["a"]}"#)
        #expect(try await router.ask("GET", "/db/doc", as: ann).status == 404)
        try await router.ask("PUT", "/db/_user/ann", #"{"admin_roles":["staff"]}"#)
        #expect(try await router.ask("GET", "/db/doc", as: ann).status == 200)

        let user = try await router.ask("GET", "/db/_user/ann")
        #expect(
            user.text
                == #"{"name":"ann","admin_channels":[],"admin_roles":["staff"],"all_channels":["!","a","user:ann"],"#
                + "\"roles\":[\"staff\"]}\n")
        let role = try await router.ask("GET", "/db/_role/staff")
        #expect(role.text == "{\"name\":\"staff\",\"admin_channels\":[\"a\"],\"all_channels\":[\"a\"]}\n")
        #expect(try await router.ask("GET", "/db/_user/").text == "[\"ann\"]\n")
        #expect(try await router.ask("GET", "/db/_role/").text == "[\"staff\"]\n")
        // A list that is not named stays as it is.
        try await router.ask("PUT", "/db/_user/ann", #"{"admin_channels":["b"]}"#)
        #expect(try await router.ask("GET", "/db/doc", as: ann).status == 200)
        #expect(try await router.ask("DELETE", "/db/_role/staff").status == 200)
        #expect(try await router.ask("GET", "/db/doc", as: ann).status == 404)
    }

    @Test func aPasswordMakesAnAccount() async throws {
        let router = try await channelRouter()
        try await router.put("/db/doc", #"{"channels":["a"]}"#)
        for password in ["old", "new"] {
            let body = #"{"name":"dan","password":"\#(password)","admin_channels":["a"]}"#
            #expect(try await router.ask("PUT", "/db/_user/dan", body).status < 300)
            let seen = try await router.askAsListener("GET", "/db/doc", headers: basic("dan", password))
            #expect(seen.status == 200, "\(seen.text)")
        }
        let late = try await router.askAsListener("GET", "/db/doc", headers: basic("dan", "old"))
        #expect(late.status == 401)
        let account = try await router.ask("GET", "/_users/org.couchdb.user:dan")
        #expect(!account.text.contains("\"new\""))
        // An administrator of one database makes no accounts.
        let keeper = UserContext(name: "kim", roles: ["keeper"])
        let refused = try await router.ask("PUT", "/db/_user/eve", #"{"password":"x"}"#, as: keeper)
        #expect(refused.status == 403, "\(refused.text)")
        #expect(
            try await router.ask("PUT", "/db/_user/eve", #"{"admin_channels":["a"]}"#, as: keeper).status
                == 201)
    }

    @Test(arguments: [
        ("PUT", "/db/_user/ann", #"{"name":"bob"}"#, 400),
        ("PUT", "/db/_user/ann", #"{"admin_channels":"a"}"#, 400),
        ("PUT", "/db/_user/ann", #"{"admin_channels":[1]}"#, 400),
        ("PUT", "/db/_user/ann", #"{"admin_channels":[""]}"#, 400),
        ("PUT", "/db/_user/ann", #"{"channels":["a"]}"#, 400),
        ("PUT", "/db/_user/ann", #"{"disabled":true}"#, 501),
        ("PUT", "/db/_role/staff", #"{"admin_roles":["a"]}"#, 400),
        ("PUT", "/db/_role/staff", #"{"password":"a"}"#, 400),
        ("POST", "/db/_user", #"{"admin_channels":["a"]}"#, 400),
        ("PUT", "/db/_user/\(String(repeating: "n", count: 201))", "{}", 400),
        ("GET", "/db/_user/nobody", nil, 404), ("DELETE", "/db/_user/nobody", nil, 404),
        ("PUT", "/db/_user", "{}", 405), ("POST", "/db/_user/ann", "{}", 405),
    ])
    func whatIsWrongIsRefused(method: String, target: String, body: String?, status: Int) async throws {
        let router = try await channelRouter()
        let answer = try await router.ask(method, target, body)
        #expect(answer.status == status, "\(answer.text)")
        #expect(try await router.ask("GET", "/db/_user").text == "[]\n")
    }

    @Test func withoutASyncFunctionThereAreNone() async throws {
        let router = try TestRouter()
        try await router.ask("PUT", "/db")
        #expect(try await router.ask("GET", "/db/_user").status == 501)
    }
}

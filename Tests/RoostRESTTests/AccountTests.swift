import Foundation
import RoostREST
import RoostWire
import Testing

/// Names, passwords, sessions, and pages of other origins.
@Suite struct AccountTests {
    private func filled() async throws -> TestRouter {
        let test = try TestRouter { options, _ in
            options.admins = ["anna": "secret"]
            options.origins = ["https://app.example.org"]
        }
        try await test.ask("PUT", "/open")
        try await test.ask("PUT", "/open/_security", "{}")
        let user = #"{"type":"user","name":"mia","roles":["reader"],"password":"pw:1"}"#
        #expect(try await test.ask("PUT", "/_users/org.couchdb.user:mia", user).status == 201)
        return test
    }

    @Test func namesAndPasswordsAreChecked() async throws {
        let test = try await filled()
        let admin = try await test.askAsListener("GET", "/_session", headers: basic("anna", "secret"))
        #expect(admin.text.contains(#""userCtx":{"name":"anna","roles":["_admin"]}"#))
        let user = try await test.askAsListener("GET", "/_session", headers: basic("mia", "pw:1"))
        #expect(user.text.contains(#""userCtx":{"name":"mia","roles":["reader"]}"#))
        #expect(user.text.contains(#""authenticated":"default""#))
        #expect(try await test.askAsListener("GET", "/_session").text.contains(#""name":null"#))
        let asked = try await test.askAsListener("GET", "/_session?basic=true")
        #expect(asked.status == 401 && asked.text.contains("Please login."))
        let known = try await test.askAsListener(
            "GET", "/_session?basic=true", headers: basic("mia", "pw:1"))
        #expect(known.status == 200)
        for (name, password) in [("anna", "wrong"), ("mia", "wrong"), ("nobody", "x"), ("", "")] {
            let answer = try await test.askAsListener("GET", "/open", headers: basic(name, password))
            #expect(answer.status == 401 && answer.text.contains("Name or password is incorrect."))
        }
        let odd = try await test.askAsListener("GET", "/open", headers: ["Authorization": "Basic !"])
        #expect(odd.status == 401)
    }

    @Test func passwordsAreNotKept() async throws {
        let test = try await filled()
        let document = try await test.ask("GET", "/_users/org.couchdb.user:mia")
        #expect(!document.text.contains("pw:1") && document.text.contains(#""password_scheme":"pbkdf2""#))
        let own = UserContext(name: "mia", roles: ["reader"])
        #expect(try await test.ask("GET", "/_users/org.couchdb.user:mia", as: own).status == 200)
        #expect(try await test.ask("GET", "/_users/org.couchdb.user:other", as: own).status == 404)
        let revision = try #require(document["_rev"] as? String)
        func change(_ body: String) async throws -> Int {
            try await test.ask("PUT", "/_users/org.couchdb.user:mia?rev=\(revision)", body, as: own).status
        }
        #expect(try await change(#"{"type":"user","name":"mia","roles":["boss"],"password":"new"}"#) == 403)
        #expect(try await change(#"{"type":"user","name":"eve","roles":["reader"],"password":"new"}"#) == 403)
        #expect(try await change(#"{"type":"user","name":"mia","roles":["reader"],"password":"new"}"#) == 201)
        #expect(try await test.askAsListener("GET", "/open", headers: basic("mia", "new")).status == 200)
        #expect(try await test.askAsListener("GET", "/open", headers: basic("mia", "pw:1")).status == 401)
        let system = #"{"type":"user","name":"x","roles":["_admin"],"password":"x"}"#
        #expect(try await test.ask("PUT", "/_users/org.couchdb.user:x", system).status == 403)
        let bulk =
            #"{"docs":[{"_id":"org.couchdb.user:y","type":"user","name":"y","roles":[],"password":"sesame"}]}"#
        try await test.ask("POST", "/_users/_bulk_docs", bulk)
        #expect(try await !test.ask("GET", "/_users/org.couchdb.user:y").text.contains("sesame"))
    }

    /// As CouchDB 3.5 says it. With a colon in it a name could not log in by Basic.
    @Test(arguments: [
        ("x", #"{"type":"user","name":"x","roles":[]}"#, "Doc ID must be of the form org.couchdb.user:name"),
        ("org.couchdb.user:x", #"{"name":"x","roles":[]}"#, "doc.type must be user"),
        ("org.couchdb.user:x", #"{"type":"user","roles":[]}"#, "doc.name is required"),
        (
            "org.couchdb.user:x", #"{"type":"user","name":"y","roles":[]}"#,
            "Doc ID must be of the form org.couchdb.user:name"
        ),
        ("org.couchdb.user:x", #"{"type":"user","name":"x"}"#, "doc.roles must exist"),
        ("org.couchdb.user:x", #"{"type":"user","name":"x","roles":"y"}"#, "doc.roles must be an array"),
        (
            "org.couchdb.user:x", #"{"type":"user","name":"x","roles":[1]}"#,
            "doc.roles can only contain strings"
        ),
        (
            "org.couchdb.user:x:y", #"{"type":"user","name":"x:y","roles":[]}"#,
            "Character `:` is not allowed in usernames."
        ),
    ])
    func accountsThatCanBeNone(id: String, body: String, reason: String) async throws {
        let answer = try await filled().ask("PUT", "/_users/\(id)", body)
        #expect(answer.status == 403 && answer["reason"] as? String == reason, "\(answer.text)")
    }

    @Test func fiveWrongPasswordsLockANameForThatAddress() async throws {
        let test = try await filled()
        for _ in 0..<5 {
            #expect(try await test.askAsListener("GET", "/open", headers: basic("anna", "x")).status == 401)
        }
        #expect(try await test.askAsListener("GET", "/open", headers: basic("anna", "secret")).status == 403)
        let elsewhere = try await test.askAsListener(
            "GET", "/open", headers: basic("anna", "secret"), peer: "192.0.2.2")
        #expect(elsewhere.status == 200)
    }

    @Test func sessionsBeginAndEnd() async throws {
        let test = try await filled()
        let login = try await test.askAsListener("POST", "/_session", #"{"name":"mia","password":"pw:1"}"#)
        #expect(
            login.status == 200 && login.text == "{\"ok\":true,\"name\":\"mia\",\"roles\":[\"reader\"]}\n")
        let cookie = try #require(login.headers["Set-Cookie"])
        #expect(cookie.hasPrefix("AuthSession=") && cookie.contains("HttpOnly") && cookie.contains("Path=/"))
        let value = String(cookie.prefix { $0 != ";" })
        let session = try await test.askAsListener("GET", "/_session", headers: ["Cookie": "a=b; \(value)"])
        #expect(
            session.text.contains(#""name":"mia""#) && session.text.contains(#""authenticated":"cookie""#))
        // Also those that base64 takes for the same bytes.
        let ends = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".filter {
            $0 != value.last
        }
        let forged = ends.map { String(value.dropLast()) + String($0) }
        for cookie in forged + ["AuthSession=", "AuthSession=bWlhOjE6MA", "AuthSession=!", "\(value)="] {
            let answer = try await test.askAsListener("GET", "/_session", headers: ["Cookie": cookie])
            #expect(answer.text.contains(#""name":null"#), "\(cookie)")
        }
        let form = try await test.askAsListener(
            "POST", "/_session", "name=mia&password=pw%3A1",
            headers: ["Content-Type": "application/x-www-form-urlencoded"])
        #expect(form.status == 200)
        let wrong = try await test.askAsListener("POST", "/_session", #"{"name":"mia","password":"x"}"#)
        #expect(wrong.status == 401 && wrong.headers["Set-Cookie"]?.contains("Max-Age=0") == true)
        #expect(try await test.askAsListener("POST", "/_session", "{}").status == 400)
        let logout = try await test.askAsListener("DELETE", "/_session", headers: ["Cookie": value])
        #expect(logout.headers["Set-Cookie"]?.contains("Max-Age=0") == true)
    }

    @Test func aSessionEndsByItself() async throws {
        let test = try await filled()
        let login = try await test.askAsListener("POST", "/_session", #"{"name":"anna","password":"secret"}"#)
        let cookie = String(try #require(login.headers["Set-Cookie"]).prefix { $0 != ";" })
        func user(sessionDuration: Int) async throws -> String {
            var options = RouterOptions()
            options.admins = ["anna": "secret"]
            options.sessionDuration = sessionDuration
            let router = Router(try DatabaseDirectory(test.directory), options: options)
            var request = HTTPRequest("GET", "/_session", headers: ["Cookie": cookie])
            request.peer = "192.0.2.1"
            return try await TestRouter.read(await router.respond(to: request)).text
        }
        #expect(try await user(sessionDuration: 600).contains(#""name":"anna""#))
        #expect(try await user(sessionDuration: 0).contains(#""name":null"#))
    }

    /// Replicators keep their sessions when the server starts again; a changed password ends them.
    @Test func sessionsOutliveTheServerButNotThePassword() async throws {
        let test = try await filled()
        func session(_ body: String) async throws -> HTTPHeaders {
            let login = try await test.askAsListener("POST", "/_session", body)
            let field = try #require(login.headers["Set-Cookie"])
            return ["Cookie": String(field.prefix { $0 != ";" })]
        }
        let admin = try await session(#"{"name":"anna","password":"secret"}"#)
        func restarted(_ password: String) async throws -> String {
            var options = RouterOptions()
            options.admins = ["anna": password]
            let router = Router(try DatabaseDirectory(test.directory), options: options)
            var request = HTTPRequest("GET", "/_session", headers: admin)
            request.peer = "192.0.2.1"
            return try await TestRouter.read(await router.respond(to: request)).text
        }
        #expect(try await restarted("secret").contains(#""name":"anna""#))
        #expect(try await restarted("other").contains(#""name":null"#))

        let mia = try await session(#"{"name":"mia","password":"pw:1"}"#)
        #expect(
            try await test.askAsListener("GET", "/_session", headers: mia).text.contains(#""name":"mia""#))
        let document = try await test.ask("GET", "/_users/org.couchdb.user:mia")
        let revision = try #require(document["_rev"] as? String)
        _ = try await test.put(
            "/_users/org.couchdb.user:mia?rev=\(revision)",
            #"{"type":"user","name":"mia","roles":["reader"],"password":"new"}"#)
        #expect(try await test.askAsListener("GET", "/_session", headers: mia).text.contains(#""name":null"#))
        let file = try FileManager.default.attributesOfItem(atPath: test.directory + "/session-secret")
        #expect(file[.posixPermissions] as? Int == 0o600)
    }

    @Test func pagesOfOtherOriginsAskWhatIsPermitted() async throws {
        let test = try await filled()
        let listed: HTTPHeaders = ["Origin": "https://app.example.org"]
        var preflight = listed
        preflight["Access-Control-Request-Method"] = "PUT"
        let permitted = try await test.askAsListener("OPTIONS", "/open/a", headers: preflight)
        #expect(permitted.status == 204 && permitted.text.isEmpty)
        #expect(permitted.headers["Access-Control-Allow-Origin"] == "https://app.example.org")
        #expect(permitted.headers["Access-Control-Allow-Headers"]?.contains("authorization") == true)
        preflight["Origin"] = "https://evil.example.org"
        #expect(try await test.askAsListener("OPTIONS", "/open/a", headers: preflight).status == 403)
        let answer = try await test.askAsListener("GET", "/none", headers: listed)
        #expect(answer.headers["Access-Control-Allow-Credentials"] == "true" && answer.status == 404)
        let evil: HTTPHeaders = ["Origin": "https://evil.example.org"]
        #expect(try await test.askAsListener("PUT", "/open/a", "{}", headers: evil).status == 403)
        let read = try await test.askAsListener("GET", "/open", headers: evil)
        #expect(read.status == 200 && read.headers["Access-Control-Allow-Origin"] == nil)
        let own: HTTPHeaders = ["Origin": "http://localhost:5984", "Host": "localhost:5984"]
        #expect(try await test.askAsListener("PUT", "/open/b", "{}", headers: own).status == 201)
    }
}

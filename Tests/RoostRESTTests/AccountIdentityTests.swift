import Foundation
import Roost
import RoostREST
import RoostWire
import Testing

/// Names are bytes: what Unicode calls equivalent are different users, and new accounts can't be mistaken for others.
@Suite struct AccountIdentityTests {
    private static let composed = "zo\u{e9}"
    private static let decomposed = "zoe\u{301}"

    private func path(_ name: String) -> String {
        "/_users/" + PercentEncoding.encode("org.couchdb.user:" + name)
    }

    private func account(_ name: String, _ more: String = #""password":"pw""#) throws -> String {
        let text = String(decoding: try JSONEncoder().encode(name), as: UTF8.self)
        return #"{"type":"user","name":\#(text),"roles":[],\#(more)}"#
    }

    /// Saves an account as an earlier build would have, past all rules; its password is that of `other`.
    private func saveDirectly(_ name: String, passwordOf other: String, _ test: TestRouter) async throws {
        let users = try test.router.databases.create("_users").defaultCollection
        let record = try #require(try users.document("org.couchdb.user:" + other)?.mutableCopy())
        var copy = MutableDocument(id: "org.couchdb.user:" + name)
        copy.properties = record.properties
        copy.properties["name"] = .string(name)
        try await users.save(&copy)
    }

    @Test func equivalentNamesAreDifferentUsers() async throws {
        let test = try TestRouter()
        #expect(
            try await test.ask("PUT", path(Self.composed), try account(Self.composed)).status == 201)
        let twin = UserContext(name: Self.decomposed)
        #expect(twin != UserContext(name: Self.composed))
        #expect(try await test.ask("GET", path(Self.composed), as: twin).status == 404)
        #expect(
            try await test.ask("PUT", path(Self.composed), try account(Self.composed), as: twin).status == 404
        )
        try await test.ask("PUT", "/db")
        let security = #"{"admins":{"names":["zo\u00e9"],"roles":["ro\u00e9"]},"members":{"names":["x"]}}"#
        #expect(try await test.ask("PUT", "/db/_security", security).status == 200)
        for (user, status) in [
            (UserContext(name: Self.composed), 200), (twin, 403),
            (UserContext(name: "y", roles: ["ro\u{e9}"]), 200),
            (UserContext(name: "y", roles: ["roe\u{301}"]), 403),
        ] {
            #expect(try await test.ask("GET", "/db", as: user).status == status, "\(user)")
            #expect(try await test.ask("PUT", "/db/_security", security, as: user).status == status)
        }
    }

    /// Accounts of earlier builds may have any names, and log in as themselves.
    @Test func presentAccountsKeepTheirNames() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", path(Self.composed), try account(Self.composed))
        for name in [Self.decomposed, "ZO\u{c9}", "nul\u{0}l", " a ", "\u{202e}b"] {
            try await saveDirectly(name, passwordOf: Self.composed, test)
            let session = try await test.askAsListener("GET", "/_session", headers: basic(name, "pw"))
            let user = try #require(session["userCtx"] as? [String: Any])
            #expect((user["name"] as? String)?.utf8.elementsEqual(name.utf8) == true)
            // They can change their passwords, too.
            let revision = try #require(try await test.ask("GET", path(name))["_rev"] as? String)
            let changed = try await test.ask(
                "PUT", path(name) + "?rev=\(revision)", try account(name, #""password":"new""#),
                as: UserContext(name: name))
            #expect(changed.status == 201, "\(changed.text)")
            let login = try await test.askAsListener("GET", "/_session", headers: basic(name, "new"))
            #expect(login.status == 200)
        }
    }

    @Test(arguments: [
        "zoe\u{301}", "a\u{0}b", "a\u{1b}", " a", "a ", "a  b", "a\u{a0}b", "a\u{200b}b", "a\u{202e}b",
        "a\u{feff}",
        "a\u{ad}b", "\u{115f}", "\u{e000}", String(repeating: "a", count: 257),
    ])
    func namesThatAreNotSeenAsTheyAreAreRefused(name: String) async throws {
        let answer = try await TestRouter().ask("PUT", path(name), try account(name))
        #expect(answer.status == 403, "\(answer.text)")
    }

    @Test(arguments: [
        "anna@example.org", "Zoé", "王小明", "a b", "o'neil", "a.b-c_d+e", "Ünal", "أحمد", "a/b", "१२",
    ])
    func namesOfAllLanguagesAreTaken(name: String) async throws {
        let test = try TestRouter()
        let answer = try await test.ask("PUT", path(name), try account(name))
        #expect(answer.status == 201, "\(answer.text)")
        #expect(try await test.askAsListener("GET", "/_session", headers: basic(name, "pw")).status == 200)
    }

    /// Another case, another width, letters of compatibility, dots: of such names there is one account.
    @Test(arguments: [
        ("Karl", "\u{212a}arl"), ("karl", "KARL"), ("karl", "\u{ff4b}arl"), ("mia", "m\u{131}a"),
        ("mia", "mi\u{307}a"), ("strasse", "straße"), ("karl", "karl."), ("a.b", "a\u{2024}b"),
        ("office", "o\u{fb03}ce"), ("boss", "BOSS"), ("boss", "ｂｏｓｓ"), ("boss", "boss"),
    ])
    func namesThatAreEasilyTakenForOthersAreRefused(present: String, other: String) async throws {
        let test = try TestRouter { options, _ in options.admins = ["Boss": "x"] }
        if present != "boss" {
            #expect(try await test.ask("PUT", path(present), try account(present)).status == 201)
        }
        let answer = try await test.ask("PUT", path(other), try account(other))
        #expect(answer.status == 403, "\(answer.text)")
        let bulk = try await test.ask(
            "POST", "/_users/_bulk_docs",
            #"{"new_edits":false,"docs":[{"_id":"org.couchdb.user:\#(other)","_rev":"1-a","type":"user","name":"\#(other)","roles":[]}]}"#
        )
        #expect(bulk.text.contains("forbidden"), "\(bulk.text)")
    }

    @Test func resemblingNamesOfOneRequestAreNoticed() async throws {
        let test = try TestRouter()
        let docs = ["anna", "Anna", "mia"].map {
            #"{"_id":"org.couchdb.user:\#($0)","type":"user","name":"\#($0)","roles":[]}"#
        }
        let answer = try await test.ask(
            "POST", "/_users/_bulk_docs", "{\"docs\":[\(docs.joined(separator: ","))]}")
        let rows = try #require(answer.json as? [[String: Any]])
        #expect(rows.map { $0["error"] as? String } == [nil, "forbidden", nil], "\(answer.text)")
        // A name whose account is gone is free.
        let revision = try #require(rows[0]["rev"] as? String)
        #expect(try await test.ask("DELETE", path("anna") + "?rev=\(revision)").status == 200)
        #expect(try await test.ask("PUT", path("Anna"), try account("Anna")).status == 201)
        #expect(try await test.ask("PUT", path("anna"), try account("anna")).status == 403)
    }

    /// An accent after the slash does not hide that it is a design document.
    @Test func designDocumentsAreKnownByTheirBytes() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        try await test.ask("PUT", "/db/_security", "{}")
        try await test.put("/db/a", "{}")
        let user = UserContext(name: "mia")
        let id = "_design/%CC%81x"
        let copy = try await test.ask("COPY", "/db/a", headers: ["Destination": id], as: user)
        #expect(copy.status == 403, "\(copy.text)")
        let bulk = try await test.ask(
            "POST", "/db/_bulk_docs", #"{"docs":[{"_id":"_design/\u0301x"}]}"#, as: user)
        #expect(bulk.text.contains("forbidden"), "\(bulk.text)")
        #expect(try await test.ask("PUT", "/db/\(id)", "{}", as: user).status == 403)
    }

    @Test func listsAndFiltersTellEquivalentNamesApart() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        for id in ["%C3%A9", "e%CC%81"] { try await test.put("/db/\(id)", "{}") }
        let changes = try await test.ask(
            "POST", "/db/_changes?filter=_doc_ids", #"{"doc_ids":["\u00e9"]}"#)
        #expect((changes["results"] as? [Any])?.count == 1)
    }

    /// A channel of another normal form is no channel: a name that is required is the very one that somebody has, and a wrong name among
    /// what a function decides is an error, even where a set takes it for one that is right.
    @Test func channelsAndRolesAreComparedByTheirBytes() async throws {
        let test = try await channelRouter()
        let grant = #"{"access":{"ann":["caf\u00e9"]},"roles":{"ann":["r\u00e9"]}}"#
        try await test.put("/db/grant", grant)
        for (member, status) in [
            (#""needsAccess":"caf\u00e9""#, 201), (#""needsAccess":"cafe\u0301""#, 403),
            (#""needsRole":"r\u00e9""#, 201), (#""needsRole":"re\u0301""#, 403),
        ] {
            let answer = try await test.ask("POST", "/db", "{\(member)}", as: ann)
            #expect(answer.status == status, "\(member): \(answer.text)")
        }
        for decided in [
            #""channels":["caf\u00e9","cafe\u0301"]"#, #""access":{"zo\u00e9":["a"],"zoe\u0301":["b"]}"#,
        ] {
            let answer = try await test.ask("POST", "/db", "{\(decided)}")
            #expect(answer.status == 500 && answer.text.contains("sync_function_error"), "\(answer.text)")
        }
        // An account's role of another form brings nothing.
        let twin = UserContext(name: "x", roles: ["re\u{301}"])
        #expect(try await test.ask("POST", "/db", #"{"needsRole":"r\u00e9"}"#, as: twin).status == 403)
    }
}

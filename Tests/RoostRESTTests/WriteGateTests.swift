import Foundation
import Roost
import RoostREST
import RoostWire
import Testing

/// What every way to write `_users` and `_replicator` has to pass.
@Suite struct WriteGateTests {
    private static let id = "org.couchdb.user:mia"
    private let mia = UserContext(name: "mia", roles: ["staff"])

    private func filled() async throws -> TestRouter {
        let test = try TestRouter { options, _ in options.admins = ["anna": "secret"] }
        let user = #"{"type":"user","name":"mia","roles":["staff"],"password":"pw"}"#
        #expect(try await test.ask("PUT", "/_users/\(Self.id)", user).status == 201)
        return test
    }

    private func revision(_ test: TestRouter) async throws -> String {
        try #require(try await test.ask("GET", "/_users/\(Self.id)")["_rev"] as? String)
    }

    private func roles(_ test: TestRouter, password: String = "pw") async throws -> [String]? {
        let answer = try await test.askAsListener("GET", "/_session", headers: basic("mia", password))
        return (answer["userCtx"] as? [String: Any])?["roles"] as? [String]
    }

    /// Makes a second live revision, as an earlier build or a program past the router might have.
    private func makeConflict(_ test: TestRouter, roles: String) throws {
        let users = try test.router.databases.create("_users")
        let present = try #require(try users.defaultCollection.document(Self.id))
        var copy = present.mutableCopy().properties
        copy["roles"] = try DocumentValue(json: roles)
        let json = try DocumentValue.dictionary(copy).json()
        let revision = try RevisionID(validating: "1-0")
        try users.write { batch in
            _ = try batch.insert(json: json, id: Self.id, history: [revision], in: users.defaultCollection)
        }
    }

    @Test func aCopyIsAWriteToItsTarget() async throws {
        let test = try await filled()
        for target in [
            "org.couchdb.user:boss", "org.couchdb.user:anna", "other", "org.couchdb.user:mi%CC%81a",
        ] {
            let copy = try await test.ask(
                "COPY", "/_users/\(Self.id)", headers: ["Destination": target], as: mia)
            #expect(copy.status == 404, "\(target): \(copy.text)")
            #expect(try await test.ask("GET", "/_users/\(target)").status == 404)
        }
        // By an administrator it has to be an account.
        let copy = try await test.ask(
            "COPY", "/_users/\(Self.id)", headers: ["Destination": "org.couchdb.user:boss"])
        #expect(copy.status == 403)
    }

    /// Whatever the method: a user's account gets no second live revision, and no role that it has not.
    @Test func noConflictIsMade() async throws {
        let test = try await filled()
        let spare = #"{"type":"user","name":"mia","roles":["staff"],"_rev":"1-a"}"#
        for user in [mia, .admin] {
            let put = try await test.ask("PUT", "/_users/\(Self.id)?new_edits=false", spare, as: user)
            #expect(put.status == 403, "\(put.text)")
        }
        let bulk = try await test.ask(
            "POST", "/_users/_bulk_docs",
            #"{"new_edits":false,"docs":[{"_id":"\#(Self.id)",\#(spare.dropFirst())]}"#)
        #expect(bulk.text.contains("forbidden"))
        // A tombstone beside the account is not the user's to make either: a branch of it could be revived.
        let tombstone = #"{"_deleted":true,"_rev":"1-b","name":"boss","roles":["boss"],"password":"x"}"#
        let buried = try await test.ask("PUT", "/_users/\(Self.id)?new_edits=false", tombstone, as: mia)
        #expect([403, 409].contains(buried.status), "\(buried.text)")
        try await test.ask("PUT", "/_users/\(Self.id)?new_edits=false", tombstone)
        let revived = try await test.ask(
            "PUT", "/_users/\(Self.id)?rev=1-b", #"{"type":"user","name":"mia","roles":["boss"]}"#)
        #expect(revived.status == 409, "\(revived.text)")
        // The next revision of the account, made elsewhere, is taken.
        let present = try await revision(test)
        let history = #"{"start":2,"ids":["c","\#(present.dropFirst(2))"]}"#
        let next = #"{"type":"user","name":"mia","roles":["staff"],"_rev":"2-c","_revisions":\#(history)}"#
        #expect(try await test.ask("PUT", "/_users/\(Self.id)?new_edits=false", next, as: mia).status == 201)
        #expect(try await revision(test) == "2-c")
    }

    @Test func anAccountWithConflictsIsOfNoUseUntilOneIsLeft() async throws {
        let test = try await filled()
        let login = try await test.askAsListener("POST", "/_session", #"{"name":"mia","password":"pw"}"#)
        let cookie: HTTPHeaders = [
            "Cookie": String(try #require(login.headers["Set-Cookie"]).prefix { $0 != ";" })
        ]
        try makeConflict(test, roles: #"["boss"]"#)
        let refused = try await test.askAsListener("GET", "/_session", headers: basic("mia", "pw"))
        #expect(refused.status == 401 && refused.text.contains("conflicting revisions"), "\(refused.text)")
        let session = try await test.askAsListener("GET", "/_session", headers: cookie)
        #expect(session.text.contains(#""name":null"#))
        // Deleting the winner would make the other one the account.
        let winner = try await revision(test)
        let deletion = try await test.ask("DELETE", "/_users/\(Self.id)?rev=\(winner)", as: mia)
        #expect(deletion.status == 403 && deletion.text.contains("administrator"), "\(deletion.text)")
        #expect(try await test.ask("DELETE", "/_users/\(Self.id)?rev=1-0").status == 200)
        #expect(try await roles(test) == ["staff"])
    }

    @Test func whatAPasswordCostsIsTheServers() async throws {
        let test = try await filled()
        let text = try await test.ask("GET", "/_users/\(Self.id)").text
        let harmless = text.replacing(#""type":"user""#, with: #""type":"user","email":"m@example.org""#)
        #expect(try await test.ask("PUT", "/_users/\(Self.id)", harmless, as: mia).status == 201)
        let present = try await test.ask("GET", "/_users/\(Self.id)").text
        let costly = present.replacing(#""iterations":2"#, with: #""iterations":10000000"#)
        #expect(costly != present)
        for (user, status) in [(mia, 403), (.admin, 403)] {
            let answer = try await test.ask("PUT", "/_users/\(Self.id)", costly, as: user)
            #expect(answer.status == status, "\(answer.text)")
        }
        // An administrator brings accounts with other numbers, as a CouchDB has them; the user does not.
        let foreign =
            #"{"type":"user","name":"mia","roles":["staff"],"_rev":"REV","password_scheme":"pbkdf2","iterations":10,"salt":"77bac623e30d91809eecbc974aecf807","derived_key":"REST"}"#
            .replacing("REST", with: "f0ed18ceb8bb0d6a2e9a5d8ab4b0f5c0b3c9e5b1")
            .replacing("REV", with: try await revision(test))
        #expect(try await test.ask("PUT", "/_users/\(Self.id)", foreign, as: mia).status == 403)
        #expect(try await test.ask("PUT", "/_users/\(Self.id)", foreign).status == 201)
        for member in ["derived_key", "salt"] {
            let long = foreign.replacing(
                "\"\(member)\":\"", with: "\"\(member)\":\"\(String(repeating: "ab", count: 1_000))"
            ).replacing(#""_rev":"2"#, with: #""_rev":"3"#)
            #expect([403, 409].contains(try await test.ask("PUT", "/_users/\(Self.id)", long).status))
        }
    }

    /// A document with a record that an earlier build took is an account that can't log in, and costs nothing.
    @Test func aRecordBeyondTheServersCostIsNotComputed() async throws {
        let test = try await filled()
        let users = try test.router.databases.create("_users").defaultCollection
        for (member, value) in [
            ("iterations", DocumentValue.integer(9_999_999)),
            ("derived_key", .string(String(repeating: "ab", count: 200_000))),
        ] {
            var draft = try #require(try users.document(Self.id)?.mutableCopy())
            draft.properties[member] = value
            try await users.save(&draft)
            let answer = try await test.askAsListener("GET", "/_session", headers: basic("mia", "pw"))
            #expect(answer.status == 401)
        }
    }

    /// A request that is under way when the account is deleted does not bring it back.
    @Test func onlyAdministratorsCreateAccounts() async throws {
        let test = try await filled()
        #expect(
            try await test.ask("DELETE", "/_users/\(Self.id)?rev=\(try await revision(test))").status == 200)
        let body = #"{"type":"user","name":"mia","roles":[],"password":"x"}"#
        #expect(try await test.ask("PUT", "/_users/\(Self.id)", body, as: mia).status == 403)
        #expect(try await test.askAsListener("GET", "/_session", headers: basic("mia", "pw")).status == 401)
    }

    @Test func tombstonesKeepNoPassword() async throws {
        let test = try await filled()
        let rev = try await revision(test)
        let tombstone = #"{"_deleted":true,"_rev":"\#(rev)","password":"sesame"}"#
        let deleted = try await test.ask("PUT", "/_users/\(Self.id)", tombstone, as: mia)
        let last = try #require(deleted["rev"] as? String, "\(deleted.text)")
        #expect(try await !test.ask("GET", "/_users/\(Self.id)?rev=\(last)").text.contains("sesame"))
    }

    /// Replications of the server store nothing that a request may not.
    @Test func replicationsPassTheGate() async throws {
        let test = try await filled()
        try await test.ask("PUT", "/source")
        let docs = [
            #"{"_id":"org.couchdb.user:ok","type":"user","name":"ok","roles":["x"]}"#,
            #"{"_id":"org.couchdb.user:Mia","type":"user","name":"Mia","roles":["x"]}"#,
            #"{"_id":"org.couchdb.user:sys","type":"user","name":"sys","roles":["_admin"]}"#,
            #"{"_id":"org.couchdb.user:one","type":"user","name":"two","roles":[]}"#,
            #"{"_id":"org.couchdb.user:plain","type":"user","name":"plain","roles":[],"password":"sesame"}"#,
            #"{"_id":"org.couchdb.user:mia","type":"user","name":"mia","roles":["boss"]}"#,
            #"{"_id":"other"}"#,
        ]
        try await test.ask("POST", "/source/_bulk_docs", "{\"docs\":[\(docs.joined(separator: ","))]}")
        let answer = try await test.ask("POST", "/_replicate", #"{"source":"source","target":"_users"}"#)
        let history = try #require((answer["history"] as? [[String: Any]])?.first, "\(answer.text)")
        #expect(history["docs_written"] as? Int == 1 && history["doc_write_failures"] as? Int == 6)
        let all = try await test.ask("GET", "/_users/_all_docs?keys=%5B%22org.couchdb.user:ok%22%5D")
        #expect(all.text.contains(#""rev":"#))
        #expect(try await roles(test) == ["staff"])
        #expect(try await test.ask("GET", "/_replicator").status == 200)
        let jobs = try await test.ask("POST", "/_replicate", #"{"source":"source","target":"_replicator"}"#)
        #expect(jobs.text.contains(#""docs_written":0"#), "\(jobs.text)")
    }

    /// A job reaches all databases of the server, whatever the `_security` of `_replicator` says.
    @Test func jobsAreForAdministratorsOfTheServer() async throws {
        let test = try await filled()
        try await test.ask("PUT", "/_replicator/_security", #"{"admins":{"names":["mia"]}}"#)
        let job = #"{"_id":"job","source":"_users","target":"http://192.0.2.1/db"}"#
        for (method, target, body) in [
            ("PUT", "/_replicator/job", job), ("POST", "/_replicator", job),
            ("POST", "/_replicator/_bulk_docs", "{\"docs\":[\(job)]}"),
        ] {
            let answer = try await test.ask(method, target, body, as: mia)
            #expect(
                answer.status == 403 || answer.text.contains("forbidden"),
                "\(method) \(target): \(answer.text)")
        }
    }
}

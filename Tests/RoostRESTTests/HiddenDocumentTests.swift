import Foundation
import RoostCrypto
import RoostREST
import RoostWire
import Testing

/// What a user of channels can find out of a hidden document by writing: no more than of an absent one.
@Suite struct HiddenDocumentTests {
    /// An answer without what differs by the name.
    private static func shape(_ answer: TestRouter.Answer, _ name: String) -> String {
        "\(answer.status) \(answer.text.replacingOccurrences(of: name, with: "NAME"))"
    }

    private static func digests(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        return [
            "sha1-" + Data(SHA1.hash(bytes).bytes).base64EncodedString(),
            "md5-" + Data(MD5.hash(bytes).bytes).base64EncodedString(),
        ]
    }

    /// A database with a hidden document that has an attachment `vote`, of the text "yes".
    private func router() async throws -> TestRouter {
        let router = try await channelRouter()
        try await router.put(
            "/db/hidden",
            #"{"channels":["board"],"owner":"eve","_attachments":{"vote":{"content_type":"text/plain","data":"eWVz"}}}"#
        )
        return router
    }

    @Test func aStubTellsNothingOfContentThatIsHidden() async throws {
        let router = try await router()
        let revision = try #require(try await router.ask("GET", "/db/hidden")["_rev"] as? String)
        for digest in Self.digests("yes") + Self.digests("no") + [""] {
            let claim = digest.isEmpty ? "" : #","digest":"\#(digest)","revpos":1"#
            let attachments = #""_attachments":{"vote":{"stub":true\#(claim)}}"#
            for name in ["hidden", "absent"] {
                let single = try await router.ask("PUT", "/db/\(name)", "{\(attachments)}", as: ann)
                #expect(single.status == 412, "\(name) \(digest): \(single.text)")
                let edit = try await router.ask(
                    "PUT", "/db/\(name)?rev=\(revision)", "{\(attachments)}", as: ann)
                #expect(edit.text == single.text && edit.status == 412, "\(name) \(digest): \(edit.text)")
                for edits in [true, false] {
                    let bulk = try await router.ask(
                        "POST", "/db/_bulk_docs",
                        #"{"new_edits":\#(edits),"docs":[{"_id":"\#(name)","_rev":"\#(revision)",\#(attachments)}]}"#,
                        as: ann)
                    #expect(bulk.text == single.text && bulk.status == 412, "\(name) \(digest): \(bulk.text)")
                }
            }
        }
        #expect(try await router.ask("GET", "/db/absent").status == 404)
    }

    /// Who has seen a document sends its stubs back, by any digest; a hidden branch of it lends nothing.
    @Test func aStubNamesWhatTheUserSees() async throws {
        let router = try await router()
        let attachments = #""_attachments":{"vote":{"content_type":"text/plain","data":"eWVz"}}"#
        var revision = try await router.put("/db/seen", #"{"channels":["!"],\#(attachments)}"#)
        for digest in Self.digests("yes") {
            let stub = #"{"channels":["!"],"_attachments":{"vote":{"stub":true,"digest":"\#(digest)"}}}"#
            let answer = try await router.ask("PUT", "/db/seen?rev=\(revision)", stub, as: ann)
            revision = try #require(answer["rev"] as? String, "\(answer.text)")
        }
        try await router.put("/db/branched", #"{"channels":["!"]}"#)
        try await router.ask(
            "POST", "/db/_bulk_docs",
            #"{"new_edits":false,"docs":[{"_id":"branched","_rev":"1-aa","channels":["board"],\#(attachments)}]}"#
        )
        for text in ["yes", "no"] {
            for digest in Self.digests(text) {
                let stub = #""_attachments":{"vote":{"stub":true,"digest":"\#(digest)","revpos":1}}"#
                let body = #"{"new_edits":false,"docs":[{"_id":"branched","_rev":"1-bb",\#(stub)}]}"#
                #expect(try await router.ask("POST", "/db/_bulk_docs", body, as: ann).status == 412)
            }
        }
    }

    /// What the function refuses is refused in the same words whether the name is taken or not. Only a write that would succeed meets
    /// the hidden document.
    @Test func aRefusalIsTheSameWhetherANameIsTakenOrNot() async throws {
        let router = try await router()
        let revision = try #require(try await router.ask("GET", "/db/hidden")["_rev"] as? String)
        let refused = #"{"refused":"not this"}"#
        let attempts: [(String, String, String?)] = [
            ("PUT", "NAME", refused), ("PUT", "NAME?rev=\(revision)", refused),
            ("PUT", "NAME?rev=1-aa", refused),
            ("PUT", "NAME?rev=\(revision)", "{}"), ("PUT", "NAME?rev=1-aa", "{}"), ("PUT", "NAME", "[]"),
            ("DELETE", "NAME", nil), ("DELETE", "NAME?rev=\(revision)", nil),
            ("PUT", "NAME/file?rev=\(revision)", "x"), ("DELETE", "NAME/vote", nil),
            ("DELETE", "NAME/vote?rev=\(revision)", nil), ("GET", "NAME/vote", nil), ("GET", "NAME", nil),
            ("GET", "NAME?open_revs=all", nil), ("GET", "NAME?rev=\(revision)", nil), ("COPY", "NAME", nil),
        ]
        for (method, target, body) in attempts {
            var shapes: Set<String> = []
            for name in ["hidden", "absent"] {
                let answer = try await router.ask(
                    method, "/db/" + target.replacingOccurrences(of: "NAME", with: name), body,
                    headers: ["Destination": "copied"], as: ann)
                shapes.insert(Self.shape(answer, name))
            }
            #expect(shapes.count == 1, "\(method) \(target): \(shapes)")
        }
        // Taking the name does not work, and the function is not shown what is hidden.
        let taken = try await router.ask("PUT", "/db/hidden", "{}", as: ann)
        #expect(taken.status == 409)
        #expect(try await router.ask("PUT", "/db/hidden/file", "x", as: ann).status == 409)
        #expect(try await router.ask("GET", "/db/hidden")["_rev"] as? String == revision)
    }
}

import Foundation
import RoostREST
import RoostWire
import Testing

/// Attachments alone, in base64, and in multipart bodies both ways.
@Suite struct AttachmentTests {
    private func filled() async throws -> (TestRouter, String) {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let answer = try await test.ask(
            "PUT", "/db/a/dir/f.txt", "hello world", headers: ["Content-Type": "text/plain"])
        #expect(answer.status == 201, "\(answer.text)")
        return (test, try #require(answer["rev"] as? String))
    }

    @Test func givesWholesAndRanges() async throws {
        let (test, _) = try await filled()
        let whole = try await test.ask("GET", "/db/a/dir%2Ff.txt")
        #expect(
            (whole.status, whole.text, whole.headers["Content-Type"]) == (200, "hello world", "text/plain"))
        #expect(
            whole.headers["Content-Security-Policy"] == "sandbox" && whole.headers["Accept-Ranges"] == "bytes"
        )
        let part = try await test.ask("GET", "/db/a/dir/f.txt", headers: ["Range": "bytes=6-"])
        #expect((part.status, part.text, part.headers["Content-Range"]) == (206, "world", "bytes 6-10/11"))
        let beyond = try await test.ask("GET", "/db/a/dir/f.txt", headers: ["Range": "bytes=11-"])
        #expect((beyond.status, beyond.headers["Content-Range"]) == (416, "bytes */11"))
        let tag = try #require(whole.headers["ETag"])
        #expect(try await test.ask("GET", "/db/a/dir/f.txt", headers: ["If-None-Match": tag]).status == 304)
        #expect(try await test.ask("GET", "/db/a/none").text.contains("Document is missing attachment"))
        #expect(try await test.ask("GET", "/db/none/f").text.contains("missing"))
    }

    @Test func editsNeedTheRevision() async throws {
        let (test, revision) = try await filled()
        #expect(try await test.ask("PUT", "/db/a/g", "x").status == 409)
        #expect(
            try await test.ask("PUT", "/db/a/_g?rev=\(revision)", "x").text.contains(
                "starts with prohibited character '_'"))
        let second = try await test.ask("PUT", "/db/a/g?rev=\(revision)", "x")
        let rev = try #require(second["rev"] as? String)
        #expect(try await test.ask("GET", "/db/a/dir/f.txt").text == "hello world")
        #expect(try await test.ask("DELETE", "/db/a/g").status == 409)
        #expect(try await test.ask("DELETE", "/db/a/none?rev=\(rev)").status == 404)
        #expect(try await test.ask("DELETE", "/db/a/none").status == 404)
        #expect(try await test.ask("DELETE", "/db/a/g?rev=\(rev)").status == 200)
        #expect(try await test.ask("GET", "/db/a/g").status == 404)
    }

    /// A save without `_attachments` removes them, as in CouchDB; stubs keep them.
    @Test func savesKeepWhatTheyName() async throws {
        let (test, revision) = try await filled()
        let kept = try await test.put(
            "/db/a?rev=\(revision)", #"{"_attachments":{"dir/f.txt":{"stub":true,"revpos":1}}}"#)
        let document = try await test.ask("GET", "/db/a")
        #expect(document.text.contains(#""stub":true"#) && document.text.contains(#""revpos":1"#))
        #expect(!document.text.contains("encoding"))
        _ = try await test.put("/db/a?rev=\(kept)", #"{"n":1}"#)
        #expect(try await test.ask("GET", "/db/a/dir/f.txt").status == 404)
        #expect(
            try await test.ask("PUT", "/db/b", #"{"_attachments":{"f":{"stub":true,"revpos":1}}}"#).status
                == 412)
        #expect(try await test.ask("PUT", "/db/b", #"{"_attachments":{"_f":{"data":""}}}"#).status == 400)
    }

    @Test func contentComesInBase64OrBeside() async throws {
        let (test, revision) = try await filled()
        let inline = try await test.ask(
            "GET", "/db/a?attachments=true", headers: ["Accept": "application/json"])
        #expect(inline.text.contains(#""data":"aGVsbG8gd29ybGQ=""#))
        let beside = await test.router.respond(to: .get("/db/a?attachments=true"), as: .admin)
        #expect(beside.headers["Content-Type"]?.hasPrefix("multipart/related") == true)
        guard case .stream(let stream, let length?) = beside.body else {
            Issue.record("no length")
            return
        }
        let bytes = try await stream.collect()
        #expect(UInt64(bytes.count) == length)
        // What was read can be written, to another database.
        try await test.ask("PUT", "/copy")
        let put = await test.router.respond(
            to: HTTPRequest(
                "PUT", "/copy/a?new_edits=false",
                headers: ["Content-Type": try #require(beside.headers["Content-Type"])],
                body: BytesBody(bytes)), as: .admin)
        #expect(put.status == 201)
        #expect(try await test.ask("GET", "/copy/a/dir/f.txt").text == "hello world")
        #expect(try await test.ask("GET", "/copy/a")["_rev"] as? String == revision)
        let since = try await test.ask(
            "GET", "/db/a?atts_since=%5B%22\(revision)%22%5D", headers: ["Accept": "application/json"])
        #expect(since.text.contains(#""stub":true"#))
    }

    private func multipart(_ json: String, _ parts: [String]) -> String {
        "--x\r\nContent-Type: application/json\r\n\r\n\(json)" + parts.map { "\r\n--x\r\n\($0)" }.joined()
            + "\r\n--x--"
    }

    @Test func partsBelongToAttachmentsByNameElseByOrder() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let related: HTTPHeaders = ["Content-Type": "multipart/related;boundary=x"]
        let json =
            #"{"n":{"_attachments":0},"_attachments":{"z":{"follows":true,"length":1},"a":{"follows":true,"content_type":"text/x"},"i":{"data":"aQ=="}}}"#
        let ordered = try await test.ask(
            "PUT", "/db/a", multipart(json, ["\r\nZ", "\r\nA"]), headers: related)
        #expect(ordered.status == 201, "\(ordered.text)")
        #expect(try await test.ask("GET", "/db/a/z").text == "Z")
        #expect(try await test.ask("GET", "/db/a/a").headers["Content-Type"] == "text/x")
        #expect(try await test.ask("GET", "/db/a/i").text == "i")
        let named = ["Content-Disposition: attachment; filename=\"a\"\r\n\r\nA", "\r\nZ"]
        _ = try await test.ask("PUT", "/db/b", multipart(json, named), headers: related)
        #expect(try await test.ask("GET", "/db/b/a").text == "A")
        #expect(try await test.ask("GET", "/db/b/z").text == "Z")
        for parts in [[], ["\r\nZ"], ["\r\nZ", "\r\nA", "\r\nB"]] {
            #expect(
                try await test.ask("PUT", "/db/c", multipart(json, parts), headers: related).status == 400)
        }
        #expect(try await test.ask("PUT", "/db/c", "--x--", headers: related).status == 400)
        #expect(
            try await test.ask("PUT", "/db/c", "", headers: ["Content-Type": "multipart/related"]).status
                == 400)
        #expect(try await test.ask("GET", "/db/c").status == 404)
    }

    /// Clients know contents by MD5, and send the stubs back so.
    @Test func digestsAreMD5() async throws {
        let (test, revision) = try await filled()
        let md5 = "XrY7u+Ae7tCTyyK7j1rNww=="
        let document = try await test.ask("GET", "/db/a")
        #expect(document.text.contains(#""digest":"md5-\#(md5)""#))
        #expect(try await test.ask("GET", "/db/a/dir/f.txt").headers["ETag"] == "\"\(md5)\"")
        let stub = #"{"_attachments":{"dir/f.txt":{"stub":true,"revpos":1,"digest":"md5-\#(md5)"}}}"#
        let second = try await test.put("/db/a?rev=\(revision)", stub)
        #expect(try await test.ask("GET", "/db/a/dir/f.txt").text == "hello world")
        let other = stub.replacingOccurrences(of: md5, with: "AAAAAAAAAAAAAAAAAAAAAA==")
        #expect(try await test.ask("PUT", "/db/a?rev=\(second)", other).status == 412)
    }

    /// What a document says of contents that come beside it has to be true of them.
    @Test func partsAreWhatTheDocumentSays() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        func put(_ id: String, _ claim: String) async throws -> TestRouter.Answer {
            try await test.ask(
                "PUT", "/db/\(id)",
                multipart(#"{"_attachments":{"f":{"follows":true,\#(claim)}}}"#, ["\r\nhello world"]),
                headers: ["Content-Type": "multipart/related;boundary=x"])
        }
        #expect(try await put("a", #""length":11,"digest":"md5-XrY7u+Ae7tCTyyK7j1rNww==""#).status == 201)
        #expect(try await put("b", #""digest":"sha1-Kq5sNclPz7QV2+lfQIuc6R7oRu0=""#).status == 201)
        // A digest of a kind that nobody here knows is passed over.
        #expect(try await put("c", #""digest":"crc-1""#).status == 201)
        for (claim, error) in [
            (#""length":12"#, "shorter than expected"), (#""length":10"#, "longer than expected"),
            (#""digest":"md5-AAAAAAAAAAAAAAAAAAAAAA==""#, "content_md5_mismatch"),
            (#""digest":"md5-x""#, "content_md5_mismatch"),
        ] {
            let answer = try await put("d", claim)
            #expect(answer.status == 400 && answer.text.contains(error), "\(claim): \(answer.text)")
        }
        #expect(try await test.ask("GET", "/db/d").status == 404)
    }

    /// "zipped text" as gzip is kept so, and named by either digest.
    @Test func contentThatComesAsGzipStaysGzip() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA6vKLChITVEoSa0oAQC1v+6XCwAAAA=="))
        func put(_ bytes: [UInt8]) async -> Int {
            await test.router.respond(
                to: HTTPRequest(
                    "PUT", "/db/a/f.txt",
                    headers: ["Content-Type": "text/plain", "Content-Encoding": "gzip"],
                    body: BytesBody(bytes)), as: .admin
            ).status
        }
        #expect(await put(Array(gzip.dropLast(3))) == 400)
        #expect(await put(Array("plain".utf8)) == 400)
        #expect(await put(Array(gzip)) == 201)
        #expect(try await test.ask("GET", "/db/a/f.txt").text == "zipped text")
        let document = try await test.ask("GET", "/db/a?att_encoding_info=true")
        #expect(document.text.contains(#""length":11,"#))
        #expect(document.text.contains(#""encoding":"gzip","encoded_length":\#(gzip.count)"#))
    }

    private static let gzip = Array(
        Data(base64Encoded: "H4sIAAAAAAACA6vKLChITVEoSa0oAQC1v+6XCwAAAA==") ?? Data())
    /// The MD5 of that, as base64.
    private static let gzipMD5 = "g3c/fHDOvD/3KxND1aPNCw=="

    /// "zipped text", put as gzip.
    private func zipped() async throws -> TestRouter {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let put = await test.router.respond(
            to: HTTPRequest(
                "PUT", "/db/a/f.txt", headers: ["Content-Type": "text/plain", "Content-Encoding": "gzip"],
                body: BytesBody(Self.gzip)), as: .admin)
        #expect(put.status == 201)
        return test
    }

    private func get(
        _ test: TestRouter, _ headers: HTTPHeaders, at target: String = "/db/a/f.txt", method: String = "GET"
    ) async -> HTTPResponse {
        await test.router.respond(to: HTTPRequest(method, target, headers: headers), as: .admin)
    }

    @Test func gzipIsServedToThoseWhoTakeIt() async throws {
        let test = try await zipped()
        let plain = await get(test, [:])
        let zipped = await get(test, ["Accept-Encoding": "deflate, gzip"])
        #expect(try await plain.bytes() == Array("zipped text".utf8))
        #expect(try await zipped.bytes() == Self.gzip)
        #expect((plain.headers["Content-Encoding"], plain.headers["Accept-Ranges"]) == (nil, "bytes"))
        #expect(
            (zipped.headers["Content-Encoding"], zipped.headers["Accept-Ranges"]) == ("gzip", "none"))
        for response in [plain, zipped] {
            #expect(response.headers["Vary"] == "Accept-Encoding")
            #expect(response.headers["Content-Type"] == "text/plain")
        }
        #expect(zipped.headers["ETag"] == "\"\(Self.gzipMD5)\"")
        // Each form has a tag, and none is taken for the other.
        let (tag, zippedTag) = (plain.headers["ETag"] ?? "", zipped.headers["ETag"] ?? "")
        #expect(tag != zippedTag)
        #expect(await get(test, ["If-None-Match": tag]).status == 304)
        #expect(await get(test, ["If-None-Match": zippedTag]).status == 200)
        #expect(await get(test, ["Accept-Encoding": "gzip", "If-None-Match": zippedTag]).status == 304)
        #expect(await get(test, ["Accept-Encoding": "gzip", "If-None-Match": tag]).status == 200)
        // A HEAD tells the length of what a GET sends.
        let head = await get(test, ["Accept-Encoding": "gzip"], method: "HEAD")
        guard case .stream(_, let length) = head.body else {
            Issue.record("no length")
            return
        }
        #expect(length == UInt64(Self.gzip.count) && head.headers["Content-Encoding"] == "gzip")
    }

    @Test func rangesAreOfTheContent() async throws {
        let test = try await zipped()
        let part = await get(test, ["Range": "bytes=7-"])
        #expect(try await part.bytes() == Array("text".utf8))
        #expect((part.status, part.headers["Content-Range"]) == (206, "bytes 7-10/11"))
        // Of the gzip there are none, as in CouchDB.
        let whole = await get(test, ["Range": "bytes=7-", "Accept-Encoding": "gzip"])
        let sent = try await whole.bytes()
        #expect(whole.status == 200 && sent == Self.gzip)
        let refused = await get(test, ["Range": "bytes=0-5", "Accept-Encoding": "identity, *;q=0"])
        let beginning = try await refused.bytes()
        #expect(refused.status == 206 && beginning == Array("zipped".utf8))
    }

    /// Content that is not stored as gzip is never sent as such.
    @Test func whatIsNoGzipIsSentAsItIs() async throws {
        let (test, _) = try await filled()
        let whole = await get(test, ["Accept-Encoding": "gzip"], at: "/db/a/dir/f.txt")
        #expect(try await whole.bytes() == Array("hello world".utf8))
        #expect(whole.headers["Content-Encoding"] == nil && whole.headers["Vary"] == nil)
    }

    /// Parts are gzip for those who asked what is said of it, and plain for others.
    @Test func partsAreGzipWhereThatIsSaid() async throws {
        let test = try await zipped()
        let asked = "/db/a?attachments=true&att_encoding_info=true"
        let related = await get(test, ["Accept": "multipart/related"], at: asked)
        let bytes = try await related.bytes()
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("Content-Encoding: gzip\r\n"))
        #expect(text.contains("Content-Length: \(Self.gzip.count)\r\n"))
        #expect(
            text.contains(
                #""digest":"md5-\#(Self.gzipMD5)","length":11,"follows":true,"encoding":"gzip","encoded_length":\#(Self.gzip.count)}"#
            ))
        // What was read can be written elsewhere, and is the same gzip there.
        try await test.ask("PUT", "/copy")
        let put = await test.router.respond(
            to: HTTPRequest(
                "PUT", "/copy/a?new_edits=false",
                headers: ["Content-Type": related.headers["Content-Type"] ?? ""], body: BytesBody(bytes)),
            as: .admin)
        #expect(put.status == 201)
        let copy = await get(test, ["Accept-Encoding": "gzip"], at: "/copy/a/f.txt")
        #expect(try await copy.bytes() == Self.gzip)
        // Not told, not sent.
        let plain = try await test.ask(
            "GET", "/db/a?attachments=true", headers: ["Accept": "multipart/related"])
        #expect(plain.text.contains("zipped text") && !plain.text.contains("encod"))
        // In the text itself contents are as they are.
        let inline = try await test.ask("GET", asked, headers: ["Accept": "application/json"])
        #expect(inline.text.contains(#""data":"emlwcGVkIHRleHQ=""#) && !inline.text.contains("encod"))
        let mixed = await get(
            test, ["Accept": "multipart/mixed"], at: "/db/a?open_revs=all&att_encoding_info=true")
        #expect(String(decoding: try await mixed.bytes(), as: UTF8.self).contains("Content-Encoding: gzip"))
    }

    /// Two clients' gzips of the same content differ, and the store keeps one of them, or the content as it is.
    @Test func aPartIsItsOwnGzipWhateverIsKept() async throws {
        let (test, _) = try await filled()
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA=="))
        let digest = "md5-muzN/F0BgOhkQ1bofT2rRw=="
        func put(_ id: String, _ digest: String) async -> Int {
            let json =
                #"{"_attachments":{"f":{"follows":true,"encoding":"gzip","length":11,"encoded_length":31,"digest":"\#(digest)"}}}"#
            let parts = ["--x\r\nContent-Type: application/json\r\n\r\n\(json)\r\n--x\r\n\r\n", "\r\n--x--"]
                .map {
                    Array($0.utf8)
                }
            return await test.router.respond(
                to: HTTPRequest(
                    "PUT", "/db/\(id)", headers: ["Content-Type": "multipart/related;boundary=x"],
                    body: BytesBody(parts[0] + Array(gzip) + parts[1])), as: .admin
            ).status
        }
        #expect(await put("b", digest) == 201)
        #expect(await put("c", "md5-AAAAAAAAAAAAAAAAAAAAAA==") == 400)
        #expect(try await test.ask("GET", "/db/b/f").text == "hello world")
    }

    /// What a replicator fetches for the first time comes with its contents, though it names no revision it has.
    @Test func openRevisionsInPartsHaveTheirContents() async throws {
        let (test, revision) = try await filled()
        let target = "/db/a?revs=true&latest=true&open_revs=%5B%22\(revision)%22%5D"
        let mixed = try await test.ask("GET", target, headers: ["Accept": "multipart/mixed"])
        #expect(mixed.text.contains(#""follows":true"#) && mixed.text.contains("\r\n\r\nhello world\r\n"))
        let known = try await test.ask(
            "GET", target + "&atts_since=%5B%22\(revision)%22%5D", headers: ["Accept": "multipart/mixed"])
        #expect(known.text.contains(#""stub":true"#) && !known.text.contains("hello world"))
        let bulk = try await test.ask(
            "POST", "/db/_bulk_get", #"{"docs":[{"id":"a"}]}"#, headers: ["Accept": "multipart/related"])
        #expect(bulk.headers["Content-Type"]?.hasPrefix("multipart/related") == true)
        #expect(bulk.text.contains("hello world"))
    }

    @Test func openRevisionsAreJSONOrMixed() async throws {
        let (test, revision) = try await filled()
        let json = try await test.ask(
            "GET", "/db/a?open_revs=%5B%22\(revision)%22,%223-ff%22%5D&revs=true",
            headers: ["Accept": "application/json"])
        let rows = try #require(json.json as? [[String: Any]])
        #expect(rows.count == 2 && rows[1]["missing"] as? String == "3-ff")
        let mixed = try await test.ask(
            "GET", "/db/a?open_revs=%5B%22\(revision)%22,%223-ff%22%5D&attachments=true")
        #expect(mixed.headers["Content-Type"]?.hasPrefix("multipart/mixed") == true)
        #expect(mixed.text.contains("multipart/related") && mixed.text.contains("hello world"))
        #expect(mixed.text.contains("application/json; error=\"true\"\r\n\r\n{\"missing\":\"3-ff\"}"))
        #expect(try await test.ask("GET", "/db/none?open_revs=all").status == 404)
        let bulk = try await test.ask(
            "POST", "/db/_bulk_get?attachments=true", #"{"docs":[{"id":"a"},{"id":"z","rev":"1-ff"}]}"#,
            headers: ["Accept": "multipart/mixed"])
        #expect(bulk.headers["Content-Type"]?.hasPrefix("multipart/mixed") == true)
        #expect(bulk.text.contains("X-Rev-Id: \(revision)") && bulk.text.contains("hello world"))
    }

    @Test func bodiesMayBeCompressed() async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        // {"n":1} by gzip
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA6tWylOyMqwFAH47S9QHAAAA"))
        let request = HTTPRequest(
            "PUT", "/db/a", headers: ["Content-Encoding": "gzip"], body: BytesBody(Array(gzip)))
        #expect(await test.router.respond(to: request, as: .admin).status == 201)
        #expect(try await test.ask("GET", "/db/a").text.contains(#""n":1"#))
        let odd = try await test.ask("PUT", "/db/b", "{}", headers: ["Content-Encoding": "br"])
        #expect(odd.status == 415)
    }

    @Test func whatIsTooLongIsRefused() async throws {
        let test = try TestRouter { options, _ in
            options.longestAttachment = 10
            options.longestJSON = 100
        }
        try await test.ask("PUT", "/db")
        #expect(try await test.ask("PUT", "/db/a/f", "0123456789").status == 201)
        #expect(try await test.ask("PUT", "/db/b/f", "0123456789x").text.contains("attachment_too_large"))
        // So is what is sent in the document's text, and what is short only while it is compressed: gzip of 1,000 zeros.
        let member = #""f":{"content_type":"text/plain","data":"MDEyMzQ1Njc4OXg="}"#
        let inline = try await test.ask("PUT", "/db/b", #"{"_attachments":{\#(member)}}"#)
        #expect((inline.status, inline.text.contains("attachment_too_large")) == (413, true))
        let bomb = "H4sIAAAAAAACA2NgGAWjYBQMdwAAgBcLBugDAAA="
        let gzip = HTTPRequest(
            "PUT", "/db/b/f", headers: ["Content-Encoding": "gzip"],
            body: BytesBody(Array(try #require(Data(base64Encoded: bomb)))))
        #expect(await test.router.respond(to: gzip, as: .admin).status == 413)
        let packed = #"{"_attachments":{"f":{"encoding":"gzip","data":"\#(bomb)"}}}"#
        #expect(try await test.ask("PUT", "/db/b", packed).status == 413)
        #expect(try await test.ask("GET", "/db/b").status == 404)
        let long = "{\"n\":\"\(String(repeating: "x", count: 100))\"}"
        #expect(try await test.ask("PUT", "/db/c", long).status == 413)
    }
}

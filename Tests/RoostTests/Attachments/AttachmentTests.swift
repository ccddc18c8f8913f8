import Foundation
import Roost
import Testing

/// Attachments: blobs under names at revisions.
@Suite struct AttachmentTests {
    let files = TemporaryFiles()
    let database: Database
    let notes: DocumentCollection
    /// "abc" is FIPS 180-4's example.
    let abc = "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0="

    init() throws {
        database = try files.open("a")
        notes = try database.collection("notes")
    }

    private func content(_ document: Document?, _ name: String) throws -> String? {
        guard let attachment = document?.attachments[name] else { return nil }
        return try database.blobReader(attachment).map { String(decoding: try $0.readAll(), as: UTF8.self) }
    }

    @Test func aDraftsAttachmentsAreStoredAndCarriedOn() throws {
        var draft = MutableDocument(id: "n", ["v": 1])
        draft.attachments["a.txt"] = Attachment(
            try database.saveBlob(Array("abc".utf8), contentType: "text/plain"))
        let first = try notes.save(&draft)
        let attachment = try #require(first.attachments["a.txt"])
        #expect(attachment.digest == abc && attachment.length == 3 && attachment.contentType == "text/plain")
        #expect(attachment.revisionPosition == 1 && attachment.encodedLength == nil)
        draft["v"] = 2
        #expect(try notes.save(&draft).attachments == first.attachments)
        #expect(try notes.save(json: #"{"v":3}"#, id: "n").attachments == first.attachments)
        #expect(try notes.save(["v": 4], id: "n", expecting: .any).attachments == first.attachments)
        #expect(try notes.snapshot().changes().last?.hasAttachments == true)

        let latest = try #require(try notes.document("n"))
        #expect(try content(latest, "a.txt") == "abc" && latest["v"].int == 4 && latest.hasAttachments)
        var edit = latest.mutableCopy()
        edit.attachments["b.txt"] = Attachment(try database.saveBlob([1, 2]))
        let both = try notes.save(&edit)
        #expect(both.attachments.mapValues(\.revisionPosition) == ["a.txt": 1, "b.txt": 5])
        edit.attachments["a.txt"] = nil
        let one = try notes.save(&edit)
        #expect(one.attachments.keys.sorted() == ["b.txt"] && one.properties.count == 1)
        #expect(try notes.delete("n")?.attachments == [:])
        #expect(try notes.save(json: "{}", id: "n").attachments == [:])
    }

    @Test func attachmentsAreThereAfterReopening() throws {
        try notes.save(json: #"{"v":1,"_attachments":{"x":{"data":"YWJj"}}}"#, id: "n")
        try database.close()
        let again = try files.open("a")
        let document = try #require(try again.collection("notes").document("n"))
        #expect(document.attachments["x"]?.digest == abc && document.json() == #"{"v":1}"#)
        #expect(try again.blobReader(abc)?.readAll() == Array("abc".utf8))
    }

    @Test func jsonGoesInInlineAndComesOutAsStubs() throws {
        let text = #"{"v":1,"_attachments":{"x":{"content_type":"text/plain","data":"YWJj"}}}"#
        let first = try notes.save(json: text, id: "n")
        let stub = #""x":{"content_type":"text/plain","digest":"\#(abc)","length":3,"revpos":1,"stub":true}"#
        let json = first.json(with: .all)
        #expect(
            json == #"{"_id":"n","_rev":"\#(first.revision)","_attachments":{\#(stub)},"v":1}"#)
        #expect(first.json() == #"{"v":1}"# && first.json(with: .id) == #"{"_id":"n","v":1}"#)
        let second = try notes.save(json: json.replacing("\"v\":1", with: "\"v\":2"))
        #expect(second.attachments == first.attachments && second["v"].int == 2)
        let inlined = try database.json(inliningAttachmentsOf: second)
        #expect(inlined.contains(#""data":"YWJj""#) && !inlined.contains("stub"))
        #expect(try notes.save(json: #"{"_attachments":{}}"#, id: "n").attachments == [:])

        let other = try files.open("b")
        let copies = try other.collection("notes")
        let copy = try other.write {
            try $0.insert(json: inlined, id: "n", history: [second.revision, first.revision], in: copies)
        }
        #expect(copy)
        let document = try #require(try copies.document("n"))
        #expect(document.attachments == first.attachments && document.revision == second.revision)
        #expect(try other.blobReader(abc)?.readAll() == Array("abc".utf8))
    }

    @Test func gzipComesInAndStaysCompressed() throws {
        let blob = try database.saveBlob(
            Array(repeating: 97, count: 100_000), options: BlobOptions(digest: .sha256, compression: .always))
        #expect(blob.digest.hasPrefix("sha256-") && blob.length == 100_000)
        var draft = MutableDocument(id: "n")
        draft.attachments["a"] = Attachment(blob)
        let attachment = try #require(try notes.save(&draft).attachments["a"])
        #expect(try #require(attachment.encodedLength) < 1000 && attachment.length == 100_000)
        #expect(try notes.document("n")?.json(with: .all).contains(#""encoding":"gzip""#) == true)
        #expect(try database.blobReader(attachment)?.readAll() == Array(repeating: 97, count: 100_000))
    }

    @Test func inlineGzipIsTakenApart() throws {
        // 1000 times "a", by Python's gzip.
        let gzip = "H4sIAAAAAAACA0tMHAWjYBQMdwAAA9o4mugDAAA="
        let text = #"{"_attachments":{"x":{"data":"\#(gzip)","encoding":"gzip"}}}"#
        let attachment = try #require(try notes.save(json: text, id: "n").attachments["x"])
        #expect(attachment.length == 1000 && attachment.encodedLength != nil)
        #expect(try database.blobReader(attachment)?.readAll() == Array(repeating: 97, count: 1000))
    }

    @Test(arguments: [
        #"1"#, #"{"x":1}"#, #"{"x":{}}"#, #"{"x":{"data":"!"}}"#, #"{"x":{"data":1}}"#,
        #"{"":{"data":""}}"#, #"{"_x":{"data":""}}"#, #"{"x":{"data":"YWJj","encoding":"gzip"}}"#,
        #"{"x":{"data":"YWJj","encoding":"zip"}}"#,
        #"{"x":{"data":"YWJk","digest":"sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0="}}"#,
    ])
    func whatIsNoAttachmentIsRefused(_ attachments: String) throws {
        #expect(
            code { try notes.save(json: #"{"_attachments":\#(attachments)}"#, id: "n") }
                == .corruptRevisionData)
        #expect(try notes.document("n") == nil)
    }

    @Test func aStubOfNothingIsRefused() throws {
        let stub = #"{"_attachments":{"x":{"stub":true}}}"#
        #expect(code { try notes.save(json: stub, id: "n") } == .missingStub)
        let named = #"{"_attachments":{"x":{"stub":true,"digest":"\#(abc)"}}}"#
        #expect(code { try notes.save(json: named, id: "n") } == .missingStub)
        _ = try database.saveBlob(Array("abc".utf8))
        #expect(try notes.save(json: named, id: "n").attachments["x"]?.length == 3)
        #expect(
            code { try notes.saveLocalDocument(json: #"{"_attachments":{"x":{"data":""}}}"#, name: "l") }
                == .corruptRevisionData)
    }

    @Test func theDigestOfARevisionDependsOnAttachments() throws {
        let revisions = try [
            #"{"_attachments":{"x":{"data":"YWJj"}}}"#, #"{"_attachments":{"y":{"data":"YWJj"}}}"#,
            #"{"_attachments":{"x":{"data":"YWJk"}}}"#, "{}",
        ].map { try notes.save(json: $0).revision }
        #expect(Set(revisions).count == 4)
        #expect(try notes.save(json: #"{"_attachments":{"x":{"data":"YWJj"}}}"#).revision == revisions[0])
    }
}

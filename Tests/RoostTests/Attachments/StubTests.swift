import Foundation
import Roost
import Testing

/// Attachments as peers speak of them: MD5 digests, stubs of older revisions, and content that comes apart from the text.
@Suite struct StubTests {
    let files = TemporaryFiles()
    let database: Database
    let notes: DocumentCollection
    /// The MD5 and the SHA-1 of "abc": RFC 1321 and FIPS 180-4.
    let md5 = "md5-kAFQmDzST7DWlj99KOF/cg=="
    let sha1 = "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0="
    /// 1000 times "a" by Python's gzip, and its MD5 and that of the content by Python's hashlib.
    let gzip = "H4sIAAAAAAACA0tMHAWjYBQMdwAAA9o4mugDAAA="

    init() throws {
        database = try files.open("a")
        notes = try database.collection("notes")
    }

    private func insert(_ json: String, _ history: String) throws {
        let history = try ids(history)
        try database.write { try $0.insert(json: json, id: "n", history: history, in: notes) }
    }

    private func stub(_ fields: String) -> String { #"{"_attachments":{"a":{"stub":true\#(fields)}}}"# }

    // MARK: MD5

    @Test func everyAttachmentHasItsMD5() throws {
        let blob = try database.saveBlob(Array("abc".utf8))
        let digested = try database.saveBlob(Array("abc".utf8), options: BlobOptions(computesMD5: true))
        var draft = MutableDocument(id: "n", [:])
        draft.attachments["read"] = Attachment(blob)
        draft.attachments["known"] = Attachment(digested)
        #expect(Attachment(blob).md5 == nil && Attachment(digested).md5 == md5)
        try notes.save(&draft)
        try notes.save(json: #"{"_attachments":{"inline":{"data":"YWJj"},"read":{"stub":true}}}"#, id: "n")
        try notes.save(json: #"{"v":1}"#, id: "n")
        try database.close()
        let again = try files.open("a")
        let found = try #require(try again.collection("notes").document("n")).attachments
        #expect(found.count == 2 && found.allSatisfy { $0.value.md5 == md5 && $0.value.encodedMD5 == nil })
    }

    @Test func whatIsKeptAsGzipHasTheMD5OfThatToo() throws {
        let data = try #require(Data(base64Encoded: gzip))
        let options = BlobOptions(computesMD5: true, isCompressed: true)
        let blob = try database.saveBlob([UInt8](data), contentType: "text/plain", options: options)
        #expect(blob.length == 1000)
        var draft = MutableDocument(id: "n", [:])
        draft.attachments["a"] = Attachment(blob)
        let attachment = try #require(try notes.save(&draft).attachments["a"])
        #expect(attachment.encodedLength == UInt64(data.count), "it is kept as it came")
        #expect(attachment.md5 == "md5-yr5F3MmuW2a6hmAMymuLqA==")
        #expect(attachment.encodedMD5 == "md5-egJ31lOj/YvLtyXkb2x+Ew==")
        let reader = try #require(try database.blobReader(attachment))
        #expect(try reader.readAll() == [UInt8](repeating: 97, count: 1000))
        // The same blob, not digested on the way: what is stored is read.
        let other = try files.open("b")
        let copies = try other.collection("notes")
        draft = MutableDocument(id: "n", [:])
        draft.attachments["a"] = Attachment(
            try other.saveBlob([UInt8](data), options: BlobOptions(isCompressed: true)))
        let copy = try #require(try copies.save(&draft).attachments["a"])
        #expect(copy.md5 == attachment.md5 && copy.encodedMD5 == attachment.encodedMD5)
        let inline = try notes.save(
            json: #"{"_attachments":{"x":{"data":"\#(gzip)","encoding":"gzip"}}}"#, id: "i")
        #expect(inline.attachments["x"]?.encodedMD5 == attachment.encodedMD5)
    }

    @Test(arguments: [[], [1, 2, 3], [0x1F, 0x8B], [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]] as [[UInt8]])
    func whatIsNoGzipIsRefused(_ bytes: [UInt8]) throws {
        let options = BlobOptions(isCompressed: true)
        #expect(code { _ = try database.saveBlob(bytes, options: options) } == .invalidDocument)
        let data = try #require(Data(base64Encoded: gzip))
        #expect(code { _ = try database.saveBlob(data + [0], options: options) } == .invalidDocument)
        #expect(try database.blobs().isEmpty)
    }

    @Test func jsonCanTellMD5() throws {
        let saved = try notes.save(json: #"{"_attachments":{"a":{"data":"YWJj"}}}"#, id: "n")
        #expect(saved.json(with: [.attachments, .md5Digests]).contains(#""digest":"\#(md5)""#))
        #expect(saved.json(with: .attachments).contains(#""digest":"\#(sha1)""#))
    }

    // MARK: Stubs

    @Test func aStubMeansAnAncestorsAttachment() throws {
        try insert(#"{"_attachments":{"a":{"data":"YWJj","content_type":"text/plain"}}}"#, "1-aa")
        try insert(stub(#","revpos":1,"digest":"\#(md5)""#), "3-cc 2-bb 1-aa")
        let found = try #require(try notes.document("n")?.attachments["a"])
        #expect(found.digest == sha1 && found.revisionPosition == 1 && found.contentType == "text/plain")
        #expect(found.md5 == md5)
        // The ancestor is further back, and no leaf any more: the leaf between has it.
        try insert(stub(""), "5-ee 4-dd 3-cc")
        #expect(try notes.document("n")?.attachments["a"] == found)
    }

    @Test func aStubMayMeanAnotherBranchIfItSaysWhich() throws {
        try insert(#"{"_attachments":{"a":{"data":"YWJj"}}}"#, "1-aa")
        for wrong in [
            "", #","revpos":1"#, #","digest":"\#(md5)""#, #","revpos":2,"digest":"\#(md5)""#,
            #","revpos":1,"digest":"md5-AAAAAAAAAAAAAAAAAAAAAA==""#,
        ] {
            #expect(code { try insert(stub(wrong), "2-bb 1-ff") } == .missingStub, "\(wrong)")
        }
        try insert(stub(#","revpos":1,"digest":"\#(md5)""#), "2-bb 1-ff")
        #expect(try notes.document("n")?.attachments["a"]?.digest == sha1)
    }

    @Test func whatAStubSaysIsCompared() throws {
        let first = try notes.save(json: #"{"_attachments":{"a":{"data":"YWJj"}}}"#, id: "n")
        func edit(_ fields: String) -> DatabaseError.Code? {
            code { try notes.save(json: stub(fields), id: "n", expecting: .revision(first.revision)) }
        }
        #expect(edit(#","digest":"md5-AAAAAAAAAAAAAAAAAAAAAA==""#) == .missingStub)
        #expect(edit(#","digest":"sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA=""#) == .missingStub)
        #expect(edit(#","digest":"nonsense""#) == .missingStub)
        #expect(edit(#","revpos":7"#) == .missingStub)
        #expect(edit(#","revpos":1,"digest":"\#(md5)""#) == nil)
        #expect(
            code { try notes.save(json: #"{"_attachments":{"b":{"stub":true}}}"#, id: "n") } == .missingStub)
    }

    @Test func whatAConflictHasIsNotInherited() throws {
        try insert(#"{"_attachments":{"a":{"data":"YWJj"}}}"#, "1-aa")
        try insert(#"{"_attachments":{"b":{"data":"YWJj"}}}"#, "2-bb 1-aa")
        try insert("{}", "2-cc 1-aa")
        #expect(try notes.save(json: #"{"v":1}"#, id: "n").attachments.isEmpty)
    }

    // MARK: Content apart from the text

    @Test func contentFollowsTheText() throws {
        var document = try IncomingDocument(
            json: #"{"_id":"n","_rev":"2-bb","_revisions":{"start":2,"ids":["bb","aa"]},"v":1,"#
                + #""_attachments":{"a":{"follows":true,"content_type":"text/plain","revpos":2,"length":3}}}"#
        )
        #expect(document.attachments?["a"]?.follows == true && document.attachments?["a"]?.isStub == false)
        #expect(
            code { _ = try database.write { try $0.insert(document, in: notes) } } == .corruptRevisionData)
        document.contents["a"] = Attachment(try database.saveBlob(Array("abc".utf8)))
        #expect(try database.write { try $0.insert(document, in: notes) })
        let found = try #require(try notes.document("n"))
        #expect(try found.revision == id("2-bb") && found.json() == #"{"v":1}"#)
        #expect(
            found.attachments["a"]?.contentType == "text/plain"
                && found.attachments["a"]?.revisionPosition == 2)
        #expect(try notes.snapshot().history(of: "n") == ids("2-bb 1-aa"))
        let again = document
        #expect(try database.write { try !$0.insert(again, in: notes) })
    }

    @Test func handlesAloneAreAttachmentsToo() throws {
        var document = try IncomingDocument(json: #"{"v":1}"#)
        document.contents["a"] = Attachment(
            try database.saveBlob(Array("abc".utf8), contentType: "text/plain"))
        let handle = document
        let saved = try database.write { try $0.save(handle, id: "n", in: notes) }
        #expect(saved.attachments["a"]?.md5 == md5 && saved.attachments["a"]?.contentType == "text/plain")
        let elsewhere = try files.open("b").saveBlob([9])
        document.contents["a"] = Attachment(elsewhere)
        let foreign = document
        #expect(code { _ = try database.write { try $0.save(foreign, id: "m", in: notes) } } == .notFound)
    }

    // MARK: What stands in the text

    @Test func theTextTellsRevisionAndHistory() throws {
        let document = try IncomingDocument(
            json:
                #"{"_id":"n","_rev":"3-c","_revisions":{"start":3,"ids":["c","b","a"]},"_deleted":true,"_x":1}"#
        )
        #expect(try document.id == "n" && document.revision == id("3-c") && document.isDeleted)
        #expect(try document.history == ids("3-c 2-b 1-a") && document.unknownMembers == ["_x"])
        #expect(try IncomingDocument(json: #"{"_rev":"3-c"}"#).history == ids("3-c"))
        #expect(try IncomingDocument(json: "{}").history.isEmpty)
    }

    @Test(arguments: [
        #"{"_rev":"3-c","_revisions":{"start":3,"ids":["b"]}}"#,
        #"{"_revisions":{"start":1,"ids":["b","a"]}}"#,
        #"{"_revisions":{"start":"1","ids":["b"]}}"#, #"{"_revisions":{"start":1,"ids":[1]}}"#,
        #"{"_revisions":{"start":1}}"#, #"{"_revisions":[]}"#, #"{"_revisions":{"start":0,"ids":["a"]}}"#,
    ])
    func wrongHistoriesAreRefused(_ json: String) {
        let found = code { _ = try IncomingDocument(json: json).history }
        #expect(found == .corruptRevisionData || found == .invalidRevisionID)
    }

    @Test func whatServersTellIsPassedOver() throws {
        let json =
            #"{"_conflicts":["1-a"],"_deleted_conflicts":[],"_revs_info":[],"_local_seq":7,"_revisions":{"start":1,"#
            + #""ids":["a"]},"v":1}"#
        #expect(try notes.save(json: json, id: "n").json() == #"{"v":1}"#)
    }

    @Test func metadataFromTheTreeIsTold() throws {
        try insert(#"{"v":1}"#, "2-bb 1-aa")
        try insert("{}", "2-ab 1-aa")
        try database.write {
            try $0.insert(json: "{}", id: "n", history: try ids("2-aa 1-aa"), isDeleted: true, in: notes)
        }
        let snapshot = try notes.snapshot()
        let document = try #require(try snapshot.document("n"))
        let all: DocumentMetadata = [
            .id, .revision, .revisions, .revisionsInfo, .conflicts, .deletedConflicts, .localSequence,
        ]
        let expected =
            #"{"_id":"n","_rev":"2-bb","_revisions":{"ids":["bb","aa"],"start":2},"_revs_info":[{"rev":"2-bb","#
            + #""status":"available"},{"rev":"1-aa","status":"missing"}],"_conflicts":["2-ab"],"#
            + #""_deleted_conflicts":["2-aa"],"_local_seq":3,"v":1}"#
        #expect(try snapshot.json(document, with: all) == expected)
        #expect(try snapshot.json(document, with: .id) == #"{"_id":"n","v":1}"#)
        let other = try #require(try snapshot.document("n", revision: id("2-ab")))
        #expect(try snapshot.json(other, with: .conflicts) == #"{"_conflicts":["2-bb"]}"#)
    }
}

import Foundation
import Roost
import Testing

/// Content that was stored for a document goes when the document is not saved, and no sooner.
@Suite struct HeldBlobTests {
    private let files = TemporaryFiles()

    private func store(_ bytes: [UInt8], in database: Database) throws -> Blob {
        let writer = try database.makeBlobWriter(contentType: "text/plain")
        try writer.write(bytes)
        return try writer.finishForDocument()
    }

    @Test func whatNoDocumentNamesGoesWithTheLastCopy() throws {
        let database = try files.open("a")
        var first: Blob? = try store([1, 2, 3], in: database)
        let digest = try #require(first?.digest)
        var copy = first.map { Attachment($0) }
        var second: Blob? = try store([1, 2, 3], in: database)
        #expect(first == second && copy?.digest == digest)
        first = nil
        copy = nil
        #expect(try database.blobs().map(\.digest) == [digest])
        second = nil
        #expect(try database.blobs().isEmpty)
    }

    @Test func whatADocumentNamesStays() throws {
        let database = try files.open("a")
        let notes = try database.collection("notes")
        var blob: Blob? = try store([1, 2, 3], in: database)
        var draft = MutableDocument(id: "n")
        draft.attachments["x"] = blob.map { Attachment($0) }
        try notes.save(&draft)
        draft = MutableDocument(id: "other")
        blob = nil
        // The same content again, for a document that is not saved.
        _ = try store([1, 2, 3], in: database)
        let attachment = try #require(try notes.document("n")?.attachments["x"])
        #expect(try database.blobReader(attachment)?.readAll() == [1, 2, 3])
    }

    /// Neither a batch that fails nor a document that a batch refuses names anything.
    @Test(arguments: [true, false]) func whatIsRefusedNamesNothing(failsWhole: Bool) throws {
        let database = try files.open("a")
        let notes = try database.collection("notes")
        try notes.save(["n": 1], id: "n")
        do {
            let blob = try store([1, 2, 3], in: database)
            try database.write { batch in
                var document = try IncomingDocument(json: #"{"n":2}"#)
                document.contents["x"] = Attachment(blob)
                #expect(throws: DatabaseError.self) {
                    _ = try batch.save(document, id: "n", in: notes, expecting: .absent)
                }
                let inline = try IncomingDocument(json: #"{"_attachments":{"y":{"data":"aGk="}}}"#)
                #expect(throws: DatabaseError.self) {
                    _ = try batch.save(inline, id: "n", in: notes, expecting: .absent)
                }
                if failsWhole { throw CocoaError(.userCancelled) }
            }
        } catch is CocoaError {}
        #expect(try database.blobs().isEmpty)
        #expect(try notes.document("n")?["n"].int == 1)
    }

    @Test func whatSomebodyElseHasStoredStays() throws {
        let database = try files.open("a")
        var held: Blob? = try store([1], in: database)
        let other = try database.saveBlob([1])
        held = nil
        #expect(try database.blobs().map(\.digest) == [other.digest] && held == nil)
        let old = try database.saveBlob([2])
        held = try store([2], in: database)
        held = nil
        #expect(try database.blobReader(old) != nil)
    }

    /// A file that is damaged gives its place to one that is whole, which documents may name already.
    @Test func whatTookThePlaceOfADamagedFileStays() throws {
        let path: String
        do {
            let database = try files.open("a")
            let blob = try database.saveBlob(Array("whole".utf8))
            var draft = MutableDocument(id: "n")
            draft.attachments["x"] = Attachment(blob)
            try database.defaultCollection.save(&draft)
            path = database.path + "/blobs"
            try database.close()
        }
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: path).first { $0.hasSuffix(".blob") })
        try Data("cut".utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        let database = try files.open("a")
        _ = try store(Array("whole".utf8), in: database)
        let attachment = try #require(try database.defaultCollection.document("n")?.attachments["x"])
        #expect(try database.blobReader(attachment)?.readAll() == Array("whole".utf8))
    }
}

import Foundation
import Roost
import Testing

/// Compaction removes blobs that nothing names, and no other.
@Suite struct BlobRemovalTests {
    private let files = TemporaryFiles()

    /// Opens the database anew, so that nothing is kept because it was stored just now.
    private func open(_ body: (Database, DocumentCollection) throws -> Void) throws {
        let database = try files.open("a")
        try body(database, try database.collection("notes"))
        try database.close()
    }

    private func digests(_ database: Database) throws -> Set<String> {
        try Set(database.blobs().map(\.digest))
    }

    @Test func whatNothingNamesGoesAndTheRestStays() throws {
        var blobs: [Blob] = []
        try open { database, notes in
            blobs = try (0..<8).map { try database.saveBlob([UInt8($0)]) }
            var draft = MutableDocument(id: "attached")
            draft.attachments["x"] = Attachment(blobs[0])
            try notes.save(&draft)
            try notes.save(["picture": blobs[1]], id: "value")
            try notes.saveLocalDocument(["picture": blobs[2]], name: "local")
            try notes.save(["picture": blobs[3]], id: "gone")
            try notes.delete("gone")
            try notes.save(json: #"{"deep":[{"text":"\#(blobs[4].digest)"}]}"#, id: "text")
            for (index, digit) in [(5, "a"), (6, "b")] {
                try notes.insert("torn", "2-\(digit)\(digit) 1-aa", json: try blobs[index].value.json())
            }
        }
        try open { database, _ in
            try database.compact()
            let kept = [0, 1, 2, 4, 5, 6].map { blobs[$0].digest }
            #expect(try digests(database) == Set(kept))
            #expect(try database.verifyBlobs().isClean)
        }
    }

    @Test func whatWasJustStoredWaitsForItsDocument() throws {
        try open { database, notes in
            let blob = try database.saveBlob([1])
            try database.compact()
            try notes.save(["picture": blob], id: "n")
            #expect(try digests(database) == [blob.digest])
        }
    }

    @Test func anOpenSnapshotKeepsWhatItNames() throws {
        try open { database, notes in
            var draft = MutableDocument(id: "n")
            draft.attachments["x"] = Attachment(try database.saveBlob([1]))
            try notes.save(&draft)
        }
        try open { database, notes in
            var snapshot: CollectionSnapshot? = try notes.snapshot()
            try notes.delete("n")
            try database.compact()
            let attachment = try #require(try snapshot?.document("n")?.attachments["x"])
            #expect(try database.blobReader(attachment)?.readAll() == [1])
            snapshot = nil
            try database.compact()
            #expect(try digests(database).isEmpty)
        }
    }

    @Test func aSaveDuringACollectionKeepsItsBlobs() async throws {
        let database = try files.open("a")
        let notes = try database.collection("notes")
        let compaction = Task.detached { for _ in 0..<20 { try database.compact() } }
        for number in 0..<100 {
            let json = #"{"_attachments":{"x":{"data":"\#(Data("\(number)".utf8).base64EncodedString())"}}}"#
            try await notes.save(json: json, id: "n\(number % 50)")
        }
        try await compaction.value
        for document in try notes.documents() {
            let attachment = try #require(document.attachments["x"])
            #expect(try database.blobReader(attachment) != nil)
        }
        try await database.compact()
        #expect(try database.blobs().count == 50)
    }
}

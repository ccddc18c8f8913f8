import ChildProcesses
import Foundation
import Roost
import Testing

/// The script Tests/format/document_reader.py, which knows databases from FileFormat.md alone, finds in one what Roost finds.
/// The script itself compares whatever is stored twice.
@Suite struct PythonDocumentReaderTests {
    private struct Listing: Decodable {
        struct Leaf: Decodable {
            var rev: String
            var deleted: Bool
            var digest: String
            var body: String
            var attachments: String
        }

        struct Node: Decodable, Equatable {
            var rev: String
            var sequence: UInt64
            var parents: [String]
        }

        struct Document: Decodable {
            var id: String
            var sequence: UInt64
            var expiration: UInt64?
            var leaves: [Leaf]
            var revisions: [Node]
        }

        struct Local: Decodable {
            var name: String
            var revision: UInt64
            var body: String
        }

        struct Purge: Decodable {
            var sequence: UInt64
            var id: String
            var revs: [String]
        }

        struct Collection: Decodable {
            var lastSequence: UInt64
            var revisionLimit: Int
            var epoch: UInt64
            var lastPurge: UInt64
            var documents: [Document]
            var local: [Local]
            var metadata: [String: String]
            var purges: [Purge]
        }

        var made: UInt64
        var isCopy: Bool
        var collections: [String: Collection]
    }

    private let files: TemporaryDatabase
    private let database: Database
    private let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        var options = DatabaseOptions()
        options.keptRevisions = 2
        database = try Database.open(files.path, options: options)
        notes = try database.collection("notes", scope: "birds")
    }

    private func run(_ path: String) throws -> (status: Int32, output: Data) {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let reader = tests.appendingPathComponent("format/document_reader.py").path
        return try ChildProcess.run(["python3", "-B", reader, "--json", path])
    }

    private func list(_ path: String) throws -> Listing {
        let (status, output) = try run(path)
        try #require(status == 0, "\(String(decoding: output, as: UTF8.self))")
        return try JSONDecoder().decode(Listing.self, from: output)
    }

    /// Something of every kind that the format has.
    private func fill() throws {
        let values =
            #"{"i":[0,-1,2047,-2048,2048,70000,-9223372036854775808,18446744073709551615],"f":[1.5,0.1],"#
            + #""n":null,"t":true,"s":["","x","0123456789abcdef","é"],"d":{"a":{},"b":[]}}"#
        try notes.save(json: values, id: "values")
        var draft = MutableDocument(
            id: "data", ["d": .data([1, 2, 3]), "e": .data([]), "l": .data(.init(repeating: 7, count: 40))])
        try notes.save(&draft)
        let long = (0..<3000).map { "\"k\($0)\":\"value \($0 % 7)\"" }.joined(separator: ",")
        try notes.save(
            json: "{\(long),\"list\":[\((0..<2100).map(String.init).joined(separator: ","))]}", id: "long")
        try notes.insert("fork", "3-cc 2-bb 1-aa", json: #"{"side":1}"#)
        try notes.insert("fork", "3-dd 2-bb", json: #"{"side":2}"#)
        try notes.insert("fork", "3-00ffaa0011223344556677889900aabb 2-ee", deleted: true)
        try notes.insert("fork", "3-cc 2-ee", json: #"{"side":1}"#)
        try database.write { batch in
            for number in 0..<100 { try batch.save(json: #"{"v":\#(number)}"#, id: "old", in: notes) }
            for number in 0..<1003 {
                try batch.save(json: "{}", id: "p\(number)", in: notes)
                try batch.purge("p\(number)", in: notes)
            }
        }
        try notes.save(json: "{}", id: "gone")
        try notes.delete("gone")
        try notes.save(json: "{}", id: "later")
        try notes.setExpiration(Date(timeIntervalSince1970: 4e9), of: "later")
        let text = String(repeating: "Swifts ", count: 100)
        let blob = try database.saveBlob(
            Array(text.utf8), contentType: "text/plain", options: BlobOptions(compression: .always))
        draft = MutableDocument(id: "attached")
        draft.attachments["a.txt"] = Attachment(blob)
        draft.attachments["b"] = Attachment(
            try database.saveBlob([1, 2, 3], options: BlobOptions(digest: .sha256)))
        try notes.save(&draft)
        try notes.saveLocalDocument(json: #"{"seen":1}"#, name: "point")
        try notes.setMetadata([1, 255], name: "who")
    }

    @Test func itFindsWhatRoostFinds() throws {
        try fill()
        for _ in 0..<2 {
            let found = try #require(try list(files.path).collections["birds.notes"])
            let snapshot = try notes.snapshot()
            #expect(found.lastSequence == snapshot.lastSequence && found.epoch == snapshot.epoch)
            #expect(
                found.lastPurge == snapshot.purgeSequence && found.revisionLimit == snapshot.revisionLimit)
            var selection = DocumentSelection()
            selection.includesDeleted = true
            #expect(try found.documents.map(\.id) == snapshot.documents(selection).map(\.id))
            for document in found.documents {
                let leaves = try snapshot.openRevisions(of: document.id)
                #expect(document.leaves.map(\.rev) == leaves.map { "\($0.revision)" }, "\(document.id)")
                #expect(document.leaves.map(\.deleted) == leaves.map(\.isDeleted))
                #expect(
                    document.leaves.map(\.body) == leaves.map { $0.value.json(.canonical) }, "\(document.id)")
                #expect(document.sequence == leaves[0].sequence)
                let revisions = try snapshot.revisions(of: document.id)
                #expect(document.revisions.map(\.rev) == revisions.map { "\($0.id)" })
                #expect(document.revisions.map(\.sequence) == revisions.map(\.sequence))
                #expect(
                    document.revisions.map(\.parents.first) == revisions.map { $0.parent.map { "\($0)" } })
                let expires = try snapshot.expiration(of: document.id) != nil
                #expect((document.expiration != nil) == expires)
                if document.id != "fork" {
                    let made = document.leaves.map { "\($0.rev.prefix { $0 != "-" })-\($0.digest)" }
                    #expect(made == document.leaves.map(\.rev), "\(document.id)")
                }
            }
            #expect(found.local.map(\.name) == ["point"] && found.local.map(\.body) == [#"{"seen":1}"#])
            #expect(found.metadata == ["who": "01ff"])
            let purges = try #require(try snapshot.purges(since: 3))
            #expect(found.purges.map(\.sequence) == purges.map(\.sequence))
            #expect(found.purges.map(\.id) == purges.map(\.id))
            #expect(found.purges.map(\.revs) == purges.map { $0.revisions.map { "\($0)" } })
            try database.compact()
        }
        let attachments = try #require(try notes.document("attached")).attachments
        for (_, attachment) in attachments {
            let stored = try #require(
                try list(files.path).collections["birds.notes"]?.documents.first { $0.id == "attached" })
            let md5 = try #require(attachment.md5).dropFirst(4)
            #expect(stored.leaves[0].attachments.contains("<\(md5)>"))
        }
    }

    @Test func itTellsACopy() throws {
        try notes.save(json: "{}", id: "a")
        let copy = files.directory + "/Copy.roost"
        try database.backup(to: copy)
        #expect(try list(copy).isCopy && !list(files.path).isCopy)
    }

    @Test func damageIsAnError() throws {
        try fill()
        try database.compact()
        try database.close()
        let file = files.path + "/data.roost"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        // A text in a document.
        let place = try #require(bytes.range(of: Data("0123456789abcdef".utf8)))
        bytes[place.lowerBound] ^= 0xFF
        try bytes.write(to: URL(fileURLWithPath: file))
        #expect(try run(files.path).status == 1)
    }
}

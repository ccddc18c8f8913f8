import Foundation
import Roost
import Testing

/// A database keeps blobs beside its documents, and they follow it through encryption, backup and salvage.
@Suite struct DatabaseBlobTests {
    private let files = TemporaryFiles()
    private let secret = "nests under the eaves of the old barn"
    private var contents: [[UInt8]] {
        [0, 1, 4000, 100_000].map { Array(String(repeating: secret, count: 3000).utf8.prefix($0)) }
    }

    private func fill(_ database: Database) throws -> [Blob] {
        try contents.map { try database.saveBlob($0, contentType: "text/plain") }
    }

    private func verify(_ database: Database, _ blobs: [Blob]) throws {
        for (blob, content) in zip(blobs, contents) {
            #expect(try database.blobReader(blob)?.readAll() == content)
        }
        #expect(try Set(database.blobs().map(\.digest)) == Set(blobs.map(\.digest)))
        let report = try database.verifyBlobs()
        #expect(report.isClean && report.count == blobs.count)
    }

    /// Whether the content or the digest of a blob is in any file or file name.
    private func showsSecrets(_ path: String, _ blobs: [Blob]) throws -> Bool {
        let digests = blobs.map { $0.digest.dropFirst(5).replacing("/", with: "_") }
        let raw = blobs.compactMap { Data(base64Encoded: String($0.digest.dropFirst(5))) }
        for (name, bytes) in try files.all(path) {
            if digests.contains(where: { name.contains($0) }) { return true }
            let needles = [Data(secret.utf8), Data("text/plain".utf8)] + raw + digests.map { Data($0.utf8) }
            if needles.contains(where: { bytes.range(of: $0) != nil }) { return true }
        }
        return false
    }

    @Test func whatIsStoredComesBack() throws {
        let database = try files.open("a")
        let blobs = try fill(database)
        try verify(database, blobs)
        #expect(try fill(database) == blobs)
        #expect(try database.blobs().count == contents.count)
        #expect(try database.blobReader("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBww=") == nil)
        #expect(try database.blobReader("nonsense") == nil)
        let reader = try #require(try database.blobReader(blobs[3]))
        reader.position = 50_000
        var pieces: [UInt8] = []
        unsafe try reader.forEachPiece { unsafe pieces.append(contentsOf: $0) }
        #expect(pieces == Array(contents[3][50_000...]))
        try database.close()
        let again = try files.open("a")
        try verify(again, blobs)
    }

    @Test func aBlobIsAValueOfADocument() throws {
        struct Note: Codable, Equatable {
            var title: String
            var photos: [Blob]
        }
        let database = try files.open("a")
        let blob = try fill(database)[2]
        let notes = try database.collection("notes")
        let note = Note(title: "Barn", photos: [blob])
        try notes.save(note, id: "n1")
        #expect(try notes.document("n1", as: Note.self)?.value == note)
        var draft = MutableDocument(id: "n2")
        draft["photo"] = blob.value
        try notes.save(&draft)
        let stored = try #require(try notes.document("n2"))
        #expect(Blob(stored.mutableCopy()["photo"]) == blob)
        #expect(stored.json().contains(#""digest":"\#(blob.digest)""#))
        #expect(Blob(.string("x")) == nil)
        #expect(Blob(["@type": "other", "digest": "sha1-", "length": 1]) == nil)
        #expect(Blob(["@type": "blob", "digest": "sha1-", "length": -1]) == nil)
    }

    @Test func encryptionAndDecryptionTakeTheBlobsAlong() throws {
        var database = try files.open("a")
        let blobs = try fill(database)
        #expect(try showsSecrets(files.path("a"), blobs))
        let (first, second) = (EncryptionKey.random(), EncryptionKey.random())
        for key in [first, second, nil, first] {
            try database.changeKey(to: key)
            try verify(database, blobs)
            #expect(try showsSecrets(files.path("a"), blobs) == (key == nil))
            try database.close()
            database = try files.open("a", key)
            try verify(database, blobs)
            #expect(try showsSecrets(files.path("a"), blobs) == (key == nil))
        }
    }

    @Test func anotherKeyRewritesNoBlob() throws {
        let database = try files.open("a", .random())
        let blobs = try fill(database)
        let before = try files.all(files.path("a") + "/blobs")
        let key = EncryptionKey.random()
        try database.changeKey(to: key)
        #expect(try files.all(files.path("a") + "/blobs") == before)
        let late = try database.saveBlob([9, 9, 9])
        try database.close()
        let again = try files.open("a", key)
        try verify(again, blobs + [late])
        #expect(try again.blobReader(late)?.readAll() == [9, 9, 9])
    }

    @Test func aBlobThatWasBegunInTheClearCantBeFinishedInAnEncryptedDatabase() throws {
        let database = try files.open("a")
        let blobs = try fill(database)
        let writer = try database.makeBlobWriter()
        try writer.write(Array("\(secret), and more".utf8))
        try database.changeKey(to: .random())
        #expect { _ = try writer.finish() } throws: { ($0 as? DatabaseError)?.code == .closed }
        try verify(database, blobs)
        #expect(try !showsSecrets(files.path("a"), blobs))
    }

    @Test func nothingIsVisibleWhileBlobsAreWrittenCompactedAndBackedUp() throws {
        let key = EncryptionKey.random()
        let database = try files.open("a", key)
        let path = files.path("a")
        let blobs = try fill(database)
        let writer = try database.makeBlobWriter()
        try writer.write(Array(String(repeating: secret, count: 20_000).utf8))
        try database.defaultCollection.save(
            json: try DocumentValue.dictionary(["photo": blobs[3].value]).json(), id: "d")
        #expect(try !showsSecrets(path, blobs))
        var looks = 0
        try database.compact { _ in
            looks += 1
            return (try? showsSecrets(path, blobs)) == false
        }
        #expect(looks > 0)
        try database.backup(to: files.path("b"))
        #expect(try !showsSecrets(files.path("b"), blobs))
        writer.cancel()
        try database.close()
        try verify(try files.open("b", key), blobs)
    }

    @Test func backupsHaveTheBlobsAndNothingElse() throws {
        let database = try files.open("a")
        let blobs = try fill(database)
        try database.backup(to: files.path("b"))
        let late = try database.saveBlob([1, 2, 3])
        try database.backup(to: files.path("b"))
        let copy = try files.open("b")
        try verify(copy, blobs + [late])
        try copy.close()
        let key = EncryptionKey.random()
        try database.changeKey(to: key)
        try database.backup(to: files.path("b"))
        #expect(try !showsSecrets(files.path("b"), blobs))
        try verify(try files.open("b", key), blobs + [late])
    }

    @Test func salvageTakesTheBlobsAlong() throws {
        let key = EncryptionKey.random()
        let database = try files.open("a", key)
        let blobs = try fill(database)
        try database.close()
        try Database.salvage(files.path("a"), to: files.path("b"), key: key)
        try verify(try files.open("b", key), blobs)
    }

    @Test func textIsStoredAsGzipWhereTheTypeMaySaySo() throws {
        let database = try files.open("a")
        let options = BlobOptions(compression: .byContentType)
        let text = Array(String(repeating: secret, count: 100).utf8)
        let compressed: [String?] = [
            "text/plain", "Text/CSV; charset=utf-8", "application/json", "application/ld+json",
            "image/svg+xml",
            "application/xml", "application/javascript",
        ]
        for (number, type) in (compressed + ["image/png", "application/octet-stream", "context/text", nil])
            .enumerated()
        {
            let blob = try database.saveBlob(text + [UInt8(number)], contentType: type, options: options)
            var draft = MutableDocument(id: "d\(number)")
            draft.attachments["a"] = Attachment(blob)
            let attachment = try #require(try database.defaultCollection.save(&draft).attachments["a"])
            #expect((attachment.encodedLength != nil) == compressed.contains(type), "\(type ?? "no type")")
            #expect(try database.blobReader(blob)?.readAll() == text + [UInt8(number)])
        }
    }

    @Test func damageIsFound() throws {
        let database = try files.open("a", .random())
        let blobs = try fill(database)
        let directory = files.path("a") + "/blobs/"
        let name = try #require(try files.all(directory).max { $0.value.count < $1.value.count }?.key)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: directory + name))
        bytes[50_000] ^= 1
        try bytes.write(to: URL(fileURLWithPath: directory + name))
        #expect(try database.verifyBlobs().damaged.map(\.file) == [name])
        #expect { _ = try database.blobReader(blobs[3])?.readAll() } throws: {
            ($0 as? DatabaseError)?.code == .damaged
        }
        #expect(try database.blobReader(blobs[2])?.readAll() == contents[2])
    }
}

/// Databases in a directory that goes with the value.
final class TemporaryFiles {
    private let directory = NSTemporaryDirectory() + "roost-" + UUID().uuidString

    init() { try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    func open(_ name: String, _ key: EncryptionKey? = nil) throws -> Database {
        var options = DatabaseOptions()
        options.key = key
        return try Database.open(path(name), options: options)
    }

    /// All files below `path` by name, with what is in them.
    func all(_ path: String) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            var isDirectory: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory)
            if isDirectory.boolValue { continue }
            // A file may go while others are read.
            if let bytes = try? Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")) {
                found[name] = bytes
            }
        }
        return found
    }
}

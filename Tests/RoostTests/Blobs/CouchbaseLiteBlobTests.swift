import Foundation
import Roost
import Testing

/// Blobs of a Couchbase Lite database, as its shipped code writes them.
@Suite struct CouchbaseLiteBlobTests {
    private let files: TemporaryDatabase
    private let database: Database
    private let attachments: String
    private let content = (0..<4100).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 251) }

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
        attachments = files.directory + "/Attachments"
        try FileManager.default.createDirectory(atPath: attachments, withIntermediateDirectories: true)
    }

    /// Puts a file there under the name that the content has.
    private func install(_ file: [UInt8]) throws -> Blob {
        let other = try TemporaryDatabase()
        let blob = try other.use { try $0.saveBlob(content) }
        let stem = blob.digest.dropFirst("sha1-".count).replacing("/", with: "_")
        try Data(file).write(to: URL(fileURLWithPath: "\(attachments)/\(stem).blob"))
        return blob
    }

    /// The content, encrypted with OpenSSL under the key 00 01 … 1f.
    private func encrypted() throws -> [UInt8] {
        let vector = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../RoostBlobsTests/Vectors/couchbase-4100.hex")
        let digits = try String(contentsOf: vector, encoding: .utf8).compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    @Test func plainBlobsAreTaken() throws {
        let blob = try install(content)
        #expect(try database.importBlobs(fromCouchbaseLite: attachments) == [blob])
        #expect(try database.blobReader(blob)?.readAll() == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: attachments).count == 1)
    }

    @Test func encryptedBlobsAreTaken() throws {
        let blob = try install(try encrypted())
        let key = try EncryptionKey(bytes: Array(0..<32))
        #expect(try database.importBlobs(fromCouchbaseLite: attachments, key: key) == [blob])
        #expect(try database.blobReader(blob)?.readAll() == content)
    }

    @Test func anotherKeyAndChangedFilesAreErrors() throws {
        var file = try encrypted()
        _ = try install(file)
        for key in [EncryptionKey.random(), .passphrase("another")] {
            let error = #expect(throws: DatabaseError.self) {
                try database.importBlobs(fromCouchbaseLite: attachments, key: key)
            }
            #expect(error?.code == .damaged)
        }
        file[100] ^= 1
        _ = try install(file)
        let key = try EncryptionKey(bytes: Array(0..<32))
        let error = #expect(throws: DatabaseError.self) {
            try database.importBlobs(fromCouchbaseLite: attachments, key: key)
        }
        #expect(error?.code == .damaged)
        #expect(try database.blobs().isEmpty)
    }
}

import Foundation
import Roost
import RoostSimulation
import Testing

/// In an encrypted database only encrypted blobs count, whoever puts plain ones beside them.
@Suite struct PlantedBlobTests {
    private let files = TemporaryFiles()
    private let manager = FileManager.default
    private let content = [UInt8](repeating: 7, count: 5000)
    private let forged = Array("what an attacker wrote".utf8)
    private var blobs: String { files.path("db/blobs") }

    private func plainName(_ blob: Blob, _ ending: String) -> String {
        blob.digest.dropFirst(5).replacing("/", with: "_") + ending
    }

    /// Puts `bytes` where a plain blob would be.
    private func plant(_ blob: Blob, _ ending: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(blobs)/\(plainName(blob, ending))"))
    }

    private func names(_ ending: String) throws -> [String] {
        try manager.contentsOfDirectory(atPath: blobs).filter { $0.hasSuffix(ending) }.sorted()
    }

    @Test(arguments: [".blob", ".gz"], [true, false])
    func plainFilesAreNotSeen(ending: String, readOnly: Bool) throws {
        let key = EncryptionKey.random()
        var database = try files.open("db", key)
        let blob = try database.saveBlob(content)
        var draft = MutableDocument(id: "d")
        draft["blob"] = blob.value
        try database.defaultCollection.save(&draft)
        let sealed = try #require(try names(".sealed").first)
        try manager.removeItem(atPath: "\(blobs)/\(sealed)")
        // Neither wrong content under its name nor, for that matter, the right one.
        for bytes in [forged, content] {
            try plant(blob, ending, bytes)
            #expect(try database.blobReader(blob) == nil)
            try database.close()
            var options = DatabaseOptions(isReadOnly: readOnly)
            options.key = key
            database = try Database.open(files.path("db"), options: options)
            #expect(try database.blobReader(blob) == nil)
            #expect(try database.blobs().isEmpty)
            #expect(try database.verifyBlobs().count == 0)
            try database.backup(to: files.path("backup"))
            #expect(!manager.fileExists(atPath: files.path("backup/blobs/\(plainName(blob, ending))")))
            if !readOnly { try database.compact() }
            #expect(try names(ending).count == 1)
        }
        try database.close()
    }

    @Test func plainFilesThatWaitForEncryptionAreComparedWithTheirDigest() throws {
        var seen = 0
        for point in 1... {
            let simulation = Simulation(seed: UInt64(point))
            let database = try Database.open("db", environment: simulation.environment)
            let blob = try database.saveBlob(content)
            let key = EncryptionKey.random()
            simulation.disk.crash(atChange: simulation.disk.counts.changes + point)
            _ = try? database.changeKey(to: key)
            guard simulation.disk.hasCrashed else { break }
            let rebooted = simulation.afterCrash(.keepsAll)
            var options = DatabaseOptions(isReadOnly: true)
            options.key = key
            let names = try rebooted.disk.list("db/blobs")
            guard !names.contains(where: { $0.hasSuffix(".sealed") }),
                let reader = try? Database.open("db", options: options, environment: rebooted.environment)
            else { continue }
            seen += 1
            #expect(try reader.blobReader(blob)?.readAll() == content)
            rebooted.disk.flip("db/blobs/" + plainName(blob, ".blob"), at: 100)
            let error = #expect(throws: DatabaseError.self) { try reader.blobReader(blob) }
            #expect(error?.code == .damaged)
            // Whoever opens it for writing ends the encryption: what is damaged is not in the clear, nor passes for whole.
            options.isReadOnly = false
            let writer = try Database.open("db", options: options, environment: rebooted.environment)
            #expect(try rebooted.disk.list("db/blobs").filter { $0.hasSuffix(".blob") } == [])
            #expect(throws: DatabaseError.self) { try writer.blobReader(blob)?.readAll() }
            #expect(try writer.verifyBlobs().damaged.count == 1)
        }
        #expect(seen > 0)
    }

    @Test(arguments: [".gz", ".blob"])
    func encryptionLeavesNothingInTheClear(ending: String) throws {
        let key = EncryptionKey.random()
        var database = try files.open("db")
        let text = Array(String(repeating: "swifts roost in gables ", count: 500).utf8)
        let options = BlobOptions(compression: ending == ".gz" ? .always : .never)
        let (blob, other) = (
            try database.saveBlob(text, options: options), try database.saveBlob(content, options: options)
        )
        let damaged = "\(blobs)/\(plainName(blob, ending))"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: damaged))
        bytes.replaceSubrange(bytes.count - 4..<bytes.count, with: [0xFF, 0xFF, 0xFF, 0xFF])
        try bytes.write(to: URL(fileURLWithPath: damaged))
        try database.changeKey(to: key)
        #expect(try names(ending).isEmpty)
        #expect(try names(".sealed").count == 2)
        for _ in 0..<2 {
            #expect(throws: DatabaseError.self) { try database.blobReader(blob)?.readAll() }
            #expect(try database.blobReader(other)?.readAll() == content)
            #expect(try database.verifyBlobs().damaged.count == 1)
            try database.close()
            database = try files.open("db", key)
        }
        // Decrypted again it is as it was.
        try database.changeKey(to: nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: damaged)) == bytes)
        try database.changeKey(to: key)
        // The same content mends it.
        #expect(try database.saveBlob(text, options: options) == blob)
        #expect(try database.blobReader(blob)?.readAll() == text)
        #expect(try database.verifyBlobs().isClean)
        try database.close()
    }

    @Test(arguments: [nil, EncryptionKey.random()], [false, true])
    func theSameContentReplacesADamagedBlob(key: EncryptionKey?, compresses: Bool) throws {
        let database = try files.open("db", key)
        let options = BlobOptions(compression: compresses ? .always : .never)
        let blob = try database.saveBlob(content, options: options)
        let ending = key != nil ? ".sealed" : compresses ? ".gz" : ".blob"
        let file = URL(fileURLWithPath: "\(blobs)/\(try #require(try names(ending).first))")
        let good = try Data(contentsOf: file)
        for offset in [0, good.count / 2, good.count - 1] {
            var bad = good
            bad[offset] ^= 1
            try bad.write(to: file)
            #expect(try !database.verifyBlobs().isClean, "\(offset)")
            #expect(try database.saveBlob(content, options: options) == blob)
            #expect(try database.blobReader(blob)?.readAll() == content, "\(offset)")
            #expect(try database.verifyBlobs().isClean, "\(offset)")
        }
        try Data().write(to: file)
        // Also where the new one is stored in another way.
        let other = BlobOptions(compression: compresses ? .never : .always)
        #expect(try database.saveBlob(content, options: other) == blob)
        #expect(try database.blobReader(blob)?.readAll() == content)
        #expect(try database.verifyBlobs().isClean)
        #expect(try database.blobs().count == 1)
        try database.close()
    }
}

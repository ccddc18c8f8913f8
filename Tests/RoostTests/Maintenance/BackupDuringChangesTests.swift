import Roost
import RoostSimulation
import Testing

/// Another process changes the key, or removes blobs, while a read-only handle makes a backup: the backup is refused, or
/// it is whole.
@Suite struct BackupDuringChangesTests {
    private let contents: [[UInt8]] = (1...3).map {
        Array(String(repeating: "gable \($0) ", count: 900).utf8)
    }

    private func open(
        _ simulation: Simulation, _ path: String, _ key: EncryptionKey?, readOnly: Bool = false
    ) throws -> Database {
        var options = DatabaseOptions()
        options.key = key
        options.isReadOnly = readOnly
        return try Database.open(path, options: options, environment: simulation.environment)
    }

    @Test func aBackupDuringAKeyChangeIsWholeOrRefused() throws {
        let (first, second) = (EncryptionKey.random(), EncryptionKey.random())
        var refused = 0
        for (old, new) in [(nil, first), (first, second), (first, nil)] as [(EncryptionKey?, EncryptionKey?)]
        {
            for look in 1...4 {
                if try !isWhole(from: old, to: new, atLook: look) { refused += 1 }
            }
        }
        #expect(refused >= 3)
    }

    /// Between the look at the documents and that at the blobs, the documents are deleted, and their blobs removed.
    @Test(arguments: 1...4)
    func aBackupWhileBlobsAreRemovedIsWhole(look: Int) throws {
        let simulation = Simulation(seed: UInt64(look))
        var writer = try open(simulation, "db", nil)
        for (number, content) in contents.enumerated() {
            var draft = MutableDocument(id: "d\(number)")
            draft.attachments["photo"] = Attachment(try writer.saveBlob(content))
            try writer.defaultCollection.save(&draft)
        }
        try writer.close()
        writer = try open(simulation, "db", nil)
        let reader = try open(simulation, "db", nil, readOnly: true)
        var looks = 0
        try reader.backup(to: "copy") { _ in
            looks += 1
            if looks == look {
                _ = try? writer.defaultCollection.delete("d1")
                _ = try? writer.compact()
            }
            return true
        }
        #expect(try looks >= look && writer.blobs().count == 2)
        let copy = try open(simulation, "copy", nil, readOnly: true)
        for document in try copy.defaultCollection.snapshot().documents() {
            let attachment = try #require(document.attachments["photo"])
            #expect(try copy.blobReader(attachment)?.readAll() != nil, "\(document.id)")
        }
        try copy.close()
    }

    /// Its file has another name then, as it is compressed.
    @Test func aDamagedBlobThatIsStoredAgainMeanwhileIsInTheBackup() throws {
        let simulation = Simulation(seed: 1)
        let database = try open(simulation, "db", nil)
        let blobs = try contents.map { try database.saveBlob($0) }
        try database.defaultCollection.save(
            json: try DocumentValue.array(blobs.map(\.value)).json().wrapped, id: "album")
        // Blobs are copied in the order of their files' names.
        let files = try simulation.disk.list("db/blobs").filter { $0.hasSuffix(".blob") }.sorted()
        let damaged = "db/blobs/\(try #require(files.last))"
        try simulation.disk.open(damaged, .readWrite).truncate(to: 100)
        var options = BlobOptions()
        options.compression = .always
        var isRestored = false
        try database.backup(to: "copy") { _ in
            if !isRestored {
                isRestored = contents.allSatisfy { (try? database.saveBlob($0, options: options)) != nil }
            }
            return true
        }
        #expect(isRestored && simulation.disk.contents(of: damaged) == nil)
        let copy = try open(simulation, "copy", nil, readOnly: true)
        for (blob, content) in zip(blobs, contents) {
            #expect(try copy.blobReader(blob)?.readAll() == content)
        }
        #expect(try copy.verifyBlobs().isClean)
        try copy.close()
    }

    /// Makes a backup, changing the key when its progress is told for the `look`-th time. Whether it succeeded; it must
    /// have everything then.
    private func isWhole(from old: EncryptionKey?, to new: EncryptionKey?, atLook look: Int) throws -> Bool {
        let simulation = Simulation(seed: UInt64(look))
        let writer = try open(simulation, "db", old)
        let blobs = try contents.map { try writer.saveBlob($0) }
        try writer.defaultCollection.save(
            json: try DocumentValue.array(blobs.map(\.value)).json().wrapped, id: "album")
        let reader = try open(simulation, "db", old, readOnly: true)
        var looks = 0
        do throws(DatabaseError) {
            try reader.backup(to: "copy") { _ in
                looks += 1
                if looks == look { _ = try? writer.changeKey(to: new) }
                return true
            }
        } catch {
            #expect([.wrongKey, .notFound, .inputOutput].contains(error.code), "\(error)")
            return false
        }
        let copy = try open(simulation, "copy", old)
        for (blob, content) in zip(blobs, contents) {
            #expect(try copy.blobReader(blob)?.readAll() == content, "look \(look)")
        }
        #expect(try copy.verifyBlobs().isClean)
        try copy.close()
        return true
    }
}

extension String {
    /// A document with the text as its one property.
    fileprivate var wrapped: String { #"{"photos":\#(self)}"# }
}

import Roost
import RoostBlobs
import RoostSimulation
import Testing

/// A backup to where one of before a change of the key is: until the new one is complete, the old one can be read with the old key,
/// with all its blobs. So it is though blobs were removed meanwhile and stored again under the new key, in another form.
@Suite struct KeyChangeBackupTests {
    private static let keys: [EncryptionKey?] = [nil, .random(), .random(), .random()]

    /// The numbers of the keys that the database has, one after the other.
    static let histories = [[1, 2], [0, 1], [1, 0], [1, 2, 3], [1, 0, 2], [0, 1, 0]]

    /// The attachments of all documents.
    private typealias Contents = [String: [UInt8]]

    private func open(
        _ simulation: Simulation, _ path: String, key: Int, readOnly: Bool = false
    ) throws -> Database {
        var options = DatabaseOptions(isReadOnly: readOnly, createsIfMissing: !readOnly)
        options.key = Self.keys[key]
        return try Database.open(path, options: options, environment: simulation.environment)
    }

    private func save(_ ids: [String], compressed: Bool, in database: Database) throws {
        var options = BlobOptions()
        options.compression = compressed ? .always : .never
        for id in ids {
            let content = Array(String(repeating: "gable of \(id) ", count: 300).utf8)
            var draft = MutableDocument(id: id)
            draft.attachments["photo"] = Attachment(try database.saveBlob(content, options: options))
            try database.defaultCollection.save(&draft, expecting: .any)
        }
    }

    /// Every attachment of every document, which must be there and whole.
    private func contents(_ simulation: Simulation, _ path: String, key: Int) throws -> Contents {
        let database = try open(simulation, path, key: key, readOnly: true)
        defer { try? database.close() }
        var contents: Contents = [:]
        for document in try database.defaultCollection.snapshot().documents() {
            let attachment = try #require(document.attachments["photo"])
            let reader = try #require(try database.blobReader(attachment), "the blob of \(document.id)")
            contents[document.id] = try reader.readAll()
        }
        return contents
    }

    /// A database with a backup of when it had the first key, which has had all the others since.
    private func prepared(_ history: [Int], seed: UInt64) throws -> (Simulation, old: Contents, new: Contents)
    {
        let simulation = Simulation(seed: seed)
        var writer = try open(simulation, "db", key: history[0])
        try save(["a", "b", "c"], compressed: false, in: writer)
        try writer.backup(to: "copy")
        let old = try contents(simulation, "db", key: history[0])
        for key in history.dropFirst() {
            try writer.changeKey(to: Self.keys[key])
            for id in ["b", "c", "d"] where try writer.defaultCollection.document(id) != nil {
                try writer.defaultCollection.delete(id)
            }
            // Blobs that were stored just now are kept until the database is opened again.
            try writer.close()
            writer = try open(simulation, "db", key: key)
            try writer.compact()
            #expect(try writer.blobs().count == 1)
            try save(["b", "d"], compressed: true, in: writer)
        }
        try writer.close()
        return (simulation, old, try contents(simulation, "db", key: history.last ?? 0))
    }

    @Test(arguments: histories)
    func everyCrashLeavesOldOrNew(history: [Int]) throws {
        let (first, last) = (history[0], history[history.count - 1])
        var crashes = 0
        for number in 1... {
            let (simulation, old, new) = try prepared(history, seed: UInt64(number))
            let database = try open(simulation, "db", key: last)
            simulation.disk.crash(atChange: simulation.disk.counts.changes + number)
            let isComplete = (try? database.backup(to: "copy")) != nil
            guard simulation.disk.hasCrashed else { break }
            crashes += 1
            let rebooted = simulation.afterCrash()
            // Whichever it is, it has its own key.
            let found: Contents
            do {
                found = try contents(rebooted, "copy", key: last)
                #expect(found == new || first == last && found == old, "crash at change \(number)")
            } catch let error as DatabaseError where error.code == .wrongKey || error.code == .damaged {
                found = try contents(rebooted, "copy", key: first)
                #expect(found == old && !isComplete, "crash at change \(number)")
            }

            let again = try open(rebooted, "db", key: last)
            try again.backup(to: "copy")
            #expect(try contents(rebooted, "copy", key: last) == new)
            #expect(try Set(rebooted.disk.list("copy/blobs")) == Set(rebooted.disk.list("db/blobs")))
            #expect(try open(rebooted, "copy", key: last, readOnly: true).check().isClean)
        }
        #expect(crashes > 10)
    }

    #if ROOST_FAILPOINTS
        /// That the test above would notice blobs that are replaced before the documents have their keys.
        @Test func aHastyReplacementIsNoticed() throws {
            let isNoticed = try BlobFailpoint.$active.withValue(.hastyReplacement) {
                try (1...60).contains { number in
                    let (simulation, old, new) = try prepared([1, 2], seed: UInt64(number))
                    let database = try open(simulation, "db", key: 2)
                    simulation.disk.crash(atChange: simulation.disk.counts.changes + number)
                    _ = try? database.backup(to: "copy")
                    let rebooted = simulation.afterCrash()
                    let found =
                        (try? contents(rebooted, "copy", key: 2)) ?? (try? contents(rebooted, "copy", key: 1))
                    return found != old && found != new
                }
            }
            #expect(isNoticed)
        }
    #endif

    /// Another key makes another file of the documents, but none of blobs that are there.
    @Test func blobsAreNotCopiedAgainForAnotherKey() throws {
        let simulation = Simulation(seed: 1)
        let database = try open(simulation, "db", key: 1)
        try save(["a", "b", "c"], compressed: false, in: database)
        try database.backup(to: "copy")
        let name = try #require(try simulation.disk.list("copy/blobs").first { $0.hasSuffix(".sealed") })
        let file = try simulation.disk.status(of: "copy/blobs/\(name)")?.identity
        try database.changeKey(to: Self.keys[2])
        let documents = try database.backup(to: "copy")
        #expect(!documents.isIncremental)
        #expect(try simulation.disk.status(of: "copy/blobs/\(name)")?.identity == file)
        #expect(try database.backup(to: "copy").copiedBytes == 0)
    }

    /// Whoever goes on with an older backup may come to seal other blobs under other keys than the newer backup has.
    @Test func aBackupOfAnotherHistoryIsNotSpoiled() throws {
        let simulation = Simulation(seed: 1)
        let original = try open(simulation, "db", key: 1)
        try save(["a"], compressed: false, in: original)
        try original.backup(to: "older")
        try original.changeKey(to: Self.keys[2])
        try save(["b"], compressed: false, in: original)
        try original.backup(to: "newer")
        try original.close()

        let restored = try open(simulation, "older", key: 1)
        try restored.changeKey(to: Self.keys[3])
        try save(["b"], compressed: false, in: restored)
        let refusal = #expect(throws: DatabaseError.self) { try restored.backup(to: "newer") }
        #expect(refusal?.code == .unsupportedFormat)
        #expect(try contents(simulation, "newer", key: 2).count == 2)
    }
}

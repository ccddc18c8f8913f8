import Foundation
import Roost
import Synchronization
import Testing

/// Databases in memory, which do what those on a disk do.
@Suite struct InMemoryTests {
    @Test func everythingIsThere() throws {
        let database = try Database.inMemory()
        let notes = try database.collection("notes")
        for number in 0..<500 { try notes.save(json: #"{"number":\#(number)}"#, id: "n\(number)") }
        try notes.delete("n0")
        let before = try database.snapshot()
        try notes.delete("n1")
        #expect(try before[notes].count == 499 && notes.count == 498)

        let content = [UInt8](repeating: 7, count: 300_000)
        let blob = try database.saveBlob(content)
        var draft = MutableDocument(id: "pictured")
        draft.attachments["a"] = Attachment(blob)
        try notes.save(&draft)
        try database.compact()
        #expect(try database.blobReader(blob)?.readAll() == content)
        #expect(try database.check().isClean && database.verifyBlobs().isClean)
        #expect(try notes.count == 499 && notes["n7"]?["number"].int == 7)
        try database.changeKey(to: .random())
        #expect(try database.blobReader(blob)?.readAll() == content)
        try database.close()
    }

    @Test func eachIsItsOwn() throws {
        let (first, second) = (try Database.inMemory(), try Database.inMemory())
        try first.defaultCollection.save(json: "{}", id: "a")
        #expect(try second.defaultCollection.count == 0)
        #expect(first.publicUUID != second.publicUUID)
    }

    @Test func nothingReachesTheDiskButABackup() throws {
        let files = try TemporaryDatabase()
        let here = FileManager.default.currentDirectoryPath
        let before = try FileManager.default.contentsOfDirectory(atPath: here)
        let database = try Database.inMemory(options: DatabaseOptions(key: .random()))
        try database.defaultCollection.save(json: #"{"v":1}"#, id: "a")
        let blob = try database.saveBlob([1, 2, 3])
        #expect(!FileManager.default.fileExists(atPath: database.path))
        #expect(try FileManager.default.contentsOfDirectory(atPath: here).sorted() == before.sorted())

        let plain = try Database.inMemory()
        try plain.defaultCollection.save(["picture": try plain.saveBlob([1, 2, 3])], id: "a")
        try plain.backup(to: files.path)
        let copy = try files.open()
        #expect(try copy.defaultCollection.contains("a") && copy.blobReader(blob)?.readAll() == [1, 2, 3])
    }

    @Test func listenersAndExpirationsWork() async throws {
        let database = try Database.inMemory()
        let notes = try database.defaultCollection
        let purged = Mutex(false)
        let observation = try notes.observe { changes in
            if changes.contains(where: \.isPurged) { purged.withLock { $0 = true } }
        }
        try await notes.save(json: "{}", id: "a")
        try await notes.setExpiration(Date(timeIntervalSinceNow: 0.01), of: "a")
        #expect(try await eventually { purged.withLock { $0 } })
        #expect(try notes.count == 0)
        observation.cancel()
    }
}

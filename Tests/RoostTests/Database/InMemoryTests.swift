import ChildProcesses
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

    /// In a process of its own, all of whose directories are one that was empty.
    @Test func nothingReachesTheDisk() throws {
        let files = try TemporaryDatabase()
        let process = try ChildProcess(["memory", files.directory], of: "DatabaseWriter")
        let text = process.readToEnd()
        #expect(process.finish() == 0)
        #expect(text == "2 documents\n", "and no names of files")
        #expect(try FileManager.default.contentsOfDirectory(atPath: files.directory).isEmpty)
    }

    @Test func aBackupOfMemoryIsADatabaseOnTheDisk() throws {
        let files = try TemporaryDatabase()
        let database = try Database.inMemory()
        let blob = try database.saveBlob([1, 2, 3])
        try database.defaultCollection.save(["picture": blob], id: "a")
        try database.backup(to: files.path)
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

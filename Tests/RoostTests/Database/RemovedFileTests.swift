import Foundation
import Roost
import Testing

/// A database whose files are removed while it is open.
@Suite struct RemovedFileTests {
    @Test(arguments: [false, true]) func aFileThatWasRemovedTakesNoCommits(isShared: Bool) throws {
        let path = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = DatabaseOptions()
        options.writers = isShared ? .takingTurns : .one
        let database = try Database.open(path, options: options)
        let notes = try database.defaultCollection
        try notes.save(json: #"{"v":1}"#, id: "a")
        try FileManager.default.removeItem(atPath: path)
        for _ in 0..<2 {
            #expect(throws: DatabaseError.self) { try notes.save(json: #"{"v":2}"#, id: "a") }
        }
        #expect(try notes.document("a")?.int("v") == 1, "what is open is still read")
        try? database.close()
        // Another one of that name is a database of its own.
        let next = try Database.open(path, options: options)
        try next.defaultCollection.save(json: "{}", id: "b")
        #expect(try next.defaultCollection.count == 1)
        try next.close()
    }

    @Test func aRenamedDatabaseGoesOn() throws {
        let path = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path + "-moved") }
        let database = try Database.open(path)
        try database.defaultCollection.save(json: "{}", id: "a")
        try FileManager.default.moveItem(atPath: path, toPath: path + "-moved")
        try database.defaultCollection.save(json: "{}", id: "b")
        try database.close()
        #expect(try Database.open(path + "-moved").defaultCollection.count == 2)
    }
}

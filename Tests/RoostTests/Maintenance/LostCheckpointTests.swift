import Foundation
import Testing

@testable import Roost
@testable import RoostStorage

/// A compacted database of which any block of its checkpoints is lost, or all of its root directories, opens as it was or is
/// salvaged as it was: documents, names and blobs.
@Suite struct LostCheckpointTests {
    private let place: TemporaryDatabase
    private var file: URL { URL(fileURLWithPath: place.path + "/data.roost") }

    init() throws { place = try TemporaryDatabase() }

    private func options(_ isEncrypted: Bool) throws -> DatabaseOptions {
        var options = DatabaseOptions()
        if isEncrypted { options.key = try EncryptionKey(bytes: Array(0..<32)) }
        return options
    }

    /// What every collection holds, with the contents of attachments.
    private func contents(_ database: Database) throws -> [String: [String]] {
        var contents: [String: [String]] = [:]
        for collection in try database.scopes.flatMap({ try database.collections(scope: $0) }) {
            let snapshot = try collection.snapshot()
            contents["\(collection)"] =
                try snapshot.content()
                + snapshot.documents().map { try database.json(inliningAttachmentsOf: $0) }
        }
        return contents
    }

    /// Makes a compacted database; answers what it holds.
    private func fill(_ options: DatabaseOptions) throws -> [String: [String]] {
        let database = try Database.open(place.path, options: options)
        _ = try database.collection("empty")
        for name in ["birds", "trees"] {
            let collection = try database.collection(name, scope: "wild")
            for number in 0..<20 {
                var draft = MutableDocument(id: "\(name)-\(number)")
                draft["n"] = number
                draft["text"] = String(repeating: "x", count: number * 20)
                if number % 10 == 0 {
                    draft.attachments["a"] = Attachment(
                        try database.saveBlob(Array("\(name) \(number)".utf8)))
                }
                _ = try collection.save(&draft)
            }
        }
        try database.compact()
        let contents = try contents(database)
        try database.close()
        return contents
    }

    private func expectFound(
        _ contents: [String: [String]], _ options: DatabaseOptions, _ what: String, opens: Bool = true
    ) throws {
        let rescued = place.directory + "/Rescued.roost"
        defer { try? FileManager.default.removeItem(atPath: rescued) }
        var reading = options
        reading.isReadOnly = true
        if opens {
            do {
                let database = try Database.open(place.path, options: reading)
                let isWhole = try self.contents(database) == contents
                #expect(isWhole || !database.ending.isClean, "\(what)")
            } catch let error as DatabaseError {
                #expect(error.code == .damaged, "\(what): \(error)")
            }
        }
        try Database.salvage(place.path, to: rescued, key: options.key)
        let database = try Database.open(rescued, options: options)
        #expect(try self.contents(database) == contents, "\(what), salvaged")
        try database.close()
    }

    @Test(arguments: [false, true]) func anyBlockOfTheEndMayBeLost(isEncrypted: Bool) throws {
        let options = try options(isEncrypted)
        let contents = try fill(options)
        let whole = [UInt8](try Data(contentsOf: file))
        let store = try Store.open(file.path, options: options.store)
        let records = try store.history.commits()
        let second = try #require(records.filter { $0.kind == .checkpoint }.first)
        try store.close()
        // The last checkpoint, what follows it, and the record before it.
        let first = Int(second.offset) + CommitRecord.size - Int(second.size) - 4096
        for start in stride(from: first, to: whole.count, by: 4096) {
            for bytes in [[4095 - 100], Array(0..<4096), Array(1000..<1100)] {
                var damaged = whole
                for byte in bytes { damaged[start + byte] = bytes.count == 1 ? damaged[start + byte] ^ 1 : 0 }
                guard damaged != whole else { continue }
                try Data(damaged).write(to: file)
                try expectFound(contents, options, "\(bytes.count) bytes at \(start)")
            }
        }
    }

    @Test(arguments: [false, true]) func allRootDirectoriesMayBeLost(isEncrypted: Bool) throws {
        let options = try options(isEncrypted)
        let contents = try fill(options)
        var bytes = [UInt8](try Data(contentsOf: file))
        let opener = StoreOpener(path: file.path, options: options.store, environment: .system)
        var stream = CommitStream(file: try opener.openFile(.readOnly), after: nil)
        var places: [ChunkReference] = []
        while let record = try stream.next() { places += record.directory.map { [$0] } ?? [] }
        #expect(places.count == 2)
        for place in places { bytes[Int(place.end) - 1] ^= 1 }
        try Data(bytes).write(to: file)
        try expectFound(contents, options, "both", opens: false)
    }
}

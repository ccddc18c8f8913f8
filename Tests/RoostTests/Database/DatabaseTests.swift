import Foundation
import Roost
import Testing

@Suite struct DatabaseTests {
    let files: TemporaryDatabase

    init() throws { files = try TemporaryDatabase() }

    @Test func aDocumentSurvivesReopening() throws {
        let saved = try files.use {
            try $0.collection("notes").save(json: #"{"title":"Swifts","n":1}"#, id: "n1")
        }
        let read = try files.use { try $0.collection("notes").document("n1") }
        #expect(read == saved)
        #expect(read?.json() == #"{"n":1,"title":"Swifts"}"#)
        #expect(read?["title"].string == "Swifts")
    }

    @Test func identityIsKeptAndDistinct() throws {
        let (first, second) = try files.use { ($0.privateUUID, $0.publicUUID) }
        #expect(first != second)
        let again = try files.use { ($0.privateUUID, $0.publicUUID) }
        #expect(again == (first, second))
        let other = try TemporaryDatabase()
        #expect(try other.use { $0.publicUUID } != second)
    }

    @Test func theDefaultCollectionIsAlwaysThere() throws {
        try files.use { database in
            #expect(try database.scopes == ["_default"])
            #expect(try database.collections().map(\.collectionName) == ["_default"])
            let collection = try database.defaultCollection
            try collection.save(json: "{}", id: "a")
            try database.drop(collection)
            #expect(try database.collections().map(\.collectionName) == ["_default"])
            #expect(try database.defaultCollection.count == 0, "it is made again, empty")
        }
    }

    @Test func handlesOfOneDirectoryShareTheDatabase() throws {
        let one = try files.open()
        let other = try files.open()
        try one.defaultCollection.save(json: "{}", id: "a")
        #expect(try other.defaultCollection.contains("a"))
        try one.close()
        try other.defaultCollection.save(json: "{}", id: "b")
        #expect(code { _ = try one.defaultCollection } == .closed)
        try other.close()
        #expect(try files.use { try $0.defaultCollection.count } == 2)
    }

    @Test func readingOnlyNeverWrites() throws {
        #expect(code { _ = try files.open(readOnly: true) } == .notFound)
        _ = try files.use { try $0.defaultCollection.save(json: "{}", id: "a") }
        let database = try files.open(readOnly: true)
        #expect(try database.defaultCollection.contains("a"))
        #expect(code { _ = try database.defaultCollection.save(json: "{}", id: "b") } == .readOnly)
        #expect(code { _ = try database.collection("new") } == .notFound)
    }

    @Test func whatIsNoDatabaseIsRefused() throws {
        try Data("hello".utf8).write(to: URL(fileURLWithPath: files.path))
        #expect(code { _ = try files.open() } == .notADatabase)
        try FileManager.default.removeItem(atPath: files.path)
        try FileManager.default.createDirectory(atPath: files.path, withIntermediateDirectories: false)
        try Data(repeating: 7, count: 20_000).write(to: URL(fileURLWithPath: files.path + "/data.roost"))
        #expect(code { _ = try files.open() } == .notADatabase)
    }

    @Test func aWriteWithinAWriteIsAnError() throws {
        try files.use { database in
            let notes = try database.collection("notes")
            #expect(
                code { try database.write { _ in _ = try notes.save(json: "{}", id: "a") } } == .nestedWrite)
            try notes.save(json: "{}", id: "b")
            #expect(try notes.count == 1)
        }
    }

    @Test func aBatchIsUndoneByAnError() throws {
        struct Stop: Error {}
        try files.use { database in
            let notes = try database.collection("notes")
            try notes.save(json: "{}", id: "before")
            #expect(throws: Stop.self) {
                try database.write { batch in
                    try batch.save(json: "{}", id: "within", in: notes)
                    try batch.delete("before", in: notes)
                    #expect(try batch.document("within", in: notes) != nil)
                    #expect(try notes.document("within") == nil, "others see what was there before")
                    throw Stop()
                }
            }
            #expect(try notes.document("within") == nil)
            #expect(try notes.document("before") != nil)
            #expect(try notes.snapshot().lastSequence == 1)
        }
    }

    @Test func aBatchEndsWithItsClosure() throws {
        try files.use { database in
            let notes = try database.collection("notes")
            let batch = try database.write { $0 }
            #expect(code { _ = try batch.save(json: "{}", id: "a", in: notes) } == .closed)
        }
    }

    @Test func asynchronousWritesAreWrites() async throws {
        let database = try files.open()
        let notes = try database.collection("notes")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    try await database.write { batch in
                        _ = try batch.save(json: #"{"n":\#(number)}"#, id: "n\(number)", in: notes)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try notes.count == 40)
        #expect(try notes.snapshot().changes().map(\.sequence) == Array(1...40))
    }

    @Test func aCancelledTaskDoesNotBeginToWrite() async throws {
        let database = try files.open()
        let notes = try database.collection("notes")
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await database.write { batch in _ = try batch.save(json: "{}", id: "a", in: notes) }
        }
        let result = await task.result
        #expect(code { try result.get() } == .cancelled)
        #expect(try notes.count == 0)
    }

    @Test func snapshotsStayAsTheyWere() throws {
        try files.use { database in
            let notes = try database.collection("notes")
            try notes.save(json: #"{"v":1}"#, id: "a")
            let before = try database.snapshot()
            try notes.save(json: #"{"v":2}"#, id: "a")
            try notes.save(json: "{}", id: "b")
            #expect(try before[notes].document("a")?["v"].int == 1)
            #expect(try before[notes].count == 1)
            #expect(try before[notes].document("b") == nil)
            #expect(try notes.document("a")?["v"].int == 2)
        }
    }
}

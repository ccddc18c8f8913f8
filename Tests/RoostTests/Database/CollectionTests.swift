import Roost
import Testing

@Suite struct CollectionTests {
    let files: TemporaryDatabase
    let database: Database

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
    }

    @Test func collectionsAreMadeListedAndDropped() throws {
        let hotels = try database.collection("hotels", scope: "travel")
        _ = try database.collection("airlines", scope: "travel")
        #expect(try database.scopes == ["_default", "travel"])
        #expect(try database.collections(scope: "travel").map(\.collectionName) == ["airlines", "hotels"])
        #expect(try database.collection("hotels", scope: "travel") == hotels)
        #expect(code { _ = try database.collection("none", createsIfMissing: false) } == .notFound)
        #expect(code { _ = try database.collection("_bad") } == .invalidName)
        try hotels.save(json: "{}", id: "a")
        let before = try hotels.snapshot()
        try database.drop(hotels)
        #expect(try database.collections(scope: "travel").map(\.collectionName) == ["airlines"])
        #expect(try before.document("a") != nil, "snapshots go on")
        #expect(code { _ = try hotels.document("a") } == .notFound)
        #expect(code { try hotels.save(json: "{}", id: "b") } == .notFound)
        #expect(code { try database.drop(hotels) } == .notFound)
    }

    @Test func aCollectionMadeAgainIsAnother() throws {
        let old = try database.collection("notes")
        try old.save(json: "{}", id: "a")
        try database.drop(old)
        let new = try database.collection("notes")
        #expect(new != old)
        #expect(try new.count == 0)
        #expect(try new.save(json: "{}", id: "b").sequence == 1)
        #expect(code { try old.save(json: "{}", id: "c") } == .notFound)
        #expect(code { _ = try old.snapshot() } == .notFound)
        try database.close()
        #expect(try files.use { try $0.collection("notes").snapshot().documents().map(\.id) } == ["b"])
    }

    @Test func collectionsOfOtherDatabasesAreRefused() throws {
        let other = try TemporaryDatabase()
        let foreign = try other.open().collection("notes")
        _ = try database.collection("notes")
        #expect(
            code { _ = try database.write { try $0.save(json: "{}", id: "a", in: foreign) } } == .notFound)
        #expect(code { _ = try database.snapshot()[foreign] } == .notFound)
    }

    @Test func oneBatchChangesSeveralCollections() throws {
        let one = try database.collection("one")
        let other = try database.collection("other")
        try database.write { batch in
            try batch.save(json: "{}", id: "a", in: one)
            try batch.save(json: "{}", id: "b", in: other)
            try batch.save(json: "{}", id: "c", in: one)
        }
        #expect(try one.snapshot().changes().map(\.id) == ["a", "c"])
        #expect(try other.count == 1)
    }

    // MARK: Enumeration

    @Test func documentsComeInTheOrderOfTheirIDs() throws {
        let notes = try database.collection("notes")
        let ids = ["a", "ab", "abc", "b", "ba", "c", "é", "鍵"]
        try database.write { batch in
            for id in ids.reversed() { try batch.save(json: #"{"id":"\#(id)"}"#, id: id, in: notes) }
            try batch.save(json: "{}", id: "aa", in: notes)
            try batch.delete("aa", in: notes)
        }
        let snapshot = try notes.snapshot()
        func found(_ selection: DocumentSelection) throws -> [String] {
            try snapshot.documents(selection).map(\.id)
        }
        #expect(try found(DocumentSelection()) == ids)
        #expect(try found(DocumentSelection(isDescending: true)) == ids.reversed())
        #expect(try found(DocumentSelection(prefix: "a")) == ["a", "ab", "abc"])
        #expect(try found(DocumentSelection(prefix: "ab", isDescending: true)) == ["abc", "ab"])
        #expect(try found(DocumentSelection(from: "ab", to: "b")) == ["ab", "abc", "b"])
        #expect(try found(DocumentSelection(prefix: "a", from: "aaa", to: "z")) == ["ab", "abc"])
        #expect(try found(DocumentSelection(from: "b", limit: 2)) == ["b", "ba"])
        #expect(try found(DocumentSelection(limit: 0)).isEmpty && found(DocumentSelection(limit: -1)).isEmpty)
        #expect(try found(DocumentSelection(from: "z", to: "a")).isEmpty)
        var selection = DocumentSelection(from: "ab", to: "b")
        selection.includesEnd = false
        #expect(try found(selection) == ["ab", "abc"])
        selection = DocumentSelection(limit: 2)
        selection.skip = 3
        #expect(try found(selection) == ["b", "ba"])
        selection = DocumentSelection(to: "ab")
        selection.includesDeleted = true
        #expect(try found(selection) == ["a", "aa", "ab"])
        #expect(try snapshot.documents().allSatisfy { $0["id"].string == $0.id })
    }

    // MARK: Local documents

    @Test func localDocumentsStayApart() throws {
        let notes = try database.collection("notes")
        let first = try notes.saveLocalDocument(json: #"{"at":1}"#, name: "checkpoint")
        #expect(first.revision == 1)
        #expect(try notes.saveLocalDocument(["at": 2], name: "checkpoint", expecting: 1).revision == 2)
        #expect(
            code { try notes.saveLocalDocument(json: "{}", name: "checkpoint", expecting: 1) } == .conflict)
        #expect(
            code { try notes.saveLocalDocument(json: "{}", name: "checkpoint", expecting: 0) } == .conflict)
        #expect(code { try notes.saveLocalDocument(json: "{}", name: "") } == .invalidDocumentID)
        #expect(code { try notes.saveLocalDocument(json: "[]", name: "x") } == .invalidDocument)
        #expect(try notes.localDocument("checkpoint")?["at"].int == 2)
        #expect(
            try notes.count == 0 && notes.snapshot().changes().isEmpty && notes.snapshot().lastSequence == 0)
        try database.close()
        try files.use { database in
            let notes = try database.collection("notes")
            #expect(try notes.localDocument("checkpoint")?.json() == #"{"at":2}"#)
            #expect(try notes.snapshot().localDocumentNames == ["checkpoint"])
            #expect(try notes.deleteLocalDocument("checkpoint"))
            #expect(try !notes.deleteLocalDocument("checkpoint"))
            #expect(try notes.localDocument("checkpoint") == nil)
        }
    }
}

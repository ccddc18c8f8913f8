import Foundation
import Roost
import Synchronization
import Testing

/// What LiteCore's overview says of databases, storage and documents (its sections 3, 4 and 7), as far as Roost decided
/// for it. Version vectors are not here, nor the `synced` flag, which belongs to a replicator.
@Suite struct LiteCoreTests {
    let files: TemporaryDatabase
    let database: Database

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
    }

    /// C4Collection: a namespace of documents; `_default` is always there.
    @Test func collectionsAreNamespaces() throws {
        #expect(try database.collections().map(\.collectionName) == ["_default"])
        let widgets = try database.collection("widgets")
        try widgets.save(json: #"{"in":"widgets"}"#, id: "a")
        try database.defaultCollection.save(json: #"{"in":"default"}"#, id: "a")
        #expect(try widgets["a"]?["in"].string == "widgets")
        #expect(try database.defaultCollection["a"]?["in"].string == "default")
    }

    /// CollectionChangeNotifier: told once, then read the ordered list, and only then told again; changes count
    /// whichever handle made them.
    @Test func theNotifierTellsOnceUntilTheChangesAreRead() throws {
        let notes = try database.collection("notes")
        let other = try files.open().collection("notes")
        let calls = Mutex(0)
        var bookmark = try notes.snapshot().lastSequence
        var registration = try notes.onNextChange { calls.withLock { $0 += 1 } }
        for id in ["b", "a", "b"] { try other.save(json: "{}", id: id) }
        #expect(calls.withLock { $0 } == 1)
        let changes = try notes.snapshot().changes(since: bookmark)
        #expect(changes.map(\.id) == ["a", "b"])
        bookmark = try #require(changes.last).sequence

        registration = try notes.onNextChange { calls.withLock { $0 += 1 } }
        try notes.delete("a")
        #expect(calls.withLock { $0 } == 2)
        #expect(try notes.snapshot().changes(since: bookmark).map(\.isDeleted) == [true])
        registration.cancel()
    }

    /// Record: the flags of a document are those of its winner and its leaves.
    @Test func flagsFollowTheLeaves() throws {
        let notes = try database.collection("notes")
        func change() throws -> DocumentChange? { try notes.snapshot().changes().first { $0.id == "a" } }
        try notes.insert("a", "1-aa")
        #expect(try change()?.isDeleted == false && change()?.isConflicted == false)
        try notes.insert("a", "2-bb 1-aa")
        try notes.insert("a", "2-cc 1-aa")
        #expect(try change()?.isConflicted == true && notes["a"]?.isConflicted == true)
        try notes.resolve("a")
        #expect(try change()?.isConflicted == false)
        try notes.delete("a")
        #expect(try change()?.isDeleted == true && change()?.hasAttachments == false)
        #expect(try notes["a"] == nil)
        #expect(try notes.snapshot().document("a", includingDeleted: true)?.isDeleted == true)
    }

    /// RevTree: one revision is current; inserting with history, purging, pruning.
    @Test func revisionTreesGrowAndArePruned() throws {
        let notes = try database.collection("notes")
        #expect(try notes.insert("a", "4-dd 3-cc 2-bb 1-aa", json: #"{"v":4}"#))
        #expect(try !notes.insert("a", "4-dd 3-cc 2-bb 1-aa", json: #"{"v":4}"#), "known already")
        #expect(try !notes.insert("a", "2-bb 1-aa"), "an ancestor is known, too")
        #expect(try notes.snapshot().history(of: "a") == ids("4-dd 3-cc 2-bb 1-aa"))
        #expect(try notes.snapshot().document("a", revision: id("2-bb")) == nil, "its body is not kept")
        try database.write { try $0.setRevisionLimit(2, in: notes) }
        let edited = try notes.save(json: #"{"v":5}"#, id: "a", expecting: .revision(id("4-dd")))
        #expect(try notes.snapshot().history(of: "a") == [edited.revision, id("4-dd")])
        try notes.insert("a", "3-ee 2-bb", json: #"{"v":3}"#)
        #expect(try notes.purge("a", revisions: [edited.revision]) == [edited.revision])
        #expect(try notes["a"]?["v"].int == 3, "the other branch is all that is left")
    }

    /// RevID: text outside, generation and digest in bytes inside; the worked example of the overview.
    @Test func revisionIDsAreTextOutside() throws {
        let notes = try database.collection("notes")
        try notes.insert("a", "3-abcd")
        #expect(try notes["a"]?.revision.description == "3-abcd")
        var bytes: [UInt8] = []
        try id("3-abcd").append(to: &bytes)
        #expect(bytes == [0x07, 0x61, 0x62, 0x63, 0x64])
    }
}

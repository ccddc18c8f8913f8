import Foundation
import Roost
import Testing

/// What TouchDB's tables say of a database, one after the other. Views are not here.
@Suite struct TouchDBTests {
    let files: TemporaryDatabase
    let database: Database
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
        notes = try database.collection("notes")
    }

    /// `revs.sequence`: set to increase without ever being used again, even after the newest was purged.
    @Test func sequencesIncreaseAndAreNotUsedAgain() throws {
        let sequences = try ["a", "b", "a"].map { try notes.save(json: "{}", id: $0).sequence }
        #expect(sequences == [1, 2, 3])
        try notes.purge("a")
        try database.close()
        try files.use { database in
            let notes = try database.collection("notes")
            #expect(try notes.save(json: "{}", id: "c").sequence == 4)
        }
    }

    /// `revs`: `revid`, `parent`, `current` and `deleted` of every revision.
    @Test func everyRevisionTellsItsParentAndWhetherItIsCurrent() throws {
        let first = try notes.save(json: #"{"v":1}"#, id: "a")
        let second = try notes.save(json: #"{"v":2}"#, id: "a")
        let gone = try #require(try notes.delete("a"))
        let rows = try notes.snapshot().revisions(of: "a")
        #expect(rows.map(\.id) == [gone.revision, second.revision, first.revision])
        #expect(rows.map(\.parent) == [second.revision, first.revision, nil])
        #expect(rows.map(\.isLeaf) == [true, false, false])
        #expect(rows.map(\.isDeleted) == [true, false, false])
        #expect(rows.map(\.sequence) == [3, 2, 1])
    }

    /// `revs.json` has no `_id`, `_rev` and `_deleted`; they are added where JSON is handed out.
    @Test func jsonIsStoredWithoutMetadataAndHandedOutWithIt() throws {
        let first = try notes.save(json: #"{"_id":"a","v":1}"#)
        #expect(first.json() == #"{"v":1}"#)
        #expect(first.json(with: .all) == #"{"_id":"a","_rev":"\#(first.revision)","v":1}"#)
        #expect(first.json(with: .id) == #"{"_id":"a","v":1}"#)
        #expect(first.json(with: []) == first.json())
        #expect(first.json(.pretty, with: .id) == "{\n  \"_id\": \"a\",\n  \"v\": 1\n}")
        let edited = try notes.save(json: first.json(with: .all).replacing("\"v\":1", with: "\"v\":2"))
        #expect(edited.id == "a" && edited.revision.generation == 2)
        #expect(
            code { try notes.save(json: first.json(with: .all)) } == .conflict,
            "its parent is no leaf any more")
        let gone = try #require(try notes.delete("a"))
        #expect(gone.json(with: .all) == #"{"_id":"a","_rev":"\#(gone.revision)","_deleted":true}"#)
        #expect(gone.json(.pretty, with: .deletion) == "{\n  \"_deleted\": true\n}")
    }

    /// `attachments`: every revision has all of its own, with name, key, type, length, encoding and the generation that
    /// added or changed it.
    @Test func attachmentsAreThoseOfARevision() throws {
        let first = try notes.save(
            json: #"{"_attachments":{"a":{"data":"YWJj","content_type":"text/plain"},"b":{"data":"YWJk"}}}"#,
            id: "n")
        let second = try notes.save(
            json: #"{"_attachments":{"a":{"stub":true},"b":{"data":"YWJl"}}}"#, id: "n")
        #expect(second.attachments["a"] == first.attachments["a"])
        #expect(second.attachments["a"]?.digest == "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=")
        #expect(second.attachments["a"]?.contentType == "text/plain" && second.attachments["a"]?.length == 3)
        #expect(second.attachments.mapValues(\.revisionPosition) == ["a": 1, "b": 2])
        #expect(second.attachments["b"]?.digest != first.attachments["b"]?.digest)
        #expect(second.attachments.values.allSatisfy { $0.encodedLength == nil })
    }

    /// IDs go into that JSON as JSON, whatever they are.
    @Test func idsAreEscapedInJSON() throws {
        let id = "say \"hi\" \\ é鍵"
        let saved = try notes.save(json: "{}", id: id)
        let copy = try DocumentValue(json: saved.json(with: .all))
        #expect(copy["_id"].string == id)
        #expect(copy["_rev"].string == "\(saved.revision)")
    }

    /// `localdocs`: a revision ID and JSON, neither replicated nor among the rest.
    @Test func localDocumentsStayHere() throws {
        try notes.saveLocalDocument(json: #"{"lastSequence":"17-g1AAA"}"#, name: "checkpoint")
        let again = try notes.saveLocalDocument(json: #"{"lastSequence":"18-g1AAA"}"#, name: "checkpoint")
        #expect(again.revision == 2)
        #expect(try notes.localDocument("checkpoint")?["lastSequence"].string == "18-g1AAA")
        let snapshot = try notes.snapshot()
        #expect(try snapshot.changes().isEmpty && snapshot.documents().isEmpty && snapshot.count == 0)
        #expect(code { try notes.save(json: "{}", id: "_local/checkpoint") } == .invalidDocumentID)
    }

    /// `info`: two random strings that identify the database.
    @Test func aDatabaseHasTwoIdentities() throws {
        let (own, known) = (database.privateUUID, database.publicUUID)
        try database.close()
        try files.use { #expect($0.privateUUID == own && $0.publicUUID == known && own != known) }
        try TemporaryDatabase().use { #expect($0.privateUUID != own && $0.publicUUID != known) }
    }

    /// `views.lastsequence`: an indexer takes what changed since, obsolete revisions only by their newest.
    @Test func anIndexerReadsOnFromTheLastSequence() throws {
        var index: [String: Int] = [:]
        var lastSequence: UInt64 = 0
        func update() throws -> Int {
            let cursor = try notes.snapshot().changeCursor(since: lastSequence)
            var count = 0
            while let change = try cursor.next() {
                index[change.id] = change.isDeleted ? nil : try cursor.document(of: change).int("v")
                lastSequence = change.sequence
                count += 1
            }
            return count
        }
        for number in 0..<10 { try notes.save(json: #"{"v":\#(number)}"#, id: "n\(number % 3)") }
        #expect(try update() == 3)
        #expect(index == ["n0": 9, "n1": 7, "n2": 8])
        #expect(try update() == 0)
        try notes.delete("n1")
        #expect(try notes.snapshot().changeCount(since: lastSequence) == 1)
        #expect(try update() == 1)
        #expect(index == ["n0": 9, "n2": 8])
    }
}

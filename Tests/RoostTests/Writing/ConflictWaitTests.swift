import Foundation
import Roost
import Synchronization
import Testing

/// Writers that get in each other's way.
@Suite struct ConflictWaitTests {
    let files: TemporaryDatabase
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        notes = try files.open().collection("notes")
    }

    private final class Tally: Sendable {
        let conflicts = Mutex(0)
        let stale = Mutex(0)
    }

    /// Each conflict shows a state that was new to the writer: between two tries somebody else has got ahead. So there are
    /// at most as many conflicts as increments for each of the other writers, however long a sync takes.
    @Test func aConflictedWriterFindsWhatItConflictedWith() async throws {
        let (writers, increments) = (8, 25)
        try await notes.save(json: #"{"n":0}"#, id: "counter")
        let tally = Tally()
        let notes = notes
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<writers {
                group.addTask {
                    for _ in 0..<increments {
                        var last: RevisionID?
                        while true {
                            var draft = try #require(try notes.document("counter")).mutableCopy()
                            if draft.revision == last { tally.stale.withLock { $0 += 1 } }
                            last = draft.revision
                            draft["n"].int = (draft["n"].int ?? 0) + 1
                            do throws(DatabaseError) {
                                _ = try await notes.save(&draft)
                                break
                            } catch {
                                guard error.code == .conflict else { throw error }
                                tally.conflicts.withLock { $0 += 1 }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try notes.document("counter")?["n"].int == writers * increments)
        #expect(tally.stale.withLock { $0 } == 0, "a writer was refused and read the same revision again")
        #expect(tally.conflicts.withLock { $0 } <= writers * writers * increments)
    }

    @Test func aDraftForgetsARevisionThatNeverWas() throws {
        struct Failure: Error {}
        var draft = MutableDocument(id: "a", ["v": 1])
        func fail(_ draft: inout MutableDocument, _ times: Int = 1) {
            _ = try? notes.database.write { batch in
                for _ in 0..<times {
                    try batch.save(&draft, in: notes)
                    draft["v"] = 2
                }
                throw Failure()
            }
        }
        fail(&draft)
        #expect(draft.revision == nil)
        let first = try notes.save(&draft)
        #expect(draft.revision == first.revision && first.revision.generation == 1)
        fail(&draft, 3)
        #expect(draft.revision == first.revision)
        try notes.database.write { batch in
            try batch.save(&draft, in: notes)
            #expect(draft.revision?.generation == 2, "within the batch it counts")
            draft["v"] = 3
            try batch.save(&draft, in: notes)
        }
        #expect(draft.revision?.generation == 3)
        #expect(try notes.save(&draft).revision.generation == 4)
    }

    @Test func aKnownLeafStaysAsItIs() throws {
        try notes.insert("a", "2-bb 1-aa", json: #"{"v":1}"#)
        #expect(try !notes.insert("a", "2-bb 1-aa", deleted: true))
        #expect(try notes.document("a")?["v"].int == 1 && notes.leaves("a") == ["2-bb"] && notes.count == 1)
        try notes.insert("b", "2-bb", json: #"{"v":1}"#)
        #expect(try !notes.insert("b", "2-bb 1-aa", deleted: true), "it learns an ancestor, and no more")
        #expect(try notes.document("b")?["v"].int == 1 && notes.snapshot().revisions(of: "b").count == 2)
    }

    @Test func dataAndItsBase64AreTwoRevisions() throws {
        var data = MutableDocument(id: "a", ["v": .data([1, 2, 3])])
        var text = MutableDocument(id: "b", ["v": "AQID"])
        #expect(try notes.save(&data).revision != notes.save(&text).revision)
        #expect(try notes.document("a")?.json() == notes.document("b")?.json())
    }

    @Test func draftsThatAreNestedTooDeeplyAreRefused() throws {
        for depth in [513, 6000, 20_000] {
            var list: DocumentValue = .array([])
            var dictionary: DocumentValue = [:]
            for _ in 1..<depth {
                list = .array([list])
                dictionary = ["in": dictionary]
            }
            for value in [list, dictionary] {
                var draft = MutableDocument(id: "a", ["v": value])
                #expect(code { try notes.save(&draft) } == .limitExceeded, "\(depth)")
            }
        }
        #expect(try notes.count == 0)
        #expect(try notes.save(json: "{}", id: "a").sequence == 1)
    }

    @Test func anExpirationThatIsNoDateIsRefused() throws {
        try notes.save(json: "{}", id: "a")
        #expect(code { try notes.setExpiration(Date(timeIntervalSince1970: .nan), of: "a") } == .invalidDate)
        #expect(try notes.database.purgeExpired() == 0 && notes.document("a") != nil)
        try notes.setExpiration(Date(timeIntervalSince1970: .infinity), of: "a")
        #expect(try notes.database.purgeExpired() == 0)
    }

    @Test func localDocumentsTakeCouchDBsRevisions() throws {
        let first = try notes.saveLocalDocument(json: #"{"_id":"_local/l","v":1}"#, name: "l")
        #expect(first.revision == 1 && first.json() == #"{"v":1}"#)
        #expect(
            try notes.saveLocalDocument(json: #"{"_id":"_local/l","_rev":"0-1","v":2}"#, name: "l").revision
                == 2)
        #expect(code { try notes.saveLocalDocument(json: #"{"_rev":"0-1"}"#, name: "l") } == .conflict)
        for rev in ["1-aa", "0-", "0-x", "0-01", "0-+2", "2"] {
            #expect(
                code { try notes.saveLocalDocument(json: #"{"_rev":"\#(rev)"}"#, name: "l") }
                    == .invalidRevisionID,
                "\(rev)")
        }
        for id in ["l", "_local/m", "x"] {
            #expect(
                code { try notes.saveLocalDocument(json: #"{"_id":"\#(id)"}"#, name: "l") }
                    == .corruptRevisionData)
        }
        #expect(
            code { try notes.saveLocalDocument(json: #"{"_rev":"0-2"}"#, name: "l", expecting: 1) }
                == .corruptRevisionData)
        #expect(try notes.localDocument("l")?.json() == #"{"v":2}"#)
    }

    /// Many leaves in one batch cost what they add, and each read within the batch sees them all.
    @Test func manyConflictsInABatchAreStored() throws {
        let count = 3000
        try notes.database.write { batch in
            for number in 0..<count {
                let history = [try id("2-\(String(number + 1000, radix: 16))"), try id("1-aa")]
                try batch.insert(json: #"{"v":\#(number)}"#, id: "a", history: history, in: notes)
                if number == 1500 { #expect(try batch.document("a", in: notes)?["v"].int == 1500) }
            }
            try batch.save(json: #"{"v":-1}"#, id: "b", in: notes)
            try batch.insert(json: "{}", id: "a", history: try ids("2-ffff 1-aa"), in: notes)
        }
        let snapshot = try notes.snapshot()
        #expect(try snapshot.leaves(of: "a").count == count + 1)
        #expect(try snapshot.changes().map(\.id) == ["b", "a"])
        #expect(try snapshot.openRevisions(of: "a").dropFirst().first?["v"].int == count - 1)
        #expect(try notes.database.check().isSound)
        try notes.database.write { batch in
            try batch.insert(json: "{}", id: "a", history: try ids("2-fffff 1-aa"), in: notes)
            try batch.setExpiration(.distantFuture, of: "a", in: notes)
            try batch.insert(json: "{}", id: "a", history: try ids("2-ffffff 1-aa"), in: notes)
            try batch.purge("a", in: notes)
        }
        #expect(try notes.snapshot().changes().map(\.id) == ["b"] && notes.snapshot().expirations().isEmpty)
        #expect(try notes.database.check().isSound)
    }
}

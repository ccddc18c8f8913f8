import Roost
import Testing

@Suite struct ReplicatingTests {
    let files: TemporaryDatabase
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        notes = try files.open().collection("notes")
    }

    @Test func revisionsFromElsewhereKeepTheirNames() throws {
        #expect(try notes.insert("a", "3-cc 2-bb 1-aa", json: #"{"v":3}"#))
        #expect(try notes.document("a")?.revision == id("3-cc"))
        #expect(try notes.snapshot().history(of: "a") == ids("3-cc 2-bb 1-aa"))
        #expect(try !notes.insert("a", "3-cc 2-bb 1-aa", json: #"{"v":3}"#), "known")
        #expect(try !notes.insert("a", "2-bb 1-aa"), "known as an ancestor")
        #expect(try notes.snapshot().lastSequence == 1)
        #expect(try notes.snapshot().revisions(of: "a").map(\.isLeaf) == [true, false, false])
    }

    @Test func aBranchIsAConflict() throws {
        try notes.insert("a", "1-aa", json: #"{"v":1}"#)
        try notes.insert("a", "2-bb 1-aa", json: #"{"v":"b"}"#)
        try notes.insert("a", "2-cc 1-aa", json: #"{"v":"c"}"#)
        try notes.insert("a", "2-ab 1-aa", json: #"{"v":"a"}"#)
        let winner = try #require(try notes.document("a"))
        #expect(winner.revision == (try id("2-cc")) && winner.isConflicted)
        #expect(winner["v"].string == "c")
        let snapshot = try notes.snapshot()
        #expect(try snapshot.conflicts(of: "a").map(\.revision) == ids("2-bb 2-ab"))
        #expect(try snapshot.openRevisions(of: "a").map { $0["v"].string } == ["c", "b", "a"])
        #expect(try snapshot.document("a", revision: id("2-ab"))?["v"].string == "a")
        #expect(
            try snapshot.document("a", revision: id("1-aa")) == nil, "bodies of edited revisions are not kept"
        )
        #expect(try snapshot.changes().map(\.isConflicted) == [true])
        #expect(try notes.count == 1)
    }

    @Test func conflictsSurviveReopening() throws {
        try notes.insert("a", "1-aa")
        try notes.insert("a", "2-bb 1-aa", json: #"{"v":"b"}"#)
        try notes.insert("a", "2-cc 1-aa", json: #"{"v":"c"}"#)
        try notes.database.close()
        try files.use { database in
            let notes = try database.collection("notes")
            #expect(try notes.snapshot().openRevisions(of: "a").map { $0["v"].string } == ["c", "b"])
        }
    }

    @Test func aTombstoneLosesAgainstALiveBranch() throws {
        try notes.insert("a", "2-bb 1-aa", json: #"{"v":"b"}"#)
        try notes.insert("a", "3-dd 2-cc 1-aa", deleted: true)
        #expect(try notes.document("a")?.revision == id("2-bb"))
        #expect(try notes.document("a")?.isConflicted == false)
        #expect(try notes.leaves("a") == ["2-bb", "3-dd!"])
        try notes.delete("a")
        #expect(try notes.document("a") == nil)
        #expect(try notes.count == 0)
        #expect(try notes.leaves("a").allSatisfy { $0.hasSuffix("!") })
        try notes.insert("a", "2-ee 1-aa", json: #"{"v":"e"}"#)
        #expect(try notes.document("a")?["v"].string == "e", "a live branch that comes late wins")
        #expect(try notes.count == 1)
    }

    @Test func deletingTheWinnerBringsTheNextOneForward() throws {
        try notes.insert("a", "2-bb 1-aa", json: #"{"v":"b"}"#)
        try notes.insert("a", "2-cc 1-aa", json: #"{"v":"c"}"#)
        try notes.delete("a", expecting: .revision(id("2-cc")))
        #expect(try notes.document("a")?["v"].string == "b")
        #expect(try notes.document("a")?.isConflicted == false)
        try notes.save(json: #"{"v":"b2"}"#, id: "a")
        #expect(try notes.document("a")?["v"].string == "b2")
    }

    @Test func aLosingBranchCanBeEdited() throws {
        try notes.insert("a", "2-bb 1-aa", json: #"{"v":"b"}"#)
        try notes.insert("a", "2-cc 1-aa", json: #"{"v":"c"}"#)
        let edit = try notes.save(json: #"{"v":"b2"}"#, id: "a", expecting: .revision(id("2-bb")))
        #expect(try notes.document("a") == edit, "it is of the higher generation")
        #expect(try notes.snapshot().conflicts(of: "a").map { $0["v"].string } == ["c"])
    }

    @Test func resolvingLeavesOneLiveLeaf() throws {
        for (revision, value) in [("2-bb", "b"), ("2-cc", "c"), ("2-dd", "d")] {
            try notes.insert("a", "\(revision) 1-aa", json: #"{"v":"\#(value)"}"#)
        }
        #expect(code { try notes.resolve("a", keeping: id("1-aa")) } == .conflict)
        let resolved = try #require(try notes.resolve("a", keeping: id("2-cc"), json: #"{"v":"merged"}"#))
        #expect(try notes.document("a") == resolved)
        #expect(resolved["v"].string == "merged")
        #expect(try notes.snapshot().conflicts(of: "a").isEmpty)
        #expect(try notes.leaves("a").filter { !$0.hasSuffix("!") }.count == 1)
        #expect(try notes.snapshot().history(of: "a").dropFirst().first == id("2-cc"))
        #expect(try notes.resolve("nothing") == nil)
    }

    @Test func resolvingWithoutAChangeKeepsTheWinner() throws {
        try notes.insert("a", "2-bb 1-aa", json: #"{"v":"b"}"#)
        try notes.insert("a", "2-cc 1-aa", json: #"{"v":"c"}"#)
        #expect(try notes.resolve("a")?.revision == id("2-cc"))
        #expect(try notes.document("a")?.isConflicted == false)
    }

    @Test func badHistoriesAreRefused() throws {
        try notes.insert("a", "2-bb 1-aa")
        #expect(code { try notes.insert("b", "") } == .corruptRevisionData)
        #expect(code { try notes.insert("b", "3-cc 1-aa") } == .corruptRevisionData)
        #expect(code { try notes.insert("b", "1-aa", json: #"{"_rev":"1-bb"}"#) } == .corruptRevisionData)
        #expect(try notes.snapshot().lastSequence == 1)
    }

    @Test func aRevisionWithAnotherParentKeepsBothPaths() throws {
        try notes.insert("a", "2-bb 1-aa", json: #"{"v":1}"#)
        try notes.insert("a", "1-ff", json: #"{"v":2}"#)
        #expect(try !notes.insert("a", "2-bb 1-ff"), "the revision itself is known")
        #expect(try notes.leaves("a") == ["2-bb"])
        #expect(try notes.snapshot().missingRevisions(of: "a", from: ids("1-aa 1-ff 2-bb")).missing.isEmpty)
        #expect(try notes.insert("a", "3-cc 2-bb 1-ee", json: #"{"v":3}"#))
        #expect(try notes.document("a")?["v"].int == 3 && notes.leaves("a") == ["3-cc"])
        #expect(try notes.snapshot().revisions(of: "a").map(\.id) == ids("3-cc 2-bb 1-ff 1-ee 1-aa"))
    }

    /// What is wrong with one document ends neither the batch nor what stands in it before and after.
    @Test func aWrongDocumentFailsAlone() throws {
        let codes = try notes.database.write { batch in
            try [
                ("good", "{}", "1-aa"), ("_bad", "{}", "1-aa"), ("gap", "{}", "3-aa 1-aa"),
                ("json", "{\"a\":", "1-aa"),
                ("stub", #"{"_attachments":{"a":{"stub":true}}}"#, "1-aa"), ("none", "{}", ""),
                ("also good", "{}", "1-aa"),
            ].map { name, json, history in
                let history = try ids(history)
                return code { try batch.insert(json: json, id: name, history: history, in: notes) }
            }
        }
        #expect(codes[0] == nil && codes[6] == nil && codes[1...5].allSatisfy { $0 != nil })
        #expect(try notes.snapshot().documents().map(\.id) == ["also good", "good"])
        #expect(try notes.database.check().isSound)
    }

    @Test func differencesTellWhatIsMissing() throws {
        try notes.insert("a", "2-bb 1-aa")
        let difference = try notes.snapshot().missingRevisions(of: "a", from: ids("2-bb 3-cc 1-aa 3-cc"))
        #expect(difference.missing == (try ids("3-cc")))
        #expect(difference.possibleAncestors == (try ids("2-bb")))
        #expect(try notes.snapshot().missingRevisions(of: "b", from: ids("1-aa")).missing == ids("1-aa"))
    }

    /// The answers to questions about many documents are those about each.
    @Test func manyDocumentsAreAnsweredForAtOnce() throws {
        for number in 0..<300 { try notes.save(json: #"{"n":\#(number)}"#, id: "n\(number)") }
        try notes.delete("n7")
        // A history that does not fit into the entry.
        let history = (1...60).reversed().map { "\($0)-\(String(repeating: "ab", count: 16))" }
        try notes.insert("long", history.joined(separator: " "))
        let asked = ["n299", "nobody", "n7", "long", "n0", "n0", "", "n150"]
        let snapshot = try notes.snapshot()
        let found = try snapshot.documents(ids: asked)
        #expect(try found == asked.map { try snapshot.document($0) })
        #expect(found.map { $0?["n"].int } == [299, nil, nil, nil, 0, 0, nil, 150])
        #expect(
            try snapshot.documents(ids: asked, includingDeleted: true)
                == asked.map { try snapshot.document($0, includingDeleted: true) })
        let offered = try asked.map { (id: $0, revisions: try ids("70-cc \(history[5]) 1-dd")) }
        let answers = try snapshot.missingRevisions(from: offered)
        #expect(
            try answers == offered.map { try snapshot.missingRevisions(of: $0.id, from: $0.revisions) })
        #expect(answers[3].missing == (try ids("70-cc 1-dd")))
        #expect(answers[3].possibleAncestors == (try ids(history[0])))
    }

    // MARK: Purging

    @Test func aPurgeLeavesNoTrace() throws {
        try notes.save(json: #"{"v":1}"#, id: "a")
        try notes.save(json: "{}", id: "b")
        let last = try notes.save(json: #"{"v":2}"#, id: "a")
        #expect(try notes.purge("a") == [last.revision])
        #expect(try notes.snapshot().document("a", includingDeleted: true) == nil)
        #expect(try notes.snapshot().changes().map(\.id) == ["b"])
        #expect(try notes.snapshot().revisions(of: "a").isEmpty)
        #expect(try notes.count == 1)
        #expect(try notes.purge("a").isEmpty)
        let again = try notes.save(json: "{}", id: "a")
        #expect(again.revision.generation == 1)
        #expect(again.sequence == 4, "3 is never given again, although nothing stands there")
    }

    @Test func sequencesAreNotReusedAfterReopeningEither() throws {
        try notes.save(json: "{}", id: "a")
        try notes.purge("a")
        try notes.database.close()
        #expect(try files.use { try $0.collection("notes").save(json: "{}", id: "a").sequence } == 2)
    }

    @Test func aLeafCanBePurged() throws {
        try notes.insert("a", "2-bb 1-aa", json: #"{"v":"b"}"#)
        try notes.insert("a", "2-cc 1-aa", json: #"{"v":"c"}"#)
        let revisions = try ids("2-cc 1-aa 9-99")
        #expect(try notes.purge("a", revisions: revisions) == ids("2-cc"))
        #expect(try notes.document("a")?["v"].string == "b")
        #expect(try notes.document("a")?.isConflicted == false)
        #expect(try notes.snapshot().revisions(of: "a").map(\.id) == ids("2-bb 1-aa"))
        #expect(try notes.insert("a", "2-cc 1-aa"), "it may come back")
    }

    @Test func aLongerHistoryOfAKnownRevisionJoinsBranches() throws {
        try notes.insert("a", "2-bb", deleted: true)
        try notes.insert("a", "1-aa", json: #"{"v":1}"#)
        #expect(try notes.leaves("a") == ["1-aa", "2-bb!"])
        #expect(try !notes.insert("a", "2-bb 1-aa", deleted: true), "the revision itself is not new")
        #expect(try notes.leaves("a") == ["2-bb!"])
        #expect(try notes["a"] == nil && notes.count == 0)
        #expect(try notes.snapshot().changes().map(\.sequence) == [3])
        #expect(try !notes.insert("a", "2-bb 1-aa", deleted: true))
        #expect(try notes.snapshot().lastSequence == 3, "nothing more was learned")
        #expect(try notes.snapshot().document("a", includingDeleted: true)?.json() == "{}")
    }

    // MARK: Many revisions

    @Test func historyIsKeptUpToTheLimit() throws {
        try notes.database.write { try $0.setRevisionLimit(5, in: notes) }
        for number in 0..<20 { try notes.save(json: #"{"v":\#(number)}"#, id: "a") }
        #expect(try notes.snapshot().history(of: "a").map(\.generation) == [20, 19, 18, 17, 16])
        #expect(try notes.snapshot().revisionLimit == 5)
        #expect(code { try notes.database.write { try $0.setRevisionLimit(0, in: notes) } } == .limitExceeded)
    }

    /// A limit that is lowered forgets the rest of a document with its next change, and of all documents with a compaction.
    @Test(arguments: [1, 2, 5]) func aLowerLimitShortens(limit: Int) throws {
        for id in ["a", "b"] {
            for number in 0..<20 { try notes.save(json: #"{"v":\#(number)}"#, id: id) }
        }
        _ = try notes.insert("b", "3-bb 2-bb 1-bb")
        try notes.database.write { try $0.setRevisionLimit(limit, in: notes) }
        let (before, last) = (try notes.snapshot().changes(), try notes.snapshot().lastSequence)
        #expect(try notes.snapshot().history(of: "a").count == 20)
        try notes.database.compact()
        let snapshot = try notes.snapshot()
        for id in ["a", "b"] {
            #expect(try snapshot.history(of: id).map(\.generation) == (0..<limit).map { UInt64(20 - $0) })
            #expect(try snapshot.document(id)?.json() == #"{"v":19}"#)
        }
        #expect(try notes.leaves("b").contains("3-bb"))
        // That is no change.
        #expect(try snapshot.lastSequence == last && snapshot.changes() == before)
        #expect(try notes.database.check().isClean)
        try notes.save(json: "{}", id: "a")
        #expect(try notes.snapshot().history(of: "a").count == limit)
    }

    @Test func longHistoriesFindTheirPlace() throws {
        try notes.database.write { batch in
            for number in 0..<1100 { try batch.save(json: #"{"v":\#(number)}"#, id: "a", in: notes) }
        }
        #expect(try notes.snapshot().history(of: "a").count == 1000)
        try notes.database.close()
        try files.use { database in
            let notes = try database.collection("notes")
            #expect(try notes.snapshot().history(of: "a").count == 1000)
            try notes.database.write { try $0.setRevisionLimit(2, in: notes) }
            try notes.save(json: "{}", id: "a")
            #expect(try notes.snapshot().history(of: "a").map(\.generation) == [1101, 1100])
            try notes.purge("a")
            #expect(try notes.snapshot().revisions(of: "a").isEmpty)
        }
    }

    @Test func aHundredThousandRevisionsOfOneDocumentAreStored() throws {
        try notes.database.write { batch in
            try batch.setRevisionLimit(1 << 20, in: notes)
            let history = try (1...99_999).reversed().map { try id("\($0)-aa") }
            try batch.insert(json: #"{"v":1}"#, id: "a", history: history, in: notes)
            try batch.insert(json: #"{"v":2}"#, id: "a", history: [try id("99999-ab")], in: notes)
        }
        #expect(try notes.document("a")?["v"].int == 2)
        #expect(try notes.snapshot().revisions(of: "a").count == 100_000)
        #expect(try notes.save(json: "{}", id: "a").revision.generation == 100_000)
    }
}

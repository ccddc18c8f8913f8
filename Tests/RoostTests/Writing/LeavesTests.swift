import Roost
import Testing

/// What is told of a document's leaves without reading their bodies.
@Suite struct LeavesTests {
    let files: TemporaryDatabase
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        notes = try files.open().collection("notes")
    }

    @Test func leavesStandInWinningOrder() throws {
        try notes.insert("a", "3-dd 2-cc 1-aa", deleted: true)
        try notes.insert("a", "2-bb 1-aa", json: #"{"_attachments":{"x":{"data":"YWJj"}}}"#)
        try notes.insert("a", "2-ab 1-aa")
        let leaves = try notes.snapshot().leaves(of: "a")
        #expect(try leaves.map(\.id) == ids("2-bb 2-ab 3-dd"))
        #expect(leaves.map(\.isDeleted) == [false, false, true])
        #expect(leaves.map(\.hasAttachments) == [true, false, false])
        #expect(try leaves.map(\.parent) == [id("1-aa"), id("1-aa"), id("2-cc")])
        #expect(leaves.allSatisfy { $0.isLeaf })
        #expect(try notes.snapshot().leaves(of: "b").isEmpty)
    }

    @Test func leavesThatDescendFromARevision() throws {
        try notes.insert("a", "3-dd 2-cc 1-aa", deleted: true)
        try notes.insert("a", "3-ee 2-cc 1-aa")
        try notes.insert("a", "2-bb 1-aa")
        try notes.insert("a", "1-ff")
        let snapshot = try notes.snapshot()
        func found(_ revision: String) throws -> [RevisionID] {
            try snapshot.leaves(of: "a", descendingFrom: id(revision)).map(\.id)
        }
        #expect(try found("1-aa") == ids("3-ee 2-bb 3-dd"))
        #expect(try found("2-cc") == ids("3-ee 3-dd"))
        #expect(try found("2-bb") == ids("2-bb"))
        #expect(try found("1-ff") == ids("1-ff"))
        #expect(try found("4-aa").isEmpty)
    }

    @Test func changesTellOfSeveralLeavesDeletedOnesAmongThem() throws {
        func tells() throws -> [Bool] { try notes.snapshot().changes().map(\.hasSeveralLeaves) }
        try notes.insert("a", "2-bb 1-aa")
        #expect(try tells() == [false])
        try notes.insert("a", "2-cc 1-aa", deleted: true)
        #expect(try tells() == [true])
        #expect(try notes.snapshot().changes().map(\.isConflicted) == [false])
        try notes.purge("a", revisions: ids("2-cc"))
        #expect(try tells() == [false])
    }

    /// Any byte may stand in an ID, so that none can end it in a key.
    @Test func documentsWhoseIDsContinueOneAnotherAreApart() throws {
        let names = ["a", "a\u{0}", "a\u{0}b", "a\u{0}\u{2}", "\u{0}a"]
        for name in names {
            try notes.insert(name, "2-bb 1-aa", json: #"{"v":"b"}"#)
            try notes.insert(name, "2-cc 1-aa", json: #"{"v":"c"}"#)
        }
        try notes.purge("a")
        for name in names.dropFirst() {
            #expect(try notes.snapshot().openRevisions(of: name).map { $0["v"].string } == ["c", "b"])
        }
    }

    @Test func theLongestIDsAreStoredWithAllThatBelongsToThem() throws {
        for (number, end) in ["a", "b"].enumerated() {
            let name = String(repeating: "x", count: 2047) + end
            try notes.insert(name, "2-bb 1-aa", json: #"{"v":\#(number)}"#)
            try notes.insert(name, "2-cc 1-aa")
            try notes.setExpiration(.distantFuture, of: name)
        }
        try notes.database.compact()
        try notes.database.close()
        try files.use { database in
            let notes = try database.collection("notes")
            let snapshot = try notes.snapshot()
            #expect(try snapshot.changes().map(\.id.utf8.count) == [2048, 2048])
            for (number, change) in try snapshot.changes().enumerated() {
                #expect(try snapshot.openRevisions(of: change.id).last?["v"].int == number)
                #expect(try snapshot.expiration(of: change.id) != nil)
            }
            #expect(try database.check().isSound)
        }
    }
}

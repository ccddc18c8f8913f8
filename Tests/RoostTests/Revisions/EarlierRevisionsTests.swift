import Roost
import Testing

/// Bodies of revisions that were edited, where the options ask for them.
@Suite struct EarlierRevisionsTests {
    private let files: TemporaryDatabase
    private let database: Database
    private let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        var options = DatabaseOptions()
        options.keptRevisions = 3
        database = try Database.open(files.path, options: options)
        notes = try database.defaultCollection
    }

    /// Saves a document so many times; its revisions, first to last.
    private func edit(_ id: String, _ count: Int, after first: Int = 0) throws -> [RevisionID] {
        try (1...count).map { try notes.save(json: #"{"n":\#($0 + first)}"#, id: id).revision }
    }

    private func numbers(_ id: String, _ revisions: [RevisionID]) throws -> [Int?] {
        let snapshot = try notes.snapshot()
        return try revisions.map { try snapshot.document(id, revision: $0)?["n"].int }
    }

    private func check() throws {
        let report = try database.check()
        #expect(report.isClean, "\(report)")
    }

    @Test func theNewestAreKept() throws {
        let revisions = try edit("a", 6)
        #expect(try numbers("a", revisions) == [nil, nil, 3, 4, 5, 6])
        #expect(try notes.snapshot().earlierRevisions(of: "a") == Set(revisions[2...4]))
        #expect(try notes.snapshot().earlierRevisions(of: "b") == [])
        try check()
    }

    @Test(arguments: [1, 2, 3]) func aLowerLimitOfRevisionsRemovesTheRest(limit: Int) throws {
        let revisions = try edit("a", 6)
        try database.write { try $0.setRevisionLimit(limit, in: notes) }
        let last = try edit("a", 1, after: 6)
        let kept = [nil, nil, nil, nil, limit > 2 ? 5 : nil, limit > 1 ? 6 : nil, 7]
        #expect(try numbers("a", revisions + last) == kept)
        #expect(try notes.snapshot().earlierRevisions(of: "a").count == limit - 1)
        try check()
    }

    @Test func eachBranchKeepsItsOwn() throws {
        let first = try edit("a", 1)[0]
        let left = try RevisionID(validating: "2-aa")
        let right = try RevisionID(validating: "2-bb")
        let next = try RevisionID(validating: "3-aa")
        for (history, n) in [([left, first], 21), ([right, first], 22), ([next, left, first], 31)] {
            try database.write { batch in
                _ = try batch.insert(json: #"{"n":\#(n)}"#, id: "a", history: history, in: notes)
            }
        }
        #expect(try numbers("a", [first, left, right, next]) == [1, 21, 22, 31])
        try check()
        // A loser that is edited is kept, too.
        let edited = try RevisionID(validating: "3-bb")
        try database.write { batch in
            _ = try batch.insert(json: #"{"n":32}"#, id: "a", history: [edited, right, first], in: notes)
        }
        #expect(try numbers("a", [first, left, right, next, edited]) == [1, 21, 22, 31, 32])
        try check()
    }

    @Test func compactionAndPurgesRemoveThem() throws {
        let revisions = try edit("a", 3)
        let others = try edit("b", 3)
        try notes.purge("b")
        #expect(try numbers("b", others) == [nil, nil, nil])
        #expect(try notes.snapshot().earlierRevisions(of: "b") == [])
        try database.compact()
        #expect(try numbers("a", revisions) == [nil, nil, 3])
        let more = try edit("a", 1, after: 3)
        #expect(try numbers("a", revisions + more) == [nil, nil, 3, 4])
        try check()
    }

    @Test func purgesRemoveThemWhereNoMoreAreKept() throws {
        let revisions = try ["a", "b"].map { try edit($0, 3) }
        let path = database.path
        try database.close()
        let later = try Database.open(path)
        let notes = try later.defaultCollection
        try later.write { batch in for id in ["c", "a"] { try batch.purge(id, in: notes) } }
        let snapshot = try notes.snapshot()
        #expect(try snapshot.earlierRevisions(of: "b") == Set(revisions[1][...1]))
        let report = try later.check()
        #expect(report.isClean, "\(report)")
        // Where it is known again, its body still is not.
        try later.write { batch in
            let history = [try RevisionID(validating: "4-aa")] + revisions[0].reversed()
            _ = try batch.insert(json: "{}", id: "a", history: history, in: notes)
        }
        #expect(try notes.snapshot().document("a", revision: revisions[0][1]) == nil)
        try later.close()
    }

    @Test func noMoreAreKeptThanRevisionsAreKnown() throws {
        try database.write { batch in try batch.setRevisionLimit(2, in: notes) }
        let revisions = try edit("a", 4)
        #expect(try numbers("a", revisions) == [nil, nil, 3, 4])
        #expect(try notes.snapshot().earlierRevisions(of: "a") == [revisions[2]])
        try check()
    }

    @Test func theyAreSalvaged() throws {
        let revisions = try edit("a", 3)
        try database.close()
        let target = files.directory + "/Salvaged.roost"
        _ = try Database.salvage(files.path, to: target)
        let salvaged = try Database.open(target)
        let snapshot = try salvaged.defaultCollection.snapshot()
        #expect(try snapshot.document("a", revision: revisions[1])?["n"].int == 2)
        #expect(try salvaged.check().isClean)
    }
}

import Foundation
import Roost
import RoostStorage
import Testing

@testable import RoostIndex
@testable import RoostQuery

/// What queries look up once for each moment, and what it must not outlive.
@Suite struct SnapshotReadersTests {
    private let fixture: QueryFixture
    private let notes: DocumentCollection

    init() throws {
        fixture = try QueryFixture()
        notes = try fixture.database.collection("notes")
        try fixture.fill(
            "notes", (0..<50).map { #"{"n":\#($0),"text":"\#(String(repeating: "x\($0) ", count: 1_200))"}"# }
        )
        try notes.createIndex("by-n", on: "n", including: "text")
    }

    private func answer(_ query: DatabaseQuery) throws -> (rows: [String], documentsRead: Int) {
        let cursor = try query.cursor()
        var rows: [ResultRow] = []
        while let row = try cursor.next() { rows.append(row) }
        return (try QueryFixture.texts(rows), cursor.documentsRead)
    }

    /// An index that can't be stored is made of all documents for a query, up to a limit; beyond it, these are read.
    @Test func whatAnIndexLacksIsBounded() throws {
        try notes.createTextIndex("words", on: "text")
        let path = fixture.directory + "/Test.roost"
        try fixture.database.close()
        try FileManager.default.removeItem(atPath: path + "/derived")
        for (limit, documents) in [(256 << 20, 0), (10_000, 50)] {
            let reader = try Database.open(path, options: DatabaseOptions(isReadOnly: true))
            defer { try? reader.close() }
            var settings = IndexSettings()
            settings.overlayMemory = limit
            IndexManager.of(reader).configure(settings)
            let found = try answer(try reader.query("SELECT n FROM notes WHERE n >= 48 ORDER BY n"))
            #expect(found.rows == ["48", "49"])
            #expect(found.documentsRead == documents)
            let notes = try reader.collection("notes")
            if documents == 0 {
                #expect(try notes.searchCount("words", "x7") == 1)
            } else {
                let error = #expect(throws: DatabaseError.self) { try notes.searchCount("words", "x7") }
                #expect(error?.code == .limitExceeded)
            }
        }
    }

    @Test func aQueryPreparedOnceSeesEachCommitAndEachIndex() throws {
        let query = try fixture.database.query("SELECT n FROM notes WHERE n >= 48 ORDER BY n")
        for n in 50..<53 {
            let before = try answer(query)
            #expect(try answer(query).rows == before.rows)
            try notes.save(json: #"{"n":\#(n)}"#, id: "more\(n)")
            #expect(try answer(query).rows == before.rows + ["\(n)"])
        }
        #expect(try query.explain().description.contains("by-n"))
        try notes.dropIndex("by-n")
        #expect(try answer(query).rows == ["48", "49", "50", "51", "52"])
        #expect(try !query.explain().description.contains("by-n"))
        try notes.createIndex("again", on: "n")
        #expect(try answer(query).rows == ["48", "49", "50", "51", "52"])
        #expect(try query.explain().description.contains("again"))
    }

    @Test func anOlderMomentIsReadBesideThePresent() throws {
        let query = try fixture.database.query("SELECT n FROM notes WHERE n >= 49")
        let before = try fixture.database.snapshot()
        #expect(try QueryFixture.texts([try #require(try query.cursor(in: before).next())]) == ["49"])
        try notes.delete("d49")
        #expect(try answer(query).rows == [])
        #expect(try query.cursor(in: before).next() != nil)
        #expect(try query.cursor(in: fixture.database.snapshot()).next() == nil)
    }

    @Test func aSnapshotOfAnotherDatabaseIsRefused() throws {
        let other = try QueryFixture()
        try other.fill("notes", [#"{"n":1}"#])
        let foreign = try other.database.query("SELECT n FROM notes")
        #expect(try foreign.fetch().count == 1)
        let query = try fixture.database.query("SELECT n FROM notes")
        let snapshot = try other.database.snapshot()
        #expect(throws: DatabaseError.self) { _ = try query.cursor(in: snapshot) }
    }

    /// Rows whose values stand outside the leaves of the index, with changed documents between them.
    @Test(arguments: ["", " DESC"])
    func longRowsAndChangedOnesComeInOrder(direction: String) throws {
        var settings = IndexSettings()
        settings.quiet = 1e6
        let (fixture, collection) = (try QueryFixture(), "notes")
        IndexManager.of(fixture.database).configure(settings)
        func text(_ n: Int) -> String { String(repeating: "y\(n) ", count: 1_200) }
        try fixture.fill(collection, (0..<50).map { #"{"n":\#($0),"text":"\#(text($0))"}"# })
        let notes = try fixture.database.collection(collection)
        try notes.createIndex("by-n", on: "n", including: "text")
        for n in [3, 20, 21, 49] { try notes.save(json: #"{"n":\#(n),"text":"new \#(n)"}"#, id: "d\(n)") }
        try notes.delete("d30")
        let query = try fixture.database.query(
            "SELECT n, text FROM notes WHERE n >= 2 ORDER BY n\(direction)")
        let found = try answer(query)
        #expect(found.documentsRead == 0)
        let kept = (2..<50).filter { $0 != 30 }
        let expected = (direction.isEmpty ? kept : kept.reversed()).map { n in
            "[\(n),\"\([3, 20, 21, 49].contains(n) ? "new \(n)" : text(n))\"]"
        }
        // Apart, so that a failure does not print them.
        let areAsExpected = found.rows == expected
        #expect(areAsExpected)
    }

    @Test func whatIsKeptGoesWithTheNextCommitAndWithTheDatabase() throws {
        weak var moment: SnapshotReaders?
        weak var reader: Snapshot?
        do {
            let database = try Database.open(fixture.directory + "/Other.roost")
            let notes = try database.collection("notes")
            try notes.save(json: #"{"n":1}"#, id: "a")
            try notes.createIndex("by-n", on: "n")
            let query = try database.query("SELECT n FROM notes WHERE n = 1")
            #expect(try query.fetch().count == 1)
            moment = try database.present { SnapshotReaders() }.companion
            #expect(moment != nil)
            try notes.save(json: #"{"n":2}"#, id: "b")
            #expect(moment == nil)
            #expect(try query.fetch().count == 1)
            moment = try database.present { SnapshotReaders() }.companion
            reader = database.store.snapshot()
            #expect(moment != nil)
            // Not closed: the last handle just goes.
        }
        #expect(moment == nil)
        #expect(reader == nil)
    }
}

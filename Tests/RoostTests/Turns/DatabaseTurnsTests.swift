import Foundation
import Roost
import RoostFile
import Synchronization
import Testing

/// Openings of one database that share nothing, as those of processes do, and write it by turns: whatever one commits, the
/// others begin with.
@Suite struct DatabaseTurnsTests {
    private let openings = TwoOpenings()

    private func two(_ options: DatabaseOptions = TwoOpenings.options()) throws -> (Database, Database) {
        (try openings.open(options), try openings.open(options))
    }

    @Test func eachWriteBeginsWithWhatTheOtherCommitted() throws {
        let (first, second) = try two()
        let handles = [try first.defaultCollection, try second.defaultCollection]
        for number in 0..<40 {
            let notes = handles[number % 2]
            try notes.database.write { batch in
                var draft =
                    try batch.document("count", in: notes)?.mutableCopy() ?? MutableDocument(id: "count")
                #expect((draft["n"].int ?? 0) == number)
                draft["n"] = number + 1
                try batch.save(&draft, in: notes)
            }
        }
        #expect(try first.refresh())
        #expect(try !first.refresh())
        #expect(try handles[0].snapshot().content() == handles[1].snapshot().content())
        #expect(try handles[0].snapshot().lastSequence == 40)
        #expect(try first.check().isClean)
        try first.close()
        try handles[1].save(["n": 1], id: "after")
        #expect(try second.defaultCollection.count == 2)
    }

    @Test func aStaleRevisionConflictsWithTheOthers() throws {
        let (first, second) = try two()
        let (mine, theirs) = (try first.defaultCollection, try second.defaultCollection)
        try mine.save(json: #"{"v":1}"#, id: "a")
        var draft = try #require(try mine.document("a")).mutableCopy()
        try second.refresh()
        try theirs.save(json: #"{"v":2}"#, id: "a")
        draft["v"] = 3
        #expect(code { try mine.save(&draft) } == .conflict)
        // What it conflicted with can be read then.
        #expect(try mine.document("a")?["v"].int == 2)
    }

    @Test func collectionsOfTheOtherAreThere() throws {
        let (first, second) = try two()
        let made = try second.collection("notes")
        let found = try first.collection("notes", createsIfMissing: false)
        try found.save(json: #"{"v":1}"#, id: "a")
        #expect(try second.refresh())
        #expect(try made.document("a")?["v"].int == 1)
        // A collection of the same name that was made again is another one.
        try second.drop(made)
        let again = try second.collection("notes")
        #expect(code { try found.save(json: #"{"v":2}"#, id: "a") } == .notFound)
        #expect(code { _ = try found.count } == .notFound)
        #expect(try first.collection("notes").count == 0)
        #expect(try first.collection("notes").snapshot().number == again.snapshot().number)
        let numbers = try (0..<6).map { index in
            try (index % 2 == 0 ? first : second).collection("c\(index)").snapshot().number
        }
        #expect(Set(numbers).count == 6)
    }

    @Test func settingsOfACollectionAreThoseOfTheOther() throws {
        let (first, second) = try two()
        let (mine, theirs) = (try first.defaultCollection, try second.defaultCollection)
        try theirs.saveLocalDocument(json: #"{"l":1}"#, name: "l")
        try theirs.setMetadata([1, 2], name: "m")
        try second.write { try $0.setRevisionLimit(3, in: theirs) }
        try mine.save(json: #"{"v":0}"#, id: "a")
        for number in 1..<8 { try mine.save(json: #"{"v":\#(number)}"#, id: "a") }
        #expect(try mine.snapshot().revisions(of: "a").count == 3)
        #expect(try mine.metadata("m") == [1, 2])
        #expect(try mine.snapshot().localDocument("l")?.json() == #"{"l":1}"#)
    }

    @Test func whatTheOtherLetExpireGoes() throws {
        let (first, second) = try two()
        let (mine, theirs) = (try first.collection("notes"), try second.collection("notes"))
        try theirs.save(json: #"{"v":1}"#, id: "a")
        try theirs.setExpiration(Date(timeIntervalSinceNow: -1), of: "a")
        #expect(try first.purgeExpired() == 1)
        #expect(try mine.count == 0)
        try second.refresh()
        #expect(try theirs.count == 0)
    }

    /// Openings of the registry have a timer.
    @Test func theTimerLearnsOfWhatTheOtherLetsExpire() async throws {
        let mine = try Database.open(openings.path, options: TwoOpenings.options())
        let second = try openings.open()
        let theirs = try second.defaultCollection
        try await theirs.save(json: #"{"v":1}"#, id: "a")
        try await theirs.setExpiration(Date(timeIntervalSinceNow: 0.01), of: "a")
        try mine.refresh()
        #expect(try await eventually { try mine.defaultCollection.count == 0 })
    }

    @Test func earlierRevisionsThatTheOtherKeptGoWithCompaction() throws {
        var keeping = TwoOpenings.options()
        keeping.keptRevisions = 5
        let (first, second) = (try openings.open(), try openings.open(keeping))
        let theirs = try second.defaultCollection
        try theirs.save(json: #"{"v":1}"#, id: "a")
        let old = try #require(try theirs.document("a")).revision
        try theirs.save(json: #"{"v":2}"#, id: "a")
        #expect(try theirs.snapshot().document("a", revision: old)?["v"].int == 1)
        try first.compact()
        #expect(try second.refresh())
        #expect(try theirs.snapshot().document("a", revision: old) == nil)
        #expect(try theirs.document("a")?["v"].int == 2)
    }

    /// Many make the database at the same time.
    @Test func itIsMadeOnce() async throws {
        let path = openings.path
        let names = try await withThrowingTaskGroup(of: (UUID, UUID).self) { group in
            for number in 0..<6 {
                group.addTask {
                    let database = try Database.open(
                        path, options: TwoOpenings.options(), environment: .system)
                    try DatabaseTurnsTests.save("d\(number)", in: database)
                    return (database.publicUUID, database.privateUUID)
                }
            }
            return try await group.reduce(into: [] as [(UUID, UUID)]) { $0.append($1) }
        }
        #expect(Set(names.map(\.0)).count == 1)
        #expect(Set(names.map(\.1)).count == 1)
        let database = try openings.openAlone()
        #expect(try database.defaultCollection.count == 6)
        #expect(try await database.check().isClean)
    }

    private static func save(_ id: String, in database: Database) throws {
        try database.defaultCollection.save(json: #"{"v":1}"#, id: id)
    }

    // MARK: Who may come

    @Test func whoDoesNotTakeTurnsIsKeptOutAndKeepsOthersOut() throws {
        let first = try openings.open()
        #expect(code { _ = try openings.openAlone() } == .locked)
        let second = try openings.open()
        try first.close()
        #expect(code { _ = try openings.openAlone() } == .locked)
        try second.close()
        #expect(try openings.signs().isEmpty)
        let alone = try openings.openAlone()
        #expect(code { _ = try openings.open() } == .locked)
        #expect(try openings.signs().isEmpty)
        try alone.close()
        _ = try openings.open()
    }

    /// Of a process that was killed its sign stays, which nobody holds any more.
    @Test func compactionTakesAwayTheSignsOfTheKilled() throws {
        let database = try openings.open()
        let sign = openings.path + "/data.roost.turns-0123456789abcdef"
        try #require(FileManager.default.createFile(atPath: sign, contents: nil))
        try database.compact()
        #expect(try openings.signs().count == 1)
        try database.close()
        #expect(try openings.signs().isEmpty)
    }

    @Test func aDatabaseOfOneWriterHasNoFilesForTurns() throws {
        try openings.openAlone().close()
        let names = try FileManager.default.contentsOfDirectory(atPath: openings.path)
        #expect(!names.contains { $0.contains("turns") })
    }

    @Test func theKeyChangesOnlyWhereNobodyElseIs() throws {
        let (first, second) = try two()
        try first.defaultCollection.save(json: #"{"v":1}"#, id: "a")
        let key = EncryptionKey.random()
        #expect(code { try first.changeKey(to: key) } == .locked)
        #expect(!first.isEncrypted)
        try second.defaultCollection.save(json: #"{"v":2}"#, id: "b")
        try second.close()
        try first.changeKey(to: key)
        #expect(code { _ = try openings.open() } == .wrongKey)
        let third = try openings.open(TwoOpenings.options(key))
        try third.defaultCollection.save(json: #"{"v":3}"#, id: "c")
        let blob = try third.saveBlob([1, 2, 3])
        #expect(try first.blobReader(blob)?.readAll() == [1, 2, 3])
        try first.defaultCollection.save(json: #"{"v":4}"#, id: "d")
        #expect(try first.defaultCollection.count == 4)
        // The new file that a compaction makes has other keys.
        try third.compact()
        try first.defaultCollection.save(json: #"{"v":5}"#, id: "e")
        #expect(try first.defaultCollection.count == 5)
        #expect(try first.check().isClean)
    }

    @Test func itIsNotDeletedOrOverwrittenWhileSomebodyHasIt() throws {
        let first = try openings.open()
        try first.defaultCollection.save(json: #"{"v":1}"#, id: "a")
        #expect(code { try Database.delete(openings.path) } == .locked)
        let copy = openings.files.path("copy")
        try first.backup(to: copy)
        let restored = try Database.open(copy, options: TwoOpenings.options(), environment: .system)
        #expect(code { try first.backup(to: copy) } == .locked)
        try restored.close()
        try first.backup(to: copy)
        try first.close()
        try Database.delete(openings.path)
        #expect(!FileManager.default.fileExists(atPath: openings.path))
    }

    @Test func backupsHaveWhatAllCommitted() throws {
        let (first, second) = try two()
        let copy = openings.files.path("copy")
        for number in 0..<6 {
            let blob = try second.saveBlob([UInt8(number)])
            try second.defaultCollection.save(["b": blob], id: "d\(number)")
            if number == 3 { try second.compact() }
            try first.backup(to: copy)
            let restored = try Database.open(copy, environment: .system)
            #expect(try restored.defaultCollection.count == number + 1)
            #expect(try restored.blobReader(blob)?.readAll() == [UInt8(number)])
            try restored.close()
        }
    }

    @Test func anyOfThemCompactsAndSnapshotsStay() throws {
        let (first, second) = try two()
        let (mine, theirs) = (try first.defaultCollection, try second.defaultCollection)
        for number in 0..<50 { try mine.save(json: #"{"v":\#(number)}"#, id: "d\(number % 5)") }
        try second.refresh()
        let kept = try theirs.snapshot()
        let before = try kept.content()
        for round in 0..<3 {
            try (round % 2 == 0 ? first : second).compact()
            try theirs.save(json: #"{"v":\#(-round)}"#, id: "x\(round)")
            try mine.save(json: #"{"v":\#(-round)}"#, id: "y\(round)")
        }
        #expect(try kept.content() == before)
        try second.refresh()
        #expect(try mine.snapshot().content() == theirs.snapshot().content())
        #expect(try second.check().isClean)
    }

    @Test func withinAWriteThereIsNothingToRefresh() throws {
        let (first, second) = try two()
        try second.defaultCollection.save(json: #"{"v":1}"#, id: "a")
        let notes = try first.defaultCollection
        let (isThere, isNew) = try first.write { batch in
            (try batch.document("a", in: notes) != nil, try first.refresh())
        }
        #expect(isThere && !isNew)
    }
}

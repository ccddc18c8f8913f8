import Foundation
import Roost
import Testing

/// Older commits, and the check of databases that are not open.
@Suite struct PastTests {
    let files: TemporaryDatabase
    let database: Database
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
        notes = try database.collection("notes")
    }

    @Test func olderCommitsShowWhatWas() throws {
        try notes.save(json: #"{"v":1}"#, id: "a")
        let commit = try #require(try database.history.commits(limit: 1).first)
        try notes.save(json: #"{"v":2}"#, id: "a")
        try notes.delete("a")
        let past = try database.snapshot(at: commit)[notes]
        #expect(try past["a"]?["v"].int == 1)
        #expect(try past.document("a", as: [String: Int].self)?.value == ["v": 1])
        #expect(try past.count == 1 && notes.count == 0)
        try database.compact()
        #expect(try past["a"]?["v"].int == 1, "an open snapshot stays")
        #expect(code { _ = try database.snapshot(at: commit) } == .notFound)
    }

    @Test func aReadSeesOneMoment() throws {
        try notes.save(json: "{}", id: "a")
        let counts = try database.read { snapshot in
            try notes.save(json: "{}", id: "b")
            return try [snapshot[notes].count, notes.count]
        }
        #expect(counts == [1, 2])
    }

    @Test func whatIsNotOpenIsChecked() throws {
        try notes.save(json: #"{"text":"swifts nest in gables"}"#, id: "a")
        try database.close()
        #expect(try Database.check(files.path).isClean)
        #expect(code { _ = try Database.check(files.path + "-none") } == .notFound)

        let file = URL(fileURLWithPath: files.path).appending(path: "data.roost")
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.range(of: Data("swifts".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: file)
        let report = try Database.check(files.path)
        #expect(!report.isClean && !report.findings.isEmpty)
    }

    @Test func theRevisionLimitHasBounds() throws {
        for limit in [0, -1, .max] {
            #expect(
                code { try database.write { try $0.setRevisionLimit(limit, in: notes) } } == .limitExceeded)
        }
        #expect(try notes.snapshot().revisionLimit == 1000)
        try database.write { try $0.setRevisionLimit(1, in: notes) }
        #expect(try notes.snapshot().revisionLimit == 1)
    }
}

import Fleece
import Roost
import RoostBytes
import RoostOrder
import RoostSimulation
import RoostStorage
import Testing

@testable import RoostIndex

/// Upkeep that ends between two moments, because the index's function fails: each moment is shown as it was.
@Suite struct IndexMomentTests {
    /// A row for a document's word; no document may have the word "poison".
    private let words = IndexDefinition(name: "test/word", signature: "1") { documents, _ in
        var rows = IndexRows(of: documents)
        let encoder = KeyEncoder(.binary)
        for index in 0..<documents.count {
            let word = try documents.document(index)["word"]
            if word.string == "poison" { throw Poisoned() }
            rows.begin(index)
            encoder.reset()
            try encoder.append(word)
            rows.add(encoder.view, payload: .empty)
        }
        return rows
    }

    private struct Poisoned: Error {}

    private let notes: DocumentCollection

    init() throws {
        let database = try Database.open("db", environment: Simulation(seed: 23).environment)
        notes = try database.collection("notes")
        var settings = IndexSettings()
        settings.buildMemory = 1
        settings.quiet = 1e6
        IndexManager.of(database).configure(settings)
    }

    private func save(_ word: String, _ ids: [String]) throws {
        try notes.database.write { batch in
            for id in ids { try batch.save(json: #"{"word":"\#(word)"}"#, id: id, in: notes) }
        }
    }

    private func update() throws { try notes.indexes.update(notes, building: .one(words.name)) }

    /// How many documents have a word at a moment.
    private func count(of word: String, at moment: CollectionSnapshot) throws -> UInt64 {
        let key = KeyEncoder(.binary)
        key.append(word)
        let range = KeyRange(prefix: Key(RowKey.component(key.view)))
        return try notes.indexes.read(words, of: notes, at: moment) { try $0.count(in: range) }
    }

    /// Changes come in pages of 2,048, each with a commit; the next one after a failure must still know of the purges.
    @Test func purgesAreNotedWithTheLastPageOfChangesAlone() throws {
        try notes.indexes.define(words)
        try save("gone", ["a", "b"])
        try update()
        for id in ["a", "b"] { try notes.purge(id) }
        try save("word", (0..<3_000).map { "d\($0)" })
        try save("poison", ["e"])
        #expect(throws: Poisoned.self) { try update() }
        try save("word", ["e"])
        try update()
        #expect(try count(of: "gone", at: notes.snapshot()) == 0)
        #expect(try count(of: "word", at: notes.snapshot()) == 3_001)
    }

    /// A purge is no change of the sequence.
    @Test func anIndexThatHasSeenAPurgeIsAheadOfTheMomentBefore() throws {
        try notes.indexes.define(words)
        try save("word", ["a", "b", "c"])
        try update()
        let before = try notes.snapshot()
        try notes.purge("a")
        try update()
        #expect(try count(of: "word", at: before) == 3)
        #expect(try count(of: "word", at: notes.snapshot()) == 2)
    }

    @Test func aBuildThatWentOnLaterShowsWhatWasBetween() throws {
        // More than are mapped before the first commit.
        let ids = (1_000..<6_000).map { "\($0)" }
        try notes.indexes.define(words)
        try save("early", ids)
        try save("poison", ["5900"])
        #expect(throws: Poisoned.self) { try update() }
        try save("early", ["5900"])
        let moment = try notes.snapshot()
        try save("late", ["5901"])
        try save("poison", ["1001"])
        #expect(throws: Poisoned.self) { try update() }
        let status = try #require(try notes.indexes.statuses().first)
        #expect(status.isComplete && status.sequence < moment.lastSequence)
        #expect(try count(of: "early", at: moment) == 5_000)
        #expect(try count(of: "late", at: moment) == 0)
    }

    @Test func changesThatWerePartlyWorkedOffShowWhatWasBetween() throws {
        try notes.indexes.define(words)
        try save("first", ["a"])
        try update()
        // As many as are looked at together.
        let ids = (0..<2_048).map { "b\($0)" }
        try save("second", ["a"] + ids)
        let moment = try notes.snapshot()
        try save("third", ["a"])
        try save("poison", ["c"])
        #expect(throws: Poisoned.self) { try update() }
        #expect(try notes.indexes.statuses().first?.sequence == moment.lastSequence)
        #expect(try count(of: "second", at: moment) == 2_049)
    }
}

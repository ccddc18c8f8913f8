import Fleece
import Roost
import RoostBytes
import RoostFile
import RoostOrder
import RoostSimulation
import RoostStorage
import Synchronization
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

// MARK: - Recent changes tests

/// What a reader of an index finds out about changes serves the readers after it.
@Suite struct RecentChangesTests {
    private let database: Database
    private let notes: DocumentCollection

    init() throws {
        database = try Database.open("db", environment: Simulation(seed: 11).environment)
        var settings = IndexSettings()
        settings.overlayLimit = 1_000
        settings.quiet = 1e6
        IndexManager.of(database).configure(settings)
        notes = try database.collection("notes")
        for number in 0..<30 { try notes.save(json: #"{"tags":[1,2],"v":\#(number)}"#, id: "d\(number)") }
    }

    /// The index, and how many documents it was asked the rows of.
    private final class Counted: Sendable {
        private let mapped = Atomic(0)

        var definition: IndexDefinition {
            let tags = tagIndex()
            return IndexDefinition(name: tags.name, signature: tags.signature, reduction: tags.reduction) {
                documents, moment in
                self.mapped.add(documents.count, ordering: .relaxed)
                return try tags.map(documents, moment)
            }
        }

        /// How many since it was asked last.
        func take() -> Int { mapped.exchange(0, ordering: .relaxed) }
    }

    private func check(_ index: Counted, at snapshot: CollectionSnapshot? = nil) throws {
        try notes.indexes.read(index.definition, of: notes, at: snapshot) { reader in
            let found = try Expected(reader)
            let expected = try Expected(snapshot ?? notes.snapshot())
            #expect(found == expected)
        }
    }

    @Test func eachChangeIsLookedAtOnce() throws {
        let index = Counted()
        try check(index)
        #expect(index.take() == 30)
        for number in 0..<10 {
            // Some of them again and again.
            try notes.save(
                json: #"{"tags":[\#(number)],"v":-1}"#, id: "d\(number % 4)", expecting: .any)
            try check(index)
            #expect(index.take() == 1)
            try check(index)
            #expect(index.take() == 0)
        }
        try notes.delete("d1")
        try notes.purge("d2")
        try check(index)
        #expect(index.take() == 0)
        try database.close()
    }

    @Test func anEarlierMomentIsNotShownWhatCameLater() throws {
        let index = Counted()
        try check(index)
        try notes.save(json: #"{"tags":[7],"v":7}"#, id: "d7", expecting: .any)
        try check(index)
        let earlier = try notes.snapshot()
        for number in [7, 8] { try notes.save(json: #"{"tags":[8]}"#, id: "d\(number)", expecting: .any) }
        try check(index)
        _ = index.take()
        try check(index, at: earlier)
        #expect(index.take() == 1)
        // What the reader of the earlier moment found out did not take the place of what is known of the later one.
        try check(index)
        #expect(index.take() == 0)
        try database.close()
    }

    @Test func nothingIsKeptOfWhatTheIndexHasMeanwhile() throws {
        let index = Counted()
        try check(index)
        for number in 0..<5 { try notes.save(json: #"{"tags":[5]}"#, id: "d\(number)", expecting: .any) }
        try check(index)
        try notes.indexes.update(notes)
        _ = index.take()
        try check(index)
        #expect(index.take() == 0)
        try notes.save(json: #"{"tags":[6]}"#, id: "d1", expecting: .any)
        try check(index)
        #expect(index.take() == 1)
        try notes.indexes.drop(index.definition.name)
        try notes.delete("d1")
        try check(index)
        #expect(index.take() == 29)
        try database.close()
    }
}

import Roost
import RoostFile
import RoostSimulation
import RoostStorage
import Synchronization
import Testing

@testable import RoostIndex

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

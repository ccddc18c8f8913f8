import Dispatch
import Fleece
import Roost
import RoostBytes
import RoostFile
import RoostOrder
import RoostSimulation
import RoostStorage
import Testing

@testable import RoostIndex

@Suite("First builds of indexes") struct IndexBuildTests {
    /// A row for each of a document's words.
    private let words = IndexDefinition(name: "test/words", signature: "1") { documents, _ in
        var rows = IndexRows(of: documents)
        let encoder = KeyEncoder(.binary)
        for index in 0..<documents.count {
            let document = try documents.document(index)
            rows.begin(index)
            for word in document["words"].array ?? .empty {
                encoder.reset()
                try encoder.append(word)
                rows.add(encoder.view, payload: .empty)
            }
        }
        return rows
    }

    @Test("Rows stand in the order of keys that begin alike, then of IDs", arguments: [1_000, 100 << 20])
    func order(memory: Int) throws {
        let database = try Database.open("db", environment: Simulation(seed: 21).environment)
        let notes = try database.collection("notes")
        var settings = IndexSettings()
        settings.buildMemory = memory
        settings.quiet = 1e6
        IndexManager.of(database).configure(settings)
        var random = Random(state: 21)
        var expected: [(word: String, id: String)] = []
        // More than are mapped at once, and some of them deleted.
        try database.write { batch in
            for number in 0..<10_000 {
                let id = "d\(number)"
                let found = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                    let end = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                        Bool.random(using: &random) ? "a" : "b"
                    }
                    return "the same beginning \(end.joined())"
                }
                let list = found.map { "\"\($0)\"" }.joined(separator: ",")
                try batch.save(json: "{\"words\":[\(list)]}", id: id, in: notes)
                if number % 7 == 0 {
                    try batch.delete(id, in: notes)
                } else {
                    expected += found.map { ($0, id) }
                }
            }
        }
        expected.sort { ($0.word, $0.id) < ($1.word, $1.id) }
        try notes.indexes.read(words, of: notes) { reader in
            #expect(try reader.count() == UInt64(expected.count))
            let cursor = reader.cursor()
            for row in expected {
                guard try cursor.next() else { break }
                #expect(cursor.row.documentID.array == Array(row.id.utf8))
                let key = KeyEncoder(.binary)
                key.append(row.word)
                #expect(cursor.row.component.array == key.key)
            }
            #expect(try !cursor.next())
        }
        try database.close()
    }
}

// MARK: - Build turn tests

/// The turn of the one who builds.
@Suite(.timeLimit(.minutes(5))) struct BuildTurnTests {
    /// Takes a turn on a thread of its own, till it is told to end.
    private final class Holder: Sendable {
        private let end = DispatchSemaphore(value: 0)

        init(_ turn: BuildTurn) async {
            let end = end
            await withCheckedContinuation { begun in
                DispatchQueue(label: "holder").async {
                    try? turn.take {
                        begun.resume()
                        end.wait()
                    }
                }
            }
        }

        func letGo() { end.signal() }
    }

    @Test func whoseTaskIsCancelledWaitsNoLonger() async throws {
        let turn = BuildTurn()
        let holder = await Holder(turn)
        // Waiting blocks a thread, which must be none that other tests need.
        let executor = WorkExecutor(WorkerPool(limit: 4), for: WorkOwner())
        let cancelled = Task { try await executor.run { try turn.take { 2 } } }
        let another = Task { try await executor.run { try turn.take { 3 } } }
        cancelled.cancel()
        // While the first still has the turn.
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        holder.letGo()
        #expect(try await another.value == 3)
        #expect(try turn.take { 4 } == 4)
    }
}

// MARK: - Shared index tests

/// Indexes of a database that processes write by turns: one of them keeps an index, all read right rows.
@Suite struct SharedIndexTests {
    private let simulation = Simulation(seed: 3)

    private func open() throws -> (Database, DocumentCollection) {
        var options = DatabaseOptions()
        options.writers = .takingTurns
        let database = try Database.open("db", options: options, environment: simulation.environment)
        return (database, try database.collection("notes"))
    }

    private func check(_ notes: DocumentCollection, _ what: String = "") throws {
        try notes.indexes.read(tagIndex(), of: notes) { reader in
            let (found, expected) = (try Expected(reader), try Expected(reader.collection))
            #expect(found == expected, "\(what)")
        }
    }

    /// The one that comes second only reads, and goes on with the index when the first has closed it.
    @Test(arguments: 0..<6 as Range<UInt64>) func allReadRightRows(seed: UInt64) throws {
        var random = Random(state: seed)
        let (first, mine) = try open()
        let (second, theirs) = try open()
        for round in 0..<40 {
            let notes = Bool.random(using: &random) ? mine : theirs
            let count = round % 10 == 0 ? 300 : 4
            try notes.database.write { batch in
                for _ in 0..<count { try notes.change(batch, &random) }
            }
            try check(Bool.random(using: &random) ? mine : theirs, "round \(round)")
        }
        let name = "\(try mine.snapshot().number)"
        let stores = try [first, second].map { try #require(try $0.auxiliaryStores.store(name)) }
        #expect(stores.filter(\.isReadOnly).count == 1)
        let (leaving, staying) = stores[0].isReadOnly ? (second, mine) : (first, theirs)
        try leaving.close()
        try staying.save(json: #"{"tags":["late"]}"#, id: "late")
        try check(staying)
        #expect(try staying.database.auxiliaryStores.store(name)?.isReadOnly == false)
        try staying.indexes.update(staying)
        try staying.indexes.read(tagIndex(), of: staying) { reader in
            #expect(reader.sequence == reader.collection.lastSequence)
        }
    }

    @Test func whatTheOtherKeepsIsNotRemoved() throws {
        let (first, _) = try open()
        let (second, _) = try open()
        // The first has not heard of it.
        let late = try second.collection("late")
        try late.save(json: #"{"tags":["a"]}"#, id: "a")
        try check(late)
        let name = "\(try late.snapshot().number)"
        let file = "db/derived/\(name).roost"
        #expect(simulation.disk.contents(of: file) != nil)
        _ = try first.collection("notes").indexes
        #expect(simulation.disk.contents(of: file) != nil)
        try first.auxiliaryStores.drop(name)
        #expect(simulation.disk.contents(of: file) != nil)
        try second.close()
        try first.auxiliaryStores.drop(name)
        #expect(simulation.disk.contents(of: file) == nil)
    }
}

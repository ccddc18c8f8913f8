import Roost
import RoostFile
import RoostSimulation
import RoostStorage
import Testing

@testable import RoostIndex

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

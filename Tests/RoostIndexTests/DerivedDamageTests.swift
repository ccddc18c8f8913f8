import Roost
import RoostFile
import RoostSimulation
import RoostStorage
import Testing

@testable import RoostIndex

/// Whatever stands in the place of an index's file, a query gets the rows of the documents and no error.
@Suite struct DerivedDamageTests {
    private static let file = "db/derived/2.roost"

    /// A database with an index, and the index's file.
    private func make(_ seed: UInt64, documents: Int = 60, _ path: String = "db") throws -> (
        Simulation, [UInt8]
    ) {
        let simulation = Simulation(seed: seed)
        var random = Random(state: seed)
        let database = try Database.open(path, environment: simulation.environment)
        let notes = try database.collection("notes")
        try database.write { batch in for _ in 0..<documents { try notes.change(batch, &random) } }
        try notes.indexes.read(tagIndex(), of: notes) { _ in }
        try database.auxiliaryStores.store("2")?.compact()
        // Rows in the log besides those in nodes.
        try database.write { batch in for _ in 0..<5 { try notes.change(batch, &random) } }
        try notes.indexes.update(notes)
        try database.close()
        return (simulation, try #require(simulation.disk.contents(of: "\(path)/derived/2.roost")))
    }

    private func check(_ simulation: Simulation, _ bytes: [UInt8], _ what: String) throws {
        try simulation.disk.install(bytes, at: Self.file)
        for isReadOnly in [true, false] {
            let database = try Database.open(
                "db", options: DatabaseOptions(isReadOnly: isReadOnly), environment: simulation.environment)
            let notes = try database.collection("notes")
            try notes.indexes.read(tagIndex(), of: notes) { reader in
                let (found, expected) = (try Expected(reader), try Expected(reader.collection))
                #expect(found == expected, "\(what), \(isReadOnly ? "for reading only" : "for writing")")
            }
            try database.close()
        }
    }

    @Test("Flipped bytes, anywhere", arguments: 0..<16) func flips(part: Int) throws {
        let (simulation, bytes) = try make(21)
        let places = Array(0..<300) + Array(stride(from: 300, to: bytes.count, by: 23))
        for place in places where place % 16 == part {
            var flipped = bytes
            flipped[place] ^= 0x41
            try check(simulation, flipped, "byte \(place)")
        }
    }

    @Test("Files that are cut off") func cutOff() throws {
        let (simulation, bytes) = try make(22)
        for length in stride(from: 0, to: bytes.count, by: 997) {
            try check(simulation, Array(bytes.prefix(length)), "\(length) bytes")
        }
    }

    @Test("Indexes of other documents: another database's, another collection's, those of before")
    func foreign()
        throws
    {
        let (_, other) = try make(24, documents: 200)
        let (simulation, early) = try make(23)
        try check(simulation, other, "another database's")
        let database = try Database.open("db", environment: simulation.environment)
        let (notes, more) = (try database.collection("notes"), try database.collection("more"))
        var random = Random(state: 25)
        try database.write { batch in for _ in 0..<90 { try more.change(batch, &random) } }
        try more.indexes.read(tagIndex(), of: more) { _ in }
        try database.write { batch in for _ in 0..<90 { try notes.change(batch, &random) } }
        try database.close()
        try check(
            simulation, try #require(simulation.disk.contents(of: "db/derived/3.roost")),
            "another collection's")
        try check(simulation, early, "those of before")
        try check(
            simulation, Array(try #require(simulation.disk.contents(of: "db/data.roost"))), "the documents'")
        try check(simulation, Array("no store at all".utf8), "text")
    }

    @Test("A directory that can't be made or written keeps nobody from asking") func unwritable() throws {
        let simulation = Simulation(seed: 26)
        var random = Random(state: 26)
        let database = try Database.open("db", environment: simulation.environment)
        let notes = try database.collection("notes")
        try database.write { batch in for _ in 0..<40 { try notes.change(batch, &random) } }
        for kind in [CallKind.createDirectory, .create, .write] {
            var plan = FaultPlan()
            plan.fail(kind, from: 1, with: .error(.noSpace))
            simulation.disk.faults = plan
            try notes.indexes.read(tagIndex(), of: notes) { reader in
                let (found, expected) = (try Expected(reader), try Expected(reader.collection))
                #expect(found == expected)
            }
            #expect(throws: (any Error).self) { try notes.indexes.update(notes) }
            simulation.disk.faults = FaultPlan()
            try notes.indexes.update(notes)
            try database.auxiliaryStores.drop("2")
        }
        try database.close()
    }
}

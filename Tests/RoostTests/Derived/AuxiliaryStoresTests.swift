import Roost
import RoostFile
import RoostSimulation
import RoostStorage
import Testing

/// Stores for what is derived from documents: as many lives as you like, but never at the documents' cost.
@Suite struct AuxiliaryStoresTests {
    private let simulation = Simulation(seed: 1)

    private func open(_ options: DatabaseOptions = DatabaseOptions(), on simulation: Simulation? = nil) throws
        -> Database
    {
        try Database.open("db", options: options, environment: (simulation ?? self.simulation).environment)
    }

    private func put(_ text: String, in store: Store?) throws {
        let store = try #require(store)
        let tree = try store.tree("rows")
        try store.write { try $0.put("key", Array(text.utf8), in: tree) }
    }

    private func text(in store: Store?) throws -> String? {
        guard let store, let tree = store.snapshot().tree("rows") else { return nil }
        return try store.snapshot()[tree, "key"].map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A store is made when it is asked for, is one for all handles, and is there after reopening")
    func life() throws {
        let database = try open()
        #expect(simulation.disk.contents(of: "db/derived/1.roost") == nil)
        #expect(try database.auxiliaryStores.names() == [])
        try put("first", in: database.auxiliaryStores.store("1"))
        #expect(try database.auxiliaryStores.store("1") === database.auxiliaryStores.store("1"))
        #expect(try database.auxiliaryStores.names() == ["1"])
        try database.close()
        #expect(throws: DatabaseError.self) { try database.auxiliaryStores.store("1") }
        let again = try open()
        #expect(try text(in: again.auxiliaryStores.store("1")) == "first")
        try again.auxiliaryStores.drop("1")
        #expect(simulation.disk.contents(of: "db/derived/1.roost") == nil)
        #expect(try text(in: again.auxiliaryStores.store("1")) == nil)
        #expect(again.auxiliaryStores.discarded.isEmpty)
    }

    @Test("Its commits cost no sync") func unsynced() throws {
        let database = try open()
        let store = try database.auxiliaryStores.store("1")
        try put("first", in: store)
        let before = simulation.disk.counts
        for number in 0..<50 { try put("\(number)", in: store) }
        #expect(simulation.disk.counts[.sync] == before[.sync])
        #expect(simulation.disk.counts[.write] >= before[.write] + 50)
        try database.close()
    }

    @Test("Damage and foreign files are thrown away with the reason, and the documents are untouched")
    func damage() throws {
        let database = try open()
        _ = try database.defaultCollection.save(json: #"{"v":1}"#, id: "n")
        try put("first", in: database.auxiliaryStores.store("1"))
        try database.close()
        let files: [[UInt8]] = [
            [], Array("no store".utf8), [UInt8](repeating: 0, count: 20_000),
            simulation.disk.contents(of: "db/data.roost").map { Array($0.prefix(5000)) } ?? [],
        ]
        for file in files {
            try simulation.disk.install(file, at: "db/derived/1.roost")
            let database = try open()
            let store = try database.auxiliaryStores.store("1")
            #expect(try text(in: store) == nil)
            try put("again", in: store)
            #expect(database.auxiliaryStores.discarded["1"] != nil)
            #expect(try database.defaultCollection.document("n") != nil)
            try database.close()
        }
    }

    @Test(
        "A power failure takes what it likes from the store, and nothing from the documents",
        arguments: 0..<40)
    func crash(seed: Int) throws {
        let simulation = Simulation(seed: UInt64(seed))
        let database = try open(on: simulation)
        let store = try database.auxiliaryStores.store("1")
        for number in 0..<20 {
            _ = try database.defaultCollection.save(json: #"{"v":\#(number)}"#, id: "n\(number)")
            try put("\(number)", in: store)
        }
        simulation.disk.crash()
        let rebooted = simulation.afterCrash()
        let again = try open(on: rebooted)
        #expect(try again.defaultCollection.count == 20)
        do {
            if let text = try text(in: again.auxiliaryStores.store("1")) { #expect(Int(text) != nil) }
        } catch let error as StoreError {
            #expect(error.code == .damaged)
            try again.auxiliaryStores.drop("1", becauseOf: error.message)
        }
        try put("after", in: again.auxiliaryStores.store("1"))
        #expect(try text(in: again.auxiliaryStores.store("1")) == "after")
    }

    @Test("Backups leave the stores out") func backup() throws {
        let database = try open()
        try put("first", in: database.auxiliaryStores.store("1"))
        try database.backup(to: "copy")
        #expect(try simulation.disk.status(of: "copy/data.roost") != nil)
        #expect(try simulation.disk.status(of: "copy/derived") == nil)
    }

    @Test("The stores have the database's key, and a change of the key leaves none of them behind")
    func keys() throws {
        let secret = "nests under the eaves"
        let database = try open()
        try put(secret, in: database.auxiliaryStores.store("1"))
        #expect(shows(secret))
        let key = EncryptionKey.random()
        try database.changeKey(to: key)
        #expect(!shows(secret))
        try put(secret, in: database.auxiliaryStores.store("1"))
        #expect(!shows(secret))
        try database.close()
        let again = try open(DatabaseOptions(key: key))
        #expect(try text(in: again.auxiliaryStores.store("1")) == secret)
        #expect(again.auxiliaryStores.discarded.isEmpty)
    }

    /// Whether the file, if there is one, has the text in it as it is.
    private func shows(_ text: String) -> Bool {
        let content = simulation.disk.contents(of: "db/derived/1.roost") ?? []
        return String(decoding: content, as: Unicode.ASCII.self).contains(text)
    }

    @Test("A database opened for reading has the stores that are there, and makes none") func readOnly()
        throws
    {
        let database = try open()
        try put("first", in: database.auxiliaryStores.store("1"))
        let reader = try open(DatabaseOptions(isReadOnly: true))
        #expect(try text(in: reader.auxiliaryStores.store("1")) == "first")
        #expect(try reader.auxiliaryStores.store("2") == nil)
        #expect(try database.auxiliaryStores.names() == ["1"])
    }
}

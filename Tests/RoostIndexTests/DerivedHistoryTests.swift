import Roost
import RoostFile
import RoostSimulation
import RoostStorage
import Synchronization
import Testing

@testable import RoostIndex

/// Lives of a database on a disk that crashes and fails: after each, and during it as far as documents can be read, an index
/// shows what mapping every document again shows, and no query fails for what is kept.
@Suite struct DerivedHistoryTests {
    /// A life that ends in a crash, in the death of the process or well, with or without failing calls.
    private struct Life {
        let simulation: Simulation
        var random: Random
        /// Whether a failure of the documents is to be expected.
        var isTroubled = false
        var crashes = false

        mutating func trouble() {
            let disk = simulation.disk
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                crashes = true
                disk.crash(atChange: disk.counts.changes + Int.random(in: 1..<160, using: &random))
            case 2:
                var plan = FaultPlan()
                let kinds: [CallKind] = [.write, .sync, .create, .open, .read, .truncate, .remove, .rename]
                plan.fail(kinds.randomElement(using: &random), probability: 0.04)
                disk.faults = plan
            case 3:
                var plan = FaultPlan()
                plan.fail(nil, at: disk.counts.total + Int.random(in: 1..<400, using: &random))
                disk.faults = plan
            default: return
            }
            isTroubled = true
        }

        /// Runs what documents may fail in.
        func attempt(_ body: () throws -> Void) throws {
            do {
                try body()
            } catch {
                guard isTroubled, error is DatabaseError || error is StoreError else { throw error }
            }
        }

        mutating func work() throws {
            var settings = IndexSettings()
            settings.overlayLimit = Int.random(in: 0..<12, using: &random)
            settings.buildMemory = Int.random(in: 200..<20_000, using: &random)
            // Nothing happens behind the test's back.
            settings.quiet = 1e6
            let database: Database
            let notes: DocumentCollection
            do {
                database = try Database.open("db", environment: simulation.environment)
                IndexManager.of(database).configure(settings)
                notes = try database.collection("notes")
            } catch {
                guard isTroubled else { throw error }
                return
            }
            for _ in 0..<10 {
                for _ in 0..<Int.random(in: 0..<4, using: &random) {
                    var random = random
                    try attempt {
                        try database.write { batch in
                            for _ in 0..<Int.random(in: 1..<8, using: &random) {
                                try notes.change(batch, &random)
                            }
                        }
                    }
                    self.random = random
                }
                switch Int.random(in: 0..<8, using: &random) {
                case 0: try attempt { try database.compact() }
                case 1: try attempt { try database.auxiliaryStores.store("2")?.compact() }
                case 2: try attempt { try notes.indexes.drop("test/tags") }
                case 3: try attempt { try notes.indexes.update(notes) }
                default: break
                }
                try query(notes)
            }
            if Bool.random(using: &random) { try attempt { try database.close() } }
        }

        /// A query fails only where documents can't be read, and never shows something else than the documents.
        private func query(_ notes: DocumentCollection) throws {
            do {
                try notes.indexes.read(tagIndex(), of: notes) { reader in
                    let (found, expected) = (try Expected(reader), try Expected(reader.collection))
                    #expect(found == expected)
                }
            } catch {
                guard isTroubled, error is DatabaseError else { throw error }
            }
        }
    }

    @Test("Crashes, deaths and failing calls", arguments: 0..<48) func lives(seed: Int) throws {
        var simulation = Simulation(seed: UInt64(seed))
        var random = Random(state: UInt64(seed) &+ 77)
        for number in 0..<8 {
            var life = Life(simulation: simulation, random: Random(state: random.next()))
            if number > 0 { life.trouble() }
            try life.work()
            simulation.disk.faults = FaultPlan()
            if life.crashes { simulation.disk.crash() }
            simulation = life.crashes ? simulation.afterCrash() : simulation.afterProcessDeath()
            // The next life begins with a look, without trouble.
            let database = try Database.open("db", environment: simulation.environment)
            let notes = try database.collection("notes")
            try notes.indexes.read(tagIndex(), of: notes) { reader in
                let (found, expected) = (try Expected(reader), try Expected(reader.collection))
                #expect(found == expected)
            }
            #expect(try database.derivedStores(checking: CheckOptions()).allSatisfy { $0.damage == nil })
            try database.close()
        }
    }

    @Test("A backup that is restored over the original's indexes shows its own documents") func restore()
        throws
    {
        let simulation = Simulation(seed: 11)
        var random = Random(state: 11)
        let database = try Database.open("db", environment: simulation.environment)
        let notes = try database.collection("notes")
        try database.write { batch in for _ in 0..<40 { try notes.change(batch, &random) } }
        try database.backup(to: "copy")
        try database.write { batch in for _ in 0..<40 { try notes.change(batch, &random) } }
        try notes.indexes.read(tagIndex(), of: notes) { _ in }
        try database.close()
        let derived = try #require(simulation.disk.contents(of: "db/derived/2.roost"))
        try simulation.disk.createDirectory("copy/derived")
        try simulation.disk.install(derived, at: "copy/derived/2.roost")
        let copy = try Database.open("copy", environment: simulation.environment)
        let copied = try copy.collection("notes")
        try copied.indexes.read(tagIndex(), of: copied) { reader in
            let (found, expected) = (try Expected(reader), try Expected(reader.collection))
            #expect(found == expected)
        }
        try copy.close()
    }

    /// Counts what a map was shown, and fails at a number of documents.
    private final class Meter: Sendable {
        struct Stopped: Error {}
        let shown = Mutex(0)
        let limit: Int

        init(limit: Int) { self.limit = limit }

        func note(_ count: Int) throws {
            let all = shown.withLock { shown in
                shown += count
                return shown
            }
            if all > limit { throw Stopped() }
        }
    }

    private func metered(_ version: String, _ meter: Meter) -> IndexDefinition {
        let plain = tagIndex(version)
        return IndexDefinition(name: plain.name, signature: version, reduction: plain.reduction) {
            documents, moment in
            try meter.note(documents.count)
            return try plain.map(documents, moment)
        }
    }

    @Test("A build that is cut off goes on where it was, and gives way to another version") func cutOff()
        throws
    {
        let simulation = Simulation(seed: 12)
        var settings = IndexSettings()
        settings.buildMemory = 4_000
        settings.quiet = 1e6
        func open() throws -> (Database, DocumentCollection) {
            let database = try Database.open("db", environment: simulation.environment)
            IndexManager.of(database).configure(settings)
            return (database, try database.collection("notes"))
        }
        var (database, notes) = try open()
        let count = 9_000
        try database.write { batch in
            for number in 0..<count {
                try batch.save(
                    json: #"{"v":\#(number),"tags":[\#(number % 10)]}"#, id: "d\(number)", in: notes)
            }
        }
        func check(_ definition: IndexDefinition) throws {
            try notes.indexes.read(definition, of: notes) { reader in
                #expect(try reader.count() == UInt64(count))
                let sum = try reader.reduce().map { String(decoding: $0, as: UTF8.self) }
                #expect(sum == "\(count * (count - 1) / 2)")
            }
        }
        for version in ["1", "2"] {
            #expect(throws: Meter.Stopped.self) { try check(metered(version, Meter(limit: 5_000))) }
            #expect(try notes.indexes.statuses().map(\.isComplete) == [false])
            try database.close()
            (database, notes) = try open()
        }
        let rest = Meter(limit: .max)
        try check(metered("2", rest))
        #expect(rest.shown.withLock { $0 } < count, "the build began anew")
        try check(tagIndex("1"))
        try database.close()
    }

    @Test("Functions of another index that fail are not a reader's trouble") func otherIndexes() throws {
        let database = try Database.open("db", environment: Simulation(seed: 13).environment)
        let notes = try database.collection("notes")
        var random = Random(state: 13)
        var settings = IndexSettings()
        settings.overlayLimit = 0
        settings.quiet = 1e6
        IndexManager.of(database).configure(settings)
        try database.write { batch in for _ in 0..<20 { try notes.change(batch, &random) } }
        let meter = Meter(limit: 40)
        let failing = IndexDefinition(name: "test/failing", signature: "1") { documents, _ in
            try meter.note(documents.count)
            return IndexRows(of: documents)
        }
        try notes.indexes.read(failing, of: notes) { _ in }
        try notes.indexes.read(tagIndex(), of: notes) { _ in }
        for _ in 0..<10 {
            try database.write { batch in for _ in 0..<20 { try notes.change(batch, &random) } }
            try notes.indexes.read(tagIndex(), of: notes) { reader in
                let (found, expected) = (try Expected(reader), try Expected(reader.collection))
                #expect(found == expected)
            }
        }
        #expect(throws: Meter.Stopped.self) { try notes.indexes.read(failing, of: notes) { _ in } }
        try database.close()
    }
}

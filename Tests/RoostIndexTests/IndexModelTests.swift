import Roost
import RoostFile
import RoostSimulation
import RoostStorage
import Testing

@testable import RoostIndex

/// An index shows what mapping every document again would show, whatever was done to documents and index meanwhile.
@Suite struct IndexModelTests {
    private func open(_ simulation: Simulation) throws -> (Database, DocumentCollection) {
        let database = try Database.open("db", environment: simulation.environment)
        return (database, try database.collection("notes"))
    }

    private func check(_ collection: DocumentCollection, _ definition: IndexDefinition) throws {
        try collection.indexes.read(definition, of: collection) { reader in
            let (found, expected) = (try Expected(reader), try Expected(reader.collection))
            #expect(found == expected)
            let present = try collection.snapshot()
            #expect(reader.collection.lastSequence == present.lastSequence)
        }
    }

    /// Changes some bytes of the derived store, if there is one.
    private func damage(_ simulation: Simulation, _ random: inout Random) {
        let files = (try? simulation.disk.list("db/derived")) ?? []
        guard let file = files.first(where: { $0.hasSuffix(".roost") }) else { return }
        let size = simulation.disk.contents(of: "db/derived/\(file)")?.count ?? 0
        for _ in 0..<20 {
            simulation.disk.flip(
                "db/derived/\(file)", at: UInt64.random(in: 0..<UInt64(size), using: &random))
        }
    }

    @Test("Edits, deletions, purges, reopening, damage, new versions", arguments: 0..<24)
    func history(seed: Int) throws {
        let simulation = Simulation(seed: UInt64(seed))
        var random = Random(state: UInt64(seed))
        var (database, notes) = try open(simulation)
        var version = 1
        for _ in 0..<40 {
            var settings = IndexSettings()
            settings.overlayLimit = Int.random(in: 0..<12, using: &random)
            settings.buildMemory = Int.random(in: 200..<20_000, using: &random)
            IndexManager.of(database).configure(settings)
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
                try database.write { batch in
                    for _ in 0..<Int.random(in: 1..<6, using: &random) { try notes.change(batch, &random) }
                }
            }
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                try database.close()
                (database, notes) = try open(simulation)
            case 1: version += 1
            case 2: try database.auxiliaryStores.store("2")?.compact()
            case 3: try database.compact()
            case 4:
                try database.close()
                damage(simulation, &random)
                (database, notes) = try open(simulation)
            case 5:
                try database.drop(notes)
                // The store is dropped in the background, and a compaction of it would be cancelled.
                IndexManager.of(database).waitForFollower()
                notes = try database.collection("notes")
            default: break
            }
            try check(notes, tagIndex("\(version)"))
        }
        try database.close()
    }

    @Test(
        "Moments of the past are shown with the index of today, and ranges, skipping and both directions agree"
    )
    func moments() throws {
        let (database, notes) = try open(Simulation(seed: 3))
        var random = Random(state: 3)
        var moments: [CollectionSnapshot] = []
        for _ in 0..<30 {
            try database.write { batch in for _ in 0..<5 { try notes.change(batch, &random) } }
            moments.append(try notes.snapshot())
        }
        try notes.indexes.update(notes)
        try notes.indexes.read(tagIndex(), of: notes) { _ in }
        for moment in moments {
            try notes.indexes.read(tagIndex(), of: notes, at: moment) { reader in
                let expected = try Expected(moment)
                #expect(try Expected(reader) == expected)
                #expect(try reader.count() == UInt64(expected.rows.count))
                for skipped in [
                    0, 1, 5, expected.rows.count - 1, expected.rows.count, expected.rows.count + 3,
                ] {
                    for isDescending in [false, true] {
                        let rows = isDescending ? expected.rows.reversed() : expected.rows
                        let cursor = reader.cursor(isDescending: isDescending)
                        try cursor.skip(UInt64(max(0, skipped)))
                        var found: [String] = []
                        while try cursor.next() { found.append(try text(cursor.row)) }
                        #expect(found == Array(rows.dropFirst(max(0, skipped))))
                    }
                }
                let all = reader.cursor()
                var rows: [(key: [UInt8], value: Int)] = []
                while try all.next() {
                    rows.append((all.row.key.array, decode(all.row.payload.array[...])))
                }
                guard rows.count > 3 else { return }
                let range = KeyRange(lower: Key(rows[1].key), upper: Key(rows[rows.count - 1].key))
                #expect(try reader.count(in: range) == UInt64(rows.count - 2))
                let sum = try reader.reduce(in: range).map { String(decoding: $0, as: UTF8.self) }
                #expect(sum == "\(rows[1..<rows.count - 1].reduce(0) { $0 + $1.value })")
            }
        }
        try database.close()
    }

    @Test("A power failure during upkeep costs no more than the time to make it anew", arguments: 0..<60)
    func crashes(seed: Int) throws {
        let simulation = Simulation(seed: UInt64(seed))
        var random = Random(state: UInt64(seed))
        var settings = IndexSettings()
        settings.buildMemory = 2_000
        do {
            let (database, notes) = try open(simulation)
            IndexManager.of(database).configure(settings)
            for round in 0..<8 {
                try database.write { batch in for _ in 0..<10 { try notes.change(batch, &random) } }
                if round == 2 {
                    simulation.disk.crash(atChange: simulation.disk.counts.changes + 2 + 3 * seed)
                }
                if round % 2 == 0 { try notes.indexes.read(tagIndex(), of: notes) { _ in } }
                if round % 2 == 0 { try notes.indexes.update(notes) }
            }
        } catch is DatabaseError {} catch is StoreError {}
        simulation.disk.crash()
        let rebooted = simulation.afterCrash()
        let (database, notes) = try open(rebooted)
        IndexManager.of(database).configure(settings)
        try check(notes, tagIndex())
        try database.write { batch in try notes.change(batch, &random) }
        try check(notes, tagIndex())
        try database.close()
    }

    @Test("A process that only reads uses what is there and looks at the rest itself") func readOnly() throws
    {
        let simulation = Simulation(seed: 5)
        let (database, notes) = try open(simulation)
        var random = Random(state: 5)
        try database.write { batch in for _ in 0..<60 { try notes.change(batch, &random) } }
        let options = DatabaseOptions(isReadOnly: true)
        let reader = try Database.open("db", options: options, environment: simulation.environment)
        let readerNotes = try reader.collection("notes")
        try check(readerNotes, tagIndex())
        try check(notes, tagIndex())
        try notes.indexes.update(notes)
        try database.write { batch in for _ in 0..<5 { try notes.change(batch, &random) } }
        try reader.refresh()
        try check(readerNotes, tagIndex())
        try notes.indexes.read(tagIndex(), of: notes) { #expect($0.collection.lastSequence > $0.sequence) }
        try reader.close()
        try database.close()
    }

    @Test("An older file of the documents in the place of the newer one shows no rows of what it lacks")
    func olderDocuments() throws {
        let simulation = Simulation(seed: 8)
        var random = Random(state: 8)
        var (database, notes) = try open(simulation)
        try database.write { batch in for _ in 0..<30 { try notes.change(batch, &random) } }
        try database.close()
        let older = try #require(simulation.disk.contents(of: "db/data.roost"))
        (database, notes) = try open(simulation)
        try database.write { batch in for _ in 0..<300 { try notes.change(batch, &random) } }
        try check(notes, tagIndex())
        try database.close()
        try simulation.disk.install(older, at: "db/data.roost")
        (database, notes) = try open(simulation)
        try check(notes, tagIndex())
        try database.write { batch in for _ in 0..<30 { try notes.change(batch, &random) } }
        try check(notes, tagIndex())
        try database.close()
    }

    @Test("A process that only reads takes in no rows that are newer than its documents") func aheadOfReader()
        throws
    {
        let simulation = Simulation(seed: 9)
        let (database, notes) = try open(simulation)
        var random = Random(state: 9)
        try database.write { batch in for _ in 0..<60 { try notes.change(batch, &random) } }
        try check(notes, tagIndex())
        let options = DatabaseOptions(isReadOnly: true)
        let reader = try Database.open("db", options: options, environment: simulation.environment)
        let readerNotes = try reader.collection("notes")
        let moment = try readerNotes.snapshot()
        try database.write { batch in for _ in 0..<30 { try notes.change(batch, &random) } }
        try notes.indexes.update(notes)
        for snapshot in [moment, nil] {
            try readerNotes.indexes.read(tagIndex(), of: readerNotes, at: snapshot) { shown in
                let (found, expected) = (try Expected(shown), try Expected(shown.collection))
                #expect(found == expected)
            }
        }
        try reader.close()
        try database.close()
    }

    @Test("Upkeep syncs nothing, and dropping gives the space back") func costs() throws {
        let simulation = Simulation(seed: 6)
        let (database, notes) = try open(simulation)
        var random = Random(state: 6)
        try notes.indexes.read(tagIndex(), of: notes) { _ in }
        try database.write { batch in for _ in 0..<60 { try notes.change(batch, &random) } }
        let syncs = simulation.disk.counts[.sync]
        try notes.indexes.update(notes)
        #expect(simulation.disk.counts[.sync] == syncs)
        #expect(try notes.indexes.statuses().map(\.name) == ["test/tags"])
        #expect(try notes.indexes.statuses().first?.sequence == notes.snapshot().lastSequence)
        try database.auxiliaryStores.store("2")?.compact()
        let status = try #require(try notes.indexes.statuses().first)
        let rows = try notes.indexes.read(tagIndex(), of: notes) { try $0.count() }
        #expect(status.bytes > 0 && status.rows == rows)
        try notes.indexes.drop("test/tags")
        #expect(try notes.indexes.statuses() == [])
        try database.close()
    }

    @Test("Long keys are found by their beginning and a hash") func longKeys() throws {
        let (database, notes) = try open(Simulation(seed: 7))
        for number in 0..<3 {
            let tag = String(repeating: "x", count: 5_000) + "\(number % 2)"
            _ = try notes.save(json: #"{"v":1,"tags":["\#(tag)"]}"#, id: "d\(number)")
        }
        try notes.indexes.read(tagIndex(), of: notes) { reader in
            let cursor = reader.cursor()
            var ids: [[UInt8]: [String]] = [:]
            while try cursor.next() {
                ids[cursor.row.component.array, default: []].append(
                    String(decoding: cursor.row.documentID.array, as: UTF8.self))
            }
            #expect(Set(ids.values) == [["d0", "d2"], ["d1"]])
            #expect(ids.keys.allSatisfy { $0.count == 1_516 })
        }
        try database.close()
    }
}

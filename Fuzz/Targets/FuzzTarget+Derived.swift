import Fleece
import Roost
import RoostFile
import RoostIndex
import RoostQuery
import RoostSimulation

@testable import RoostStorage

/// What is derived from documents, over any file in its place.
extension FuzzTarget {
    static let derived = [
        FuzzTarget("derived", largestInput: 64 << 10, isStore: true, seeds: derivedSeeds) { input in
            let disk = SimulatedMedium()
            let database = try derivedDatabase(disk)
            try database.close()
            try disk.createDirectory("db/derived")
            try disk.install(input, at: "db/derived/1.roost")
            try ask(try Database.open("db", environment: StoreSeeds.environment(disk)))
        }
    ]

    private static let view = MapReduceView<FleeceValue, FleeceValue>("fuzz", version: "1", reduce: .count) {
        note, emit in
        for key in note["keys"].array ?? .empty { emit(key, note["v"]) }
    }
    private static let distinct = MapReduceView<FleeceValue, FleeceValue>(
        "distinct", version: "1", reduce: .distinctCount
    ) { note, emit in
        for key in note["keys"].array ?? .empty { emit(key, note["v"]) }
    }

    /// The same database each time, with the same history.
    private static func derivedDatabase(_ disk: SimulatedMedium) throws -> Database {
        let database = try Database.open("db", environment: StoreSeeds.environment(disk))
        let notes = try database.defaultCollection
        try database.write { batch in
            for number in 0..<30 {
                try batch.save(
                    json: #"{"v":\#(number),"keys":[\#(number % 4),"a",[\#(number % 3),\#(number)]]}"#,
                    id: "d\(number)", in: notes)
            }
        }
        return database
    }

    /// Rows whose checksums are right are taken at their word, so nothing is asked of them but an end.
    private static func ask(_ database: Database) throws {
        _ = try database.derivedStores(checking: CheckOptions())
        let notes = try database.defaultCollection
        for view in [notes.view(view), notes.view(distinct)] {
            for isDescending in [false, true] {
                var query = ViewQuery()
                query.isDescending = isDescending
                query.skip = 3
                query.limit = 200
                query.includesDocuments = true
                _ = try? view.rows(query)
                query.includesDocuments = false
                query.grouping = .level(1)
                _ = try? view.groups(query)
            }
            _ = try? view.reduced(as: FleeceValue.self)
            _ = try? view.count(from: FleeceDocument(json: "1").root, to: FleeceDocument(json: #""a""#).root)
        }
        _ = try? notes.save(json: #"{"v":1,"keys":["new"]}"#, id: "d3")
        for view in [notes.view(view), notes.view(distinct)] {
            var query = ViewQuery()
            query.skip = 20
            query.limit = 200
            _ = try? view.rows(query)
            try? view.update()
            _ = try? view.rows(query)
            try? view.drop()
            try demand(try view.rows().count == 88, "a view that was made anew is not that of the documents")
        }
        try database.close()
    }

    private static func derivedSeeds() throws -> [[UInt8]] {
        let disk = SimulatedMedium()
        let database = try derivedDatabase(disk)
        let notes = try database.defaultCollection
        for view in [notes.view(view), notes.view(distinct)] { try view.update() }
        let logged = disk.contents(of: "db/derived/1.roost") ?? []
        try database.auxiliaryStores.store("1")?.compact()
        return [logged, disk.contents(of: "db/derived/1.roost") ?? []]
    }
}

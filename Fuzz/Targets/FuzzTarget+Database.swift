import Roost
import RoostFile
import RoostSimulation

@testable import RoostStorage

/// A whole database over any data file.
extension FuzzTarget {
    static let database = FuzzTarget(
        "database", largestInput: 64 << 10, isStore: true, seeds: databaseSeeds
    ) { input in
        let disk = SimulatedMedium()
        try disk.createDirectory("db")
        try disk.install(input, at: "db/data.roost")
        do {
            let database = try Database.open("db", environment: StoreSeeds.environment(disk))
            for scope in try database.scopes.prefix(4) {
                for collection in try database.collections(scope: scope).prefix(4) {
                    try read(try collection.snapshot())
                    try write(collection)
                }
            }
            try database.close()
        } catch let error as DatabaseError {
            let codes: Set<DatabaseError.Code> = [
                .damaged, .notADatabase, .unsupportedFormat, .wrongKey, .notFound, .limitExceeded, .conflict,
            ]
            try demand(codes.contains(error.code), "a file's bytes are answered by \(error.code): \(error)")
        }
    }

    private static func read(_ snapshot: CollectionSnapshot) throws {
        var selection = DocumentSelection()
        selection.includesDeleted = true
        selection.limit = 200
        for document in try snapshot.documents(selection) {
            _ = (document.json(), document.isConflicted, document.sequence)
            _ = try? (snapshot.openRevisions(of: document.id), snapshot.revisions(of: document.id))
        }
        let changes = try snapshot.changeCursor()
        var count = 0
        while count < 200, let change = try changes.next() {
            _ = try? changes.document(of: change)
            count += 1
        }
        for name in try snapshot.localDocumentNames.prefix(10) {
            _ = try snapshot.localDocument(name)?.json()
        }
        _ = (try snapshot.deletedCount, snapshot.count)
    }

    private static func write(_ collection: DocumentCollection) throws {
        let saved = try collection.save(json: #"{"v":1}"#, id: "fuzz")
        try demand(
            saved.sequence == (try collection.snapshot().lastSequence), "a sequence that is not the last")
        for id in ["d1", "d2", "d3"] { _ = try? collection.delete(id) }
        _ = try? collection.database.write { batch in try batch.purge("d4", in: collection) }
        try demand(
            try collection.document("fuzz")?.json().contains("\"v\":1") == true,
            "a saved document is not there")
    }

    private static func databaseSeeds() throws -> [[UInt8]] {
        let disk = SimulatedMedium()
        let database = try Database.open("db", environment: StoreSeeds.environment(disk))
        let notes = try database.collection("notes")
        for number in 0..<6 {
            _ = try notes.save(
                json: #"{"v":\#(number),"text":"\#(String(repeating: "x", count: 20 * number))"}"#,
                id: "d\(number)")
        }
        _ = try notes.delete("d5")
        try database.write { batch in
            for history in [["2-bb", "1-aa"], ["2-cc", "1-aa"]] {
                let ids = try history.map { try RevisionID(validating: $0) }
                _ = try batch.insert(json: #"{"w":1}"#, id: "conflict", history: ids, in: notes)
            }
            _ = try batch.saveLocalDocument(json: #"{"l":1}"#, name: "checkpoint", in: notes)
            _ = try batch.setExpiration(.init(timeIntervalSince1970: 4e9), of: "d3", in: notes)
        }
        let logged = disk.contents(of: "db/data.roost") ?? []
        try database.compact()
        return [logged, disk.contents(of: "db/data.roost") ?? []]
    }
}

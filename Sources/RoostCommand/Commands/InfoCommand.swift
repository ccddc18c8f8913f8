import Foundation
import Roost
import RoostIndex
import RoostStorage

enum InfoCommand: Command {
    static let name = "info"
    static let summary = "prints what the database holds and how large it is"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [Option.json]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let collections = try database.scopes.flatMap { scope in try database.collections(scope: scope) }
        guard !invocation.has("--json") else { return try printJSON(database, collections) }
        let size = try database.statistics()
        Console.print("database     \(database.path)")
        Console.print("file         \(Size.text(size.fileBytes)), \(Size.text(size.liveBytes)) of it alive")
        Console.print("commits      \(size.commit), \(Count.text(size.generation, "compaction"))")
        Console.print("end          \(database.ending.text)")
        Console.print("public UUID  \(database.publicUUID)")
        for collection in collections {
            let snapshot = try collection.snapshot()
            Console.print(
                "collection   \(collection): \(Count.text(snapshot.count, "document")), \(try snapshot.deletedCount) deleted, "
                    + "last sequence \(snapshot.lastSequence)")
        }
        DerivedText.lines(try database.derivedStores()).forEach(Console.print)
    }

    private static func printJSON(_ database: Database, _ collections: [DocumentCollection]) throws {
        var object = JSONObject()
        object.add("path", database.path)
        object.add("publicUUID", database.publicUUID.uuidString)
        let size = try database.statistics()
        object.add("fileBytes", size.fileBytes)
        object.add("liveBytes", size.liveBytes)
        object.add("logBytes", size.logBytes)
        object.add("commit", size.commit)
        object.add("generation", size.generation)
        object.add("hasCleanEnd", database.ending.isClean)
        object.add("bytesBehindEnd", database.ending.bytesBehind)
        let parts = try collections.map { collection in
            let snapshot = try collection.snapshot()
            var part = JSONObject()
            part.add("name", collection.collectionName)
            part.add("scope", collection.scopeName)
            part.add("documents", snapshot.count)
            part.add("deleted", try snapshot.deletedCount)
            part.add("lastSequence", snapshot.lastSequence)
            return part.text
        }
        object.add("collections", raw: JSONObject.array(parts))
        object.add("derived", raw: DerivedJSON.text(try database.derivedStores()))
        Console.print(object.text)
    }
}

extension FileEnding {
    /// What it means, in a few words.
    fileprivate var text: String {
        guard !isClean else { return "clean" }
        let reasons = "it is open elsewhere, was not closed, is a backup, or has lost its end"
        return bytesBehind == 0
            ? "not clean: \(reasons)"
            : "not clean, with \(Size.text(bytesBehind)) behind the last whole commit: \(reasons)"
    }
}

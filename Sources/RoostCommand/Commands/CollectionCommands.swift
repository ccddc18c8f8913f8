import Roost

enum ListCollectionsCommand: Command {
    static let name = "lscoll"
    static let summary = "lists the collections, with how many documents each has"
    static let parameters = [Parameter(label: "DB", help: "the database")]
    static let options = [Option("--scope", "NAME", "only those of this scope"), .json]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForReading()
        let scopes = try invocation.string("--scope").map { [$0] } ?? database.scopes
        for collection in try scopes.flatMap({ try database.collections(scope: $0) }) {
            let snapshot = try collection.snapshot()
            guard invocation.has("--json") else {
                Console.print("\(collection)\t\(snapshot.count)")
                continue
            }
            var object = JSONObject()
            object.add("scope", collection.scopeName)
            object.add("name", collection.collectionName)
            object.add("documents", snapshot.count)
            object.add("deleted", try snapshot.deletedCount)
            object.add("lastSequence", snapshot.lastSequence)
            Console.print(object.text)
        }
    }
}

enum MakeCollectionCommand: Command {
    static let name = "mkcoll"
    static let summary = "makes collections, where there are none of the names"
    static let parameters = [
        Parameter(label: "DB", help: "the database; made if there is none"),
        Parameter(label: "NAME...", help: "NAME or SCOPE.NAME", repeats: true),
    ]
    static let options: [Option] = []

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForWriting(createsIfMissing: true)
        for name in invocation.rest(1) { _ = try database.collection(named: name, createsIfMissing: true) }
        try database.close()
    }
}

enum RemoveCollectionCommand: Command {
    static let name = "rmcoll"
    static let summary = "removes collections for good"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "NAME...", help: "NAME or SCOPE.NAME", repeats: true),
    ]
    static let options = [Option("--force", nil, "with all documents that are in them")]

    static func run(_ invocation: Invocation) throws {
        let database = try invocation.openForWriting()
        let collections = try invocation.rest(1).map { name in
            try database.collection(named: name, createsIfMissing: false)
        }
        for collection in collections where !invocation.has("--force") {
            let count = try collection.count
            guard count == 0 else {
                throw CommandFailure(
                    "\(collection) has \(Count.text(count, "document")); --force removes them, too. Nothing was "
                        + "removed.")
            }
        }
        for collection in collections { try database.drop(collection) }
        try database.close()
    }
}

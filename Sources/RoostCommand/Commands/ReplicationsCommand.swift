import Fleece
import Foundation
import Roost
import RoostSync

enum ReplicationsCommand: Command {
    static let name = "replications"
    static let summary = "lists the replications that a server runs"
    static let parameters = [
        Parameter(
            label: "SERVER",
            help: "its address, such as http://localhost:5984, or the directory that it serves")
    ]
    static let options = RemoteAccess.options + [.json]
    static let notes = """
        These are the documents of the server's database _replicator. A directory tells what was written into them; only the
        address of a server that runs tells what it is doing.
        """

    static func run(_ invocation: Invocation) throws {
        let rows = try RemoteAccess.isAddress(invocation[0]) ? asked(invocation) : read(invocation)
        if invocation.has("--json") {
            for row in rows { Console.print(try row.json()) }
            return
        }
        guard !rows.isEmpty else { return Console.print("There are no replications.") }
        var table = TextTable(["DOCUMENT", "SOURCE", "TARGET", "STATE", "WRITTEN", "ERROR"])
        for row in rows {
            let texts = ["doc_id", "source", "target", "state"].map { row[$0]?.string ?? "" }
            let information = row["info"]
            let written = information?["docs_written"]?.int.map { "\($0)" } ?? ""
            table.add(texts + [written, information?["error"]?.string ?? ""])
        }
        table.finish()
    }

    private static func asked(_ invocation: Invocation) throws -> [DocumentValue] {
        let server = try RemoteAccess.database(
            ReplicatorManager.databaseName, ofServer: invocation[0], invocation)
        return try Waiting.result { try await server.scheduledReplications() }
    }

    private static func read(_ invocation: Invocation) throws -> [DocumentValue] {
        let path = "\(invocation[0])/\(ReplicatorManager.databaseName).roost"
        guard FileManager.default.fileExists(atPath: path) else {
            guard FileManager.default.fileExists(atPath: invocation[0]) else {
                throw CommandFailure("There is no directory \(invocation[0]).")
            }
            return []
        }
        let database = try Database.open(
            path, options: DatabaseOptions(isReadOnly: true, createsIfMissing: false))
        let collection = try database.defaultCollection
        let manager = ReplicatorManager(
            ReplicatorManager.Databases { _ in
                collection
            } create: { _ in
                collection
            })
        return try Waiting.result { try await manager.documentRows().map(\.row) }
    }
}

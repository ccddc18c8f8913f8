import Foundation
import Roost
import RoostSync

/// Two databases that replicate: in this process, or with the other one behind a server.
final class RoostReplication {
    private let directory: String
    private let served: RoostHTTP?

    init(_ directory: String, overHTTP: Bool) throws {
        self.directory = directory
        served = overHTTP ? try RoostHTTP(directory + "/served") : nil
    }

    /// A database of this process.
    func open(_ name: String) throws -> Database { try Database.open("\(directory)/\(name)") }

    /// The other database, which is behind the server where there is one.
    func openOther() throws -> Database {
        guard let served else { return try open("other") }
        return try served.router.databases.create("other")
    }

    /// Begins to replicate `here` with the other database.
    func replicate(_ here: Database, _ other: Database, _ options: ReplicationOptions) throws -> Replication {
        guard let served else { return try here.replicate(with: other, options) }
        guard let url = URL(string: served.server.url + "/other") else {
            throw BenchmarkError("the server has no address")
        }
        let remote = try RemoteDatabase(
            url,
            credentials: .basic(name: RoostHTTP.credentials.name, password: RoostHTTP.credentials.password))
        return try here.replicate(with: remote, options)
    }

    func close() throws { try served?.close() }
}

import Foundation
import Roost

/// A database in a directory that goes with the value.
final class TemporaryDatabase {
    let directory: String
    var path: String { directory + "/Test.roost" }

    init() throws {
        directory = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func open(readOnly: Bool = false) throws -> Database {
        try Database.open(path, options: DatabaseOptions(isReadOnly: readOnly))
    }

    /// Opens the database, hands it to `body`, and closes it.
    func use<R>(_ body: (Database) throws -> R) throws -> R {
        let database = try open()
        let result = try body(database)
        try database.close()
        return result
    }
}

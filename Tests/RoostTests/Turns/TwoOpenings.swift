import Foundation
import Roost
import RoostFile

/// A directory with a database that is opened as often as one likes, sharing nothing, as by so many processes.
final class TwoOpenings {
    let files = TemporaryFiles()
    var path: String { files.path("a") }

    static func options(_ key: EncryptionKey? = nil) -> DatabaseOptions {
        var options = DatabaseOptions()
        options.writers = .takingTurns
        options.key = key
        return options
    }

    func open(_ options: DatabaseOptions = TwoOpenings.options()) throws -> Database {
        try Database.open(path, options: options, environment: .system)
    }

    /// As one process that alone writes.
    func openAlone() throws -> Database { try open(DatabaseOptions()) }

    /// The files beside that of the documents that stand for openings.
    func signs() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter {
            $0.hasPrefix("data.roost.turns-")
        }
    }
}

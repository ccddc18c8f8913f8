import Foundation
import Roost
import RoostIndex
import RoostStorage

/// What is to be looked into: a database, or the file of a store that an application of its own made.
enum StoreTarget {
    private static func isDirectory(_ path: String) -> Bool {
        (try? URL(fileURLWithPath: path).resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true
    }

    /// The file with the data.
    static func file(_ path: String) -> String {
        isDirectory(path) ? Database.dataFile(of: path) : path
    }

    static func inspect(
        _ path: String, key: EncryptionKey?, progress: @escaping ProgressHandler
    ) throws -> StoreInspection {
        guard !isDirectory(path), FileManager.default.fileExists(atPath: path) else {
            return try Database.inspect(path, key: key, progress: progress)
        }
        return try Store.inspect(path, progress: progress)
    }

    /// What is derived from the documents of a database; nothing where that can't be opened, or is a store.
    static func derivedStores(
        _ path: String, key: EncryptionKey?, checking: CheckOptions? = nil, progress: ProgressHandler? = nil
    ) throws -> [DerivedStore] {
        guard isDirectory(path) else { return [] }
        do {
            var options = DatabaseOptions(isReadOnly: true, createsIfMissing: false)
            options.key = key
            let database = try Database.open(path, options: options)
            defer { try? database.close() }
            return try database.derivedStores(checking: checking, progress: progress)
        } catch let error as DatabaseError where [.damaged, .notADatabase].contains(error.code) {
            return []
        }
    }

    static func dump(_ path: String, key: EncryptionKey?) throws -> FileDump {
        guard !isDirectory(path), FileManager.default.fileExists(atPath: path) else {
            return try Database.dump(path, key: key)
        }
        return try FileDump(path)
    }
}

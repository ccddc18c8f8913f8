import RoostFile
import RoostStorage

extension Database {
    /// Finds out where the bytes of the database in the directory `path` are, which need not be open. Takes no lock,
    /// writes nothing, and makes the best of damaged files.
    ///
    /// The trees of a collection are named after its number, in the order in which the collections were made:
    /// `documents/1` has the documents by ID, `changes/1` by sequence, `extras/1` local documents and expirations;
    /// `catalog` lists the collections.
    ///
    /// - Parameters:
    ///   - path: the database's directory.
    ///   - key: its key, where it is encrypted.
    ///   - inspecting: how finely to look.
    ///   - progress: called on this thread; returns `false` to stop.
    /// - Throws: `notFound`, `notADatabase`, `wrongKey`, `damaged` where nothing can be told, `inputOutput`, `cancelled`.
    public static func inspect(
        _ path: String, key: EncryptionKey? = nil, _ inspecting: InspectionOptions = InspectionOptions(),
        progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> StoreInspection {
        var opening = DatabaseOptions()
        opening.key = key
        let store = opening.store
        try DatabaseOpener.requireDocuments(at: path, Environment.system.medium)
        return try translating { () throws(StoreError) in
            try Store.inspect(
                DatabaseOpener.dataPath(path), options: store, inspecting: inspecting, progress: progress)
        }
    }

    /// As ``inspect(_:key:_:progress:)``, of this database as of its newest commit, while others read and write.
    public func inspect(
        _ inspecting: InspectionOptions = InspectionOptions(), progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> StoreInspection {
        try checkOpen()
        return try translating { () throws(StoreError) in
            try core.store.inspect(inspecting, progress: progress)
        }
    }

    /// The file that holds the documents of the database in the directory `path`.
    package static func dataFile(of path: String) -> String { DatabaseOpener.dataPath(path) }

    /// Opens the file of the database in the directory `path` to be looked at byte by byte.
    ///
    /// - Throws: `notFound`, `notADatabase`, `wrongKey`, `damaged` when both headers are lost.
    package static func dump(_ path: String, key: EncryptionKey?) throws(DatabaseError) -> FileDump {
        var opening = DatabaseOptions()
        opening.key = key
        let store = opening.store
        try DatabaseOpener.requireDocuments(at: path, Environment.system.medium)
        return try translating { () throws(StoreError) in
            try FileDump(DatabaseOpener.dataPath(path), options: store)
        }
    }
}

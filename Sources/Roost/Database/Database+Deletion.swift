import Foundation
import RoostBytes
import RoostFile
import RoostStorage

extension Database {
    /// Deletes the database in the directory `path` with all its blobs, for good. Nobody may have it open for writing; who
    /// reads goes on with what is open.
    ///
    /// Its directory gets another name first, so that a crash leaves the whole database or, under that name, a rest that
    /// nobody takes for one: `path`, `.deleted-` and 16 digits. Nothing is touched in a directory that is not a database, or
    /// that holds anything else besides.
    ///
    /// - Throws: `notFound` when there is nothing at `path`; `notADatabase`; `locked` when it is open for writing,
    ///   here or in another process; `permissionDenied`, `inputOutput`.
    public static func delete(_ path: String) throws(DatabaseError) {
        try delete(path, environment: .system)
    }

    /// Deletes the database in the directory at `url`: see ``delete(_:)-(String)``.
    public static func delete(_ url: URL) throws(DatabaseError) { try delete(url.path) }

    private static func delete(_ path: String, environment: Environment) throws(DatabaseError) {
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.last == "/" { trimmed = trimmed.dropLast() }
        let rest =
            "\(trimmed).deleted-\(UUIDText.text(UUIDText.random(environment)).filter { $0 != "-" }.prefix(16))"
        try withdraw(String(trimmed), to: rest, environment: environment)
        do {
            try FileManager.default.removeItem(atPath: rest)
        } catch {
            throw DatabaseError(
                .inputOutput,
                "The database \(path) is deleted, but its files are still in \(rest). Remove them.",
                underlyingError: error)
        }
    }

    /// The first half of deleting: gives the database's directory another name on the same file system, durably. What is
    /// there is for the caller to remove.
    ///
    /// - Throws: As ``delete(_:)-(String)``; then nothing was changed.
    package static func withdraw(
        _ path: String, to rest: String, environment: Environment = .system
    ) throws(DatabaseError) {
        let medium = environment.medium
        try checkDeletable(path, medium)
        let lock: any FileLock
        do throws(FileError) {
            lock = try medium.open(DatabaseOpener.dataPath(path), .readWrite).lock()
        } catch {
            guard case .locked = error.code else { throw DatabaseError(error) }
            throw DatabaseError(
                .locked, "The database \(path) is open for writing. Close it, and delete it then.",
                underlyingError: error)
        }
        defer { withExtendedLifetime(lock) {} }
        try WritingProcesses(path: path, environment: environment).requireNone()
        try translating { () throws(FileError) in
            try medium.rename(path, to: rest)
            try medium.syncDirectory(of: rest)
        }
    }

    /// What may stand in a database's directory besides files whose names begin with that of the documents' file.
    private static let ownNames: Set<String> = [BlobVault.directoryName, "derived", "copy"]

    private static func checkDeletable(_ path: String, _ medium: any Medium) throws(DatabaseError) {
        let (status, data) = try translating { () throws(FileError) in
            (try medium.status(of: path), try medium.status(of: DatabaseOpener.dataPath(path)))
        }
        guard let status else { throw DatabaseError(.notFound, "There is no database at \(path).") }
        guard status.kind != .link else {
            throw DatabaseError(
                .notADatabase,
                "\(path) is a link to a database elsewhere. Delete the database there, and remove the link. Nothing was deleted."
            )
        }
        guard status.kind == .directory, data?.kind == .file else {
            throw DatabaseError(.notADatabase, "\(path) is no database. Nothing was deleted.")
        }
        let buffer = ByteBuffer(capacity: 64)
        buffer.resize(to: StoreFile.magic.count)
        let (read, names) = try translating { () throws(FileError) in
            let file = try medium.open(DatabaseOpener.dataPath(path), .readOnly)
            return (unsafe try file.readFully(into: buffer.mutableBytes, at: 0), try medium.list(path))
        }
        guard read == StoreFile.magic.count, buffer.view.array == StoreFile.magic else {
            throw DatabaseError(
                .notADatabase,
                "\(DatabaseOpener.dataPath(path)) is not of Roost's format. Nothing was deleted.")
        }
        let others = names.filter { !$0.hasPrefix(DatabaseOpener.dataName) && !ownNames.contains($0) }
        guard others.isEmpty else {
            throw DatabaseError(
                .notADatabase,
                "\(path) holds something that is not the database's: \(DatabaseError.quoted(others.sorted()[0])). Move "
                    + "it elsewhere. Nothing was deleted.")
        }
    }
}

/// How the documents' file begins (FileFormat.md, section 3).
private enum StoreFile {
    static let magic = Array("Roost\n\u{1A}\0".utf8)
}

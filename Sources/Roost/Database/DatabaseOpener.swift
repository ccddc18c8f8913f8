import RoostBytes
import RoostFile
import RoostStorage
import Synchronization

/// Opens the files of a database.
///
/// A database is a directory: `data.roost`, a store, holds the documents; `blobs` beside it is for attachments, and
/// `derived` for what is made from documents.
struct DatabaseOpener {
    static let dataName = "data.roost"

    /// The file that holds the documents of the database in `directory`.
    static func dataPath(_ directory: String) -> String {
        directory.last == "/" ? directory + dataName : "\(directory)/\(dataName)"
    }

    /// Requires that something stands where the documents of the database in `directory` are.
    static func requireDocuments(at directory: String, _ medium: any Medium) throws(DatabaseError) {
        let isThere = try translating { () throws(FileError) in
            try medium.status(of: dataPath(directory)) != nil
        }
        guard isThere else { throw DatabaseError(.notFound, "There is no database at \(directory).") }
    }

    let path: String
    let options: DatabaseOptions
    let environment: Environment

    func open() throws(DatabaseError) -> DatabaseCore {
        try makeDirectory()
        try checkBlobsHaveDocuments()
        guard !options.isReadOnly else { return try open(as: nil) }
        let processes = WritingProcesses(path: path, environment: environment)
        if options.writers == .takingTurns {
            return try processes.entering { (process) throws(DatabaseError) in try open(as: process) }
        }
        // Before anything is touched, and again when nobody can begin a turn any more.
        try processes.requireNone()
        return try open(as: nil) { () throws(DatabaseError) in try processes.requireNone() }
    }

    /// - Parameters:
    ///   - process: stands for the opening where processes take turns.
    ///   - check: called when the documents are open.
    private func open(
        as process: WritingProcess?, checking check: () throws(DatabaseError) -> Void = {}
    ) throws(DatabaseError) -> DatabaseCore {
        let storeOptions = options.store
        let store = try openStore(storeOptions)
        try check()
        let catalog = try translating { () throws(StoreError) in store.snapshot().tree(Catalog.treeName) }
        if let catalog {
            return try beginHistory(of: try core(store, catalog, storeOptions.transform, process))
        }
        guard !options.isReadOnly else {
            throw store.snapshot().treeNames.isEmpty ? unfinished : notADatabase
        }
        return try core(store, try makeCatalog(in: store), storeOptions.transform, process)
    }

    /// Refuses to make an empty database around blobs, which the first compaction would remove as nobody's.
    private func checkBlobsHaveDocuments() throws(DatabaseError) {
        guard !options.isReadOnly, options.createsIfMissing else { return }
        // Blobs first: where another process makes the database just now, its documents come before its blobs.
        let areOrphans = try translating { () throws(FileError) in
            guard try environment.medium.status(of: BlobVault.path(path)) != nil else { return false }
            return try environment.medium.status(of: Self.dataPath(path)) == nil
        }
        guard areOrphans else { return }
        throw DatabaseError(
            .notADatabase,
            "\(path) has a directory of blobs, but no documents: \(Self.dataName) is missing. Restore it from a backup, "
                + "or move \(BlobVault.directoryName) away to begin a new database here.")
    }

    /// Makes the directory, where the options allow it and there is none.
    func makeDirectory() throws(DatabaseError) {
        let status = try translating { () throws(FileError) in
            try environment.medium.statusFollowingLinks(of: path)
        }
        if let status {
            guard status.kind == .directory else {
                throw DatabaseError(
                    .notADatabase, "\(path) is a file. A database is a directory; give another path.")
            }
            return try syncUnusedDirectory()
        }
        guard options.createsIfMissing, !options.isReadOnly else {
            throw DatabaseError(.notFound, "There is no database at \(path).")
        }
        // Somebody else may have made it just now.
        try translating { () throws(FileError) in try environment.medium.ensureDirectory(path) }
    }

    /// Makes the name of a directory durable that holds no documents yet: whoever made it may have ended before it was.
    private func syncUnusedDirectory() throws(DatabaseError) {
        guard !options.isReadOnly else { return }
        try translating { () throws(FileError) in
            guard try environment.medium.status(of: Self.dataPath(path)) == nil else { return }
            try environment.medium.syncDirectory(of: path)
        }
    }

    private func openStore(_ options: StoreOptions) throws(DatabaseError) -> Store {
        let file = Self.dataPath(path)
        return try translating { () throws(StoreError) in
            try Store.open(file, options: options, environment: environment)
        }
    }

    private func core(
        _ store: Store, _ catalog: Tree, _ transform: (any ChunkTransformFactory)?,
        _ process: WritingProcess?
    ) throws(DatabaseError) -> DatabaseCore {
        let bytes = try translating { () throws(StoreError) in try store.snapshot()[catalog, Catalog.database]
        }
        guard let bytes else { throw notADatabase }
        let core = DatabaseCore(
            path: path, store: store, catalog: catalog, record: try DatabaseRecord(bytes),
            vault: try BlobVault(
                path, store, catalog, environment: environment, isEncrypted: options.key != nil,
                isWritable: !options.isReadOnly, process: process),
            auxiliaryStores: AuxiliaryStores(
                path, isReadOnly: options.isReadOnly, transform: transform, environment: environment),
            environment: environment, keptRevisions: options.keptRevisions, key: options.key,
            process: process)
        if process != nil { core.followOthers() }
        return core
    }

    /// Where the database is a copy that nobody has opened for writing yet: gives its collections new epochs.
    private func beginHistory(of core: DatabaseCore) throws(DatabaseError) -> DatabaseCore {
        let mark = CopyMark(directory: path, medium: environment.medium)
        guard !options.isReadOnly, try mark.exists else { return core }
        try core.renewEpochs()
        try mark.remove()
        return core
    }

    /// The first commit: identity, catalog, and the default collection.
    private func makeCatalog(in store: Store) throws(DatabaseError) -> Tree {
        guard try translating({ () throws(StoreError) in store.snapshot() }).treeNames.isEmpty else {
            throw notADatabase
        }
        let transaction = try translating { () throws(StoreError) in try store.beginWriting() }
        let record = DatabaseRecord(environment)
        let catalog = try translating { () throws(StoreError) in
            let catalog = try transaction.tree(Catalog.treeName)
            try transaction.put(Catalog.database, record.encoded, in: catalog)
            return catalog
        }
        try transaction.makeCollection(.default, catalog: catalog, environment)
        try translating { () throws(StoreError) in _ = try transaction.commit() }
        return catalog
    }

    /// A power failure or a kill leaves this between the making of the store and that of the database in it.
    private var unfinished: DatabaseError {
        DatabaseError(
            .notFound,
            "\(path) holds no database yet: making it was begun, but is not done. Open it for writing, which ends the "
                + "work; nothing was ever saved there.")
    }

    private var notADatabase: DatabaseError {
        DatabaseError(
            .notADatabase, "\(path) holds a store, but not one of documents. Open it with RoostStorage.")
    }
}

// MARK: - Memory

extension Database {
    /// A new database in memory, with everything that one on a disk has, blobs among it: for tests, for previews of views, and
    /// for what need not outlive the process.
    ///
    /// ```swift
    /// let database = try Database.inMemory()
    /// ```
    ///
    /// It goes with its last reference, or when it is closed. To keep what is in it, back it up to a directory:
    /// ``backup(to:progress:)-(_,ProgressHandler?)``. Its ``path`` is the path of nothing.
    ///
    /// - Parameter options: As for a database on a disk; with a key, what is in memory is encrypted, too.
    /// - Throws: `limitExceeded`, for options that can't be.
    public static func inMemory(options: DatabaseOptions = DatabaseOptions()) throws(DatabaseError)
        -> Database
    {
        var options = options
        options.isReadOnly = false
        options.createsIfMissing = true
        var environment = Environment.system
        let medium = MemoryMedium(root: "memory:", over: environment.medium)
        environment.medium = medium
        let database = try open("\(medium.root)/Database.roost", options: options, environment: environment)
        database.core.expirations.start(database.core)
        return database
    }
}

// MARK: - DatabaseRegistry

/// The databases that this process has open, so that all handles of one share its store: one writer, one cache, and
/// everybody is told of every change.
///
/// Databases are told apart by the identity of their directory, whatever path leads there. Those that are open for
/// reading only are apart: they read the file without a lock, as another process would.
final class DatabaseRegistry: Sendable {
    /// The databases on the system's medium.
    static let shared = DatabaseRegistry()

    private struct Entry {
        weak var core: DatabaseCore?
    }

    private let entries = Mutex<[FileIdentity: Entry]>([:])

    /// The core of the database that `opener` opens, with a handle counted; opened only if nobody has it open for
    /// writing.
    func core(_ opener: DatabaseOpener) throws(DatabaseError) -> DatabaseCore {
        let result: Result<DatabaseCore, DatabaseError> = entries.withLock { entries in
            Result { () throws(DatabaseError) in
                entries = entries.filter { $0.value.core != nil }
                if let identity = try identity(opener), let core = entries[identity]?.core, !core.isClosed {
                    try core.check(opener.options.key)
                    if core.retainHandle() { return core }
                }
                let core = try opener.open()
                _ = core.retainHandle()
                if !opener.options.isReadOnly, let identity = try identity(opener) {
                    entries[identity] = Entry(core: core)
                    core.expirations.start(core)
                }
                return core
            }
        }
        return try result.get()
    }

    private func identity(_ opener: DatabaseOpener) throws(DatabaseError) -> FileIdentity? {
        try translating { () throws(FileError) in
            try opener.environment.medium.statusFollowingLinks(of: opener.path)?.identity
        }
    }
}

// MARK: - UUIDText

/// UUIDs (RFC 9562) as bytes and as text.
enum UUIDText {
    /// Sixteen random bytes marked as a version 4 UUID.
    static func random(_ environment: Environment) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16)
        unsafe bytes.withUnsafeMutableBytes { unsafe environment.randomness.fill($0) }
        mark(&bytes, version: 4)
        return bytes
    }

    /// A version 7 UUID: milliseconds since 1970, then randomness. IDs made one after the other stand beside each other
    /// in the tree, which makes inserting them cheap.
    static func timeOrdered(_ environment: Environment) -> String {
        var bytes = random(environment)
        let time = environment.clock.now() / 1000
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: time >> UInt64(40 - 8 * index)) }
        mark(&bytes, version: 7)
        return text(bytes)
    }

    private static func mark(_ bytes: inout [UInt8], version: UInt8) {
        bytes[6] = bytes[6] & 0x0F | version << 4
        bytes[8] = bytes[8] & 0x3F | 0x80
    }

    /// Lowercase hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        let digits = Array("0123456789abcdef".utf8)
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

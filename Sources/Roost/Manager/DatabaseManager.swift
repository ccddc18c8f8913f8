import Foundation
import RoostFile
import Synchronization

/// The databases in a directory, by name: lists, opens, makes, copies and deletes them.
///
/// ```swift
/// let manager = try DatabaseManager(directory)
/// let notes = try manager.database("notes")
/// print(try manager.names)
/// ```
///
/// A database is opened when it is first asked for, and everybody who asks gets the same ``Database``; leave closing to the manager. The
/// manager keeps up to ``maximumOpen`` open that nobody else holds, and closes those that were asked for longest ago. Names
/// are any text that makes a file's name of up to 255 bytes (`%2F` stands for a slash there). One process at a time manages a
/// directory for writing. Can be used from any thread; one call at a time opens or deletes.
public final class DatabaseManager: Sendable {
    /// The path of the directory.
    public let directory: String
    /// How many databases that nobody else holds are kept open at most.
    public let maximumOpen: Int
    private let options: DatabaseOptions
    private let files: ManagerFiles
    /// Whether databases are shared with those who open them by their paths.
    private let isShared: Bool
    /// Held while a database is opened, made or deleted.
    private let state = Mutex(State())

    private struct State {
        /// Those that are open, by the name of the file.
        var open: [String: Entry] = [:]
    }

    private struct Entry {
        var database: Database
        /// When it was asked for last, by the monotonic clock.
        var lastUse: UInt64
    }

    /// Manages the databases in a directory, which is made if it is missing. What a crash left of databases that were being
    /// made or deleted is removed.
    ///
    /// - Parameters:
    ///   - directory: Its path.
    ///   - options: How each database is opened; whether to make one is asked with each call.
    ///   - maximumOpen: How many databases that nobody else holds are kept open, at least 1.
    /// - Throws: `notFound`, `permissionDenied`, `noSpace`, `inputOutput`.
    public convenience init(
        _ directory: String, options: DatabaseOptions = DatabaseOptions(), maximumOpen: Int = 100
    ) throws(DatabaseError) {
        try self.init(
            directory, options: options, maximumOpen: maximumOpen, environment: .system, isShared: true)
    }

    /// As the public form, on a medium, clock and randomness of the caller's choice, sharing nothing.
    package convenience init(
        _ directory: String, options: DatabaseOptions = DatabaseOptions(), maximumOpen: Int = 100,
        environment: Environment
    ) throws(DatabaseError) {
        try self.init(
            directory, options: options, maximumOpen: maximumOpen, environment: environment, isShared: false)
    }

    private init(
        _ directory: String, options: DatabaseOptions, maximumOpen: Int, environment: Environment,
        isShared: Bool
    ) throws(DatabaseError) {
        self.directory = directory
        self.options = options
        self.maximumOpen = max(maximumOpen, 1)
        self.isShared = isShared
        files = ManagerFiles(directory: directory, environment: environment)
        guard !options.isReadOnly else { return }
        try files.makeDirectory()
        try files.sweep()
    }

    deinit { try? close() }

    // MARK: Finding

    /// The names of all databases, in byte order.
    public var names: [String] {
        get throws(DatabaseError) {
            var names: [String] = []
            for text in try files.list() {
                if let name = DatabaseFileName.name(of: text), try files.contains(text) { names.append(name) }
            }
            return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    /// Whether there is a database of that name.
    public func contains(_ name: String) throws(DatabaseError) -> Bool {
        try files.contains(try DatabaseFileName.text(for: name))
    }

    /// The database of that name, open.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - createsIfMissing: Whether to make it if there is none.
    /// - Throws: `notFound` when there is none and none is to be made; `invalidName`, `locked`, `wrongKey`, `damaged`.
    public func database(_ name: String, createsIfMissing: Bool = true) throws(DatabaseError) -> Database {
        let fileName = try DatabaseFileName.text(for: name)
        return try withState { (state) throws(DatabaseError) in
            if let database = state.open[fileName]?.database, database.isOpen {
                return keep(database, fileName, &state)
            }
            if try !files.contains(fileName) {
                guard createsIfMissing, !options.isReadOnly else { throw Self.missing(name) }
                try make(fileName)
            }
            return keep(try open(files.path(fileName)), fileName, &state)
        }
    }

    // MARK: Making and deleting

    /// Makes an empty database. A crash leaves it whole or not at all.
    ///
    /// - Throws: `alreadyExists`, `invalidName`, `readOnly`, `noSpace`, `inputOutput`.
    @discardableResult
    public func create(_ name: String) throws(DatabaseError) -> Database {
        let fileName = try DatabaseFileName.text(for: name)
        try checkWritable()
        return try withState { (state) throws(DatabaseError) in
            try checkFree(fileName, name)
            try make(fileName)
            return keep(try open(files.path(fileName)), fileName, &state)
        }
    }

    /// Deletes a database with all that belongs to it, at once and for good: after a crash it is gone or as it was. Whoever has
    /// it from this manager finds it closed.
    ///
    /// - Throws: `notFound`; `locked` when somebody has opened it without this manager; `readOnly`, `inputOutput`.
    public func delete(_ name: String) throws(DatabaseError) {
        let fileName = try DatabaseFileName.text(for: name)
        try checkWritable()
        try withState { (state) throws(DatabaseError) in
            guard try files.contains(fileName) else { throw Self.missing(name) }
            try state.open.removeValue(forKey: fileName)?.database.close()
            try files.delete(fileName)
        }
    }

    /// Copies a database as of now, blobs and all, while others read and write it. The copy has an identity of its own
    /// (``Database/publicUUID``). A crash leaves it whole or not at all.
    ///
    /// - Parameters:
    ///   - name: What to copy.
    ///   - newName: The copy's name.
    /// - Throws: `notFound`, `alreadyExists`, `invalidName`, `readOnly`, `noSpace`, `inputOutput`.
    public func copy(_ name: String, to newName: String) throws(DatabaseError) {
        let fileName = try DatabaseFileName.text(for: newName)
        try checkWritable()
        try checkFree(fileName, newName)
        let source = try database(name, createsIfMissing: false)
        try removingOnFailure { (path) throws(DatabaseError) in
            try source.backup(to: path)
            let copy = try open(path)
            try copy.renewIdentity()
            try copy.close()
            try withState { (_) throws(DatabaseError) in
                try checkFree(fileName, newName)
                try files.install(path, as: fileName)
            }
        }
    }

    // MARK: Closing

    /// Closes the databases that nobody has asked for within the last `duration` and that nobody holds. They are opened
    /// again when they are asked for.
    public func closeUnused(for duration: Duration = .zero) {
        let microseconds = UInt64(max(0, min(duration / .microseconds(1), 1e18)))
        let now = files.environment.clock.monotonic()
        state.withLock { state in
            for (fileName, lastUse) in state.open.mapValues(\.lastUse)
            where now - min(lastUse, now) >= microseconds {
                closeIfUnused(fileName, &state)
            }
        }
    }

    /// Closes all databases that this manager has opened, for whoever holds them too.
    public func close() throws(DatabaseError) {
        let databases = state.withLock { state in
            defer { state.open.removeAll() }
            return state.open.values.map(\.database)
        }
        for database in databases { try database.close() }
    }

    // MARK: Within

    /// Makes a database under another name and renames it.
    private func make(_ fileName: String) throws(DatabaseError) {
        try removingOnFailure { (path) throws(DatabaseError) in
            try open(path).close()
            try files.install(path, as: fileName)
        }
    }

    /// Runs `body` with a path for what is to become a database, and removes that when it fails.
    private func removingOnFailure(_ body: (_ path: String) throws(DatabaseError) -> Void)
        throws(DatabaseError)
    {
        let path = files.unfinishedPath()
        do throws(DatabaseError) {
            try body(path)
        } catch {
            try? files.removeTree(path)
            throw error
        }
    }

    private func open(_ path: String) throws(DatabaseError) -> Database {
        isShared
            ? try Database.open(path, options: options)
            : try Database.open(path, options: options, environment: files.environment)
    }

    /// Notes that a database was asked for, and closes some that nobody holds beyond the bound.
    private func keep(_ database: Database, _ fileName: String, _ state: inout State) -> Database {
        state.open[fileName] = Entry(database: database, lastUse: files.environment.clock.monotonic())
        guard state.open.count > maximumOpen else { return database }
        let oldestFirst = state.open.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
        for name in oldestFirst where state.open.count > maximumOpen && name != fileName {
            closeIfUnused(name, &state)
        }
        return database
    }

    /// Closes a database unless somebody besides this manager holds it. Nobody can come to hold it meanwhile.
    private func closeIfUnused(_ fileName: String, _ state: inout State) {
        guard var entry = state.open.removeValue(forKey: fileName) else { return }
        guard isKnownUniquelyReferenced(&entry.database) else {
            state.open[fileName] = entry
            return
        }
        try? entry.database.close()
    }

    private func withState<R: Sendable>(
        _ body: (inout State) throws(DatabaseError) -> R
    ) throws(DatabaseError) -> R {
        try state.withLock { (state) throws(DatabaseError) in try body(&state) }
    }

    private func checkFree(_ fileName: String, _ name: String) throws(DatabaseError) {
        guard try files.contains(fileName) else { return }
        throw DatabaseError(
            .alreadyExists,
            "There is a database \(DatabaseError.quoted(name)) already. Choose another name, or delete it.")
    }

    private func checkWritable() throws(DatabaseError) {
        guard options.isReadOnly else { return }
        throw DatabaseError(
            .readOnly,
            "The databases in \(directory) are managed for reading only. Open a manager for writing.")
    }

    private static func missing(_ name: String) -> DatabaseError {
        DatabaseError(.notFound, "There is no database \(DatabaseError.quoted(name)).")
    }
}

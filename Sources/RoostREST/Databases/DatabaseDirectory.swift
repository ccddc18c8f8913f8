import Dispatch
import Foundation
import Roost
import RoostCrypto
import RoostWire
import Synchronization

/// Named databases in a directory: opened when they are first asked for, and closed when others have been used since and
/// too many are open.
///
/// Each is a directory of its own, `NAME.roost`, its name percent-encoded. It may be used from any thread.
///
/// Where other processes write the databases, too (``Options/database``, `writers`), a database is returned with what they
/// have committed, and listeners of an open one are notified of their changes within half a second.
public final class DatabaseDirectory: Sendable {
    /// How the databases are opened, and how many at a time.
    public struct Options: Sendable {
        /// How each database is opened.
        public var database = DatabaseOptions()
        /// How many databases are kept open that are not in use. Default: 64.
        public var openDatabases = 64

        /// The usual ones; a cache of 32 MiB for each database, and the bodies of ten earlier revisions of each document, which
        /// clients of CouchDB expect to find until the database is compacted.
        public init() {
            database.cacheSize = 32 << 20
            database.keptRevisions = 10
        }
    }

    private struct Entry {
        weak var database: Database?
        /// Keeps it open while it was used lately.
        var kept: Database?
        var lastUse: UInt64
        /// When it was looked last whether its files are still there.
        var lastLook = ContinuousClock.now
        /// Notes changes of it for `_db_updates`, where these are wanted.
        var watch: UpdateWatch?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var clock: UInt64 = 0
        var isClosed = false
    }

    private static let fileExtension = ".roost"
    private static let deletedPrefix = ".deleted-"

    /// Where the databases are.
    public let directory: String
    /// A random name of these databases as a whole. Never changes.
    public let uuid: String
    /// A secret by which the sessions of users are known again after a restart; 32 bytes.
    let sessionSecret: [UInt8]
    private let options: Options
    /// Keeps other servers out.
    private let lock: DirectoryLock?
    private let state = Mutex(State())
    /// What happened to the databases.
    let updates = DatabaseUpdates()
    /// Distinguishes the sequences of ``updates`` from those of another run.
    let updatesEpoch = RandomText.hexadecimal(bytes: 8)
    /// Takes in what other processes commit.
    private let followers = DispatchQueue(label: "roost.followers")

    /// The databases in `directory`, which is created if there is none.
    ///
    /// One process serves a directory at a time, unless the databases are opened to be written by turns.
    ///
    /// - Throws: `locked` when another process serves the directory; `notADatabase` when `directory` is a file; `permissionDenied`,
    ///   `inputOutput`.
    public init(_ directory: String, options: Options = Options()) throws(DatabaseError) {
        self.directory = directory
        self.options = options
        let files = FileManager.default
        try Self.prepare(directory)
        lock = try DirectoryLock.take(directory, isShared: options.database.writers == .takingTurns)
        // What a crash left of deletions.
        for name in try Self.list(directory) where name.begins(with: Self.deletedPrefix) {
            try? files.removeItem(atPath: "\(directory)/\(name)")
        }
        uuid = try Self.secret("\(directory)/server-uuid")
        sessionSecret = Array(try Self.secret("\(directory)/session-secret").utf8)
        if isShared { followOthers() }
    }

    /// Whether other processes may write the databases, too.
    private var isShared: Bool { options.database.writers == .takingTurns }

    private static func prepare(_ directory: String) throws(DatabaseError) {
        var isDirectory: ObjCBool = false
        if unsafe FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory) {
            guard isDirectory.boolValue else {
                throw DatabaseError(
                    .notADatabase,
                    "\(directory) is a file. Give the directory that holds the databases, or is to hold them."
                )
            }
            return
        }
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw DatabaseError(error, "The directory \(directory) can't be created")
        }
    }

    private static func list(_ directory: String) throws(DatabaseError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw DatabaseError(error, "The directory \(directory) can't be read")
        }
    }

    /// Other processes do not notify this one of their commits, so it polls for them.
    private func followOthers() {
        followers.asyncAfter(deadline: .now() + .milliseconds(500)) { [weak self] in
            guard let self else { return }
            // A failure shows at the next use.
            for (_, database) in openDatabases { _ = try? database.refresh() }
            followOthers()
        }
    }

    /// The text of ``SecretFile``. On a medium that can only be read it is another one in each process, where there is no file.
    private static func secret(_ path: String) throws(DatabaseError) -> String {
        do {
            return try SecretFile.text(path)
        } catch {
            let error = DatabaseError(error, "\(path) can't be read or written")
            let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
            guard !FileManager.default.fileExists(atPath: path),
                !FileManager.default.isWritableFile(atPath: directory)
            else { throw error }
            return RandomText.hexadecimal(bytes: 16)
        }
    }

    /// The names of the databases, in the order of their bytes. Collections are not listed.
    ///
    /// - Throws: `inputOutput`, `permissionDenied`.
    public func names() throws(DatabaseError) -> [String] {
        try Self.list(directory)
            .filter { $0.hasSuffix(Self.fileExtension) }
            .compactMap { PercentEncoding.decode($0.dropLast(Self.fileExtension.count)) }
            .filter { (try? DatabaseName($0))?.collection == nil }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The database of that name; `nil` when there is none.
    ///
    /// - Throws: `DatabaseError`, or an error for a name that can be none.
    public func database(_ name: String) throws -> Database? {
        try open(try DatabaseName(name), creating: false)
    }

    /// The database of that name, made if there is none.
    ///
    /// - Throws: `DatabaseError`, or an error for a name that can be none.
    @discardableResult
    public func create(_ name: String) throws -> Database {
        let name = try DatabaseName(name)
        closeRemoved(name)
        guard let database = try open(name, creating: true) else { throw HTTPFailure.noDatabase }
        return database
    }

    /// Deletes a database with all that is in it. Calls that use it fail with `closed`.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `DatabaseError`, as `Database.delete(_:)`: `locked` when another process has it open, `notADatabase` where something
    ///   else is in its directory, or the directory is elsewhere and only linked to.
    @discardableResult
    public func delete(_ name: String) throws -> Bool {
        let name = try DatabaseName(name)
        let grave = "\(directory)/\(Self.deletedPrefix)\(RandomText.hexadecimal(bytes: 8))"
        let wasThere = try state.withLock { state in
            guard FileManager.default.fileExists(atPath: path(name)) else { return false }
            try state.entries.removeValue(forKey: name.base)?.database?.close()
            try Database.withdraw(path(name), to: grave)
            return true
        }
        if wasThere, name.collection == nil { updates.note(.deleted, name.base) }
        // From here on it is gone, also after a crash.
        guard wasThere else { return false }
        do {
            try FileManager.default.removeItem(atPath: grave)
        } catch {
            throw DatabaseError(error, "The database is deleted, but its files are still in \(grave)")
        }
        return true
    }

    /// Closes the databases that are not in use.
    public func closeUnused() {
        state.withLock { state in state.entries.removeAll() }
    }

    /// Closes all databases, for whoever is using them too, and opens none any more: at the end of a server, after
    /// `HTTPServer.stop()`. Each notes in its file that it was closed. A second time it does nothing.
    ///
    /// - Throws: The first error of a database, after all were closed.
    public func close() throws(DatabaseError) {
        let databases = state.withLock { state in
            state.isClosed = true
            defer { state.entries.removeAll() }
            return state.entries.values.compactMap(\.database)
        }
        var failure: DatabaseError?
        for database in databases {
            do throws(DatabaseError) { try database.close() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// How many databases are open now.
    var openCount: Int { openDatabases.count }

    /// The databases that are open now, by the order of their names.
    var openDatabases: [(name: String, database: Database)] {
        state.withLock { state in
            state.entries.compactMap { name, entry in entry.database.map { (name, $0) } }
        }.sorted { $0.0 < $1.0 }
    }

    /// How much room there has to be for writes, in bytes.
    private static let leastRoom: UInt64 = 16 << 20

    /// Why databases can't be read or written now, as a word and a sentence; `nil` while they can.
    ///
    /// A directory that may only be read is in order. What is in open databases is not read: O(open databases).
    func trouble() -> (word: String, reason: String)? {
        if state.withLock({ $0.isClosed }) { return ("closed", "The server is ending.") }
        var facts = statvfs()
        guard unsafe statvfs(directory, &facts) == 0 else {
            return ("unreadable", "The directory of the databases can't be read.")
        }
        let room = UInt64(facts.f_bavail) * UInt64(facts.f_frsize)
        if room < Self.leastRoom {
            return ("disk_full", "There is no room for writes: \(room >> 10) KiB are left.")
        }
        for (name, database) in openDatabases where database.store.writeFailure != nil {
            return (
                "write_failed", "The database \(name) takes no writes until the server has started again."
            )
        }
        return nil
    }

    /// Closes a database whose directory was removed from under it: it takes no writes any more.
    func closeRemoved(_ name: DatabaseName) {
        guard !FileManager.default.fileExists(atPath: path(name)) else { return }
        let removed = state.withLock { $0.entries.removeValue(forKey: name.base)?.database }
        try? removed?.close()
    }

    /// Whether a second has passed since it was looked last whether an open database's files are still there.
    private func looksAgain(_ name: DatabaseName) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            guard let last = state.entries[name.base]?.lastLook, last.duration(to: now) > .seconds(1) else {
                return false
            }
            state.entries[name.base]?.lastLook = now
            return true
        }
    }

    func open(_ name: DatabaseName, creating: Bool) throws -> Database? {
        // Those that are made when they are asked for are asked for with every request.
        if creating, looksAgain(name) { closeRemoved(name) }
        let database: Database? = try state.withLock { state in
            guard !state.isClosed else {
                throw DatabaseError(
                    .closed, "The databases of \(directory) were closed: the server has ended.")
            }
            state.clock += 1
            if let database = state.entries[name.base]?.database {
                state.entries[name.base]?.kept = database
                state.entries[name.base]?.lastUse = state.clock
                return database
            }
            let isThere = FileManager.default.fileExists(atPath: path(name))
            guard creating || isThere else { return nil }
            let database = try open(path(name))
            state.entries[name.base] = Entry(
                database: database, kept: database, lastUse: state.clock,
                watch: updates.isActive ? UpdateWatch(name.base, database, updates) : nil)
            if !isThere { updates.note(.created, name.base) }
            letGo(&state)
            return database
        }
        if isShared { try database?.refresh() }
        return database
    }

    /// Begins to note what happens to the databases. Doing it twice does nothing.
    ///
    /// - Throws: An error of the file system.
    func beginUpdates() throws {
        guard !updates.isActive, updates.activate(try names()) else { return }
        state.withLock { state in
            for (name, entry) in state.entries {
                guard let database = entry.database, entry.watch == nil else { continue }
                state.entries[name]?.watch = UpdateWatch(name, database, updates)
            }
        }
    }

    /// Opens a database, for reading only where the medium or its permissions allow no more.
    private func open(_ path: String) throws(DatabaseError) -> Database {
        do {
            return try Database.open(path, options: options.database)
        } catch {
            let refusal = error
            guard refusal.code == .permissionDenied else { throw refusal }
            var readOnly = options.database
            (readOnly.isReadOnly, readOnly.createsIfMissing) = (true, false)
            do {
                return try Database.open(path, options: readOnly)
            } catch {
                throw error.code == .notFound ? refusal : error
            }
        }
    }

    /// Stops keeping the database that was not used for longest. It closes unless it is in use.
    private func letGo(_ state: inout State) {
        let kept = state.entries.filter { $0.value.kept != nil }
        if kept.count > options.openDatabases,
            let oldest = kept.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            state.entries[oldest.key]?.kept = nil
        }
        state.entries = state.entries.filter { $0.value.database != nil }
    }

    private func path(_ name: DatabaseName) -> String {
        "\(directory)/\(PercentEncoding.encode(name.base))\(Self.fileExtension)"
    }
}

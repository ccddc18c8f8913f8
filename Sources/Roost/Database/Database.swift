import Foundation
import RoostFile
import RoostStorage
import Synchronization

/// A database of JSON documents in a directory of its own.
///
/// ```swift
/// let db = try Database.open("Notes.roost")
/// let notes = try db.collection("notes")
/// try notes.save(Note(title: "Swifts nest in gables"), id: "n1")
/// ```
///
/// A database may be used from any thread and any task. Readers never wait; writers wait for each other. It closes when
/// the last reference goes, or by ``close()``. Handles of the same database within a process share everything; another
/// process can open it for reading only, or write it by turns with this one (``DatabaseOptions/writers``).
public final class Database: Sendable {
    let core: DatabaseCore
    /// Whether this handle was opened for reading only.
    public let isReadOnly: Bool
    private let isClosed = Atomic<Bool>(false)

    /// A handle that `core` has counted already.
    private init(_ core: DatabaseCore, isReadOnly: Bool) {
        self.core = core
        self.isReadOnly = isReadOnly
    }

    deinit { try? close() }

    /// Opens the database in the directory `path`, making it if there is none (see ``DatabaseOptions``).
    ///
    /// Opening takes the same time whatever the size. A crash before leaves nothing to repair.
    ///
    /// - Throws: `locked` when another process has it open for writing, `notFound`, `notADatabase`,
    ///   `unsupportedFormat`, `damaged`, `wrongKey`.
    public static func open(
        _ path: String, options: DatabaseOptions = DatabaseOptions()
    ) throws(DatabaseError) -> Database {
        let opener = DatabaseOpener(path: path, options: options, environment: .system)
        return Database(try DatabaseRegistry.shared.core(opener), isReadOnly: options.isReadOnly)
    }

    /// Opens the database in the directory at `url`: see ``open(_:options:)-(String,_)``.
    public static func open(
        _ url: URL, options: DatabaseOptions = DatabaseOptions()
    ) throws(DatabaseError) -> Database {
        try open(url.path, options: options)
    }

    /// As ``open(_:options:)-(String,_)``, on a medium, clock and randomness of the caller's choice, sharing nothing.
    package static func open(
        _ path: String, options: DatabaseOptions = DatabaseOptions(), environment: Environment
    ) throws(DatabaseError) -> Database {
        let core = try DatabaseOpener(path: path, options: options, environment: environment).open()
        _ = core.retainHandle()
        return Database(core, isReadOnly: options.isReadOnly)
    }

    /// Ends the use of this handle; the last one to close ends the database's. Snapshots stay readable. Closing twice
    /// does nothing.
    ///
    /// What was saved needs no closing to be safe.
    public func close() throws(DatabaseError) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        core.notifier.wakeAll()
        try core.releaseHandle()
    }

    /// Whether this handle has not been closed.
    var isOpen: Bool { !isClosed.load(ordering: .relaxed) }

    func checkOpen() throws(DatabaseError) {
        guard isOpen else {
            throw DatabaseError(.closed, "The database \(path) was closed. Open it again.")
        }
    }

    func checkWritable() throws(DatabaseError) {
        try checkOpen()
        guard !isReadOnly else {
            throw DatabaseError(
                .readOnly, "The database \(path) was opened for reading only. Open it for writing.")
        }
    }

    /// The directory's path, as it was given to the first handle.
    public var path: String { core.path }

    /// A random name of the database that its owner keeps to itself. Never changes.
    public var privateUUID: UUID { UUID(core.record.privateUUID) }

    /// A random name by which other databases know this one. Never changes.
    public var publicUUID: UUID { UUID(core.record.publicUUID) }

    /// When the database was made, to the microsecond. Never changes.
    public var creationDate: Date { Date(microsecondsSince1970: core.record.created) }

    /// The engine below.
    package var store: Store { core.store }

    /// The time by the database's clock, in microseconds since 1970.
    package var now: UInt64 { core.environment.clock.now() }
}

extension UUID {
    /// Takes the first 16 of `bytes`, of which there are so many.
    fileprivate init(_ bytes: [UInt8]) {
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &uuid) { unsafe $0.copyBytes(from: bytes.prefix(16)) }
        self.init(uuid: uuid)
    }
}

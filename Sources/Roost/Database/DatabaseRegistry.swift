import RoostFile
import Synchronization

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

/// A file system as Roost sees it: the one door through which the engine reaches files.
///
/// Two implementations matter: POSIX files, and the simulated disk that loses, tears and fails calls on purpose.
/// Each requirement has the meaning, and the lack of promises, of the POSIX call it is named after: a name
/// change is durable only after ``syncDirectory(of:)``, file contents only after ``File/sync()``.
package protocol Medium: Sendable {
    /// Opens the file at `path`.
    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File
    /// Atomically gives the file at `source` the name `destination`, replacing what was there.
    func rename(_ source: String, to destination: String) throws(FileError)
    /// Removes the name `path`; handles that are open keep working.
    func remove(_ path: String) throws(FileError)
    /// Makes creations, renames and removals in the directory that holds `path` durable.
    func syncDirectory(of path: String) throws(FileError)
    func createDirectory(_ path: String) throws(FileError)
    /// Names (not paths) in the directory `path`, in no particular order.
    func list(_ path: String) throws(FileError) -> [String]
    /// Size and identity of the file `path` names now, `nil` when there is none.
    func status(of path: String) throws(FileError) -> FileStatus?
    /// Takes the advisory lock file at `path` (created if missing) without waiting, and writes `holder` into it.
    ///
    /// - Throws: ``FileError/Code/locked(holder:)`` when another handle, in this process or another, has it.
    func lock(_ path: String, holder: String) throws(FileError) -> any FileLock
}

/// How ``Medium/open(_:_:)`` opens a file.
package enum OpenMode: Sendable {
    case readOnly
    case readWrite
    /// Creates a file for reading and writing; ``FileError/Code/alreadyExists`` when the name is taken.
    case createNew
}

/// What the medium knows of a name.
package struct FileStatus: Equatable, Sendable {
    package var size: UInt64
    /// Differs between two files that exist at the same time, and survives renaming (device and inode).
    package var identity: FileIdentity
    package var isDirectory: Bool

    package init(size: UInt64, identity: FileIdentity, isDirectory: Bool) {
        self.size = size
        self.identity = identity
        self.isDirectory = isDirectory
    }
}

/// The identity of a file apart from its name.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// A held advisory lock; released when the last reference goes.
package protocol FileLock: AnyObject, Sendable {}

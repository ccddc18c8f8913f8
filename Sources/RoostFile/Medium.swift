/// A file system as Roost sees it: the one door through which the engine reaches files.
///
/// Three implementations matter: POSIX files, the simulated disk that loses, tears and fails calls on purpose, and memory for
/// what need not outlive the process.
/// Each requirement has the meaning, and the lack of promises, of the POSIX call it is named after: a name
/// change is durable only after ``syncDirectory(of:)``, file contents only after ``File/sync()``.
///
/// The last component of a path is never followed where it is a symbolic link: whoever can put one beside a database
/// must not choose which file is written. Nothing but regular files is opened, so that no call waits for a pipe.
package protocol Medium: Sendable {
    /// Opens the file at `path`.
    ///
    /// - Throws: ``FileError/Code/notAFile(_:)`` for whatever has the name and is no regular file.
    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File
    /// Atomically gives the file at `source` the name `destination`, replacing what was there.
    func rename(_ source: String, to destination: String) throws(FileError)
    /// Removes the name `path` of a file or an empty directory; handles that are open keep working. A link goes, what
    /// it leads to stays.
    func remove(_ path: String) throws(FileError)
    /// Makes creations, renames and removals in the directory that holds `path` durable.
    func syncDirectory(of path: String) throws(FileError)
    /// - Parameter access: who may do what with it; `nil` for what the process's umask leaves.
    func createDirectory(_ path: String, _ access: FileAccess?) throws(FileError)
    /// Names (not paths) in the directory `path`, in no particular order.
    func list(_ path: String) throws(FileError) -> [String]
    /// What `path` names now, `nil` when there is nothing.
    func status(of path: String) throws(FileError) -> FileStatus?
    /// As ``status(of:)``, of what a link at `path` leads to: for directories that a user names.
    func statusFollowingLinks(of path: String) throws(FileError) -> FileStatus?
}

extension Medium {
    package func createDirectory(_ path: String) throws(FileError) { try createDirectory(path, nil) }

    /// Makes the directory `path` where there is none, durably: also one that was there gets its name synced, as whoever
    /// made it may have ended before that.
    ///
    /// - Parameter access: who may do what with it; `nil` for what the process's umask leaves.
    package func ensureDirectory(_ path: String, _ access: FileAccess? = nil) throws(FileError) {
        var isNew = true
        do throws(FileError) {
            try createDirectory(path, access)
        } catch {
            guard error.code == .alreadyExists else { throw error }
            isNew = false
        }
        try syncName(path, isNew: isNew)
    }

    /// Makes the name `path` durable. Where that fails a new one is taken away again: another sync would not tell of a name that
    /// this one has lost.
    package func syncName(_ path: String, isNew: Bool) throws(FileError) {
        do throws(FileError) {
            try syncDirectory(of: path)
        } catch {
            if isNew { try? remove(path) }
            throw error
        }
    }
}

/// How ``Medium/open(_:_:)`` opens a file.
package enum OpenMode: Sendable {
    case readOnly
    case readWrite
    /// Creates a file for reading and writing; ``FileError/Code/alreadyExists`` when the name is taken.
    case createNew
    /// As ``createNew``, but nobody may do more with it from the beginning than `access` says; where the system allows
    /// it the owner is the same too.
    case createWith(FileAccess)
}

/// What the medium knows of a name.
package struct FileStatus: Equatable, Sendable {
    package var size: UInt64
    /// Differs between two files that exist at the same time, and survives renaming (device and inode).
    package var identity: FileIdentity
    package var kind: FileKind
    package var access: FileAccess

    package init(size: UInt64, identity: FileIdentity, kind: FileKind, access: FileAccess) {
        self.size = size
        self.identity = identity
        self.kind = kind
        self.access = access
    }
}

/// What a name in a file system can stand for.
package enum FileKind: Equatable, Sendable, CustomStringConvertible {
    /// A regular file.
    case file
    case directory
    /// A symbolic link.
    case link
    /// A pipe, a socket or a device.
    case special

    /// The kind as part of a sentence.
    package var description: String {
        switch self {
        case .file: "a file"
        case .directory: "a directory"
        case .link: "a symbolic link"
        case .special: "a pipe, a socket or a device"
        }
    }
}

/// Who may do what with a file: its permissions and its owner.
package struct FileAccess: Equatable, Sendable {
    /// The nine bits of POSIX permissions.
    package var permissions: UInt16
    /// The numbers of the user and of the group that own it.
    package var owner, group: UInt32

    package init(permissions: UInt16, owner: UInt32, group: UInt32) {
        self.permissions = permissions & 0o777
        self.owner = owner
        self.group = group
    }

    /// The same for a directory: whoever may read may also enter.
    package var ofDirectory: FileAccess {
        FileAccess(permissions: permissions | (permissions & 0o444) >> 2, owner: owner, group: group)
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

/// A held advisory lock of an open file; released when the last reference goes, or before.
package protocol FileLock: AnyObject, Sendable {
    /// Gives the lock back. A second time it does nothing.
    func release()
}

// MARK: - Environment

/// Everything nondeterministic that the engine touches: medium, clock and randomness, handed in as one value.
///
/// Programs use ``Environment/system``; the simulation hands in its own, so that one seed decides everything.
package struct Environment: Sendable {
    package var medium: any Medium
    package var clock: any WallClock
    package var randomness: any Randomness

    package init(medium: any Medium, clock: any WallClock, randomness: any Randomness) {
        self.medium = medium
        self.clock = clock
        self.randomness = randomness
    }
}

/// Tells the time. It may jump in both directions; the engine never orders anything by it.
package protocol WallClock: Sendable {
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    func now() -> UInt64
    /// A clock that never goes back, in microseconds since an arbitrary start; for measuring durations only.
    func monotonic() -> UInt64
}

/// A source of random bytes fit for keys and salts.
package protocol Randomness: Sendable {
    func fill(_ buffer: UnsafeMutableRawBufferPointer)
}

// MARK: - PathParts

/// The path of the directory that holds the last component of `path`: "." for a bare name, "/" at the root.
package func directoryPart(of path: String) -> String {
    let trimmed = withoutTrailingSlashes(path[...])
    guard let slash = trimmed.lastIndex(of: "/") else { return trimmed.isEmpty && !path.isEmpty ? "/" : "." }
    let directory = withoutTrailingSlashes(trimmed[..<slash])
    return directory.isEmpty ? "/" : String(directory)
}

private func withoutTrailingSlashes(_ path: Substring) -> Substring {
    var path = path
    while path.last == "/" { path.removeLast() }
    return path
}

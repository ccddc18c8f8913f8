import Foundation
import Roost
import Synchronization

/// A process's hold of a directory of databases, which keeps a second server from serving it.
///
/// Servers that take turns at writing share the directory with each other; any other has it alone. The hold is the lock of a file
/// in the directory, so that it ends with the process, however that ends. All ``DatabaseDirectory`` values of one process share it.
final class DirectoryLock: Sendable {
    private struct Weak {
        weak var lock: DirectoryLock?
    }

    private static let fileName = "server-lock"
    /// The holds of this process by path.
    private static let held = Mutex<[ByteKey: Weak]>([:])

    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Takes the directory, or shares this process's hold of it; `nil` where no file can be made in it, and nothing be written.
    ///
    /// - Throws: `locked` when another process serves it.
    static func take(_ directory: String, isShared: Bool) throws(DatabaseError) -> DirectoryLock? {
        let path = ByteKey(URL(fileURLWithPath: directory).resolvingSymlinksInPath().path)
        return try held.withLock { (held) throws(DatabaseError) in
            if let lock = held[path]?.lock { return lock }
            held = held.filter { $0.value.lock != nil }
            let lock = try open(directory, isShared: isShared)
            held[path] = Weak(lock: lock)
            return lock
        }
    }

    private static func open(_ directory: String, isShared: Bool) throws(DatabaseError) -> DirectoryLock? {
        let path = "\(directory)/\(fileName)"
        let descriptor = unsafe Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            guard [EROFS, EACCES, EPERM].contains(errno) else {
                throw DatabaseError(
                    .inputOutput, "\(path) can't be opened: \(unsafe String(cString: strerror(errno))).")
            }
            return nil
        }
        let lock = DirectoryLock(descriptor)
        guard flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else {
                // A file system without locks.
                return lock
            }
            throw DatabaseError(
                .locked,
                "Another process serves the databases in \(directory). Stop it first, or let both servers take turns "
                    + "(--take-turns).")
        }
        return lock
    }
}

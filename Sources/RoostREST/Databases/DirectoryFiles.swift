import Foundation
import Roost
import RoostCrypto
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

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

/// A random text of 32 characters that is made once and kept, in a file that only its owner can read.
enum SecretFile {
    private static let length = 32

    /// The text of a file; made where there is none.
    ///
    /// The file comes into being with all of its content, durably: at no time, and after no crash, is there a part of it, and of several
    /// processes that make it at the same time all read that of the first.
    ///
    /// - Throws: An error of the file system, also where the file is there and can't be read.
    static func text(_ path: String) throws -> String {
        if let text = try read(path) { return text }
        let text = RandomText.hexadecimal(bytes: length / 2)
        let temporary = "\(path).\(RandomText.hexadecimal(bytes: 8))"
        defer { unsafe unlink(temporary) }
        try write(text, to: temporary)
        if unsafe link(temporary, path) != 0 {
            guard errno == EEXIST else { throw failure(path) }
            if let text = try read(path) { return text }
            // What an earlier build left of a file when it was killed.
            guard unsafe rename(temporary, path) == 0 else { throw failure(path) }
        }
        try synchronize(URL(fileURLWithPath: path).deletingLastPathComponent().path)
        return text
    }

    /// The file's text; `nil` where there is none, or one of another length.
    private static func read(_ path: String) throws -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(path)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let data = try handle.read(upToCount: length + 1) ?? Data()
        return data.count == length ? String(decoding: data, as: UTF8.self) : nil
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: Data(text.utf8))
        guard fsync(descriptor) == 0 else { throw failure(path) }
    }

    private static func synchronize(_ directory: String) throws {
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(directory) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(directory) }
    }

    private static func failure(_ path: String) -> any Error {
        let code = POSIXErrorCode(rawValue: errno) ?? .EIO
        return NSError(
            domain: NSPOSIXErrorDomain, code: Int(code.rawValue), userInfo: [NSFilePathErrorKey: path])
    }
}

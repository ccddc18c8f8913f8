/// Why a call to the storage medium failed.
///
/// Layers above turn it into their own public error; the sentence there names the file and says what to do.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failure that callers tell apart.
    package enum Code: Equatable, Sendable {
        case notFound
        case alreadyExists
        case noSpace
        case inputOutput
        /// The call was interrupted before it did anything; it may be made again. See ``File/readFully(into:at:)``.
        case interrupted
        case permissionDenied
        /// The lock is held by another handle. `holder` names its process where the system tells.
        case locked(holder: String)
        /// The file was opened by the process that this one was forked from, which goes on writing it.
        case inherited
        /// The process's limit on memory leaves no room.
        case noMemory
        /// What has the name is no regular file, or no directory where one is needed.
        case notAFile(FileKind)
        case other
    }

    package var code: Code
    /// The operation that failed, as a verb: "write", "sync", "rename".
    package var operation: String
    package var path: String
    /// The system's error number, 0 where there was none.
    package var errno: Int32

    package init(_ code: Code, operation: String, path: String, errno: Int32 = 0) {
        self.code = code
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// The failure as a sentence that says what to do about it.
    package var description: String {
        let place = "\(path): could not \(operation)"
        return switch code {
        case .notFound: "\(path) does not exist."
        case .alreadyExists: "\(path) exists already."
        case .noSpace: "\(place): the disk is full. Free some space and try again."
        case .inputOutput: "\(place): the medium reports an error (\(errno))."
        case .permissionDenied: "\(place): permission denied."
        case .locked(let holder):
            "\(path) is being written by \(holder). Open it read-only, or close it there."
        case .inherited:
            "\(path) was opened by the process that this one was forked from. Open it again in this process."
        case .noMemory:
            "\(place): the process's limit on memory leaves no room. Raise the limit, or close what is not needed."
        case .notAFile(let kind):
            "\(path) is \(kind). A database's files are regular files, and no link is followed: give the path of the file itself."
        case .interrupted, .other: "\(place): system error \(errno)."
        }
    }
}

// MARK: - Errno

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension FileError {
    /// The error of a system call that set `errno` to `number`.
    package init(errno number: Int32, operation: String, path: String) {
        self.init(Code(errno: number), operation: operation, path: path, errno: number)
    }
}

extension FileError.Code {
    /// The kind of failure that the error number `number` stands for.
    package init(errno number: Int32) {
        switch number {
        case ENOENT, ENOTDIR: self = .notFound
        case EEXIST: self = .alreadyExists
        // A quota and a limit on file sizes are a full disk to whoever has to act on it.
        case ENOSPC, EDQUOT, EFBIG: self = .noSpace
        case ENOMEM: self = .noMemory
        case EIO: self = .inputOutput
        case EINTR: self = .interrupted
        case EACCES, EPERM, EROFS: self = .permissionDenied
        default: self = .other
        }
    }
}

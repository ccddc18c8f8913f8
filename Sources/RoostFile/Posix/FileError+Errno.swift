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

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A lock file held through flock.
///
/// flock belongs to the open file, so that two handles in one process exclude each other, unlike POSIX record
/// locks, and the system releases it when the process ends in whatever way. The file stays when the lock goes:
/// removing it would let two processes lock two files of one name.
final class PosixFileLock: FileLock {
    private let descriptor: Int32

    /// Takes the lock at `path`, or throws ``FileError/Code/locked(holder:)``.
    init(_ path: String, holder: String) throws(FileError) {
        descriptor = try Self.lockedDescriptor(path)
        // The description only serves a message to others: on a full disk the lock is as good without it.
        _ = retrying { ftruncate(descriptor, 0) }
        var text = holder
        _ = text.withUTF8 { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit {
        _ = retrying { ftruncate(descriptor, 0) }
        // Closing alone would leave the lock to a child that was forked meanwhile and has yet to execute.
        releaseLock(descriptor)
        closeDescriptor(descriptor)
    }

    private static func lockedDescriptor(_ path: String) throws(FileError) -> Int32 {
        while true {
            let descriptor = openDescriptor(path, O_RDWR | O_CREAT, permissions: 0o666)
            if descriptor < 0 { throw FileError(errno: lastErrno(), operation: "lock", path: path) }
            guard tryLock(descriptor) == 0 else {
                let number = lastErrno()
                let code: FileError.Code =
                    number == EWOULDBLOCK
                    ? .locked(holder: holderDescription(descriptor)) : FileError.Code(errno: number)
                closeDescriptor(descriptor)
                throw FileError(code, operation: "lock", path: path, errno: number)
            }
            // Whoever removed the file after it was opened here would be followed by others who create it anew.
            if names(path, descriptor) { return descriptor }
            closeDescriptor(descriptor)
        }
    }

    /// What the present holder wrote; the file's bytes are anybody's, so they are bounded and repaired.
    private static func holderDescription(_ descriptor: Int32) -> String {
        let text = unsafe withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
            let count = unsafe pread(descriptor, buffer.baseAddress, buffer.count, 0)
            return unsafe String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
        return text.isEmpty ? "another process" : text
    }

    private static func names(_ path: String, _ descriptor: Int32) -> Bool {
        var held = stat()
        var named = stat()
        return statusOfDescriptor(descriptor, &held) == 0 && statusOfPath(path, &named) == 0
            && FileIdentity(held) == FileIdentity(named)
    }
}

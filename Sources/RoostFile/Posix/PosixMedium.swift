#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The operating system's file system. Paths are as the system's calls take them, relative ones included.
///
/// New files and directories get the permissions that the process's umask leaves, unless they are to have others.
package struct PosixMedium: Medium {
    package init() {}

    package func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        switch mode {
        case .readOnly: try openFile(path, O_RDONLY)
        case .readWrite: try openFile(path, O_RDWR)
        case .createNew: try createFile(path, permissions: 0o666)
        case .createWith(let access): try createFile(path, access)
        }
    }

    /// Opens a regular file.
    private func openFile(_ path: String, _ flags: Int32) throws(FileError) -> PosixFile {
        // Asked before, because opening some devices does something; and after, because the name may have changed.
        if let named = try status(of: path) { try checkFile(named.kind, path) }
        // Without O_NONBLOCK opening a pipe waits for its other end.
        let descriptor = openDescriptor(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        if descriptor < 0 { throw failure("open", path) }
        let file = PosixFile(descriptor: descriptor, path: path)
        try checkFile(try file.kind(), path)
        return file
    }

    private func checkFile(_ kind: FileKind, _ path: String) throws(FileError) {
        if kind != .file { throw FileError(.notAFile(kind), operation: "open", path: path) }
    }

    private func createFile(_ path: String, permissions: mode_t) throws(FileError) -> PosixFile {
        let descriptor = openDescriptor(path, O_RDWR | O_CREAT | O_EXCL, permissions: permissions)
        if descriptor < 0 { throw failure("open", path) }
        return PosixFile(descriptor: descriptor, path: path)
    }

    /// Creates a file that nobody but the owner can open before it has the permissions it is to have.
    private func createFile(_ path: String, _ access: FileAccess) throws(FileError) -> PosixFile {
        let file = try createFile(path, permissions: 0o600)
        do throws(FileError) {
            try file.setAccess(access)
        } catch {
            try? remove(path)
            throw error
        }
        return file
    }

    package func rename(_ source: String, to destination: String) throws(FileError) {
        if renameEntry(source, destination) != 0 { throw failure("rename", source) }
    }

    package func remove(_ path: String) throws(FileError) {
        if removeEntry(path) != 0 { throw failure("remove", path) }
    }

    package func syncDirectory(of path: String) throws(FileError) {
        let directory = directoryPart(of: path)
        let descriptor = openDescriptor(directory, O_RDONLY | O_DIRECTORY | O_NONBLOCK)
        if descriptor < 0 { throw failure("sync directory", directory) }
        defer { closeDescriptor(descriptor) }
        if synchronizeDirectory(descriptor) != 0 {
            // Some network and user-space file systems have no way to sync a directory and say so with EINVAL;
            // theirs are the only promises there are.
            let number = lastErrno()
            if number != EINVAL {
                throw FileError(errno: number, operation: "sync directory", path: directory)
            }
        }
    }

    package func createDirectory(_ path: String, _ access: FileAccess?) throws(FileError) {
        if makeDirectory(path, permissions: access == nil ? 0o777 : 0o700) != 0 {
            throw failure("create directory", path)
        }
        guard let access else { return }
        let descriptor = openDescriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        if descriptor < 0 { throw failure("create directory", path) }
        try PosixFile(descriptor: descriptor, path: path).setAccess(access)
    }

    package func list(_ path: String) throws(FileError) -> [String] {
        guard let names = namesInDirectory(path) else { throw failure("list", path) }
        return names
    }

    package func status(of path: String) throws(FileError) -> FileStatus? {
        var status = stat()
        return try fileStatus(statusOfName(path, &status), status, path)
    }

    package func statusFollowingLinks(of path: String) throws(FileError) -> FileStatus? {
        var status = stat()
        return try fileStatus(statusOfPath(path, &status), status, path)
    }

    private func fileStatus(
        _ result: Int32, _ status: stat, _ path: String
    ) throws(FileError) -> FileStatus? {
        guard result == 0 else {
            let error = failure("status", path)
            if error.code == .notFound { return nil }
            throw error
        }
        return FileStatus(
            size: UInt64(status.st_size), identity: FileIdentity(status), kind: FileKind(status),
            access: FileAccess(status))
    }

    private func failure(_ operation: String, _ path: String) -> FileError {
        FileError(errno: lastErrno(), operation: operation, path: path)
    }
}

// MARK: - System

extension Environment {
    /// The operating system's files, clocks and randomness.
    package static let system = Environment(
        medium: PosixMedium(), clock: SystemClock(), randomness: SystemRandomness())
}

// MARK: - SystemClock

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The operating system's clocks.
package struct SystemClock: WallClock {
    package init() {}

    package func now() -> UInt64 { microseconds(CLOCK_REALTIME) }

    package func monotonic() -> UInt64 { microseconds(CLOCK_MONOTONIC) }

    private func microseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        // A machine whose clock stands before 1970 is taken to be at 1970.
        return UInt64(clamping: time.tv_sec) * 1_000_000 + UInt64(clamping: time.tv_nsec / 1000)
    }
}

// MARK: - SystemRandomness

/// The operating system's cryptographic generator (getentropy on Linux, arc4random_buf on Apple systems).
package struct SystemRandomness: Randomness {
    package init() {}

    package func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        unsafe fillRandom(buffer)
    }
}

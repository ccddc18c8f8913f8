#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The operating system's file system. Paths are as the system's calls take them, relative ones included.
///
/// New files and directories get the permissions that the process's umask leaves.
package struct PosixMedium: Medium {
    package init() {}

    package func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        let flags: Int32 =
            switch mode {
            case .readOnly: O_RDONLY
            case .readWrite: O_RDWR
            case .createNew: O_RDWR | O_CREAT | O_EXCL
            }
        let descriptor = openDescriptor(path, flags, permissions: 0o666)
        if descriptor < 0 { throw failure("open", path) }
        return PosixFile(descriptor: descriptor, path: path)
    }

    package func rename(_ source: String, to destination: String) throws(FileError) {
        if renameEntry(source, destination) != 0 { throw failure("rename", source) }
    }

    package func remove(_ path: String) throws(FileError) {
        if removeEntry(path) != 0 { throw failure("remove", path) }
    }

    package func syncDirectory(of path: String) throws(FileError) {
        let directory = directoryPart(of: path)
        let descriptor = openDescriptor(directory, O_RDONLY | O_DIRECTORY)
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

    package func createDirectory(_ path: String) throws(FileError) {
        if makeDirectory(path, permissions: 0o777) != 0 { throw failure("create directory", path) }
    }

    package func list(_ path: String) throws(FileError) -> [String] {
        guard let names = namesInDirectory(path) else { throw failure("list", path) }
        return names
    }

    package func status(of path: String) throws(FileError) -> FileStatus? {
        var status = stat()
        if statusOfPath(path, &status) != 0 {
            let error = failure("status", path)
            if error.code == .notFound { return nil }
            throw error
        }
        return FileStatus(
            size: UInt64(status.st_size), identity: FileIdentity(status),
            isDirectory: status.st_mode & S_IFMT == S_IFDIR)
    }

    package func lock(_ path: String, holder: String) throws(FileError) -> any FileLock {
        try PosixFileLock(path, holder: holder)
    }

    private func failure(_ operation: String, _ path: String) -> FileError {
        FileError(errno: lastErrno(), operation: operation, path: path)
    }
}

import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file of the operating system, read and written at explicit offsets through one descriptor.
///
/// Safe for any number of threads: the descriptor never changes and is closed only when nobody can use it any more.
final class PosixFile: File {
    let path: String
    private let open: OpenFile

    private var descriptor: Int32 { open.descriptor }

    /// Takes over `descriptor` and closes it in the end.
    convenience init(descriptor: Int32, path: String) {
        self.init(OpenFile(descriptor), path: path)
    }

    private init(_ open: OpenFile, path: String) {
        self.open = open
        self.path = path
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        // No file reaches beyond off_t, so a read from there is a read after the end.
        guard let position = off_t(exactly: offset) else { return 0 }
        let count = unsafe pread(
            descriptor, buffer.baseAddress, min(buffer.count, largestTransfer), position)
        if count < 0 { throw failure("read") }
        return count
    }

    var isInherited: Bool { open.isInherited }

    /// Refuses to change a file by a handle of the process that this one was forked from: both would write what they believe to
    /// be its end.
    private func checkProcess(_ operation: String) throws(FileError) {
        if open.isInherited { throw FileError(.inherited, operation: operation, path: path) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        try checkProcess("write")
        guard let position = off_t(exactly: offset) else {
            throw FileError(errno: EFBIG, operation: "write", path: path)
        }
        let count = unsafe pwrite(
            descriptor, bytes.baseAddress, min(bytes.count, largestTransfer), position)
        if count < 0 { throw failure("write") }
        // A device that takes nothing and names no reason would otherwise be asked for ever.
        if count == 0, bytes.count > 0 { throw FileError(errno: EIO, operation: "write", path: path) }
        return count
    }

    func startWriteback(of length: Int, at offset: UInt64) {
        guard let position = off_t(exactly: offset) else { return }
        requestWriteback(descriptor, position, length)
    }

    func sync() throws(FileError) {
        try checkProcess("sync")
        if synchronize(descriptor) != 0 { throw failure("sync") }
    }

    func size() throws(FileError) -> UInt64 {
        UInt64(try status("size").st_size)
    }

    func truncate(to size: UInt64) throws(FileError) {
        try checkProcess("truncate")
        guard let length = off_t(exactly: size) else {
            throw FileError(errno: EFBIG, operation: "truncate", path: path)
        }
        if retrying({ ftruncate(descriptor, length) }) != 0 { throw failure("truncate") }
    }

    func identity() throws(FileError) -> FileIdentity {
        FileIdentity(try status("identity"))
    }

    var hasName: Bool {
        var status = stat()
        return statusOfDescriptor(descriptor, &status) != 0 || status.st_nlink > 0
    }

    func map(
        _ length: Int, at offset: UInt64, counting lostPages: LostPages
    ) throws(FileError) -> FileMapping? {
        guard let position = off_t(exactly: offset) else { return nil }
        guard let base = unsafe mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, position),
            unsafe base != MAP_FAILED
        else { throw failure("map") }
        return unsafe FileMapping(base: base, length: length, counting: lostPages, of: open)
    }

    func access() throws(FileError) -> FileAccess {
        FileAccess(try status("access"))
    }

    func kind() throws(FileError) -> FileKind {
        FileKind(try status("open"))
    }

    func lock() throws(FileError) -> any FileLock {
        try checkProcess("lock")
        return try PosixFileLock(self, open)
    }

    func lockInTurn() throws(FileError) -> any FileLock {
        try checkProcess("lock")
        return try PosixFileLock(waitingFor: self, open)
    }

    func handle(named path: String) throws(FileError) -> any File {
        PosixFile(open, path: path)
    }

    /// Gives the file the owner, where that is allowed, and the permissions of another one. Where the group must stay
    /// another, it may do no more than everybody.
    func setAccess(_ access: FileAccess) throws(FileError) {
        var permissions = access.permissions
        let present = FileAccess(try status("set permissions"))
        if present.owner != access.owner { _ = changeOwner(descriptor, access.owner, access.group) }
        if present.group != access.group, changeOwner(descriptor, nil, access.group) != 0 {
            permissions = permissions & 0o707 | (permissions & permissions << 3 & 0o070)
        }
        if changePermissions(descriptor, permissions) != 0 { throw failure("set permissions") }
    }

    private func status(_ operation: String) throws(FileError) -> stat {
        var status = stat()
        if statusOfDescriptor(descriptor, &status) != 0 { throw failure(operation) }
        return status
    }

    @inline(never)
    private func failure(_ operation: String) -> FileError {
        FileError(errno: lastErrno(), operation: operation, path: path)
    }
}

/// Darwin refuses transfers above INT_MAX and Linux cuts them short; a short transfer is always allowed.
private let largestTransfer = 1 << 30

extension FileKind {
    init(_ status: stat) {
        self =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .special
            }
    }
}

extension FileAccess {
    init(_ status: stat) {
        self.init(
            permissions: UInt16(truncatingIfNeeded: status.st_mode), owner: status.st_uid,
            group: status.st_gid)
    }
}

extension FileIdentity {
    init(_ status: stat) {
        self.init(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino))
    }
}

// MARK: - OpenFile

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file that is open for as long as handles, locks or mappings of it are left in this process.
final class OpenFile: Sendable {
    let descriptor: Int32
    private let forkCount = ForkCount.current

    /// Whether it was opened by the process that this one was forked from.
    var isInherited: Bool { forkCount != ForkCount.current }

    /// Takes over `descriptor`.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        giveBackSpace()
        closeDescriptor(descriptor)
    }

    /// Cuts a long file off bit by bit that goes with its last descriptor.
    ///
    /// A file system with a journal frees such a file at one go, and whoever syncs another file waits for that: by what a
    /// compaction has replaced, of some hundred megabytes, for tens of milliseconds.
    func giveBackSpace() {
        // A parent may read what its child would cut off.
        guard !isInherited else { return }
        var status = stat()
        guard statusOfDescriptor(descriptor, &status) == 0, status.st_nlink == 0,
            status.st_size > 2 * Self.step, isOpenedOnce(descriptor)
        else { return }
        var size = status.st_size
        while size > Self.step {
            size -= Self.step
            guard retrying({ ftruncate(descriptor, size) }) == 0 else { return }
        }
    }

    /// So many bytes are freed at a time.
    private static let step: off_t = 4 << 20
}

// MARK: - ForkCount

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Tells a process apart from those that it was forked from, without asking the system.
enum ForkCount {
    private static let count = Atomic<UInt64>(0)

    private static let isCounting: Bool = {
        // Made before anything is forked: a child may find no lock free.
        _ = count.load(ordering: .relaxed)
        return pthread_atfork(nil, nil, { ForkCount.count.add(1, ordering: .relaxed) }) == 0
    }()

    /// How many forks lie between this process and the one that asked first.
    static var current: UInt64 { isCounting ? count.load(ordering: .relaxed) : 0 }
}

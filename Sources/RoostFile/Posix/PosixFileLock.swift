import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The lock of an open file, taken with flock.
///
/// It belongs to the file itself, so it holds under every name that the file has. flock belongs to the open file, so
/// that two handles in one process exclude each other, unlike POSIX record locks, and the system releases it when the
/// process ends in whatever way.
final class PosixFileLock: FileLock {
    private let open: OpenFile
    private let isReleased = Atomic<Bool>(false)

    /// Takes the lock of `file`, which is open as `open`, or throws ``FileError/Code/locked(holder:)``.
    init(_ file: PosixFile, _ open: OpenFile) throws(FileError) {
        let descriptor = open.descriptor
        guard tryLock(descriptor) == 0 else {
            let number = lastErrno()
            let code: FileError.Code =
                number == EWOULDBLOCK
                ? .locked(holder: lockHolder(of: descriptor)) : FileError.Code(errno: number)
            throw FileError(code, operation: "lock", path: file.path, errno: number)
        }
        self.open = open
    }

    /// Takes the lock of `file` once nobody has it.
    ///
    /// Who waits for flock alone may lose it again and again to whoever gave it up and asks at once. So everybody passes a
    /// gate on the way, and whoever waits for the lock stands in it.
    init(waitingFor file: PosixFile, _ open: OpenFile) throws(FileError) {
        let descriptor = open.descriptor
        enterGate(descriptor)
        let outcome = waitForLock(descriptor)
        let number = lastErrno()
        leaveGate(descriptor)
        guard outcome == 0 else {
            throw FileError(errno: number, operation: "lock", path: file.path)
        }
        self.open = open
    }

    deinit { release() }

    func release() {
        // Once: the descriptor may hold the lock again, for somebody else.
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // A child that was forked shares the lock with its parent, whose it is.
        guard !open.isInherited else { return }
        // Closing alone would leave the lock to a child that was forked meanwhile and has yet to execute.
        releaseLock(open.descriptor)
    }
}

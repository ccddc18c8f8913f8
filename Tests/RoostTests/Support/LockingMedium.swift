import RoostFile
import RoostSimulation
import Synchronization

/// A medium on which something else may happen just before a process takes its turn to write.
final class LockingMedium: ForwardingMedium {
    let base: any Medium
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ base: any Medium) { self.base = base }

    /// Has `body` called, once, before a file's lock is waited for the next time.
    func beforeLock(_ body: @escaping @Sendable () -> Void) { listener.withLock { $0 = body } }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        LockingFile(base: try base.open(path, mode), medium: self)
    }

    fileprivate func willLock() { listener.withLock { $0.take() }?() }
}

private final class LockingFile: ForwardingFile {
    let base: any File
    private let medium: LockingMedium

    init(base: any File, medium: LockingMedium) {
        self.base = base
        self.medium = medium
    }

    func lockInTurn() throws(FileError) -> any FileLock {
        medium.willLock()
        return try base.lockInTurn()
    }
}

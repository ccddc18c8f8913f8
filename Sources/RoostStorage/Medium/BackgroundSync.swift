import Dispatch
import RoostFile
import Synchronization

/// A sync that a thread of the system's pool waits for while this one works.
///
/// Should the pool have no thread to spare by the time the work is done, this one syncs, so nobody ever waits for a
/// thread that the pool hasn't got.
final class BackgroundSync: Sendable {
    private let file: any File
    private let isBegun = Atomic(false)
    private let failure = Mutex<FileError?>(nil)
    private let end = DispatchSemaphore(value: 0)

    init(of file: any File) {
        self.file = file
        DispatchQueue.global().async { [self] in
            if begin() {
                sync()
                end.signal()
            }
        }
    }

    /// Returns when the file is synced.
    func finish() throws(FileError) {
        if begin() { sync() } else { end.wait() }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// `true` for the one that is to sync.
    private func begin() -> Bool { !isBegun.exchange(true, ordering: .acquiringAndReleasing) }

    private func sync() {
        do throws(FileError) {
            try file.sync()
        } catch {
            failure.withLock { $0 = error }
        }
    }
}

extension File {
    /// Syncs, and does `work` meanwhile; where the sync fails, the work may be left undone.
    func sync(while work: () -> Void) throws(FileError) {
        guard allowsWritingBehind else {
            try sync()
            return work()
        }
        let sync = BackgroundSync(of: self)
        work()
        try sync.finish()
    }
}

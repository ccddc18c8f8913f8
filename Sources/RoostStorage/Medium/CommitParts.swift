import RoostBytes
import RoostFile
import Synchronization

/// The parts of a large commit that are written while what follows them is still being made.
///
/// Nothing of a commit counts until the record at its very end is there, so its parts may be written at any time and in any
/// order before that. They wait for whoever comes first: a thread of the system's pool, or the one that makes the
/// commit, which helps when many wait and at the end. So nobody ever waits for a thread that the pool hasn't got. The
/// kernel's copying of bytes into its page cache runs on a second core this way; and the medium writes beside both, for it is
/// asked to begin with each part at once.
final class CommitParts: Sendable {
    /// How many parts may wait, by their bytes, before the commit's own thread helps. A part ends with a whole chunk, so with
    /// large values one may be as large by itself.
    private static let mostWaiting = 8

    private let file: DataFile
    private let pool: BufferPool
    private let shared = Mutex(Shared())
    /// Held by the thread of the pool from taking a part until that is in the file.
    private let helping = Mutex(())

    private struct Shared {
        /// Parts that nobody has begun to write, first come first.
        var waiting: [UnwrittenBytes] = []
        /// Whether a thread of the pool is on its way or at work.
        var hasHelper = false
        var failure: StoreError?
        /// Parts that could not be written, or came after one that could not.
        var failed: [UnwrittenBytes] = []
    }

    init(file: DataFile, pool: BufferPool) {
        self.file = file
        self.pool = pool
    }

    /// Takes a part over; its bytes can be read from memory until they are in the file.
    ///
    /// - Throws: what has kept this part or an earlier one from being written.
    func add(_ part: UnwrittenBytes) throws(StoreError) {
        // Space that is prepared for small commits must not be zeroed where a part may be already.
        file.writtenAhead.withLock { $0 = max($0, part.end) }
        let needsHelper = shared.withLock { shared in
            shared.waiting.append(part)
            defer { shared.hasHelper = true }
            return !shared.hasHelper
        }
        // A thread that comes when all is done must find nothing, least of all the file's keys.
        if needsHelper { file.file.offer { [weak self] in self?.help() } }
        while waitingBytes > CommitParts.mostWaiting * pool.partLength, let part = take() { write(part) }
        try check()
    }

    /// Returns when all parts are in the file.
    func finish() throws(StoreError) {
        while let part = take() { write(part) }
        waitForHelper()
        try check()
    }

    /// Forgets what is not written yet; afterwards nobody writes anything of the commit any more.
    func abandon() {
        drop()
        waitForHelper()
        // What the helper failed to write meanwhile.
        drop()
    }

    private func drop() {
        let dropped = shared.withLock { shared in
            defer { (shared.waiting, shared.failed) = ([], []) }
            return shared.waiting + shared.failed
        }
        for part in dropped { release(part) }
    }

    private func check() throws(StoreError) {
        if let failure = shared.withLock({ $0.failure }) { throw failure }
    }

    /// The work of a thread of the pool: parts, until none waits.
    private func help() {
        while helping.withLock({ _ in helpOnce() }) {}
    }

    private func helpOnce() -> Bool {
        let part: UnwrittenBytes? = shared.withLock { shared in
            shared.hasHelper = !shared.waiting.isEmpty
            return shared.hasHelper ? shared.waiting.removeFirst() : nil
        }
        if let part { write(part) }
        return part != nil
    }

    private var waitingBytes: Int {
        shared.withLock { shared in shared.waiting.reduce(0) { $0 + $1.buffer.count } }
    }

    private func take() -> UnwrittenBytes? {
        shared.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }

    /// Returns when the part that the helper has taken, if any, is in the file.
    private func waitForHelper() { helping.withLock { _ in } }

    private func write(_ part: UnwrittenBytes) {
        do throws(StoreError) {
            try check()
            try fileCall { () throws(FileError) in
                unsafe try file.file.writeFully(part.buffer.view.buffer, at: part.start)
            }
            file.file.startWriteback(of: part.buffer.count, at: part.start)
            release(part)
        } catch {
            // It stays in memory, for the transaction may read it until it learns of the failure.
            shared.withLock { shared in
                shared.failure = shared.failure ?? error
                shared.failed.append(part)
            }
        }
    }

    private func release(_ part: UnwrittenBytes) {
        file.unwritten.withLock { list in list.removeAll { $0 === part } }
        pool.give(part.buffer)
    }
}

import Dispatch
import RoostFile
import Synchronization

/// Sees to it that a store is compacted by one at a time, and by itself when it is time.
final class Compactor: Sendable {
    private let threshold: Double
    private let current: Mutex<Current>
    private let running = DispatchGroup()
    /// Whether a commit needs to ask any further; and from which size of the file on.
    private let mayStart: Atomic<Bool>
    private let nextSize = Atomic<UInt64>(Compactor.smallestFile)

    private struct Current {
        var control: CompactionControl?
        var isAutomatic = false
        var isStopped = false
        /// The thread that a compaction runs on.
        var thread: UInt = 0
        var transform: (any ChunkTransformFactory)?
    }

    /// Smaller files are not compacted by themselves, in bytes.
    private static let smallestFile: UInt64 = 4 << 20
    /// Where compacting did not help, the file must grow by this factor before the next attempt.
    private static let growth: UInt64 = 2

    init(_ options: StoreOptions) {
        threshold = options.compactionThreshold
        current = Mutex(Current(transform: options.transform))
        mayStart = Atomic(options.compactsAutomatically && !options.isReadOnly)
    }

    /// What transforms the chunks of the store's present file.
    var transform: (any ChunkTransformFactory)? {
        get { current.withLock { $0.transform } }
        set { current.withLock { $0.transform = newValue } }
    }

    /// The compaction that is running; `nil` while there is none.
    var underWay: WorkUnderWay? { current.withLock { $0.control?.underWay } }

    // MARK: On request

    /// Compacts `store`. One that runs by itself gives way.
    func compact(
        _ store: Store, _ options: CompactionOptions, _ progress: ProgressHandler?
    ) throws(StoreError) -> CompactionResult {
        let control = CompactionControl()
        while !begin(control, isAutomatic: false) {
            guard try yieldsOrIsIdle(store) else {
                throw StoreError(
                    .compacting, "\(store.path) is being compacted already. Wait for that, or cancel it.")
            }
        }
        defer { end() }
        let source = try store.compactionSource()
        let result = try Compaction(store, from: source, options, control, progress: progress).run()
        note(result)
        return result
    }

    /// Takes the place of the running compaction; `false` when there is one, or the store is closed.
    private func begin(_ control: CompactionControl, isAutomatic: Bool) -> Bool {
        current.withLock { current in
            guard current.control == nil, !current.isStopped else { return false }
            running.enter()
            current.control = control
            current.isAutomatic = isAutomatic
            current.thread = currentThread()
            return true
        }
    }

    private func end() {
        current.withLock { $0.control = nil }
        running.leave()
    }

    /// Asks an automatic compaction to end and waits for that; `false` when the one that runs was asked for.
    private func yieldsOrIsIdle(_ store: Store) throws(StoreError) -> Bool {
        let (isStopped, yields) = current.withLock { current in
            if current.isAutomatic { current.control?.cancel() }
            return (current.isStopped, current.control == nil || current.isAutomatic)
        }
        guard !isStopped else { throw store.notWritable() }
        if yields { running.wait() }
        return yields
    }

    /// Asks the running compaction to end, and does not wait.
    func cancel() { current.withLock { $0.control?.cancel() } }

    /// Ends the running compaction and lets no other begin; returns when it has ended.
    func stop() {
        let isOwnThread = current.withLock { current in
            current.isStopped = true
            current.control?.cancel()
            return current.control != nil && current.thread == currentThread()
        }
        // The compaction itself may be the one that closes the store: it holds a reference for moments.
        if !isOwnThread { running.wait() }
    }

    // MARK: By itself

    /// Starts a compaction in the background when too little of the file lives. Costs nothing to speak of.
    func consider(_ state: StoreState, of store: Store) {
        let size = state.record.end
        guard mayStart.load(ordering: .relaxed), size >= nextSize.load(ordering: .relaxed),
            Self.isLittle(state.record.liveBytes, of: size, below: threshold)
        else { return }
        guard canStartThread() else { return wait(from: size) }
        // Until this attempt has ended nobody else needs to ask.
        nextSize.store(.max, ordering: .relaxed)
        DispatchQueue.global(qos: .utility).async { [weak store, self] in
            let control = CompactionControl()
            guard begin(control, isAutomatic: true) else { return wait(from: size) }
            defer { end() }
            do throws(StoreError) {
                let compaction = try store.map { (store) throws(StoreError) in
                    Compaction(
                        store, from: try store.compactionSource(), CompactionOptions(), control, progress: nil
                    )
                }
                if let compaction { note(try compaction.run()) }
            } catch {
                wait(from: size)
            }
        }
    }

    /// Compacts `store` now where less than a part of the file lives, if it may be compacted by itself. Waits for a compaction that is
    /// running.
    func compact(_ store: Store, below share: Double) throws(StoreError) {
        guard mayStart.load(ordering: .relaxed) else { return }
        running.wait()
        let record = store.state.record
        guard record.end >= Self.smallestFile,
            Self.isLittle(record.liveBytes, of: record.end, below: share)
        else { return }
        _ = try compact(store, CompactionOptions(), nil)
    }

    /// Whether less than a part of a file lives.
    private static func isLittle(_ live: UInt64, of size: UInt64, below share: Double) -> Bool {
        Double(live) < share * Double(size)
    }

    /// Decides when to look again: any time, or, where compacting did not help, once the file has grown.
    private func note(_ result: CompactionResult) {
        if Self.isLittle(result.bytesLive, of: result.bytesAfter, below: threshold) {
            wait(from: result.bytesAfter)
        } else {
            nextSize.store(Compactor.smallestFile, ordering: .relaxed)
        }
    }

    private func wait(from size: UInt64) {
        let next = size.multipliedReportingOverflow(by: Compactor.growth)
        nextSize.store(
            max(next.overflow ? .max : next.partialValue, Compactor.smallestFile), ordering: .relaxed)
    }
}

// MARK: - CompactionOptions

/// How a store is compacted.
public struct CompactionOptions: Sendable {
    /// Bytes per second that the copy may write, so that other work keeps the medium's speed; `nil` for no limit.
    public var bytesPerSecond: Int?
    /// Bytes of memory that the copy works with, apart from the node cache and a write buffer of 8 MiB. 1 MiB at
    /// least. Default: 32 MiB.
    public var memory = 32 << 20
    /// The zlib level for values and nodes in the new file, as ``StoreOptions/compression``; `nil` for the store's own.
    public var compression: Int32?
    /// The size in bytes that nodes of the new file aim at, 1024 to 32768; `nil` for the store's own.
    public var nodeSize: Int?
    /// What becomes of the store's encryption.
    package var encryption = Encryption.unchanged

    /// What transforms the chunks of the new file.
    package enum Encryption: Sendable {
        /// What transforms those of the old one, with another file's parameters.
        case unchanged
        /// Nothing: the store is decrypted.
        case none
        /// Another key: the store is encrypted, or encrypted anew.
        case replaced(any ChunkTransformFactory)
    }

    /// The defaults.
    public init() {}

    var memoryInRange: Int { max(memory, 1 << 20) }
}

/// What a compaction did.
public struct CompactionResult: Sendable, Hashable {
    /// The size of the file that was replaced, in bytes.
    public internal(set) var bytesBefore: UInt64
    /// The size of the new file, in bytes.
    public internal(set) var bytesAfter: UInt64
    /// Bytes that lived when the compaction began.
    public internal(set) var bytesLive: UInt64
    /// Bytes that were written, to the new file and for scratch.
    public internal(set) var bytesWritten: UInt64
    /// How long it took, in seconds.
    public internal(set) var duration: Double
    /// For how long nobody could commit, in seconds.
    public internal(set) var pause: Double
}

// MARK: - Compaction

extension Store {
    /// Writes what lives into a new file that takes the place of the present one.
    ///
    /// Readers and writers go on meanwhile, but for a short pause at the end (see ``CompactionResult/pause``).
    /// Snapshots taken before keep the old file until they go. Older commits are gone afterwards: history begins with
    /// the commit that the copy was made of. A crash at any moment leaves the old file or the new one, and either has
    /// everything that was committed.
    ///
    /// - Parameters:
    ///   - options: its speed, its memory, and the form of what it writes.
    ///   - progress: called now and then, on the calling thread; returns `false` to cancel.
    /// - Throws: ``StoreError/Code/compacting`` when a compaction that somebody asked for is running,
    ///   ``StoreError/Code/nestedWrite`` within a ``write(_:)`` on the same thread,
    ///   ``StoreError/Code/cancelled`` after that, ``cancelCompaction()`` or ``close()``, and what reading and writing
    ///   may throw, a full medium among it. The store then goes on in its old file.
    @discardableResult
    public func compact(
        _ options: CompactionOptions = CompactionOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> CompactionResult {
        guard isWritable else { throw notWritable() }
        try checkNotWriting()
        try Store.checkRoom(path)
        return try compactor.compact(self, options, progress)
    }

    /// Compacts now if less than a part of the file lives, for who leaves much lying and knows that it was the last. Waits for a
    /// compaction that is running; does nothing where ``StoreOptions/compactsAutomatically`` is off, and to a small file.
    ///
    /// - Throws: as ``compact(_:progress:)``.
    package func compact(below share: Double) throws(StoreError) {
        guard isWritable else { throw notWritable() }
        try checkNotWriting()
        try compactor.compact(self, below: share)
    }

    /// How far a compaction is that is running, whoever asked for it; `nil` while there is none.
    package var compactionUnderWay: WorkUnderWay? { compactor.underWay }

    /// Makes a compaction that is running, on whatever thread, end soon; the store stays as it is.
    public func cancelCompaction() { compactor.cancel() }
}

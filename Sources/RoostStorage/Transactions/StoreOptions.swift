/// How a store is opened.
public struct StoreOptions: Sendable {
    /// When a commit counts as done.
    public enum Durability: Sendable, Hashable {
        /// When it is on the medium: each commit, or group of concurrent commits, is synced before it returns.
        case full
        /// When it is written, with a sync following within `interval` seconds. Order is kept, so a power failure
        /// loses only the newest commits, at most those of the last interval; a crash of the process loses none.
        case relaxed(interval: Double)
        /// When it is written; nothing is synced but by ``Store/sync()``, a compaction and closing, and what another process
        /// has written before this one writes after it. Only for what can be made anew: a power failure may take any part of
        /// what was written since, which then reads as damaged.
        case unsynced
    }

    /// How many processes may have a store open for writing.
    public enum Writers: Sendable, Hashable {
        /// One, from opening to closing: whoever comes second gets ``StoreError/Code/locked``.
        case one
        /// Any number, each for the time of a transaction. A transaction waits for those of other processes, and begins with
        /// what they have committed. All that write a store must say so; one that says ``one`` is kept out, or keeps the
        /// others waiting until it closes.
        case takingTurns
    }

    /// How nodes and values are read that are not in the cache.
    public enum ValueAccess: Sendable, Hashable {
        /// From a mapping of the file, which saves the call: small cached values are read about twice as fast. Checksums
        /// are verified as always, and what is not yet synced is read by calls. Where the medium cannot read what is
        /// touched, or another program has cut the file off, that is an error too: the store handles the signal SIGBUS
        /// for its own mappings and leaves others to the handler that was there before. A program that puts a handler of
        /// its own in the place of this one later, without passing signals on, ends when that happens.
        case mapping
        /// By system calls: no signals are handled, and no file pages count as the process's memory.
        case calls

        #if os(Linux) || os(macOS)
            package static let standard = mapping
        #else
            package static let standard = calls
        #endif
    }

    /// Opens without a lock and without ever writing; fails where there is no store.
    public var isReadOnly = false
    /// Makes the store if there is none.
    public var createsIfMissing = true
    /// How many processes may write. Default: ``Writers/one``.
    public var writers = Writers.one
    /// When commits count as done. Default: ``Durability/full``.
    public var durability = Durability.full
    /// Bytes of memory for nodes. Default: 128 MiB; 0 keeps none, anything else counts as 512 KiB at least. Memory use
    /// follows what is read, not the file's size.
    public var cacheSize = 128 << 20
    /// How nodes and values are read that are not in the cache. Default: ``ValueAccess/mapping`` on Linux and macOS, ``ValueAccess/calls``
    /// on iOS and its kin, which take the pages of protected files away when the device is locked.
    public var valueAccess = ValueAccess.standard
    /// Bytes of pending changes of tree nodes to keep in memory before they are written, at least 4 KiB. The more, the less is
    /// written for each change at a random place of a large store. `nil`, the default, for half of ``cacheSize``, and
    /// 64 MiB at least; reached only by much random writing.
    public var pendingLimit: Int?
    /// Bytes of log after which a checkpoint is made; what opening after a crash has to read and replay. Values don't
    /// count, as replaying does not touch them. At least 4 KiB. `nil`, the default, for half of ``cacheSize``, and 64 MiB at
    /// least.
    public var logLimit: UInt64?
    /// Values up to this many bytes stand in their leaf, longer ones in chunks of their own. 0 to 4096. Default: 128.
    public var inlineLimit = 128
    /// Compresses values and nodes with zlib at this level, 1 (fast) to 9, where it saves an eighth; 0 for none.
    public var compression: Int32 = 0
    /// The size in bytes that tree nodes aim at, 1024 to 32768. Default: 8192.
    public var nodeSize = 8192
    /// The functions of the reductions that trees of this store keep. Copies of the options share it, and more may be
    /// added while the store is open.
    public var reductions = ReductionRegistry()
    /// Compacts by itself when less than ``compactionThreshold`` of the file lives. Default: true.
    public var compactsAutomatically = true
    /// The part of the file's bytes that may live when automatic compaction starts. Default: 0.6.
    public var compactionThreshold = 0.6
    /// So few changes are made on the thread that writes and syncs, while the medium is busy with what was written: to hand that to
    /// another thread costs about as much as making them.
    package var fewChanges = 16
    /// So many changes that are left to be made while the medium is busy are made by two threads, if they lie apart.
    package var manyChanges = 400
    /// Parts of a large transaction are written, while the rest is being made, once they have this many bytes; one block at least.
    package var partLength = 1 << 17
    /// Encryption, in practice.
    package var transform: (any ChunkTransformFactory)?

    /// The defaults.
    public init() {}

    var pendingLimitInRange: Int { max(pendingLimit ?? usualLimit, 1 << 12) }
    var logLimitInRange: UInt64 { max(logLimit ?? UInt64(usualLimit), 1 << 12) }
    private var usualLimit: Int { max(cacheSize / 2, 64 << 20) }
    var nodeSizeInRange: Int { min(max(nodeSize, 1024), 32_768) }
    var partLengthInRange: Int { max(partLength, Format.blockSize) }
    var inlineLimitInRange: Int { min(max(inlineLimit, 0), Format.maximumInlineLength) }
}

/// Makes the chunk transform of a file from what its header keeps, or for a new file.
package protocol ChunkTransformFactory: Sendable {
    /// The transform of a file whose header holds `parameters`; `nil` when the key does not open it.
    func open(parameters: [UInt8], fileID: [UInt8]) -> (any ChunkTransform)?
    /// A transform for a new file and what its header must keep.
    ///
    /// - Parameter previous: The transform of the file whose content the new one takes over, if that has one.
    func create(
        fileID: [UInt8], after previous: (any ChunkTransform)?
    ) -> (transform: any ChunkTransform, parameters: [UInt8])
}

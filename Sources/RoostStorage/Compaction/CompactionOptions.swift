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

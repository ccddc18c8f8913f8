/// What the bytes of a store's file are.
public enum FileContent: Int, CaseIterable, Sendable {
    /// The file header and its copy.
    case header
    /// Values that stand outside their tree.
    case value
    /// Tree nodes.
    case node
    /// The log: operations that opening replays onto the trees of the last checkpoint.
    case operations
    /// The roots of all trees, as checkpoints keep them.
    case directory
    /// Commit records, and the zeros that fill commits up to whole blocks: never alive, as a compaction gives them back.
    case framing
    /// Behind the newest commit: space prepared for the next ones, or what a crash left of one.
    case prepared
    /// Bytes within commits that make no chunk.
    case unreadable

    /// Its name in English: lower case, one word.
    public var name: String { "\(self)" }
}

/// How much of something is alive: needed for the newest commit, and kept by a compaction.
public struct FileUse: Hashable, Sendable {
    /// Chunks that the newest commit leads to; 0 for what is not kept in chunks.
    public internal(set) var liveChunks: UInt64 = 0
    /// Their bytes.
    public internal(set) var liveBytes: UInt64 = 0
    /// Chunks that only older commits lead to.
    public internal(set) var deadChunks: UInt64 = 0
    /// Their bytes.
    public internal(set) var deadBytes: UInt64 = 0

    /// Bytes of both.
    public var bytes: UInt64 { liveBytes + deadBytes }
}

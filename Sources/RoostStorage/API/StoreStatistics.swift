import RoostFile

/// How large a store is and what of it is alive.
public struct StoreStatistics: Hashable, Sendable {
    /// Bytes of the file.
    public let fileBytes: UInt64
    /// Bytes of it that the newest commit leads to: nodes, and values that entries own. What a compaction keeps.
    public let liveBytes: UInt64
    /// Bytes of the log that opening the store after a crash would read and replay.
    public let logBytes: UInt64
    /// Bytes of memory that pending changes take.
    public let pendingBytes: Int
    /// The number of the newest commit.
    public let commit: UInt64
    /// How many compactions lie behind the file.
    public let generation: UInt64
}

extension Store {
    /// How large the store is now.
    public func statistics() throws(StoreError) -> StoreStatistics {
        let state = state
        let size = try fileCall { () throws(FileError) in try state.file.file.size() }
        return StoreStatistics(
            fileBytes: size, liveBytes: state.liveBytes,
            logBytes: state.logBytes, pendingBytes: state.pendingBytes, commit: state.record.number,
            generation: state.file.header.generation)
    }
}

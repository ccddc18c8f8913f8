/// What a backup did.
public struct BackupReport: Hashable, Sendable {
    /// The commit that the backup is a copy of.
    public let commit: Commit
    /// The size of the backup in bytes.
    public let size: UInt64
    /// Bytes that were copied: all of them, or, where an earlier backup was there, those since.
    public let copiedBytes: UInt64
    /// Whether an earlier backup was continued.
    public let isIncremental: Bool

    package init(commit: Commit, size: UInt64, copiedBytes: UInt64, isIncremental: Bool) {
        self.commit = commit
        self.size = size
        self.copiedBytes = copiedBytes
        self.isIncremental = isIncremental
    }
}

/// One commit of a store.
public struct Commit: Hashable, Sendable {
    /// What a commit holds.
    public enum Kind: Sendable {
        /// Changes; the trees' nodes are written later.
        case changes
        /// Changes, if any, and the roots of all trees.
        case checkpoint
        /// Nothing: a writer ended its work and everything before is on the medium.
        case close
    }

    /// Counts the store's commits from 1.
    public let number: UInt64
    /// When it was made, as the clock said: seconds since 1970.
    public let time: Double
    /// What it holds.
    public let kind: Kind
    /// The bytes that it takes in the file.
    public let size: UInt64
    /// Where its record stands in the file.
    let offset: UInt64
    /// Tells it from the commits of other files.
    let checksum: UInt64

    init(_ record: CommitRecord) {
        number = record.number
        time = Double(record.time) / 1_000_000
        kind =
            switch record.kind {
            case .log: .changes
            case .checkpoint: .checkpoint
            case .cleanShutdown, .barrier: .close
            }
        size = record.end - record.start
        offset = record.offset
        checksum = record.checksum
    }
}

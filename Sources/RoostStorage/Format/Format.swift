/// The numbers of the file format. FileFormat.md explains them.
enum Format {
    /// The format version that this code writes.
    static let version: UInt32 = 1
    /// The unit in which commits are laid out, in bytes.
    static let blockSize = 4096
    /// Where the first commit starts: after the header and its copy.
    static let firstCommit = UInt64(2 * blockSize)
    /// The longest key, in bytes.
    static let maximumKeyLength = 4096
    /// The longest value, in bytes.
    static let maximumValueLength = 1 << 30
    /// The longest value that may stand in a leaf rather than in a chunk of its own.
    static let maximumInlineLength = 4096
    /// The longest name of a tree, in UTF-8 bytes.
    static let maximumNameLength = 255
    /// The greatest number of a tree; the next one's can be told as well.
    static let maximumTreeID = UInt64(Int64.max) - 1
    /// The longest reduction of a tree, in bytes.
    static let maximumReductionLength = 255
    /// Deeper than any tree that can be built; a deeper one is damage.
    static let maximumLevel = 40

    /// The next multiple of the block size at or above `offset`.
    static func roundedUp(_ offset: UInt64) -> UInt64 {
        (offset + UInt64(blockSize - 1)) & ~UInt64(blockSize - 1)
    }
}

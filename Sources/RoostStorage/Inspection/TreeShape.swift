/// The form of one tree: its levels, how full their nodes are, what its entries hold.
public struct TreeShape: Sendable {
    /// The nodes at one distance from the leaves.
    public struct Level: Hashable, Sendable {
        /// Nodes, those in memory included.
        public internal(set) var nodes: UInt64 = 0
        /// Nodes that differ from what the file holds: changes since the last checkpoint, kept in memory.
        public internal(set) var changedNodes: UInt64 = 0
        /// Entries of leaves, or children of branch nodes.
        public internal(set) var entries: UInt64 = 0
        /// Bytes that the nodes take in the file, as they are stored.
        public internal(set) var storedBytes: UInt64 = 0
        /// Bytes of the nodes' pages, decompressed and decrypted, of those that could be read.
        public internal(set) var pageBytes: UInt64 = 0
        /// How many nodes have which part of the size that nodes aim at: ten bins from less than a tenth up; the last
        /// also has those that are larger.
        public internal(set) var fill = [UInt64](repeating: 0, count: TreeShape.fillBins)
    }

    /// The tree's name.
    public let name: String
    /// The name of its reduction, empty for none.
    public let reduction: String
    /// Leaves first, the root's level last; empty for an empty tree.
    public internal(set) var levels: [Level] = []
    /// Bytes of all keys, as if each stood in full.
    public internal(set) var keyBytes: UInt64 = 0
    /// Values that stand in their leaf.
    public internal(set) var inlineValues: UInt64 = 0
    /// Bytes in leaves: of these values, and what stands beside values in chunks.
    public internal(set) var inlineBytes: UInt64 = 0
    /// Values in chunks of their own that the tree owns.
    public internal(set) var values: UInt64 = 0
    /// Bytes of these chunks.
    public internal(set) var valueBytes: UInt64 = 0
    /// Entries whose value belongs to another tree.
    public internal(set) var borrowedValues: UInt64 = 0
    /// How many entries have a value of what size: bin *n* has those of 2ⁿ⁻¹ up to 2ⁿ − 1 bytes, bin 0 the empty ones.
    /// The size is that in the file, without the 6 to 10 bytes before a chunk.
    public internal(set) var valueSizes = [UInt64](repeating: 0, count: 34)
    /// Nodes that could not be read; what is below them is not counted.
    public internal(set) var unreadableNodes: UInt64 = 0

    static let fillBins = 10

    init(name: String, reduction: String) {
        self.name = name
        self.reduction = reduction
    }

    /// Entries of the tree.
    public var entries: UInt64 { levels.first?.entries ?? 0 }
    /// Bytes of its nodes in the file.
    public var nodeBytes: UInt64 { levels.reduce(0) { $0 &+ $1.storedBytes } }
}

import RoostBytes

/// Builds a stored tree bottom-up from entries that come in key order: every node full but the last of each level.
///
/// Holds a few nodes of each level in memory.
final class TreeBuilder {
    private let nodes: NodeWriter
    private let nodeSize: Int
    private let reduction: Reduction?
    private let leaves: LeafBuilder
    private let willWriteLeaves: () throws(StoreError) -> Void
    /// The last key of the leaf written last.
    private let lastKey = ByteBuffer()
    /// Children that wait for their parent; the leaves first.
    private var levels: [Level] = []

    private struct Level {
        /// The separators of all that wait, the first included, which goes to the level above.
        var separators: [[UInt8]] = []
        var children: [StoredChild] = []
        var size = 0

        static func size(_ separator: [UInt8], _ child: StoredChild) -> Int {
            separator.count + PageView.slotLength + 20 + child.reduction.count
        }
    }

    /// - Parameter willWriteLeaves: called before each run of leaves.
    init(
        output: CommitBuffer, nodeSize: Int, reduction: Reduction?,
        willWriteLeaves: @escaping () throws(StoreError) -> Void
    ) {
        self.willWriteLeaves = willWriteLeaves
        nodes = NodeWriter(output: output)
        leaves = nodes.entries
        self.nodeSize = nodeSize
        self.reduction = reduction
    }

    /// Adds an entry whose key is greater than all before.
    @inline(__always)
    func add(_ key: ByteView, _ entry: Entry) throws(StoreError) {
        leaves.add(key: key, entry)
        if leaves.size > TreeBuilder.gathered * nodeSize { try writeFullLeaves() }
    }

    /// How many leaves' entries are gathered before the full ones among them are written.
    private static let gathered = 8

    /// Writes what is left and returns the tree.
    func finish() throws(StoreError) -> Root {
        let cuts = leaves.cuts(nodeSize: nodeSize, packing: true)
        if !cuts.isEmpty { try willWriteLeaves() }
        for range in cuts { try writeLeaf(range) }
        leaves.reset()
        var index = 0
        while index < levels.count {
            if index == levels.count - 1, levels[index].children.count == 1 {
                return .stored(levels[index].children[0], level: UInt8(index))
            }
            while levels[index].children.count > 0 { try writeBranch(index, isLast: true) }
            index += 1
        }
        return .empty
    }

    // MARK: Leaves

    private func writeFullLeaves() throws(StoreError) {
        let cuts = leaves.cuts(nodeSize: nodeSize, packing: true)
        try willWriteLeaves()
        for range in cuts.dropLast() { try writeLeaf(range) }
        leaves.removeFirst(cuts.last?.lowerBound ?? 0)
    }

    private func writeLeaf(_ range: Range<Int>) throws(StoreError) {
        let first = leaves.key(range.lowerBound)
        let separator = first.slice(0, min(lastKey.view.commonPrefix(first) + 1, first.count)).array
        let child = try nodes.leaf(range, reduction, .nothing)
        lastKey.reset()
        lastKey.append(leaves.key(range.upperBound - 1))
        try add(child, separator, to: 0)
    }

    // MARK: Branch nodes

    private func add(_ child: StoredChild, _ separator: [UInt8], to index: Int) throws(StoreError) {
        if index == levels.count { levels.append(Level()) }
        levels[index].separators.append(separator)
        levels[index].children.append(child)
        levels[index].size += Level.size(separator, child)
        // Twice as much waits as a node takes, so that the rest at the end can be parted evenly.
        if levels[index].size > 2 * nodeSize, levels[index].children.count >= 6 {
            try writeBranch(index, isLast: false)
        }
    }

    /// Writes a node of the first children that wait at `index`: a full one, or at the end all, or half of them where
    /// they don't fit one node.
    private func writeBranch(_ index: Int, isLast: Bool) throws(StoreError) {
        let level = levels[index]
        let isRest = isLast && (level.size <= nodeSize || level.children.count < 4)
        let limit = isRest ? .max : isLast ? min(level.size / 2, nodeSize) : nodeSize
        var count = 0
        var size = 0
        while count < level.children.count, count < 2 || size < limit {
            size += Level.size(level.separators[count], level.children[count])
            count += 1
        }
        if !isRest { count = min(count, level.children.count - 2) }
        let separators = SeparatorTable([[]] + level.separators[1..<count])
        let child = try nodes.branch(
            level: UInt8(index + 1), separators, Array(level.children[..<count]), reduction)
        levels[index].separators.removeFirst(count)
        levels[index].children.removeFirst(count)
        levels[index].size = zip(levels[index].separators, levels[index].children).reduce(0) {
            $0 + Level.size($1.0, $1.1)
        }
        try add(child, level.separators[0], to: index + 1)
    }
}

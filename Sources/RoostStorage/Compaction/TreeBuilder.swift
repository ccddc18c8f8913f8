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

// MARK: - EntryBatch

/// Some entries of a tree on their way to the new file, in key order.
struct EntryBatch {
    struct Item {
        fileprivate(set) var start: Int
        fileprivate(set) var keyLength: Int
        fileprivate(set) var inlineLength: Int
        let kind: ReferenceKind
        let chunk: ChunkReference
        /// Where the value is in the new file, once that is known.
        fileprivate(set) var target: ChunkReference?
    }

    private let text = ByteBuffer(capacity: 1 << 16)
    private(set) var items: [Item] = []
    /// Bytes of keys, inline bytes, and chunks referred to.
    private(set) var size = 0

    mutating func reset() {
        text.reset(keeping: 1 << 20)
        items.removeAll(keepingCapacity: true)
        size = 0
    }

    /// Adds the entry at `index` of a leaf.
    mutating func add(_ page: PageView, _ index: Int, _ entry: Entry) {
        let start = text.count
        page.appendKey(index, to: text)
        let keyLength = text.count - start
        text.append(entry.inline)
        items.append(
            Item(
                start: start, keyLength: keyLength, inlineLength: entry.inline.count, kind: entry.kind,
                chunk: entry.chunk))
        size +=
            text.count - start + MemoryLayout<Item>.stride
            + (entry.kind == .none ? 0 : Int(entry.chunk.length))
    }

    /// Notes where the value of the entry at `index` is in the new file.
    mutating func locate(_ index: Int, _ target: ChunkReference) { items[index].target = target }

    func key(_ index: Int) -> ByteView { text.view.slice(items[index].start, items[index].keyLength) }

    /// The entry as it stands in the new file.
    func entry(_ index: Int) -> Entry {
        let item = items[index]
        let inline = text.view.slice(item.start + item.keyLength, item.inlineLength)
        return Entry(
            kind: item.kind, inline: inline, chunk: item.target ?? .nowhere)
    }
}

// MARK: - LeafWalk

/// Visits the leaves of a tree in key order, past the node cache, which a walk over everything would only empty.
struct LeafWalk {
    private let file: DataFile
    private var path: [Frame] = []
    /// Where to go down next, and to which key.
    private var start: NodeHandle?
    private let first: [UInt8]?
    private let image = LeafImage()
    /// What ``page`` is a view of.
    private var memory: Node?
    private(set) var page: PageView
    /// Bytes that the leaf takes in the file.
    private(set) var storedLength: UInt64 = 0
    /// No tree's nodes take more than the file. Where damage lets a tree lead to nodes twice, it leads to them
    /// exponentially often.
    private var bytesLeft: UInt64

    private struct Frame {
        let branch: Branch
        var next: Int
        let memory: Node?
    }

    /// A stored node in memory of its own.
    private struct Node {
        let page: PageView
        /// Bytes that the node takes in the file.
        let storedLength: UInt64
        let bytes: ByteBuffer
    }

    /// A walk that starts with the leaf whose span includes `key`, or with the first.
    ///
    /// - Parameter end: where the newest commit of the file ends that the tree can lead into.
    init(file: DataFile, end: UInt64, root: Root, from key: [UInt8]? = nil) {
        self.file = file
        bytesLeft = end
        start = root.handle
        first = key
        page = image.page
    }

    /// Goes to the next leaf; `false` when there is none. ``page`` is valid until the next call.
    mutating func next() throws(StoreError) -> Bool {
        if let start {
            self.start = nil
            return try descend(start, to: first)
        }
        while let frame = path.last {
            guard frame.next < frame.branch.count else {
                path.removeLast()
                continue
            }
            path[path.count - 1].next += 1
            return try descend(try frame.branch.handle(frame.next, in: file), to: nil)
        }
        return false
    }

    private mutating func descend(_ top: NodeHandle, to key: [UInt8]?) throws(StoreError) -> Bool {
        var node = top
        while let frame = try frame(node) {
            guard path.count < Format.maximumLevel else {
                throw file.damaged("a tree deeper than any can be", node.chunk)
            }
            let index = key.map { key in key.withView { frame.branch.childIndex($0) } } ?? 0
            path.append(Frame(branch: frame.branch, next: index + 1, memory: frame.memory))
            node = try frame.branch.handle(index, in: file)
        }
        return true
    }

    /// The branch node at `handle`; `nil` for a leaf, which ``page`` then shows.
    private mutating func frame(_ handle: NodeHandle) throws(StoreError) -> Frame? {
        guard let unmanaged = unsafe handle.memory else { return try storedFrame(handle.chunk) }
        let node = unsafe unmanaged.takeUnretainedValue()
        if let inner = node as? BranchNode { return Frame(branch: .memory(inner), next: 0, memory: nil) }
        guard let leaf = node as? LeafNode else { return nil }
        var base: Node?
        if let stored = leaf.base { base = try read(stored.chunk) }
        try file.reading(leaf.base?.chunk ?? handle.chunk) { () throws(MalformedBytes) in
            try image.load(leaf, base: base?.page)
        }
        withExtendedLifetime(base) {}
        page = image.page
        storedLength = base?.storedLength ?? 0
        return nil
    }

    private mutating func storedFrame(_ chunk: ChunkReference) throws(StoreError) -> Frame? {
        let node = try read(chunk)
        guard node.page.level == 0 else {
            guard node.page.count > 0 else { throw file.damaged("a branch node without children", chunk) }
            return Frame(branch: .stored(node.page, chunk), next: 0, memory: node)
        }
        memory = node
        page = node.page
        storedLength = node.storedLength
        return nil
    }

    private mutating func read(_ chunk: ChunkReference) throws(StoreError) -> Node {
        // Nodes that a replay made are not in the file.
        if chunk.offset < StoreOpener.replayedStart {
            guard bytesLeft >= UInt64(chunk.length) else {
                throw file.damaged("a tree that leads to the same chunks again and again", chunk)
            }
            bytesLeft -= UInt64(chunk.length)
        }
        let bytes = ByteBuffer(capacity: 8192)
        let (page, leaf) = try file.load(chunk, into: bytes)
        return Node(page: page, storedLength: UInt64(chunk.length) + UInt64(leaf?.length ?? 0), bytes: bytes)
    }
}

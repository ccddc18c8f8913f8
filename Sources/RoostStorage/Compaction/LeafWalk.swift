import RoostBytes

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

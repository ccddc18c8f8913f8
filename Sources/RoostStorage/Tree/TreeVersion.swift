import RoostBytes

/// One tree as of one commit. Immutable.
final class TreeVersion: Weighted, Sendable {
    let id: UInt64
    let name: String
    /// The name of the tree's reduction, empty for none.
    var reduction: String { reader.reduction?.name ?? "" }
    /// Reads it; made once, because everybody who reads takes one, and counting references costs time.
    let reader: TreeReader
    /// Bytes that pending changes take in memory.
    let pendingBytes: Int
    /// Keys in the spans of leaves that the next transaction is to write, as they are full.
    let fullLeaves: [[UInt8]]
    /// What the tree adds to those of a ``TreeTable``; kept, as nodes in memory are still being changed by the
    /// transaction that makes versions of them.
    let weight: TreeWeight

    init(
        id: UInt64, name: String, reader: TreeReader, pendingBytes: Int = 0,
        fullLeaves: [[UInt8]] = []
    ) {
        self.id = id
        self.name = name
        self.reader = reader
        self.pendingBytes = pendingBytes
        self.fullLeaves = fullLeaves
        let isChanged = if case .memory = reader.root { true } else { false }
        weight = TreeWeight(
            count: 1, changed: isChanged ? 1 : 0, summary: reader.root.summary, pendingBytes: pendingBytes)
    }

    var root: Root { reader.root }

    /// The same version in `file`, which is its file under another handle.
    func reopened(_ file: DataFile) -> TreeVersion {
        TreeVersion(
            id: id, name: name,
            reader: TreeReader(file: file, root: root, reduction: reader.reduction),
            pendingBytes: pendingBytes, fullLeaves: fullLeaves)
    }
}

/// The top of a tree.
enum Root: Sendable {
    case empty
    case stored(StoredChild, level: UInt8)
    case memory(MemoryNode)

    var summary: Summary {
        switch self {
        case .empty: Summary()
        case .stored(let child, _): child.summary
        case .memory(let node): node.summary
        }
    }

    var handle: NodeHandle? {
        switch self {
        case .empty: nil
        case .stored(let child, _): .stored(child.chunk)
        case .memory(let node): .memory(node)
        }
    }
}

// MARK: - TreePath

/// The way down from a tree's root: each branch node, and which of its children comes next.
struct TreePath {
    struct Step {
        let node: BranchNode
        let index: Int
    }

    private(set) var steps: [Step] = []

    /// Where the node that the path leads to hangs; `nil` for the root.
    var last: Step? { steps.last }

    /// The way to the last step's node.
    var parent: TreePath {
        var parent = self
        parent.removeLast()
        return parent
    }

    /// Whether it leads to the tree's last node of its level.
    var isRightEdge: Bool { steps.allSatisfy { $0.index == $0.node.count - 1 } }

    /// The key at which the span ends of the node that the path leads to; `nil` for the last one.
    var upperFence: [UInt8]? {
        for step in steps.reversed() where step.index + 1 < step.node.count {
            return step.node.separators.key(step.index + 1).array
        }
        return nil
    }

    /// Leads to the root again, keeping the memory.
    @inline(__always) mutating func reset() { steps.removeAll(keepingCapacity: true) }

    @inline(__always) mutating func append(_ node: BranchNode, _ index: Int) {
        steps.append(Step(node: node, index: index))
    }

    mutating func removeLast() { steps.removeLast() }

    /// Adds `change` to the summaries of all nodes on the way.
    @inline(__always)
    func adjust(by change: Summary) {
        unsafe steps.withUnsafeBufferPointer { steps in
            for index in steps.indices {
                // The path keeps its nodes.
                unsafe Unmanaged.passUnretained(steps[index].node)._withUnsafeGuaranteedRef {
                    $0.summary += change
                }
            }
        }
    }
}

// MARK: - Branch

/// A branch node wherever it is, for walks that are not hot.
enum Branch {
    case memory(BranchNode)
    case stored(PageView, ChunkReference)

    var count: Int {
        switch self {
        case .memory(let node): node.count
        case .stored(let page, _): page.count
        }
    }

    func childIndex(_ key: ByteView) -> Int {
        switch self {
        case .memory(let node): node.separators.childIndex(key)
        case .stored(let page, _): page.childIndex(key)
        }
    }

    /// The last child that may hold keys less than `key`.
    func childIndex(below key: ByteView) -> Int {
        switch self {
        case .memory(let node): node.separators.childIndex(below: key)
        case .stored(let page, _): max(page.search(key).index - 1, 0)
        }
    }

    /// Where child `index` begins; meaningless for the first.
    func separator(_ index: Int) -> [UInt8] {
        switch self {
        case .memory(let node): node.separators.key(index).array
        case .stored(let page, _): page.key(index)
        }
    }

    /// How many entries there are below some of the children.
    func entries(in range: Range<Int>, _ file: DataFile) throws(StoreError) -> UInt64 {
        switch self {
        case .memory(let node): return node.entries(in: range)
        case .stored(let page, let chunk):
            return try file.reading(chunk) { () throws(MalformedBytes) in
                var entries: UInt64 = 0
                for index in range { entries = entries &+ (try page.childReduction(index).count) }
                return entries
            }
        }
    }

    func child(_ index: Int, in file: DataFile) throws(StoreError) -> Child {
        switch self {
        case .memory(let node): node[index]
        case .stored(let page, let chunk): Child(try Branch.child(index, of: page, chunk, in: file))
        }
    }

    /// Where a child is, without counting a reference to it.
    func handle(_ index: Int, in file: DataFile) throws(StoreError) -> NodeHandle {
        switch self {
        case .memory(let node): node.handle(index)
        case .stored(let page, let chunk): .stored(try Branch.child(index, of: page, chunk, in: file).chunk)
        }
    }

    private static func child(
        _ index: Int, of page: PageView, _ chunk: ChunkReference, in file: DataFile
    ) throws(StoreError) -> StoredChild {
        let child = try file.reading(chunk) { () throws(MalformedBytes) in try page.child(index) }
        guard child.chunk.offset < chunk.offset else {
            throw file.damaged("a node that leads in a circle", chunk)
        }
        return child
    }
}

extension NodeHandle {
    init(_ child: Child) {
        self = child.memory.map { .memory($0) } ?? .stored(child.stored.chunk)
    }
}

extension DataFile {
    /// What the node at `handle` is: a branch node, or `nil` for a leaf.
    func branch(
        _ handle: NodeHandle, _ pin: borrowing EpochReclaimer.Pin
    ) throws(StoreError) -> Branch? {
        if let memory = unsafe handle.memory {
            let node = unsafe memory.takeUnretainedValue()
            return node.level == 0 ? nil : .memory(unsafe unsafeDowncast(node, to: BranchNode.self))
        }
        let page = try page(handle.chunk, pin)
        guard page.level > 0 else { return nil }
        guard page.count > 0 else { throw damaged("a branch node without children", handle.chunk) }
        return .stored(page, handle.chunk)
    }
}

import RoostBytes

/// A child of an inner node in memory: as stored, or as a node in memory that takes its place.
struct Child {
    /// The child in the file; ignored where ``memory`` is there.
    var stored: StoredChild
    var memory: MemoryNode?

    init(_ stored: StoredChild) { self.stored = stored }

    init(_ memory: MemoryNode) {
        stored = StoredChild(chunk: ChunkReference(offset: 0, length: 0), summary: Summary())
        self.memory = memory
    }

    var summary: Summary { memory?.summary ?? stored.summary }
}

/// An inner node with children in memory below it.
final class InnerNode: MemoryNode, @unchecked Sendable {
    private(set) var separators: SeparatorTable
    private var children: [Child]
    /// The same as `children[i].memory`, for walking down without touching a reference count.
    private var handles: [NodeHandle]

    init(owner: UInt64, level: UInt8, separators: SeparatorTable, children: [Child]) {
        precondition(separators.count == children.count)
        self.separators = separators
        self.children = children
        handles = children.map(InnerNode.handle)
        super.init(owner: owner, level: level, summary: children.reduce(Summary()) { $0 + $1.summary })
    }

    private init(owner: UInt64, copying other: InnerNode) {
        separators = other.separators
        children = other.children
        handles = other.handles
        super.init(owner: owner, level: other.level, summary: other.summary)
    }

    override func copy(owner: UInt64) -> MemoryNode { InnerNode(owner: owner, copying: self) }

    private static func handle(_ child: Child) -> NodeHandle {
        child.memory.map { NodeHandle.memory($0) } ?? .stored(child.stored.chunk)
    }

    var count: Int { children.count }
    subscript(index: Int) -> Child { children[index] }

    @inline(__always) func handle(_ index: Int) -> NodeHandle { handles[index] }

    /// Puts a node in memory in the place of a child with the same content.
    func setMemory(_ node: MemoryNode, at index: Int) {
        children[index].memory = node
        handles[index] = .memory(node)
    }

    /// Puts a stored node in the place of a child with the same content, give or take its own bytes.
    func setStored(_ child: StoredChild, at index: Int) {
        summary += child.summary - children[index].summary
        children[index] = Child(child)
        handles[index] = .stored(child.chunk)
    }

    /// Replaces the children in `range` by others for the same span of keys. `newSeparators[0]` is ignored where
    /// the range starts at the first child.
    func replace(_ range: Range<Int>, with new: [Child], separators newSeparators: [[UInt8]]) {
        precondition(new.count == newSeparators.count)
        for child in children[range] { summary = summary - child.summary }
        for child in new { summary += child.summary }
        separators = separators.replacing(range, with: newSeparators)
        children.replaceSubrange(range, with: new)
        handles.replaceSubrange(range, with: new.map(InnerNode.handle))
    }

    /// About how many bytes the node takes when stored.
    var storedSize: Int {
        separators.size + count * (PageView.slotLength + 20) + (children.first?.stored.reduction.count ?? 0)
            * count
    }
}

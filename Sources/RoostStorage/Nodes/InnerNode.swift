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
    // Unchecked as ``MemoryNode`` is, and for its reason.

    private(set) var separators: SeparatorTable
    // A column for each part of a child: each transaction copies the nodes on its way, and copying what holds no
    // references is copying bytes.
    private var stored: [Stored]
    private var memory: [MemoryNode?]
    /// Empty where no child has one.
    private var reductions: [[UInt8]]
    /// The same as `memory`, for walking down without touching a reference count.
    private var handles: [NodeHandle]

    /// A ``StoredChild`` without its reduction.
    private struct Stored {
        let chunk: ChunkReference
        let summary: Summary
    }

    init(owner: UInt64, level: UInt8, separators: SeparatorTable, children: [Child]) {
        precondition(separators.count == children.count)
        self.separators = separators
        stored = children.map(InnerNode.stored)
        memory = children.map(\.memory)
        reductions = InnerNode.reductions(of: children)
        handles = children.map(InnerNode.handle)
        super.init(owner: owner, level: level, summary: children.reduce(Summary()) { $0 + $1.summary })
    }

    private init(owner: UInt64, copying other: InnerNode) {
        separators = other.separators
        stored = other.stored
        memory = other.memory
        reductions = other.reductions
        handles = other.handles
        super.init(owner: owner, level: other.level, summary: other.summary)
    }

    override func copy(owner: UInt64) -> MemoryNode { InnerNode(owner: owner, copying: self) }

    private static func handle(_ child: Child) -> NodeHandle {
        child.memory.map { NodeHandle.memory($0) } ?? .stored(child.stored.chunk)
    }

    private static func stored(_ child: Child) -> Stored {
        Stored(chunk: child.stored.chunk, summary: child.stored.summary)
    }

    private static func reductions(of children: [Child]) -> [[UInt8]] {
        children.contains { !$0.stored.reduction.isEmpty } ? children.map(\.stored.reduction) : []
    }

    var count: Int { handles.count }

    subscript(index: Int) -> Child {
        let stored = stored[index]
        var child = Child(
            StoredChild(
                chunk: stored.chunk, summary: stored.summary,
                reduction: reductions.isEmpty ? [] : reductions[index]))
        child.memory = memory[index]
        return child
    }

    /// The child at `index` if it is in memory.
    @inline(__always) func memory(_ index: Int) -> MemoryNode? { memory[index] }

    @inline(__always) func handle(_ index: Int) -> NodeHandle { handles[index] }

    /// Puts a node in memory in the place of a child with the same content.
    func setMemory(_ node: MemoryNode, at index: Int) {
        memory[index] = node
        handles[index] = .memory(node)
    }

    /// Puts a stored node in the place of a child with the same content, give or take its own bytes.
    func setStored(_ child: StoredChild, at index: Int) {
        replace(index, with: Child(child))
    }

    /// Replaces the children in `range` by others for the same span of keys. `newSeparators[0]` is ignored where
    /// the range starts at the first child.
    func replace(_ range: Range<Int>, with new: [Child], separators newSeparators: [[UInt8]]) {
        precondition(new.count == newSeparators.count)
        if range.count == 1, new.count == 1 {
            replace(range.lowerBound, with: new[0])
            return
        }
        for index in range { summary = summary - self[index].summary }
        for child in new { summary += child.summary }
        separators = separators.replacing(range, with: newSeparators)
        let newReductions = InnerNode.reductions(of: new)
        if !newReductions.isEmpty { makeReductions() }
        if !reductions.isEmpty { reductions.replaceSubrange(range, with: new.map(\.stored.reduction)) }
        stored.replaceSubrange(range, with: new.map(InnerNode.stored))
        memory.replaceSubrange(range, with: new.map(\.memory))
        handles.replaceSubrange(range, with: new.map(InnerNode.handle))
    }

    /// Replaces one child by another for the same span of keys.
    private func replace(_ index: Int, with child: Child) {
        summary += child.summary - self[index].summary
        stored[index] = InnerNode.stored(child)
        memory[index] = child.memory
        if !child.stored.reduction.isEmpty { makeReductions() }
        if !reductions.isEmpty { reductions[index] = child.stored.reduction }
        handles[index] = InnerNode.handle(child)
    }

    private func makeReductions() {
        if reductions.isEmpty { reductions = Array(repeating: [], count: count) }
    }

    /// About how many bytes the node takes when stored.
    var storedSize: Int {
        separators.size + count * (PageView.slotLength + 20) + reductions.reduce(0) { $0 + $1.count }
    }
}

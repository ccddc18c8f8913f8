import RoostBytes

/// A child of a branch node in memory: as stored, or as a node in memory that takes its place.
struct Child {
    /// The child in the file; ignored where ``memory`` is there.
    var stored: StoredChild
    var memory: MemoryNode?

    init(_ stored: StoredChild) { self.stored = stored }

    init(_ memory: MemoryNode) {
        stored = StoredChild(chunk: .nowhere, summary: Summary())
        self.memory = memory
    }

    var summary: Summary { memory?.summary ?? stored.summary }
}

/// A branch node with children in memory below it.
final class BranchNode: MemoryNode, @unchecked Sendable {
    // Unchecked as ``MemoryNode`` is, and for its reason.

    private(set) var separators: SeparatorTable
    /// Where the children are, for walking down without touching a reference count.
    private var handles: [NodeHandle]
    /// The children in runs of ``runLength``. A transaction copies the nodes on its way, and with them only the runs in
    /// which it changes a child: the references to all others need not be counted.
    private var runs: [[Part]]
    /// Empty where no child has one.
    private var reductions: [[UInt8]]

    /// What of a child its handle doesn't say.
    private struct Part {
        /// The subtree's, as stored; ignored where ``memory`` is there.
        let summary: Summary
        let memory: MemoryNode?

        init(_ child: Child) {
            summary = child.stored.summary
            memory = child.memory
        }
    }

    private static let runLength = 8

    init(owner: UInt64, level: UInt8, separators: SeparatorTable, children: [Child]) {
        precondition(separators.count == children.count)
        self.separators = separators
        handles = children.map { NodeHandle($0) }
        runs = BranchNode.runs(of: children.map { Part($0) })
        reductions = BranchNode.reductions(of: children)
        super.init(owner: owner, level: level, summary: children.reduce(Summary()) { $0 + $1.summary })
    }

    private init(owner: UInt64, copying other: BranchNode) {
        separators = other.separators
        handles = other.handles
        runs = other.runs
        reductions = other.reductions
        super.init(owner: owner, level: other.level, summary: other.summary)
    }

    override func copy(owner: UInt64) -> MemoryNode { BranchNode(owner: owner, copying: self) }

    private static func runs(of parts: [Part]) -> [[Part]] {
        stride(from: 0, to: parts.count, by: runLength).map { start in
            Array(parts[start..<min(start + runLength, parts.count)])
        }
    }

    private static func reductions(of children: [Child]) -> [[UInt8]] {
        children.contains { !$0.stored.reduction.isEmpty } ? children.map(\.stored.reduction) : []
    }

    var count: Int { handles.count }

    subscript(index: Int) -> Child {
        let part = runs[index / BranchNode.runLength][index % BranchNode.runLength]
        var child = Child(
            StoredChild(
                chunk: handles[index].chunk, summary: part.summary,
                reduction: reductions.isEmpty ? [] : reductions[index]))
        child.memory = part.memory
        return child
    }

    /// How many entries there are below some of the children.
    func entries(in range: Range<Int>) -> UInt64 {
        let runs = runs
        return range.reduce(0) { entries, index in
            let part = runs[index / BranchNode.runLength][index % BranchNode.runLength]
            return entries &+ (part.memory?.summary ?? part.summary).count
        }
    }

    /// The child at `index` if it is in memory.
    @inline(__always) func memory(_ index: Int) -> MemoryNode? {
        runs[index / BranchNode.runLength][index % BranchNode.runLength].memory
    }

    @inline(__always) func handle(_ index: Int) -> NodeHandle { handles[index] }

    /// Puts a node in memory in the place of a child with the same content.
    func setMemory(_ node: MemoryNode, at index: Int) { set(Child(node), at: index) }

    private func set(_ child: Child, at index: Int) {
        handles[index] = NodeHandle(child)
        runs[index / BranchNode.runLength][index % BranchNode.runLength] = Part(child)
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
        let newReductions = BranchNode.reductions(of: new)
        if !newReductions.isEmpty { makeReductions() }
        if !reductions.isEmpty { reductions.replaceSubrange(range, with: new.map(\.stored.reduction)) }
        handles.replaceSubrange(range, with: new.map { NodeHandle($0) })
        var parts = Array(runs.joined())
        parts.replaceSubrange(range, with: new.map { Part($0) })
        runs = BranchNode.runs(of: parts)
    }

    /// Replaces one child by another for the same span of keys.
    private func replace(_ index: Int, with child: Child) {
        summary += child.summary - self[index].summary
        if !child.stored.reduction.isEmpty { makeReductions() }
        if !reductions.isEmpty { reductions[index] = child.stored.reduction }
        set(child, at: index)
    }

    private func makeReductions() {
        if reductions.isEmpty { reductions = Array(repeating: [], count: count) }
    }

    /// About how many bytes the node takes when stored.
    var storedSize: Int {
        separators.size + count * (PageView.slotLength + 20) + reductions.reduce(0) { $0 + $1.count }
    }
}

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

// MARK: - BranchBuilder

/// Builds the page of a branch node.
final class BranchBuilder {
    private let page = ByteBuffer(capacity: 8192)
    private let cells = ByteBuffer(capacity: 8192)

    /// The page of `children`, whose keys part at `separators`; the first child's separator is not stored.
    ///
    /// The common prefix is shorter than every separator, so that the empty first slot orders below them all.
    func build(level: UInt8, _ separators: SeparatorTable, _ children: [StoredChild]) -> ByteView {
        let count = children.count
        var prefix = 0
        if count > 1 {
            prefix = separators.key(1).commonPrefix(separators.key(count - 1))
            prefix = min(prefix, separators.key(1).count - 1)
        }
        page.reset()
        cells.reset()
        page.append(level)
        page.append(UInt8(0))
        page.append(integer: UInt16(count))
        page.append(integer: UInt16(prefix))
        page.append(integer: UInt16(0))
        if count > 1 { page.append(separators.key(1).slice(0, prefix)) }
        let start = page.count + count * PageView.slotLength
        for index in 0..<count {
            let suffix = index == 0 ? ByteView.empty : separators.key(index).dropFirst(prefix)
            page.append(integer: PageView.head(of: suffix))
            page.append(integer: UInt16(suffix.count))
            page.append(integer: UInt16(start + cells.count))
            if suffix.count > 4 { cells.append(suffix.dropFirst(4)) }
            append(children[index])
        }
        page.append(cells.view)
        return page.view
    }

    private func append(_ child: StoredChild) {
        cells.append(integer: UInt32(truncatingIfNeeded: child.chunk.offset))
        cells.append(integer: UInt16(truncatingIfNeeded: child.chunk.offset >> 32))
        cells.append(varint: UInt64(child.chunk.length))
        cells.append(varint: child.summary.count)
        cells.append(varint: child.summary.bytes)
        child.reduction.withView { cells.append(prefixed: $0) }
    }
}

// MARK: - SeparatorTable

/// The keys that part the children of a branch node in memory; immutable, so copies of the node share it.
///
/// Child `i` holds the keys from separator `i` up to separator `i + 1`; separator 0 is empty and stands for
/// everything below.
final class SeparatorTable: Sendable {
    /// Never written after the initializer, so any thread may read it.
    private nonisolated(unsafe) let keys: ByteBuffer
    private let ends: [UInt32]
    private let heads: [UInt32]
    /// What all separators but the first begin with.
    private let prefix: Int

    private init(keys: ByteBuffer, ends: [UInt32]) {
        unsafe self.keys = keys
        self.ends = ends
        (prefix, heads) = SeparatorTable.index(keys.view, ends)
    }

    convenience init(_ separators: some Sequence<[UInt8]>) {
        let keys = ByteBuffer()
        var ends: [UInt32] = []
        for separator in separators {
            keys.append(separator)
            ends.append(UInt32(keys.count))
        }
        self.init(keys: keys, ends: ends)
    }

    /// The separators of a stored branch node.
    convenience init(_ page: PageView) {
        let keys = ByteBuffer(capacity: page.bytes.count * 2)
        var ends: [UInt32] = [0]
        ends.reserveCapacity(page.count)
        for index in stride(from: 1, to: page.count, by: 1) {
            page.appendKey(index, to: keys)
            ends.append(UInt32(keys.count))
        }
        self.init(keys: keys, ends: ends)
    }

    private static func index(_ keys: ByteView, _ ends: [UInt32]) -> (Int, [UInt32]) {
        guard ends.count > 1 else { return (0, ends.map { _ in 0 }) }
        func key(_ index: Int) -> ByteView {
            keys.slice(Int(ends[index - 1]), Int(ends[index] - ends[index - 1]))
        }
        let prefix = key(1).commonPrefix(key(ends.count - 1))
        let heads = ends.indices.map { index -> UInt32 in
            // Keys out of order, as damage may leave them, need not all have the prefix.
            index == 0 ? 0 : PageView.head(of: key(index).dropFirst(min(prefix, key(index).count)))
        }
        return (prefix, heads)
    }

    var count: Int { ends.count }
    /// Bytes of all separators.
    var size: Int { unsafe keys.count }

    func key(_ index: Int) -> ByteView {
        let start = index == 0 ? 0 : Int(ends[index - 1])
        return unsafe keys.view.slice(start, Int(ends[index]) - start)
    }

    /// The child whose keys include `key`. O(log count).
    @inline(__always) func childIndex(_ key: ByteView) -> Int {
        upperBound(key) { $0 <= 0 }
    }

    /// The last child that may hold keys less than `key`.
    func childIndex(below key: ByteView) -> Int {
        upperBound(key) { $0 < 0 }
    }

    /// The last index, above 0 only where the separator's order relative to `key` passes `admits`.
    @inline(__always)
    private func upperBound(_ key: ByteView, _ admits: (Int) -> Bool) -> Int {
        guard count > 1 else { return 0 }
        let bytes = unsafe keys.view
        let common = min(prefix, key.count)
        let order = bytes.slice(0, common).compare(key.slice(0, common))
        if order > 0 || order == 0 && key.count < prefix { return 0 }
        if order < 0 { return count - 1 }
        let head = PageView.head(of: key.dropFirst(prefix))
        var low = 1
        var high = count
        while low < high {
            let middle = (low &+ high) &>> 1
            let other = heads[middle]
            let start = Int(ends[middle - 1])
            if other < head
                || other == head && admits(bytes.slice(start, Int(ends[middle]) - start).compare(key))
            {
                low = middle &+ 1
            } else {
                high = middle
            }
        }
        return low - 1
    }

    /// A table in which the separators of `range` give way to `new`. The first separator is always empty.
    func replacing(_ range: Range<Int>, with new: [[UInt8]]) -> SeparatorTable {
        let keys = ByteBuffer(capacity: size + new.reduce(0) { $0 + $1.count } + 16)
        var ends: [UInt32] = []
        ends.reserveCapacity(count + new.count)
        func add(_ key: ByteView) {
            // What comes first takes everything below, whatever parted it from its left neighbour before.
            if !ends.isEmpty { keys.append(key) }
            ends.append(UInt32(keys.count))
        }
        for index in 0..<range.lowerBound { add(key(index)) }
        for separator in new { separator.withView(add) }
        for index in range.upperBound..<count { add(key(index)) }
        return SeparatorTable(keys: keys, ends: ends)
    }
}

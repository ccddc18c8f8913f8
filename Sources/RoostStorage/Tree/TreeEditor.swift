import RoostBytes

/// Changes one tree within a transaction: copies what it touches, logs what it does, writes leaves that are full.
///
/// A change goes into the pending page of one leaf and into the summaries above it; the shape of the tree changes
/// only where leaves are written, in `TreeEditor+Rewrite`.
final class TreeEditor {
    /// What all editors of one transaction share.
    struct Context {
        /// The transaction's number: the owner of the nodes that it may change.
        let owner: UInt64
        let file: DataFile
        let output: CommitBuffer
        /// The size that written nodes aim at, in bytes.
        let nodeSize: Int
    }

    let context: Context
    let id: UInt64
    let name: String
    let reduction: TreeReduction?
    /// The reduction's function, if it is known.
    let function: Reduction?
    let log = OperationEncoder()

    /// The top of the tree as it is now.
    var root: Child
    /// The way down to the leaf found last: each inner node and which of its children comes next.
    var path: [Step] = []
    /// Bytes that pending changes take in memory.
    var pendingBytes: Int
    /// Bytes of memory that ``TreeSet`` has counted of this editor.
    var countedBytes = 0
    /// Changes that stand in the log and are still to be made.
    var deferral: Deferral?
    /// Their keys, and perhaps others, once entries of the tree are looked up.
    var deferredKeys: KeyFilter?
    /// What looked an entry up last.
    var lastLookup: TreeReader?
    /// Whether an entry was set since changes waited last.
    var hasPut = false
    /// Whether the transaction reads the tree, so that its changes are made at once.
    var isReadBack = false
    /// Whether the transaction's bytes are complete, so that no leaf can be written any more.
    var isSealed = false
    /// Keys in the spans of leaves that were found full when they could not be written any more.
    var fullLeaves: [[UInt8]]
    /// The last leaf, while keys are being appended to it.
    var tail: Tail?
    let builder = LeafBuilder()
    let innerBuilder = InnerBuilder()

    /// The root as a checkpoint has just stored it, if nothing is pending; the last thing an editor does.
    var checkpointed: Root?

    struct Step {
        let node: InnerNode
        let index: Int
    }

    /// A leaf without a stored base at the end of the tree, which takes keys greater than all others directly.
    final class Tail {
        let leaf: LeafNode
        let path: [Step]
        let lastKey = ByteBuffer()
        /// How many of its last entries are not in the log. They get there by the end of the transaction, unless the
        /// leaf fills up first and is written: then the log needs to name only the leaf.
        var unlogged = 0

        init(leaf: LeafNode, path: [Step]) {
            self.leaf = leaf
            self.path = path
        }
    }

    init(_ version: TreeVersion, context: Context) throws(StoreError) {
        self.context = context
        id = version.id
        name = version.name
        reduction = version.reader.reduction
        function = reduction?.function
        pendingBytes = version.pendingBytes
        fullLeaves = version.fullLeaves
        switch version.root {
        case .empty:
            root = Child(LeafNode(owner: context.owner))
        case .stored(let child, let level):
            root = Child(try TreeEditor.memory(for: child, level: level, context))
        case .memory(let node):
            root = Child(node)
            return
        }
        if let leaf = root.memory as? LeafNode { pendingBytes += leaf.pendingBytes }
    }

    /// The tree as it is now, to be published.
    var version: TreeVersion {
        TreeVersion(
            id: id, name: name,
            reader: TreeReader(file: context.file, root: currentRoot, reduction: reduction),
            pendingBytes: pendingBytes, fullLeaves: fullLeaves)
    }

    var currentRoot: Root {
        if let checkpointed { return checkpointed }
        guard let node = root.memory else { return .empty }
        if let leaf = node as? LeafNode, leaf.base == nil, leaf.delta.count == 0 { return .empty }
        return .memory(node)
    }

    /// Reads the tree as it is now, until the transaction changes it.
    var reader: TreeReader {
        TreeReader(file: context.file, root: currentRoot, reduction: reduction, writer: context.owner)
    }

    /// A node in memory for a stored one.
    static func memory(
        for child: StoredChild, level: UInt8, _ context: Context
    ) throws(StoreError) -> MemoryNode {
        guard level > 0 else { return LeafNode(owner: context.owner, base: child) }
        let pin = context.file.cache.reclaimer.readers.pin()
        let page = try context.file.page(child.chunk, pin)
        guard page.level == level, page.count > 0 else {
            throw context.file.damaged("a node of another level", child.chunk)
        }
        // What is built of the separators relies on their order.
        if let fault = PageCheck(page: page, lower: nil, upper: nil).fault() {
            throw context.file.damaged(fault, child.chunk)
        }
        let branch = Branch.stored(page, child.chunk)
        var children: [Child] = []
        children.reserveCapacity(page.count)
        for index in 0..<page.count { children.append(try branch.child(index, in: context.file)) }
        return InnerNode(
            owner: context.owner, level: level, separators: SeparatorTable(page), children: children)
    }

    /// Walks down to the leaf whose span includes `key`, making every node on the way this transaction's own.
    func descend(_ key: ByteView) throws(StoreError) -> LeafNode {
        path.removeAll(keepingCapacity: true)
        var node = ownedRoot()
        while node.level > 0 {
            let inner = unsafe unsafeDowncast(node, to: InnerNode.self)
            let index = inner.separators.childIndex(key)
            node = try ownedChild(inner, index)
            path.append(Step(node: inner, index: index))
        }
        return unsafe unsafeDowncast(node, to: LeafNode.self)
    }

    func ownedRoot() -> MemoryNode {
        guard let node = root.memory else { preconditionFailure("an edited tree's root is in memory") }
        if node.owner == context.owner { return node }
        let copy = copy(of: node)
        root = Child(copy)
        return copy
    }

    /// A copy that this transaction may change; one of a leaf takes more memory, as it has room for some changes.
    private func copy(of node: MemoryNode) -> MemoryNode {
        let copy = node.copy(owner: context.owner)
        if node.level == 0 {
            pendingBytes += unsafe unsafeDowncast(copy, to: LeafNode.self).pendingBytes
            pendingBytes -= unsafe unsafeDowncast(node, to: LeafNode.self).pendingBytes
        }
        return copy
    }

    /// The child of `inner`, a node of ``path``'s end, as a node that this transaction may change.
    func ownedChild(_ inner: InnerNode, _ index: Int) throws(StoreError) -> MemoryNode {
        if let memory = inner.memory(index) {
            if memory.owner == context.owner { return memory }
            let copy = copy(of: memory)
            inner.setMemory(copy, at: index)
            return copy
        }
        let child = inner[index]
        let node = try TreeEditor.memory(for: child.stored, level: inner.level - 1, context)
        inner.setMemory(node, at: index)
        if let leaf = node as? LeafNode { pendingBytes += leaf.pendingBytes }
        let change = node.summary - child.stored.summary
        inner.summary += change
        adjust(path, by: change)
        return node
    }

    /// Adds `change` to the summaries of the nodes along `path`.
    @inline(__always)
    func adjust(_ path: [Step], by change: Summary) {
        unsafe path.withUnsafeBufferPointer { steps in
            for index in steps.indices {
                // The path keeps its nodes.
                unsafe Unmanaged.passUnretained(steps[index].node)._withUnsafeGuaranteedRef {
                    $0.summary += change
                }
            }
        }
    }
}

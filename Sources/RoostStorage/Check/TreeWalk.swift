import RoostBytes

/// Walks one version of a tree, nodes in the file and nodes in memory alike, and verifies all of it against itself:
/// levels, order, spans, summaries, reductions, and that children stand before their parents (so no walk is endless).
///
/// Every node is compared with what its parent says of it, so a damaged subtree is reported once and the rest is
/// verified all the same.
final class TreeWalk {
    let file: DataFile
    let tree: String
    let reduction: Reduction?
    let findings: FindingList
    /// Called with every chunk that the tree leads to.
    let visit: (ChunkReference, ChunkLedger.Use, ChunkKind) throws(StoreError) -> Void
    /// Reads the values, to verify them; `nil` to leave them.
    private let values: ValueWindow?
    /// Subtrees by offset that were walked before as parts of another version of the tree.
    var known: [UInt64: Summary] = [:]
    /// The stored subtrees right below nodes in memory.
    var frontier: [UInt64: Summary] = [:]
    /// Bytes that nodes and values of one tree can take at most: the file's. A tree that leads to more leads to some of
    /// them twice, and a walk that did not stop could take for ever.
    private var bytesLeft: UInt64
    private(set) var nodeCount = 0
    private(set) var valueCount = 0

    init(
        file: DataFile, end: UInt64 = .max, tree: String, reduction: Reduction?, findings: FindingList,
        readsValues: Bool,
        visit: @escaping (ChunkReference, ChunkLedger.Use, ChunkKind) throws(StoreError) -> Void
    ) {
        self.file = file
        bytesLeft = end
        self.tree = tree
        self.reduction = reduction
        self.findings = findings
        self.visit = visit
        values = readsValues ? ValueWindow(file: file) : nil
    }

    /// A span of keys, open where `nil`.
    struct Span {
        var lower: [UInt8]?
        var upper: [UInt8]?
    }

    func walk(_ root: Root) throws(StoreError) {
        switch root {
        case .empty: break
        case .stored(let child, let level): try walk(child, level: level, Span(), before: .max)
        case .memory(let node): try walk(node, Span())
        }
    }

    func report(_ what: String, at offset: UInt64) { findings.add(what, at: offset, tree: tree) }

    // MARK: Stored nodes

    /// Walks the stored node that `child` describes, as its parent at offset `limit` does.
    func walk(_ child: StoredChild, level: UInt8, _ span: Span, before limit: UInt64) throws(StoreError) {
        let chunk = child.chunk
        guard chunk.offset < limit else { return report("a node that leads in a circle", at: limit) }
        if let summary = known[chunk.offset] { return compare(child, summary, child.reduction) }
        guard let node = try read(chunk) else { return }
        let page = node.page
        guard page.level == level else { return report("a node of another level", at: chunk.offset) }
        if let fault = PageCheck(page: page, lower: span.lower, upper: span.upper).fault() {
            return report(fault, at: chunk.offset)
        }
        if level == 0 {
            try walkLeaf(node, child)
        } else {
            try walkBranch(page, child, span)
        }
        extendLifetime(node)
    }

    /// A stored node in memory of its own.
    struct Node {
        let page: PageView
        /// Bytes that the node takes in the file.
        let storedLength: UInt64
        fileprivate let memory: ByteBuffer
    }

    /// The node at `chunk`, read from the file, past all caches; `nil` when it can't be read.
    func read(_ chunk: ChunkReference) throws(StoreError) -> Node? {
        nodeCount += 1
        guard chunk.length <= DataFile.maximumNodeLength else {
            report("a node larger than any can be", at: chunk.offset)
            return nil
        }
        guard spend(chunk) else { return nil }
        try visit(chunk, .owned, .node)
        let memory = ByteBuffer(capacity: 8192)
        let node: (page: PageView, leaf: ChunkReference?)
        do throws(StoreError) {
            node = try file.load(chunk, into: memory)
        } catch {
            try findings.add(error, at: chunk.offset, tree: tree)
            return nil
        }
        if let leaf = node.leaf {
            guard spend(leaf) else { return nil }
            try visit(leaf, .owned, .node)
        }
        let length = UInt64(chunk.length) + UInt64(node.leaf?.length ?? 0)
        return Node(page: node.page, storedLength: length, memory: memory)
    }

    /// Counts what the tree leads to; `false` when that is more than there is.
    private func spend(_ chunk: ChunkReference) -> Bool {
        if chunk.offset >= StoreOpener.replayedStart { return true }
        guard bytesLeft >= UInt64(chunk.length) else {
            report("a tree that leads to the same chunks again and again", at: chunk.offset)
            return false
        }
        bytesLeft -= UInt64(chunk.length)
        return true
    }

    private func walkBranch(_ page: PageView, _ node: StoredChild, _ span: Span) throws(StoreError) {
        var summary = Summary(count: 0, bytes: UInt64(node.chunk.length))
        var children: [StoredChild] = []
        for index in 0..<page.count {
            let child = try file.reading(node.chunk) { () throws(MalformedBytes) in try page.child(index) }
            summary += child.summary
            if reduction != nil { children.append(child) }
            let lower = index == 0 ? span.lower : page.key(index)
            let upper = index + 1 < page.count ? page.key(index + 1) : span.upper
            try walk(
                child, level: page.level - 1, Span(lower: lower, upper: upper), before: node.chunk.offset)
        }
        compare(node, summary, reduction?.storedValue(of: children) ?? [])
    }

    private func walkLeaf(_ node: Node, _ leaf: StoredChild) throws(StoreError) {
        var summary = try walkEntries(node.page, at: leaf.chunk.offset)
        summary.bytes += node.storedLength
        // Making the value again reads what it was made of: damage there is found where the values are read.
        let isNeeded = !leaf.reduction.isEmpty
        compare(leaf, summary, isNeeded ? reduction?.storedValue(of: node.page, in: file) ?? [] : [])
    }

    private func compare(_ node: StoredChild, _ summary: Summary, _ value: [UInt8]) {
        if node.summary.count != summary.count {
            report("a node whose entries are miscounted", at: node.chunk.offset)
        }
        if node.summary.bytes != summary.bytes {
            report("a node whose live bytes are miscounted", at: node.chunk.offset)
        }
        // A value that was not made when the node was written, or can't be made now, is no damage.
        if !node.reduction.isEmpty, !value.isEmpty, node.reduction != value {
            report("a node whose reduction is not that of its entries", at: node.chunk.offset)
        }
    }

    /// Visits the values of a leaf's entries; returns what the entries add up to.
    func walkEntries(_ page: PageView, at offset: UInt64) throws(StoreError) -> Summary {
        var summary = Summary(count: UInt64(page.count))
        for index in 0..<page.count {
            let entry = try file.reading(ChunkReference(offset: offset, length: 0)) {
                () throws(MalformedBytes) in
                try page.entry(index)
            }
            guard entry.kind != .none else { continue }
            summary.bytes &+= entry.ownedBytes
            try visit(entry.chunk, use(entry.kind), .value)
            if entry.kind != .borrowed, spend(entry.chunk) { try verify(page, index, entry.chunk) }
        }
        return summary
    }

    private func use(_ kind: ReferenceKind) -> ChunkLedger.Use {
        switch kind {
        case .none, .owned: .owned
        case .shared: .shared
        case .borrowed: .borrowed
        }
    }

    private func verify(_ page: PageView, _ index: Int, _ chunk: ChunkReference) throws(StoreError) {
        guard let values else { return }
        valueCount += 1
        do throws(StoreError) {
            _ = try values.read(chunk) { distance in
                guard index + distance < page.count, let next = try? page.entry(index + distance),
                    next.kind == .owned || next.kind == .shared
                else { return nil }
                return next.chunk
            }
        } catch {
            try findings.add(error, at: chunk.offset, tree: tree)
        }
    }
}

// MARK: - Memory

/// Nodes in memory: pending changes and the way to them.
extension TreeWalk {
    /// Offsets mean nothing for nodes in memory; their findings say 0.
    private var nowhere: UInt64 { 0 }

    func walk(_ node: MemoryNode, _ span: Span) throws(StoreError) {
        if let branch = node as? BranchNode {
            try walkBranch(branch, span)
        } else if let leaf = node as? LeafNode {
            try walkLeaf(leaf, span)
        }
    }

    private func walkBranch(_ node: BranchNode, _ span: Span) throws(StoreError) {
        guard node.count > 0 else { return report("a branch node in memory without children", at: nowhere) }
        var summary = Summary()
        for index in 0..<node.count {
            let child = node[index]
            let lower = index == 0 ? span.lower : node.separators.key(index).array
            let upper = index + 1 < node.count ? node.separators.key(index + 1).array : span.upper
            if let lower, let upper, !lower.lexicographicallyPrecedes(upper) {
                report("separators in memory out of order", at: nowhere)
            }
            summary += child.summary
            let childSpan = Span(lower: lower, upper: upper)
            if let memory = child.memory {
                if memory.level != node.level - 1 { report("a node in memory of another level", at: nowhere) }
                try walk(memory, childSpan)
            } else {
                frontier[child.stored.chunk.offset] = child.stored.summary
                try walk(child.stored, level: node.level - 1, childSpan, before: .max)
            }
            verifyHandle(node.handle(index), child)
        }
        if !node.separators.key(0).isEmpty { report("a first child in memory with a separator", at: nowhere) }
        if node.summary != summary { report("a branch node in memory that is miscounted", at: nowhere) }
    }

    private func verifyHandle(_ handle: NodeHandle, _ child: Child) {
        let node = unsafe handle.memory?.takeUnretainedValue()
        if node !== child.memory || node == nil && handle.chunk != child.stored.chunk {
            report("a node in memory whose handle leads elsewhere", at: nowhere)
        }
    }

    private func walkLeaf(_ leaf: LeafNode, _ span: Span) throws(StoreError) {
        let pending = PageCheck(
            page: leaf.delta.view, lower: span.lower, upper: span.upper,
            allowedTags: DeltaPage.tombstone | DeltaPage.replaces)
        if let fault = pending.fault() { return report("pending changes: \(fault)", at: nowhere) }
        guard let base = leaf.base else { return try walkMerged(leaf, nil) }
        guard let node = try read(base.chunk) else { return }
        guard node.page.level == 0 else { return report("a malformed leaf", at: base.chunk.offset) }
        if let fault = PageCheck(page: node.page, lower: span.lower, upper: span.upper).fault() {
            return report(fault, at: base.chunk.offset)
        }
        try walkMerged(leaf, node)
        extendLifetime(node)
    }

    /// Verifies marks and summary of a leaf with pending changes; `base` is its stored leaf.
    private func walkMerged(_ leaf: LeafNode, _ base: Node?) throws(StoreError) {
        let place = leaf.base?.chunk ?? ChunkReference(offset: nowhere, length: 0)
        let image = LeafImage()
        try file.reading(place) { () throws(MalformedBytes) in
            for index in 0..<leaf.delta.count { try verifyMarks(leaf.delta.view, index, base?.page) }
            try image.load(leaf, base: base?.page)
        }
        var summary = try walkEntries(image.page, at: place.offset)
        summary.bytes &+= base?.storedLength ?? 0
        if leaf.summary != summary { report("a leaf in memory that is miscounted", at: place.offset) }
    }

    private func verifyMarks(_ pending: PageView, _ index: Int, _ base: PageView?) throws(MalformedBytes) {
        let (_, tag) = try pending.taggedEntry(index)
        let isStored = pending.key(index).withView { base?.search($0).found ?? false }
        if (tag & DeltaPage.replaces != 0) != isStored {
            report("a pending change that is wrong about the stored leaf", at: nowhere)
        }
        if tag & DeltaPage.tombstone != 0, !isStored {
            report("a pending deletion of what is not there", at: nowhere)
        }
    }
}

extension StoreTransaction {
    /// What is wrong with the trees as the transaction has them now; empty when all is well. Walks everything.
    func checkInvariants() throws(StoreError) -> [CheckFinding] {
        let findings = FindingList(limit: 100)
        for version in trees.versions {
            let walk = TreeWalk(
                file: file, tree: version.name, reduction: version.reader.reduction?.function,
                findings: findings,
                readsValues: true
            ) { (_, _, _) throws(StoreError) in }
            try walk.walk(version.root)
        }
        return findings.findings
    }
}

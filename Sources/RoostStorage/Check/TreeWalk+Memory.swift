import RoostBytes

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

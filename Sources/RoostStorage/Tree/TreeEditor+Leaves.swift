import RoostBytes

/// Leaves: the one that takes a change, the last one, to which greater keys are appended, and the writing of full ones. Leaves
/// split by bytes, merge with a neighbour when less than a quarter full, and disappear when empty.
extension TreeEditor {
    // MARK: A change

    /// Sets the entry under `key` where an operation in the log says so already.
    ///
    /// - Parameter opensTail: whether greater keys may be appended from now on, if it is the tree's last key.
    func putUnlogged(_ key: ByteView, _ entry: Entry, opensTail: Bool = false) throws(StoreError) {
        let leaf = try descend(key)
        if try put(key, entry, in: leaf) {
            // Nothing is appended below it from now on.
            if let tail, tail.leaf === leaf { tail.note(key) }
            if opensTail { startTail(leaf, key, at: path) }
        }
        try writeIfFull(leaf, with: key)
    }

    /// Deletes `key` where an operation in the log says so already; `false` when it is not there.
    ///
    /// - Parameter isKnown: that it is there, and that its entry owns no value.
    @discardableResult
    func deleteUnlogged(_ key: ByteView, isKnown: Bool = false) throws(StoreError) -> Bool {
        let leaf = try descend(key)
        try logTail(before: leaf)
        let isDeleted = try delete(key, in: leaf, isKnown: isKnown)
        // Also where the same change, made before, failed to write the leaf.
        try writeIfFull(leaf, with: key)
        return isDeleted
    }

    /// Changes the leaf, to which ``path`` leads; `true` when `key` is now the last of its pending changes.
    func put(_ key: ByteView, _ entry: Entry, in leaf: LeafNode) throws(StoreError) -> Bool {
        let (index, found) = leaf.delta.view.search(key)
        let known = try existing(key, in: leaf, index, found)
        let capacity = leaf.pendingBytes
        leaf.delta.put(
            key, entry, tag: known.isStored ? DeltaPage.replaces : 0, at: index, found: found)
        pendingBytes += leaf.pendingBytes - capacity
        let change = Summary(count: known.isPresent ? 0 : 1, bytes: entry.ownedBytes &- known.ownedBytes)
        leaf.summary += change
        path.adjust(by: change)
        return index == leaf.delta.count - 1
    }

    private func delete(_ key: ByteView, in leaf: LeafNode, isKnown: Bool) throws(StoreError) -> Bool {
        let (index, found) = leaf.delta.view.search(key)
        // Where it is known to be there and no change of it is pending, the stored leaf has it.
        let isUnverified = isKnown && !found && leaf.base != nil
        let known =
            isUnverified
            ? Known(isPresent: true, isStored: true) : try existing(key, in: leaf, index, found)
        if isUnverified { leaf.hasUnverifiedDeletions = true }
        guard known.isPresent else { return false }
        let capacity = leaf.pendingBytes
        if known.isStored {
            leaf.delta.put(
                key, .inline(.empty), tag: DeltaPage.tombstone | DeltaPage.replaces, at: index, found: found)
        } else {
            leaf.delta.remove(at: index)
            if tail?.leaf === leaf { tail = nil }
        }
        pendingBytes += leaf.pendingBytes - capacity
        let change = Summary() - Summary(count: 1, bytes: known.ownedBytes)
        leaf.summary += change
        path.adjust(by: change)
        return true
    }

    /// What a leaf knows of a key before a change.
    private struct Known {
        var isPresent = false
        /// Whether the stored leaf has the key, hidden or not.
        var isStored = false
        var ownedBytes: UInt64 = 0
    }

    private func existing(
        _ key: ByteView, in leaf: LeafNode, _ index: Int, _ found: Bool
    ) throws(StoreError) -> Known {
        if found, let (entry, tag) = try? leaf.delta.view.taggedEntry(index) {
            let isPresent = tag & DeltaPage.tombstone == 0
            return Known(
                isPresent: isPresent, isStored: tag & DeltaPage.replaces != 0,
                ownedBytes: isPresent ? entry.ownedBytes : 0)
        }
        guard let base = leaf.base else { return Known() }
        let (file, cache) = (context.file, context.file.cache)
        let pin = cache.reclaimer.readers.pin()
        let cached = cache.find(base.chunk.offset, pin)
        let filter = cached == nil ? cache.filter(base.chunk.offset, pin) : nil
        if let filter, !filter.mayContain(key) {
            leaf.noteMerging(key, withPageOf: filter.pageLength, filter.count, filter.prefix)
            return Known()
        }
        let page: PageView
        if let cached {
            page = cached
        } else if filter != nil {
            page = try file.load(base.chunk)
        } else {
            // Of leaves that are only written to, filters alone should fill the cache.
            page = try file.load(base.chunk, into: context.nodes.unpacked).page
        }
        guard page.level == 0 else { throw file.damaged("a node of another level", base.chunk) }
        if cached == nil, filter == nil { cache.insertFilter(of: page, at: base.chunk.offset) }
        leaf.noteMerging(key, withPageOf: page.bytes.count, page.count, page.prefix)
        let (position, isStored) = page.search(key)
        guard isStored else { return Known() }
        let entry = try file.reading(base.chunk) { () throws(MalformedBytes) in
            try page.entry(position)
        }
        return Known(isPresent: true, isStored: true, ownedBytes: entry.ownedBytes)
    }

    // MARK: A full leaf

    /// Writes the leaf, to which ``path`` and `key` lead, once its changes take more than a node, or can't be shown in one
    /// page with what is stored. Where nothing can be written any more, it is noted or divided.
    func writeIfFull(_ leaf: LeafNode, with key: ByteView) throws(StoreError) {
        guard leaf.exceedsPage || leaf.delta.used > context.nodeSize && !isOpen(leaf) else { return }
        if !isSealed {
            try rewrite(leaf, keepingTail: true)
        } else if leaf.exceedsPage || leaf.delta.used > DeltaPage.largestOpen {
            try divide(leaf)
        } else {
            fullLeaves.append(key.array)
        }
    }

    /// Whether `leaf` was never stored and its entries, whose keys may start alike, still fit one page.
    private func isOpen(_ leaf: LeafNode) -> Bool {
        guard leaf.base == nil, leaf.delta.count > 0, leaf.delta.used <= DeltaPage.largestOpen else {
            return false
        }
        let last = leaf.delta.view.key(leaf.delta.count - 1)
        return last.withView { leaf.delta.used - leaf.sharedBytes(upTo: $0) } <= context.nodeSize
    }

    /// Writes `leaf`, to which ``path`` leads: with its changes merged in, or its changes alone where they are few.
    ///
    /// - Parameter keepingTail: where keys were appended to the tree's last leaf, what does not fill a node stays in
    ///   memory, open for more.
    func rewrite(_ leaf: LeafNode, keepingTail: Bool = false) throws(StoreError) {
        try closeTail()
        if let child = try context.nodes.changes(of: leaf, nodeSize: context.nodeSize, function) {
            let index = path.last?.index ?? 0
            return try replace(index..<index + 1, path, with: [Child(child)], separators: [[]])
        }
        let entries = context.nodes.entries
        entries.reset()
        let isKept = try gather(leaf)
        var range = 0..<1
        if let step = path.last {
            range = step.index..<step.index + 1
            if entries.size < context.nodeSize / 4, step.node.count > 1 {
                range = try gatherNeighbour(leaf, step)
            }
        }
        let grows = path.isRightEdge && endsWithPending(leaf)
        var children: [Child] = []
        var separators: [[UInt8]] = []
        for cut in entries.cuts(nodeSize: context.nodeSize, packing: grows) {
            let isTail =
                keepingTail && grows && cut.lowerBound > 0 && cut.upperBound == entries.count
                && entries.pendingSize(cut) <= context.nodeSize
            children.append(
                isTail
                    ? Child(try openLeaf(cut))
                    : Child(try context.nodes.leaf(cut, function, isKept ? .whole : .filter)))
            separators.append(separator(before: cut.lowerBound))
        }
        let last = children.last?.memory as? LeafNode
        try replace(range, path, with: children, separators: separators)
        if let last {
            entries.key(entries.count - 1).array.withView { startTail(last, $0, at: rightEdge()) }
        }
    }

    /// Divides a leaf that has no room for another change into leaves that are in memory only, because nothing can be
    /// written any more.
    private func divide(_ leaf: LeafNode) throws(StoreError) {
        let entries = context.nodes.entries
        entries.reset()
        try gather(leaf)
        var children: [Child] = []
        var separators: [[UInt8]] = []
        var rest = [0..<entries.count]
        while let range = rest.popLast() {
            // In memory each key stands whole, so what would fit one stored leaf may be far too much.
            if entries.pendingSize(range) > context.nodeSize, range.count > 1 {
                let middle = range.lowerBound + range.count / 2
                rest += [middle..<range.upperBound, range.lowerBound..<middle]
                continue
            }
            children.append(Child(try openLeaf(range)))
            separators.append(separator(before: range.lowerBound))
        }
        let index = path.last?.index ?? 0
        try replace(index..<index + 1, path, with: children, separators: separators)
    }

    /// Whether the greatest key of `leaf` is a pending change, as it is where keys grow.
    private func endsWithPending(_ leaf: LeafNode) -> Bool {
        let (pending, entries) = (leaf.delta.view, context.nodes.entries)
        return pending.count > 0 && entries.count > 0
            && pending.key(pending.count - 1).withView { entries.key(entries.count - 1).compare($0) } == 0
    }

    /// The gathered entries in `range` as a leaf in memory.
    private func openLeaf(_ range: Range<Int>) throws(StoreError) -> LeafNode {
        let leaf = LeafNode(owner: context.owner)
        let (bytes, summary) = context.nodes.entries.build(range)
        guard let page = PageView(bytes) else { preconditionFailure("a built page is well-formed") }
        try context.file.reading(.nowhere) { () throws(MalformedBytes) in
            for index in 0..<page.count {
                let entry = try page.entry(index)
                page.key(index).withView { leaf.delta.put($0, entry, tag: 0, at: index, found: false) }
            }
        }
        leaf.summary = summary
        return leaf
    }

    /// Adds the entries of `leaf` as they are now to those gathered.
    ///
    /// - Returns: `false` if the stored leaf is not in the cache; the leaves that replace it need not be there either.
    @discardableResult
    private func gather(_ leaf: LeafNode) throws(StoreError) -> Bool {
        let entries = context.nodes.entries
        let pin = context.file.cache.reclaimer.readers.pin()
        let cached = leaf.base.flatMap { context.file.cache.find($0.chunk.offset, pin) }
        var base = cached
        if let child = leaf.base, cached == nil {
            base = try context.file.load(child.chunk, into: context.nodes.unpacked).page
        }
        let chunk = leaf.base?.chunk ?? .nowhere
        let joint = entries.count
        try context.file.reading(chunk) { () throws(MalformedBytes) in
            try entries.merge(base, leaf.delta.view)
        }
        guard joint == 0 || joint == entries.count || entries.key(joint - 1).compare(entries.key(joint)) < 0
        else { throw context.file.damaged("a leaf that overlaps its neighbour", chunk) }
        return leaf.base == nil || cached != nil
    }

    /// Gathers a neighbour as well; returns the two children's indices.
    private func gatherNeighbour(_ leaf: LeafNode, _ step: TreePath.Step) throws(StoreError) -> Range<Int> {
        let other = step.index > 0 ? step.index - 1 : step.index + 1
        let child = step.node[other]
        let neighbour = child.memory as? LeafNode ?? LeafNode(owner: context.owner, base: child.stored)
        if other < step.index {
            context.nodes.entries.reset()
            try gather(neighbour)
            try gather(leaf)
        } else {
            try gather(neighbour)
        }
        return min(other, step.index)..<max(other, step.index) + 1
    }

    /// The shortest key that parts the gathered entry at `index` from the one before.
    private func separator(before index: Int) -> [UInt8] {
        guard index > 0 else { return [] }
        let entries = context.nodes.entries
        let key = entries.key(index)
        return key.slice(0, min(entries.key(index - 1).commonPrefix(key) + 1, key.count)).array
    }
}

// MARK: - Parts

/// Changes divided by the children of the root, and the children put together again.
extension TreeEditor {
    /// The changes of `log` that wait, a part for each child of the root that they concern; none where there is no more than one.
    func parts(of changes: DeferredChanges) throws(StoreError) -> [DividedChanges.Part] {
        guard let root = top as? BranchNode else { return [] }
        var operations: [OperationEncoder?] = Array(repeating: nil, count: root.count)
        func encoder(_ key: ByteView) -> OperationEncoder {
            let index = root.separators.childIndex(key)
            let encoder = operations[index] ?? OperationEncoder()
            operations[index] = encoder
            return encoder
        }
        try changes.forEach(in: log) { (operation) throws(StoreError) in
            switch operation {
            case .put(let key, let entry): encoder(key).put(key, entry)
            case .delete(let key): encoder(key).delete(key)
            case .appendLeaf: break
            case .deleteRange: preconditionFailure("ranges are deleted at once")
            }
        }
        let parts = operations.enumerated().compactMap { index, operations in
            operations.map { operations in
                let child = root[index]
                let reader = TreeReader(
                    file: context.file,
                    root: child.memory.map { .memory($0) } ?? .stored(child.stored, level: root.level - 1),
                    reduction: reduction)
                return DividedChanges.Part(
                    index: index, tree: TreeVersion(id: id, name: name, reader: reader),
                    operations: operations.buffer.view.array, deletesKnown: changes.deletesKnown)
            }
        }
        return parts.count > 1 ? parts : []
    }

    /// Puts what has become of children of the root in their place.
    func join(_ made: [DividedChanges.Made]) throws(StoreError) {
        guard let root = ownedRoot() as? BranchNode else {
            preconditionFailure("a root with children is a branch")
        }
        // From the last one on, as one may give way to several.
        for child in made.sorted(by: { $0.index > $1.index }) {
            var nodes = [Child(child.top)]
            var separators = [root.separators.key(child.index).array]
            while let branch = nodes[0].memory as? BranchNode, branch.level >= root.level {
                (nodes, separators) = TreeEditor.lowered(nodes, separators)
            }
            let before = root.summary
            root.replace(child.index..<child.index + 1, with: nodes, separators: separators)
            root.summary = before + child.growth
            pendingBytes += child.pendingBytes
            fullLeaves += child.fullLeaves
        }
        if isTooLarge(root) { try split(root, TreePath(), packing: false) }
    }

    /// The children of branch nodes, in the place of these.
    private static func lowered(_ nodes: [Child], _ separators: [[UInt8]]) -> ([Child], [[UInt8]]) {
        var children: [Child] = []
        var lowered: [[UInt8]] = []
        for (node, separator) in zip(nodes, separators) {
            guard let branch = node.memory as? BranchNode else {
                preconditionFailure("what was divided is in memory")
            }
            for index in 0..<branch.count {
                children.append(branch[index])
                lowered.append(index == 0 ? separator : branch.separators.key(index).array)
            }
        }
        return (children, lowered)
    }
}

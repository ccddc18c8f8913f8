import RoostBytes

extension TreeEditor {
    /// Sets the entry under `key`. O(log n).
    func put(_ key: ByteView, _ entry: Entry) throws(StoreError) {
        try settle()
        hasPut = true
        if try append(key, entry) { return }
        let leaf = try descend(key)
        try logTail(before: leaf)
        log.put(key, entry)
        let last = try put(key, entry, in: leaf)
        if last { startTail(leaf, key) }
        try rewriteIfFull(leaf, with: key)
    }

    /// Sets the entry under `key` where an operation in the log says so already.
    func putUnlogged(_ key: ByteView, _ entry: Entry) throws(StoreError) {
        let leaf = try descend(key)
        let last = try put(key, entry, in: leaf)
        // Nothing is appended below it from now on.
        if last, let tail, tail.leaf === leaf {
            tail.lastKey.reset()
            tail.lastKey.append(key)
        }
        try rewriteIfFull(leaf, with: key)
    }

    /// Deletes `key`, if it is there. O(log n).
    func delete(_ key: ByteView) throws(StoreError) {
        try settle()
        if try deleteUnlogged(key) { log.delete(key) }
    }

    /// Deletes `key` where an operation in the log says so already; `false` when it is not there.
    @discardableResult
    func deleteUnlogged(_ key: ByteView) throws(StoreError) -> Bool {
        let leaf = try descend(key)
        try logTail(before: leaf)
        guard try delete(key, in: leaf) else { return false }
        try rewriteIfFull(leaf, with: key)
        return true
    }

    /// Changes the leaf; `true` when `key` is now the last of its pending changes.
    private func put(_ key: ByteView, _ entry: Entry, in leaf: LeafNode) throws(StoreError) -> Bool {
        let (index, found) = leaf.delta.view.search(key)
        let known = try existing(key, in: leaf, index, found)
        let capacity = leaf.pendingBytes
        leaf.delta.put(
            key, entry, tag: known.isStored ? DeltaPage.replaces : 0, at: index, found: found)
        pendingBytes += leaf.pendingBytes - capacity
        let change = Summary(count: known.isPresent ? 0 : 1, bytes: entry.ownedBytes &- known.ownedBytes)
        leaf.summary += change
        adjust(path, by: change)
        return index == leaf.delta.count - 1
    }

    private func delete(_ key: ByteView, in leaf: LeafNode) throws(StoreError) -> Bool {
        let (index, found) = leaf.delta.view.search(key)
        let known = try existing(key, in: leaf, index, found)
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
        adjust(path, by: change)
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
        let pin = context.file.cache.reclaimer.readers.pin()
        let page = try context.file.page(base.chunk, pin)
        guard page.level == 0 else { throw context.file.damaged("a node of another level", base.chunk) }
        leaf.noteMerging(key, with: page)
        let (position, isStored) = page.search(key)
        guard isStored else { return Known() }
        let entry = try context.file.reading(base.chunk) { () throws(MalformedBytes) in
            try page.entry(position)
        }
        return Known(isPresent: true, isStored: true, ownedBytes: entry.ownedBytes)
    }

    /// Writes the leaf, to which ``path`` and `key` lead, once its changes take more than a node, or can't be shown in one
    /// page with what is stored.
    func rewriteIfFull(_ leaf: LeafNode, with key: ByteView) throws(StoreError) {
        guard leaf.exceedsPage || leaf.delta.used > context.nodeSize && !isOpen(leaf) else { return }
        if !isSealed {
            try rewrite(leaf, path, keepingTail: true)
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
}

import RoostBytes

/// Changes that are logged at once and made later: what a transaction does not read back is applied to its trees while the
/// medium syncs the log, when a processor would otherwise have nothing to do.
///
/// The log is the queue. An operation may wait only where making it late ends in the same tree, which needs no more than
/// that operations on the same key keep their order. So it waits behind others that do, and never where its key might be
/// one of those being appended, which are logged after it.
extension TreeEditor {
    /// The operations that are still to be made.
    struct Deferral {
        let start: OperationEncoder.Mark
        /// Where in the log the last of them ends.
        var end = 0
        var count = 0
    }

    /// How many changes are still to be made.
    var deferredCount: Int { deferral?.count ?? 0 }

    /// Sets the entry under `key`, at the latest when the transaction commits.
    func putLater(_ key: ByteView, _ entry: Entry) throws(StoreError) {
        if try append(key, entry) { return }
        // The first one shows whether keys are being appended.
        guard hasPut, mayWait(key) else { return try put(key, entry) }
        deferring(key) { log.put(key, entry) }
    }

    /// Deletes `key`, if it is there, at the latest when the transaction commits.
    func deleteLater(_ key: ByteView) throws(StoreError) {
        guard mayWait(key) else { return try delete(key) }
        deferring(key) { log.delete(key) }
    }

    private func mayWait(_ key: ByteView) -> Bool {
        guard !isReadBack else { return false }
        guard let tail else { return true }
        if tail.leaf.delta.count == 0 { return tail.lastKey.view.compare(key) >= 0 }
        let (index, found) = tail.leaf.delta.view.search(key)
        return index == 0 && !found
    }

    @inline(__always)
    private func deferring(_ key: ByteView, _ append: () -> Void) {
        if deferral == nil { deferral = Deferral(start: log.mark) }
        append()
        deferral?.end = log.buffer.count
        deferral?.count += 1
        deferredKeys?.add(key)
    }

    /// Calls `body` with the entry under `key` as it is with the changes made so far, if there is one; its views are valid
    /// during the call. Changes of other keys go on waiting.
    func find(_ key: ByteView, _ body: (Entry) -> Void) throws(StoreError) {
        // No key of the tree is greater than the last one that was appended, and none waits that is.
        if let tail, tail.lastKey.view.compare(key) < 0 { return }
        if deferredKeys?.mayContain(key) != false {
            try settle()
            deferredKeys = KeyFilter()
        }
        _ = try lookup().find(key) { (entry) throws(StoreError) in body(entry) }
    }

    /// Reads the tree as it stands, while its root is the same node.
    private func lookup() -> TreeReader {
        guard let node = root.memory else { preconditionFailure("an edited tree's root is in memory") }
        if let lastLookup, case .memory(let known) = lastLookup.root, known === node { return lastLookup }
        let reader = TreeReader(
            file: context.file, root: .memory(node), reduction: nil, writer: context.owner)
        lastLookup = reader
        return reader
    }

    /// Makes the changes that wait.
    @inline(__always)
    func settle() throws(StoreError) {
        if deferral != nil { try makeDeferred() }
    }

    /// Makes the changes that wait, and from now on each at once: who reads a tree does so again.
    func settleForReading() throws(StoreError) {
        isReadBack = true
        try settle()
    }

    /// Makes the changes that wait after the transaction's bytes are complete: no leaf is written any more.
    func settleSealed() throws(StoreError) {
        isSealed = true
        try settle()
    }

    @inline(never)
    private func makeDeferred() throws(StoreError) {
        guard let deferral else { return }
        self.deferral = nil
        hasPut = false
        // Nothing is logged below, so the log's bytes stay where they are.
        try logTail()
        var decoder = OperationDecoder(log.buffer.view.slice(0, deferral.end), after: deferral.start)
        do throws(OperationDecoder.Failure<StoreError>) {
            while try decoder.next({ (operation) throws(StoreError) in try make(operation) }) {}
        } catch {
            switch error {
            case .malformed: preconditionFailure("what was just encoded can be decoded")
            case .body(let cause): throw cause
            }
        }
    }

    private func make(_ operation: Operation) throws(StoreError) {
        switch operation {
        case .put(let key, let entry): try putUnlogged(key, entry)
        case .delete(let key): try deleteUnlogged(key)
        // Made when it was logged, in between.
        case .appendLeaf: break
        case .deleteRange: preconditionFailure("ranges are deleted at once")
        }
    }

    /// Writes the leaves that earlier transactions found full when they could not write any more.
    func rewriteFullLeaves() throws(StoreError) {
        for key in fullLeaves {
            try key.withView { (key) throws(StoreError) in try rewriteIfFull(try descend(key), with: key) }
        }
        fullLeaves = []
    }

    /// Divides a leaf that has no room for another change into leaves that are in memory only, because nothing can be
    /// written any more.
    func divide(_ leaf: LeafNode) throws(StoreError) {
        builder.reset()
        try gather(leaf)
        pendingBytes -= leaf.pendingBytes
        var children: [Child] = []
        var separators: [[UInt8]] = []
        var rest = [0..<builder.count]
        while let range = rest.popLast() {
            // In memory each key stands whole, so what would fit one stored leaf may be far too much.
            if builder.pendingSize(range) > context.nodeSize, range.count > 1 {
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
}

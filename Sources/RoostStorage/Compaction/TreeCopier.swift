import RoostBytes

/// Copies one tree: its values in the order of its keys, and its entries into nodes built anew.
///
/// An entry that borrows a value needs the value's new place, which is known once the tree of the entry that owns it
/// has been copied. So there are two passes over the trees. The first copies each tree up to the first entry whose
/// value's place is unknown; of the rest it copies the values that others may borrow. The second pass copies the
/// entries that were left.
final class TreeCopier {
    private let version: TreeVersion
    private let source: StoreState
    private let target: CopyTarget
    private let builder: TreeBuilder
    private let gatherer: ValueGatherer
    private var batch = EntryBatch()
    private let lastKey = ByteBuffer()
    private var hasLastKey = false
    /// The first key that the first pass did not copy.
    private var deferred: [UInt8]?

    /// Which entries are copied.
    private enum Pass { case first, sharedValues, second }

    init(_ version: TreeVersion, of source: StoreState, to target: CopyTarget) {
        self.version = version
        self.source = source
        self.target = target
        gatherer = target.gatherer
        builder = TreeBuilder(
            output: target.output, nodeSize: target.nodeSize, reduction: version.reader.reduction?.function)
    }

    /// The first pass.
    func copy() throws(StoreError) { try copy(.first, from: nil) }

    /// The second pass; returns the finished tree.
    func finish() throws(StoreError) -> Root {
        if let deferred { try copy(.second, from: deferred) }
        return try builder.finish()
    }

    private func copy(_ pass: Pass, from key: [UInt8]?) throws(StoreError) {
        var pass = pass
        var walk = LeafWalk(
            file: source.file, end: source.record.end, root: version.root, from: key)
        hasLastKey = false
        var read: UInt64 = 0
        while try walk.next() {
            let page = walk.page
            try checkOrder(page)
            read += walk.storedLength
            for index in 0..<page.count {
                let entry = try source.file.reading(.nowhere) {
                    () throws(MalformedBytes) in try page.entry(index)
                }
                if pass == .sharedValues, entry.kind != .shared { continue }
                if let key, key.withView({ isBefore(page, index, $0) }) { continue }
                if batch.size + Int(entry.chunk.length) > target.batchSize
                    || batch.items.count == ValueGatherer.most
                {
                    try finishBatch(&pass, &read)
                }
                batch.add(page, index, entry)
            }
        }
        try finishBatch(&pass, &read)
    }

    /// Whether the key at `index` is less than `key`; only the first leaf of a walk has such.
    private func isBefore(_ page: PageView, _ index: Int, _ key: ByteView) -> Bool {
        page.search(key).index > index
    }

    /// Keys must grow, within each leaf and from leaf to leaf; what comes from the medium may not.
    private func checkOrder(_ page: PageView) throws(StoreError) {
        let key = ByteBuffer()
        for index in 0..<page.count {
            key.reset()
            page.appendKey(index, to: key)
            guard !hasLastKey || lastKey.view.compare(key.view) < 0 else {
                throw StoreError(
                    .damaged,
                    "\(source.file.path) is damaged: keys of tree \"\(version.name)\" are out of order. "
                        + "Salvage writes what is readable into a new file.")
            }
            lastKey.reset()
            lastKey.append(key.view)
            hasLastKey = true
        }
    }

    // MARK: Batches

    private func finishBatch(_ pass: inout Pass, _ read: inout UInt64) throws(StoreError) {
        defer { batch.reset() }
        var end = batch.items.count
        switch pass {
        case .first:
            end = try locate(borrowedOnly: true, stopping: true)
            if end < batch.items.count { deferred = batch.key(end).array }
            try copyValues(0..<end) { $0.kind != .none && $0.target == nil }
            try build(end)
            if end < batch.items.count {
                pass = .sharedValues
                try copyValues(end..<batch.items.count) { $0.kind == .shared }
            }
        case .sharedValues:
            try copyValues(0..<end) { _ in true }
        case .second:
            _ = try locate(borrowedOnly: false, stopping: false)
            try copyValues(0..<end) { $0.kind != .none && $0.target == nil }
            try build(end)
        }
        try target.pace.copied(read, writtenEnd: target.writtenEnd)
        read = 0
    }

    private func build(_ end: Int) throws(StoreError) {
        for index in 0..<end { try builder.add(batch.key(index), batch.entry(index)) }
    }

    /// Finds out where values went that were copied before; returns the index of the first entry whose value was not,
    /// if `stopping`.
    private func locate(borrowedOnly: Bool, stopping: Bool) throws(StoreError) -> Int {
        var order: [UInt64] = []
        for (index, item) in batch.items.enumerated()
        where item.kind == .borrowed || !borrowedOnly && item.kind == .shared {
            order.append(item.chunk.offset << 16 | UInt64(index))
        }
        order.sort()
        var end = batch.items.count
        for place in order {
            let index = Int(place & 0xffff)
            batch.items[index].target = try target.relocations.find(place >> 16)
            if stopping, batch.items[index].target == nil { end = min(end, index) }
        }
        return end
    }

    /// Copies the values of the `wanted` entries in `range`, in the order of their keys.
    private func copyValues(_ range: Range<Int>, _ wanted: (EntryBatch.Item) -> Bool) throws(StoreError) {
        let indices = range.filter { wanted(batch.items[$0]) }
        guard !indices.isEmpty else { return }
        try gatherer.read(indices.map { batch.items[$0].chunk })
        var copied: UInt64 = 0
        for (position, index) in indices.enumerated() {
            let item = batch.items[index]
            let payload = try source.file.payload(
                of: gatherer.chunk(position, item.chunk), .value, item.chunk, scratch: &target.scratch)
            let chunk = try target.output.append(.value, payload)
            batch.items[index].target = chunk
            if item.kind != .owned { try target.relocations.add(item.chunk.offset, chunk) }
            copied += UInt64(item.chunk.length)
        }
        try target.pace.copied(copied, writtenEnd: target.writtenEnd)
    }
}

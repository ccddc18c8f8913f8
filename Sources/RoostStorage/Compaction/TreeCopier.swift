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
            output: target.output, nodeSize: target.nodeSize, reduction: version.reader.reduction?.function,
            willWriteLeaves: { [marks = target.marks] () throws(StoreError) in try marks.note(version) })
    }

    /// Whether the first pass left entries to the second.
    var isDeferred: Bool { deferred != nil }

    /// The first pass.
    func copy() throws(StoreError) { try copy(.first, from: nil) }

    /// The second pass, where one is needed; returns the finished tree.
    func finish() throws(StoreError) -> Root {
        if let deferred { try copy(.second, from: deferred) }
        return try builder.finish()
    }

    private func copy(_ pass: Pass, from key: [UInt8]?) throws(StoreError) {
        let (file, batchSize) = (source.file, target.batchSize)
        var pass = pass
        var walk = LeafWalk(file: file, end: source.record.end, root: version.root, from: key)
        var key = key
        var read: UInt64 = 0
        while try walk.next() {
            let page = walk.page
            read += walk.storedLength
            var start = 0
            if let first = key.take() { start = try place(of: first, in: page) }
            for index in start..<page.count {
                let entry = try file.reading(.nowhere) { () throws(MalformedBytes) in try page.entry(index) }
                if pass == .sharedValues, entry.kind != .shared { continue }
                if batch.size + Int(entry.chunk.length) > batchSize
                    || batch.items.count == ValueGatherer.most
                {
                    try finishBatch(&pass, &read)
                }
                batch.add(page, index, entry)
            }
        }
        try finishBatch(&pass, &read)
    }

    /// Where in a leaf the entry of `key` stands. Not searched for: that passes over entries where keys are out of order.
    private func place(of key: [UInt8], in page: PageView) throws(StoreError) -> Int {
        for index in 0..<page.count where page.key(index) == key { return index }
        throw unordered()
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

    /// Adds the first entries of the batch to the new tree. Keys must grow; those that come from the medium may not.
    private func build(_ end: Int) throws(StoreError) {
        guard end > 0 else { return }
        var last = hasLastKey ? lastKey.view : nil
        for index in 0..<end {
            let key = batch.key(index)
            if let last, last.compare(key) >= 0 { throw unordered() }
            try builder.add(key, batch.entry(index))
            last = key
        }
        lastKey.reset()
        lastKey.append(batch.key(end - 1))
        hasLastKey = true
    }

    private func unordered() -> StoreError {
        StoreError(
            .damaged,
            "\(source.file.path) is damaged: keys of tree \"\(version.name)\" are out of order. "
                + "Salvage writes what is readable into a new file.")
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
        let relocations = target.relocations
        var end = batch.items.count
        for place in order {
            let index = Int(place & 0xffff)
            if let found = try relocations.find(place >> 16) {
                batch.locate(index, found)
            } else if stopping {
                end = min(end, index)
            }
        }
        return end
    }

    /// Copies the values of the `wanted` entries in `range`, in the order of their keys.
    private func copyValues(_ range: Range<Int>, _ wanted: (EntryBatch.Item) -> Bool) throws(StoreError) {
        let indices = range.filter { wanted(batch.items[$0]) }
        guard !indices.isEmpty else { return }
        let chunks = indices.map { batch.items[$0].chunk }
        try gatherer.read(chunks)
        let copies = try append(chunks)
        for (index, copy) in zip(indices, copies) { batch.locate(index, copy) }
        try target.relocations.add(
            gatherer.inFileOrder.filter { batch.items[indices[$0]].kind != .owned }
                .map { Relocation(chunks[$0].offset, copies[$0]) })
        try target.pace.copied(
            chunks.reduce(0) { $0 + UInt64($1.length) }, writtenEnd: target.writtenEnd)
    }

    /// Appends the chunks that the gatherer has read; returns where they are in the new file.
    private func append(_ chunks: [ChunkReference]) throws(StoreError) -> [ChunkReference] {
        let (file, gatherer, output) = (source.file, gatherer, target.output)
        var scratch: ByteBuffer?
        defer { extendLifetime(scratch) }
        var copies: [ChunkReference] = []
        copies.reserveCapacity(chunks.count)
        for (index, chunk) in chunks.enumerated() {
            let payload = try file.payload(
                of: gatherer.chunk(index, chunk), .value, chunk, scratch: &scratch)
            copies.append(try output.append(.value, payload))
        }
        return copies
    }
}

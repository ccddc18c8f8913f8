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

// MARK: - TreeMarks

/// Notes in a compacted file, again and again, whose leaves are stored where: from these marks salvage knows to which tree the
/// leaves of any part of the file belong, whatever else is lost.
///
/// The marks are chunks of operations that change nothing, chained behind the list of trees that the file begins with.
final class TreeMarks {
    private let output: CommitBuffer
    /// The mark written last, or the list of trees.
    private(set) var last: ChunkReference?
    /// Whose leaves follow the last mark.
    private var current: TreeVersion?

    /// Bytes of the file that follow a mark at most, before leaves get another one.
    private static let spacing: UInt64 = 64 << 10

    /// - Parameter list: the list of trees.
    init(_ output: CommitBuffer, after list: ChunkReference?) {
        self.output = output
        last = list
    }

    /// Notes that leaves of `tree` follow, unless the last mark says so nearby.
    func note(_ tree: TreeVersion) throws(StoreError) {
        if tree.id == current?.id, let last, output.end - last.end < TreeMarks.spacing { return }
        try write(before: tree)
    }

    /// Notes that no more leaves follow.
    func finish() throws(StoreError) {
        if current != nil { try write(before: nil) }
    }

    private func write(before tree: TreeVersion?) throws(StoreError) {
        guard let former = current ?? tree else { return }
        let payload = ByteBuffer()
        OperationChunk.begin(after: last, in: payload)
        OperationChunk.append(markBetween: former, tree, to: payload)
        defer { extendLifetime(payload) }
        last = try output.append(.operations, payload.view)
        current = tree
    }
}

// MARK: - ValueGatherer

/// Reads many chunks with few calls: in the order of their places in the file, near ones together.
final class ValueGatherer {
    private let file: DataFile
    /// Where the last commit that may be read ends.
    private let end: UInt64
    /// The chunks read last, as they stand in the file.
    let bytes = ByteBuffer(capacity: 1 << 16)
    /// Where in ``bytes`` each chunk starts, in the order in which they were asked for.
    private(set) var places: [Int] = []
    private let window = ByteBuffer(capacity: 1 << 16)
    private var order: [UInt64] = []

    /// How many chunks can be asked for at a time.
    static let most = 1 << 16
    /// Unwanted bytes between two chunks that are cheaper to read than to skip.
    private static let largestGap: UInt64 = 4096
    /// The most that is read with one call for several chunks.
    private static let largestWindow: UInt64 = 256 << 10

    init(file: DataFile, end: UInt64) {
        self.file = file
        self.end = end
    }

    /// Reads `chunks`, at most ``most``, into ``bytes``.
    func read(_ chunks: [ChunkReference]) throws(StoreError) {
        precondition(chunks.count <= ValueGatherer.most)
        arrange(chunks)
        var total = 0
        places.removeAll(keepingCapacity: true)
        for chunk in chunks {
            guard chunk.offset <= end, UInt64(chunk.length) <= end - chunk.offset else {
                throw file.damaged("a chunk that reaches beyond the last commit", chunk)
            }
            places.append(total)
            total += Int(chunk.length)
        }
        bytes.reset(keeping: 32 << 20)
        bytes.resize(to: total)
        var next = 0
        while next < order.count { next = try readRun(from: next, chunks) }
    }

    private func arrange(_ chunks: [ChunkReference]) {
        order.removeAll(keepingCapacity: true)
        var isSorted = true
        var last: UInt64 = 0
        for (index, chunk) in chunks.enumerated() {
            if chunk.offset < last { isSorted = false }
            last = chunk.offset
            order.append(chunk.offset << 16 | UInt64(index))
        }
        if !isSorted { order.sort() }
    }

    /// Reads the chunks that lie near the one at `start` in file order; returns where to go on.
    private func readRun(from start: Int, _ chunks: [ChunkReference]) throws(StoreError) -> Int {
        let first = Int(order[start] & 0xffff)
        let begin = chunks[first].offset
        var end = chunks[first].end
        var stop = start + 1
        while stop < order.count {
            let next = chunks[Int(order[stop] & 0xffff)]
            guard next.offset <= end + ValueGatherer.largestGap,
                next.end <= begin + ValueGatherer.largestWindow
            else { break }
            end = max(end, next.end)
            stop += 1
        }
        guard stop > start + 1 else {
            let target = unsafe bytes.mutableBytes
            let place = places[first]
            let part = place..<place + Int(chunks[first].length)
            unsafe try file.read(UnsafeMutableRawBufferPointer(rebasing: target[part]), at: begin)
            return stop
        }
        unsafe try file.read(window.emptied(toHold: Int(end - begin)), at: begin)
        let view = window.view
        for place in order[start..<stop] {
            let index = Int(place & 0xffff)
            let chunk = chunks[index]
            bytes.store(view.slice(Int(chunk.offset - begin), Int(chunk.length)), at: places[index])
        }
        return stop
    }

    /// The indices of the chunks that were asked for, in the order of their places.
    var inFileOrder: some Sequence<Int> { order.lazy.map { Int($0 & 0xffff) } }

    /// The chunk that was asked for as the `index`-th, valid until the next ``read(_:)``.
    func chunk(_ index: Int, _ reference: ChunkReference) -> ByteView {
        bytes.view.slice(places[index], Int(reference.length))
    }
}

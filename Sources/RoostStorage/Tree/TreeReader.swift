import RoostBytes

/// Reads one version of a tree. Usable from any thread; takes no lock and counts no reference on its way down.
final class TreeReader: Sendable {
    let file: DataFile
    let root: Root
    let reduction: TreeReduction?
    /// The transaction that goes on changing the tree, so that reductions of its nodes can't be kept; 0 for none.
    let writer: UInt64
    private let handle: NodeHandle?

    init(file: DataFile, root: Root, reduction: TreeReduction?, writer: UInt64 = 0) {
        self.file = file
        self.root = root
        self.reduction = reduction
        self.writer = writer
        handle = root.handle
    }

    var count: UInt64 { root.summary.count }

    /// Calls `body` with the entry under `key`, whose views are valid during the call; returns whether there is one.
    /// O(log n).
    ///
    /// - Parameter scratch: given by who may be about to insert `key`. A leaf that is read for that is decoded there, and if it
    ///   has not got the key the cache keeps no more of it than a filter, so that those of leaves that are only written to
    ///   fill it.
    @inline(__always)
    func find(
        _ key: ByteView, using scratch: ByteBuffer? = nil, _ body: (Entry) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        guard var node = handle else { return false }
        let pin = file.cache.reclaimer.readers.pin()
        while let memory = unsafe node.memory {
            switch unsafe memory._withUnsafeGuaranteedRef({ TreeReader.step($0, key) }) {
            case .down(let next): node = next
            case .entry(let entry):
                try body(entry)
                return true
            case .absent: return false
            }
        }
        return try findStored(key, below: node.chunk, pin, scratch, body)
    }

    private enum Step {
        case down(NodeHandle)
        case entry(Entry)
        case absent
    }

    @inline(__always)
    private static func step(_ node: MemoryNode, _ key: ByteView) -> Step {
        if node.level > 0 {
            let inner = unsafe unsafeDowncast(node, to: BranchNode.self)
            return .down(inner.handle(inner.separators.childIndex(key)))
        }
        let leaf = unsafe unsafeDowncast(node, to: LeafNode.self)
        let pending = leaf.delta.view
        let (index, found) = pending.search(key)
        if found, let (entry, tag) = try? pending.taggedEntry(index) {
            return tag & DeltaPage.tombstone == 0 ? .entry(entry) : .absent
        }
        guard let base = leaf.base else { return .absent }
        return .down(.stored(base.chunk))
    }

    @inline(__always)
    private func findStored(
        _ key: ByteView, below top: ChunkReference, _ pin: borrowing EpochReclaimer.Pin,
        _ scratch: ByteBuffer?, _ body: (Entry) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        var chunk = top
        while true {
            let cached = file.cache.find(chunk.offset, pin)
            let filter = cached == nil ? file.cache.filter(chunk.offset, pin) : nil
            if filter?.mayContain(key) == false { return false }
            let page: PageView
            if let cached {
                page = cached
            } else if let scratch, filter == nil {
                page = try load(chunk, orFilterWithout: key, scratch)
            } else {
                page = try file.load(chunk)
            }
            if page.level == 0 {
                let (index, found) = page.search(key)
                guard found else { return false }
                try body(try file.reading(chunk) { () throws(MalformedBytes) in try page.entry(index) })
                return true
            }
            let next = try child(page, page.childIndex(key), of: chunk)
            chunk = next
        }
    }

    /// Reads the node at `chunk` into `scratch`; the cache takes a copy, or the filter of a leaf that has not got `key`.
    /// The caller holds a pin.
    @inline(never)
    private func load(
        _ chunk: ChunkReference, orFilterWithout key: ByteView, _ scratch: ByteBuffer
    ) throws(StoreError) -> PageView {
        let page = try file.load(chunk, into: scratch).page
        if page.level == 0, !page.search(key).found {
            file.cache.insertFilter(of: page, at: chunk.offset)
        } else {
            file.cache.insert(copyOf: page.bytes, at: chunk.offset)
        }
        return page
    }

    /// The chunk of a child, which must lie before its parent: nodes are written bottom-up, so anything else is
    /// damage, and walking down always ends.
    @inline(__always)
    private func child(
        _ page: PageView, _ index: Int, of chunk: ChunkReference
    ) throws(StoreError) -> ChunkReference {
        guard page.count > 0 else { throw file.damaged("a branch node without children", chunk) }
        let next = try file.reading(chunk) { () throws(MalformedBytes) in try page.childChunk(index) }
        guard next.offset < chunk.offset else { throw file.damaged("a node that leads in a circle", chunk) }
        return next
    }
}

extension DataFile {
    /// Runs a decoding step on the node at `chunk` and says where the damage is when it fails.
    @inline(__always)
    func reading<R>(
        _ chunk: ChunkReference, _ body: () throws(MalformedBytes) -> R
    ) throws(StoreError) -> R {
        do throws(MalformedBytes) {
            return try body()
        } catch {
            throw damaged("a malformed node", chunk)
        }
    }
}

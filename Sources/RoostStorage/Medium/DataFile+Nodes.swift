import RoostBytes

/// Reading nodes: through the cache or past it, a leaf together with what changed of it.
extension DataFile {
    /// The node at `chunk`, valid while `pin` exists.
    @inline(__always)
    func page(_ chunk: ChunkReference, _ pin: borrowing EpochReclaimer.Pin) throws(StoreError) -> PageView {
        if let page = cache.find(chunk.offset, pin) { return page }
        return try load(chunk)
    }

    /// The largest chunk that a node may be: 64 KiB of page and what a transform adds.
    static let maximumNodeLength = 128 * 1024

    /// Reads the node at `chunk`, which the cache hasn't got, and puts it there.
    @inline(never)
    func load(_ chunk: ChunkReference) throws(StoreError) -> PageView {
        var made: CachedNode?
        do throws(StoreError) {
            _ = unsafe try decode(chunk) { length in
                if let made { cache.discard(made) }
                let node = cache.makeNode(offset: chunk.offset, length: length)
                made = node
                return unsafe node.bytes
            }
            guard let made, let page = PageView(made.page) else { throw damaged("a malformed node", chunk) }
            cache.insert(made)
            return page
        } catch {
            if let made { cache.discard(made) }
            throw error
        }
    }

    /// Reads the node at `chunk` into `buffer`, past the cache.
    ///
    /// - Returns: the page; and where the file has a leaf and what changed of it apart, the leaf's chunk.
    @discardableResult
    func load(
        _ chunk: ChunkReference, into buffer: ByteBuffer
    ) throws(StoreError) -> (page: PageView, leaf: ChunkReference?) {
        let leaf = unsafe try decode(chunk) { unsafe buffer.emptied(toHold: $0) }
        guard let page = PageView(buffer.view) else { throw damaged("a malformed node", chunk) }
        return (page, leaf)
    }

    /// Puts the node at `chunk` into the memory that `makeRoom` gives for a number of bytes; the last, where it is asked twice.
    ///
    /// - Returns: where the file has a leaf and what changed of it apart, the leaf's chunk.
    private func decode(
        _ chunk: ChunkReference, _ makeRoom: (Int) -> UnsafeMutableRawBufferPointer
    ) throws(StoreError) -> ChunkReference? {
        guard let changes = unsafe try decodeStored(chunk, makeRoom) else { return nil }
        unsafe try merge(changes, chunk, makeRoom)
        return changes.leaf
    }

    /// What is at `chunk`: a node, which is then in memory that `makeRoom` gave, or what changed of a leaf.
    private func decodeStored(
        _ chunk: ChunkReference, _ makeRoom: (Int) -> UnsafeMutableRawBufferPointer
    ) throws(StoreError) -> LeafChanges? {
        try reading(nodeAt: chunk) { (bytes) throws(ChunkCodec.Refusal) in
            unsafe try codec.decode(nodeIn: bytes, at: chunk, makeRoom)
        }
    }

    /// What changed of a leaf, if that is what is at `chunk`; `nil` for a node, which is not decoded.
    func changes(at chunk: ChunkReference) throws(StoreError) -> LeafChanges? {
        try reading(nodeAt: chunk) { (bytes) throws(ChunkCodec.Refusal) in
            try codec.changes(in: bytes, at: chunk)
        }
    }

    /// Runs `body` with the bytes of the chunk of a node, once more with others where it refuses what a mapping shows.
    @inline(__always)
    private func reading(
        nodeAt chunk: ChunkReference, _ body: (ByteView) throws(ChunkCodec.Refusal) -> LeafChanges?
    ) throws(StoreError) -> LeafChanges? {
        guard chunk.length <= DataFile.maximumNodeLength else {
            throw damaged("a node larger than any can be", chunk)
        }
        if let mappedPlaces, let bytes = mappedPlaces.find(chunk, mapping: false) {
            let lostPages = mappedPlaces.lostPages.value
            // What does not verify may be a page that could not be read: a call says what is wrong, if anything is.
            let decoded = Result { () throws(ChunkCodec.Refusal) in try body(bytes) }
            if case .success(let changes) = decoded, mappedPlaces.lostPages.value == lostPages {
                return changes
            }
        }
        let buffer = try read(chunk)
        defer { extendLifetime(buffer) }
        do throws(ChunkCodec.Refusal) {
            return try body(buffer.view)
        } catch {
            throw damaged(error.reason, chunk)
        }
    }

    /// Puts a leaf with `changes`, which are at `chunk`, into memory.
    private func merge(
        _ changes: LeafChanges, _ chunk: ChunkReference,
        _ makeRoom: (Int) -> UnsafeMutableRawBufferPointer
    ) throws(StoreError) {
        guard changes.leaf.offset < chunk.offset, chunk.length <= LeafChanges.largestChunk else {
            throw damaged("changes of a leaf that are too long or lead in a circle", chunk)
        }
        let buffer = ByteBuffer(capacity: 8192)
        let isWhole = unsafe try decodeStored(changes.leaf) { unsafe buffer.emptied(toHold: $0) } == nil
        guard isWhole, let leaf = PageView(buffer.view) else {
            throw damaged("changes in the place of a leaf", changes.leaf)
        }
        try reading(changes.leaf) { () throws(MalformedBytes) in
            unsafe try LeafBuilder.merge(leaf, changes.page, using: LeafBuilder(), makeRoom)
        }
        extendLifetime((buffer, changes))
    }
}

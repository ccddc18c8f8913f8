import RoostBytes

/// The bytes of a commit as they will stand in the file: the last of them gathered for one contiguous write with the
/// record at the end, those of a large commit before them handed to ``CommitParts``.
final class CommitBuffer {
    let file: DataFile
    private let codec: ChunkCodec
    /// Where in the file the commit starts.
    let start: UInt64
    let compression: Int32
    /// What is still in memory and no part yet.
    private(set) var unwritten: UnwrittenBytes
    /// What was handed over to be written; `nil` for a commit that is one part.
    private(set) var parts: CommitParts?
    /// Memory for parts; `nil` while replaying for a reader, who writes nothing, so that all stays in ``unwritten``.
    private let pool: BufferPool?
    /// Where leaves are packed.
    private lazy var packed = ByteBuffer(capacity: 8192)
    /// Of the parts.
    private var checksum: Checksum
    /// Bytes of the commit that replaying it reads.
    private(set) var loggedBytes: UInt64 = 0

    init(file: DataFile, start: UInt64, compression: Int32, pool: BufferPool?) {
        self.file = file
        codec = file.codec
        self.start = start
        self.compression = compression
        self.pool = pool
        unwritten = UnwrittenBytes(start: start, buffer: pool?.take() ?? ByteBuffer())
        checksum = Checksum(seed: codec.salt)
        file.unwritten.withLock { [unwritten] in $0.append(unwritten) }
    }

    /// Where the next byte goes.
    var end: UInt64 { unwritten.end }
    /// How many bytes the commit has so far.
    var count: Int { Int(end - start) }

    /// Counts bytes that replaying the commit reads.
    func countLogged(_ count: Int) { loggedBytes += UInt64(count) }

    /// Appends a chunk. Leaves are packed (``PackedLeaf``) where that makes them shorter.
    func append(_ kind: ChunkKind, _ payload: ByteView) throws(StoreError) -> ChunkReference {
        if kind == .node, let page = PageView(payload), page.level == 0,
            let chunk = try append(packing: page, length: payload.count)
        {
            return chunk
        }
        return try append(kind, payload, .plain)
    }

    /// Appends a leaf that takes `length` bytes as a page, packed; `nil` when that would not make it shorter.
    ///
    /// - Parameter dropped: how many bytes all keys have in common after the page's prefix.
    func append(
        packing page: PageView, length: Int, dropping dropped: Int = 0
    ) throws(StoreError) -> ChunkReference? {
        packed.reset()
        let isShorter = try? PackedLeaf.pack(page, length: length, dropping: dropped, to: packed)
        return isShorter == true ? try append(.node, packed.view, .packed) : nil
    }

    /// Appends `page`, which takes `length` bytes and is what changed of the leaf at `leaf` (``LeafChanges``); `nil` where
    /// that takes more than `limit` bytes.
    func append(
        changes page: PageView, length: Int, deletions: [Bool], of leaf: ChunkReference, limit: Int
    ) throws(StoreError) -> ChunkReference? {
        packed.reset()
        let isShorter = try? LeafChanges.append(
            page, length: length, deletions: deletions, of: leaf, to: packed)
        guard isShorter == true, codec.maximumLength(packed.count) <= limit else { return nil }
        return try append(.node, packed.view, .changes)
    }

    @inline(__always)
    private func append(
        _ kind: ChunkKind, _ payload: ByteView, _ form: ChunkCodec.Form
    ) throws(StoreError) -> ChunkReference {
        let buffer = unwritten.buffer
        let end = end
        guard end + UInt64(codec.maximumLength(payload.count)) < ChunkReference.maximumOffset else {
            throw StoreError(.limitExceeded, "\(file.path) has reached the format's largest size of 256 TiB.")
        }
        let chunk = codec.append(
            payload, kind: kind, form, at: end, level: compression, to: buffer)
        if let pool, buffer.count >= pool.partLength { try handOver(pool) }
        return chunk
    }

    /// Begins with chunks that were made at this place in the file before. They are handed over with what follows.
    func begin(with chunks: UnwrittenBytes) {
        precondition(chunks.start == end, "a chunk is good at one place alone")
        unwritten.buffer.append(chunks.buffer.view)
    }

    /// Makes a part of all whole blocks.
    private func handOver(_ pool: BufferPool) throws(StoreError) {
        let buffer = unwritten.buffer
        let length = buffer.count & ~(Format.blockSize - 1)
        checksum.update(buffer.view.slice(0, length))
        let rest = UnwrittenBytes(start: unwritten.start + UInt64(length), buffer: pool.take())
        rest.buffer.append(buffer.view.dropFirst(length))
        file.unwritten.withLock { $0.append(rest) }
        buffer.resize(to: length)
        let part = unwritten
        unwritten = rest
        let parts = self.parts ?? CommitParts(file: file, pool: pool)
        self.parts = parts
        try parts.add(part)
    }

    /// Where the record will stand. That of a checkpoint has a block to itself: a block that is lost takes the root directory
    /// or the record, which leads to an earlier checkpoint, but not both.
    func recordOffset(of kind: CommitRecord.Kind) -> UInt64 {
        let end = kind == .checkpoint ? Format.roundedUp(end) : end
        return Format.roundedUp(end + UInt64(CommitRecord.size)) - UInt64(CommitRecord.size)
    }

    /// Fills the last block up, puts `record` at its end and returns what must be written beside ``parts``.
    func seal(_ record: inout CommitRecord) -> UnwrittenBytes {
        let buffer = unwritten.buffer
        buffer.append(zeros: Int(recordOffset(of: record.kind) - end))
        record.start = start
        record.offset = end
        record.contentChecksum = checksum.finalize(buffer.view)
        if codec.isTransformed { record.history = codec.history.number(at: start) }
        record.encode(to: buffer, codec: codec)
        return unwritten
    }

    /// Forgets the bytes: they were written, or the transaction was given up. Afterwards none of them is written any more.
    func release() {
        if let parts {
            parts.abandon()
            file.writtenAhead.withLock { $0 = min($0, start) }
        }
        let gone = unwritten
        file.unwritten.withLock { list in list.removeAll { $0 === gone } }
        pool?.give(gone.buffer)
    }
}

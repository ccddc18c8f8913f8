import RoostBytes
import RoostFile
import Synchronization

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
    func end(with record: inout CommitRecord) -> UnwrittenBytes {
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

// MARK: - CommitParts

/// The parts of a large commit that are written while what follows them is still being made.
///
/// Nothing of a commit counts until the record at its very end is there, so its parts may be written at any time and in any
/// order before that. They wait for whoever comes first: a thread of the system's pool, or the one that makes the
/// commit, which helps when many wait and at the end. So nobody ever waits for a thread that the pool hasn't got. The
/// kernel's copying of bytes into its page cache runs on a second core this way; and the medium writes beside both, for it is
/// asked to begin with each part at once.
final class CommitParts: Sendable {
    /// How many parts may wait, by their bytes, before the commit's own thread helps. A part ends with a whole chunk, so with
    /// large values one may be as large by itself.
    private static let mostWaiting = 8

    private let file: DataFile
    private let pool: BufferPool
    private let shared = Mutex(Shared())
    /// Held by the thread of the pool from taking a part until that is in the file.
    private let helping = Mutex(())

    private struct Shared {
        /// Parts that nobody has begun to write, first come first.
        var waiting: [UnwrittenBytes] = []
        /// Whether a thread of the pool is on its way or at work.
        var hasHelper = false
        var failure: StoreError?
        /// Parts that could not be written, or came after one that could not.
        var failed: [UnwrittenBytes] = []
    }

    init(file: DataFile, pool: BufferPool) {
        self.file = file
        self.pool = pool
    }

    /// Takes a part over; its bytes can be read from memory until they are in the file.
    ///
    /// - Throws: what has kept this part or an earlier one from being written.
    func add(_ part: UnwrittenBytes) throws(StoreError) {
        // Space that is prepared for small commits must not be zeroed where a part may be already.
        file.writtenAhead.withLock { $0 = max($0, part.end) }
        let needsHelper = shared.withLock { shared in
            shared.waiting.append(part)
            defer { shared.hasHelper = true }
            return !shared.hasHelper
        }
        // A thread that comes when all is done must find nothing, least of all the file's keys.
        if needsHelper { file.file.offer { [weak self] in self?.help() } }
        while waitingBytes > CommitParts.mostWaiting * pool.partLength, let part = take() { write(part) }
        try check()
    }

    /// Returns when all parts are in the file.
    func finish() throws(StoreError) {
        while let part = take() { write(part) }
        waitForHelper()
        try check()
    }

    /// Forgets what is not written yet; afterwards nobody writes anything of the commit any more.
    func abandon() {
        drop()
        waitForHelper()
        // What the helper failed to write meanwhile.
        drop()
    }

    private func drop() {
        let dropped = shared.withLock { shared in
            defer { (shared.waiting, shared.failed) = ([], []) }
            return shared.waiting + shared.failed
        }
        for part in dropped { release(part) }
    }

    private func check() throws(StoreError) {
        if let failure = shared.withLock({ $0.failure }) { throw failure }
    }

    /// The work of a thread of the pool: parts, until none waits.
    private func help() {
        while helping.withLock({ _ in helpOnce() }) {}
    }

    private func helpOnce() -> Bool {
        let part: UnwrittenBytes? = shared.withLock { shared in
            shared.hasHelper = !shared.waiting.isEmpty
            return shared.hasHelper ? shared.waiting.removeFirst() : nil
        }
        if let part { write(part) }
        return part != nil
    }

    private var waitingBytes: Int {
        shared.withLock { shared in shared.waiting.reduce(0) { $0 + $1.buffer.count } }
    }

    private func take() -> UnwrittenBytes? {
        shared.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }

    /// Returns when the part that the helper has taken, if any, is in the file.
    private func waitForHelper() { helping.withLock { _ in } }

    private func write(_ part: UnwrittenBytes) {
        do throws(StoreError) {
            try check()
            try fileCall { () throws(FileError) in
                unsafe try file.file.writeFully(part.buffer.view.buffer, at: part.start)
            }
            file.file.startWriteback(of: part.buffer.count, at: part.start)
            release(part)
        } catch {
            // It stays in memory, for the transaction may read it until it learns of the failure.
            shared.withLock { shared in
                shared.failure = shared.failure ?? error
                shared.failed.append(part)
            }
        }
    }

    private func release(_ part: UnwrittenBytes) {
        file.unwritten.withLock { list in list.removeAll { $0 === part } }
        pool.give(part.buffer)
    }
}

// MARK: - BufferPool

/// Buffers of past commits for the next ones: touching fresh memory costs more than writing it.
final class BufferPool: Sendable {
    /// How many bytes make a part of a large commit.
    let partLength: Int
    /// A part, and the chunk that it ends in.
    private let capacity: Int
    private static let most = 16

    private struct Pooled: @unchecked Sendable {  // nobody else holds the buffer
        let buffer: ByteBuffer
    }

    private let buffers = Mutex<[Pooled]>([])

    init(partLength: Int) {
        self.partLength = partLength
        capacity = partLength + partLength / 4
    }

    func take() -> ByteBuffer {
        buffers.withLock { $0.popLast() }?.buffer ?? ByteBuffer(capacity: capacity)
    }

    /// Takes over a buffer that its giver does not use any more.
    func give(_ buffer: ByteBuffer) {
        // Larger buffers are given back to the system.
        guard buffer.capacity <= 2 * capacity else { return }
        buffer.reset()
        let pooled = Pooled(buffer: buffer)
        buffers.withLock { list in
            if list.count < BufferPool.most { list.append(pooled) }
        }
    }
}

// MARK: - Filling

extension ByteBuffer {
    /// Makes room for `count` bytes in place of what the buffer holds, and returns the memory, to be filled by the caller.
    func emptied(toHold count: Int) -> UnsafeMutableRawBufferPointer {
        reset()
        resize(to: count)
        return unsafe mutableBytes
    }
}

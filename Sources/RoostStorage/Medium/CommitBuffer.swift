import RoostBytes
import RoostFile

/// The bytes of a commit as they will stand in the file, gathered for one contiguous write.
///
/// A commit that outgrows ``spillLimit`` is written in parts ahead of its end. That is safe because nothing counts
/// until the record at the very end is there.
final class CommitBuffer {
    let file: DataFile
    /// Where in the file the commit starts.
    let start: UInt64
    let compression: Int32
    /// Whether parts may be written ahead; not while replaying for a reader, who writes nothing.
    private let spills: Bool
    /// What is still in memory.
    private(set) var unwritten: UnwrittenBytes
    private var hash: XXHash64
    private var hashed = 0
    /// Bytes of the commit that replaying it reads.
    private(set) var loggedBytes: UInt64 = 0

    /// Bytes kept in memory before they are written ahead.
    static let spillLimit = 8 << 20

    init(
        file: DataFile, start: UInt64, compression: Int32, memory: ByteBuffer = ByteBuffer(),
        spills: Bool = true
    ) {
        self.file = file
        self.start = start
        self.compression = compression
        self.spills = spills
        memory.reset()
        unwritten = UnwrittenBytes(start: start, buffer: memory)
        hash = XXHash64(seed: file.codec.salt)
        file.unwritten.withLock { [unwritten] in $0.append(unwritten) }
    }

    /// Where the next byte goes.
    var end: UInt64 { unwritten.end }
    /// How many bytes the commit has so far.
    var count: Int { Int(end - start) }

    /// Counts bytes that replaying the commit reads.
    func countLogged(_ count: Int) { loggedBytes += UInt64(count) }

    /// Appends a chunk.
    func append(_ kind: ChunkKind, _ payload: ByteView) throws(StoreError) -> ChunkReference {
        let buffer = unwritten.buffer
        let length = file.codec.maximumLength(payload.count)
        guard end + UInt64(length) < ChunkReference.maximumOffset else {
            throw StoreError(.limitExceeded, "\(file.path) has reached the format's largest size of 256 TiB.")
        }
        let chunk = file.codec.append(payload, kind: kind, at: end, level: compression, to: buffer)
        if spills, buffer.count > CommitBuffer.spillLimit { try spill() }
        return chunk
    }

    /// Appends chunks as they are.
    func append(raw chunks: ByteView) throws(StoreError) {
        unwritten.buffer.append(chunks)
        if spills, unwritten.buffer.count > CommitBuffer.spillLimit { try spill() }
    }

    /// Writes all whole blocks ahead.
    private func spill() throws(StoreError) {
        let buffer = unwritten.buffer
        let length = buffer.count & ~(Format.blockSize - 1)
        hash.update(buffer.view.slice(hashed, length - hashed))
        hashed = 0
        let (file, start) = (file, unwritten.start)
        let outcome: Result<Void, StoreError> = file.writtenAhead.withLock { end in
            end = max(end, start + UInt64(length))
            return Result { () throws(StoreError) in
                try fileCall { () throws(FileError) in
                    unsafe try file.file.writeFully(buffer.view.slice(0, length).buffer, at: start)
                }
            }
        }
        try outcome.get()
        let rest = ByteBuffer(capacity: max(1 << 16, buffer.count - length))
        rest.append(buffer.view.dropFirst(length))
        release()
        unwritten = UnwrittenBytes(start: start + UInt64(length), buffer: rest)
        file.unwritten.withLock { [unwritten] in $0.append(unwritten) }
    }

    /// Fills the last block up, puts `record` at its end and returns what must be written.
    func seal(_ record: inout CommitRecord) -> UnwrittenBytes {
        let buffer = unwritten.buffer
        let total = Format.roundedUp(end + UInt64(CommitRecord.size)) - start
        let recordStart = Int(total) - CommitRecord.size
        buffer.append(zeros: recordStart - count)
        record.start = start
        record.offset = end
        hash.update(buffer.view.dropFirst(hashed))
        record.contentChecksum = hash.finalize()
        let transform = file.codec.transform
        record.encode(to: buffer, salt: file.codec.salt) { transform?.authenticate($0) }
        return unwritten
    }

    /// Forgets the bytes: they were written, or the transaction was given up.
    func release() {
        let gone = unwritten
        file.unwritten.withLock { list in list.removeAll { $0 === gone } }
    }
}

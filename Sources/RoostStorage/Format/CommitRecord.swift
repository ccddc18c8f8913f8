import RoostBytes

/// The last bytes of a commit's last block: the proof that the whole commit is on the medium.
struct CommitRecord: Sendable, Equatable {
    static let size = 192
    static let magic: UInt64 = 0x7469_6D6D_6F43_7352  // "RsCommit" in the file
    static let tagLength = 16
    static let noTag = [UInt8](repeating: 0, count: tagLength)
    /// More commits than any file has seen.
    static let largestNumber = UInt64(Int64.max)

    enum Kind: UInt8, Sendable {
        /// Values and operations only; the trees follow from the last checkpoint and the operations since.
        case log = 1
        /// Also holds the directory of tree roots.
        case checkpoint = 2
        /// Nothing but the statement that everything before it was synced: written by a clean close.
        case cleanShutdown = 3
        /// No commit: the bytes from ``CommitRecord/start`` to the file's end are a copy in progress and don't count.
        /// A backup puts it at the end before it appends, and cuts it off when all is on the medium.
        case barrier = 4
    }

    var kind: Kind
    /// Counts from 1 in each store, on through compactions.
    var number: UInt64
    /// Where this record stands: ``CommitRecord/size`` bytes before a block boundary.
    var offset: UInt64
    /// Where the commit's first block starts.
    var start: UInt64
    /// The record of the commit before, 0 in a file's first commit, and its checksum.
    var previous: UInt64
    var previousChecksum: UInt64
    /// The record of the last checkpoint, this one included.
    var checkpoint: UInt64
    /// In a checkpoint: the last record whose operations its trees contain completely. Operations of later
    /// commits are replayed on opening; the trees may hold the effect of some of them already.
    var replayAfter: UInt64
    /// All bytes before this offset were known to be on the medium when the commit was made.
    var syncedEnd: UInt64
    /// Microseconds since 1970, as the clock said.
    var time: UInt64
    /// The last of the commit's chunks of operations, `nil` when it has none.
    var operations: ChunkReference?
    /// The directory of roots, in a checkpoint only.
    var directory: ChunkReference?
    /// The checksum of every byte from ``start`` up to ``offset``.
    var contentChecksum: UInt64
    /// Bytes of chunks reachable from the trees after this commit, for judging when to compact.
    var liveBytes: UInt64
    /// The number that the commit's chunks are bound to (``WritingHistory``); 0 without a transform.
    var history: UInt64 = 0
    /// The tag of the record before; zeros in a file's first commit and without a transform.
    var previousTag = CommitRecord.noTag
    /// Authenticates the fields above and the file's header under the chunk transform's key; zeros without one.
    var tag = CommitRecord.noTag
    /// The checksum of the record itself, by which the next commit names it.
    var checksum: UInt64 = 0

    /// A record to be filled in, of a commit that follows `last`.
    init(_ kind: Kind, after last: CommitRecord, syncedEnd: UInt64, time: UInt64) {
        self.init(kind, number: last.number + 1, syncedEnd: syncedEnd, time: time)
        previous = last.offset
        previousChecksum = last.checksum
        previousTag = last.tag
        checkpoint = last.checkpoint
        liveBytes = last.liveBytes
    }

    /// A record to be filled in, of a file's first commit.
    init(_ kind: Kind, number: UInt64, syncedEnd: UInt64, time: UInt64) {
        self.kind = kind
        self.number = number
        self.syncedEnd = syncedEnd
        self.time = time
        (offset, start, previous, previousChecksum, checkpoint) = (0, 0, 0, 0, 0)
        (replayAfter, contentChecksum, liveBytes) = (0, 0, 0)
    }

    /// Where the commit ends and the next one starts.
    var end: UInt64 { offset + UInt64(CommitRecord.size) }

    /// Appends the record to `buffer`; its last 8 bytes are its checksum, which is also stored in ``checksum``.
    mutating func encode(to buffer: ByteBuffer, codec: ChunkCodec) {
        let base = buffer.count
        buffer.append(integer: CommitRecord.magic)
        buffer.append(kind.rawValue)
        buffer.append(zeros: 7)
        buffer.append(integer: number)
        buffer.append(integer: offset)
        buffer.append(integer: start)
        buffer.append(integer: previous)
        buffer.append(integer: previousChecksum)
        buffer.append(integer: checkpoint)
        buffer.append(integer: replayAfter)
        buffer.append(integer: syncedEnd)
        buffer.append(integer: time)
        buffer.append(integer: operations?.offset ?? 0)
        buffer.append(integer: directory?.offset ?? 0)
        buffer.append(integer: operations?.length ?? 0)
        buffer.append(integer: directory?.length ?? 0)
        buffer.append(integer: contentChecksum)
        buffer.append(integer: liveBytes)
        buffer.append(integer: history)
        buffer.append(previousTag)
        buffer.append(zeros: CommitRecord.tagOffset - (buffer.count - base))
        tag = codec.tag(of: CommitRecord.authenticated(buffer.view.dropFirst(base)))
        buffer.append(tag)
        buffer.append(zeros: CommitRecord.size - 8 - (buffer.count - base))
        checksum = CommitRecord.checksum(buffer.view.slice(base, CommitRecord.size - 8), codec.salt, offset)
        buffer.append(integer: checksum)
    }

    private static let tagOffset = 168

    /// The bytes that ``tag`` authenticates, besides the header's tag: all before itself.
    static func authenticated(_ bytes: ByteView) -> ByteView { bytes.slice(0, tagOffset) }

    /// Whether the record says of `previous` that it is the one before; of `nil`, that there is none.
    func follows(_ previous: CommitRecord?) -> Bool {
        guard let previous else { return self.previous == 0 }
        return self.previous == previous.offset && previousChecksum == previous.checksum
            && previousTag == previous.tag
    }

    private static func checksum(_ bytes: ByteView, _ salt: UInt64, _ offset: UInt64) -> UInt64 {
        Checksum.of(bytes, seed: salt &+ offset)
    }

    /// The record in `bytes`, read at `offset`; `nil` when they are none or not whole.
    ///
    /// What comes back follows the format's rules for a single record (order of offsets, alignment); whether
    /// the rest of the file agrees with it is for recovery to find out.
    init?(decoding bytes: ByteView, at offset: UInt64, salt: UInt64) {
        guard bytes.count == CommitRecord.size, bytes.load(UInt64.self, at: 0) == CommitRecord.magic,
            bytes.load(UInt64.self, at: 24) == offset, let kind = Kind(rawValue: bytes[8])
        else { return nil }
        checksum = bytes.load(at: CommitRecord.size - 8)
        guard CommitRecord.checksum(bytes.slice(0, CommitRecord.size - 8), salt, offset) == checksum else {
            return nil
        }
        self.kind = kind
        self.offset = offset
        number = bytes.load(at: 16)
        start = bytes.load(at: 32)
        previous = bytes.load(at: 40)
        previousChecksum = bytes.load(at: 48)
        checkpoint = bytes.load(at: 56)
        replayAfter = bytes.load(at: 64)
        syncedEnd = bytes.load(at: 72)
        time = bytes.load(at: 80)
        operations = CommitRecord.reference(bytes.load(at: 88), bytes.load(at: 104))
        directory = CommitRecord.reference(bytes.load(at: 96), bytes.load(at: 108))
        contentChecksum = bytes.load(at: 112)
        liveBytes = bytes.load(at: 120)
        history = bytes.load(at: 128)
        previousTag = bytes.slice(136, CommitRecord.tagLength).array
        tag = bytes.slice(CommitRecord.tagOffset, CommitRecord.tagLength).array
        guard hasOrderedOffsets else { return nil }
    }

    private static func reference(_ offset: UInt64, _ length: UInt32) -> ChunkReference? {
        length == 0 ? nil : ChunkReference(offset: offset, length: length)
    }

    private var hasOrderedOffsets: Bool {
        let block = UInt64(Format.blockSize)
        guard number <= CommitRecord.largestNumber, offset <= ChunkReference.maximumOffset, end % block == 0,
            start % block == 0,
            start >= Format.firstCommit, start < offset, syncedEnd <= start, checkpoint <= offset
        else { return false }
        guard (start == Format.firstCommit) == (previous == 0),
            previous == 0 || previous &+ UInt64(CommitRecord.size) == start
        else { return false }
        guard (kind == .checkpoint) == (checkpoint == offset), (kind == .checkpoint) == (directory != nil),
            replayAfter <= offset, checkpoint != 0
        else { return false }
        for chunk in [operations, directory] {
            guard let chunk else { continue }
            guard chunk.offset >= start, chunk.offset < offset, UInt64(chunk.length) <= offset - chunk.offset
            else {
                return false
            }
        }
        return true
    }
}

import RoostBytes
import RoostFile
import Synchronization

/// One file of a store, open for reading chunks: header, codec, node cache, and what is appended but not written yet.
///
/// Usable from any thread. A compaction ends with another `DataFile`; snapshots keep the one they were taken from.
final class DataFile: Sendable {
    let file: any File
    let header: FileHeader
    let codec: ChunkCodec
    let cache: NodeCache
    /// Where values and nodes are read from memory that the system shares; `nil` where they are read by calls.
    let mapped: MappedValues?
    /// Where they are found there.
    let mappedPlaces: MappedPlaces?
    /// Chunks at or after this offset are still in memory, in ``unwritten``.
    let writtenEnd = Atomic<UInt64>(.max)
    let unwritten = Mutex<[UnwrittenBytes]>([])
    /// Up to here a transaction that is not committed has written parts of itself ahead. Held while writing them, and
    /// while zeros are written where they might be.
    let writtenAhead = Mutex<UInt64>(0)
    private let replayedRegions = Atomic<UInt64>(0)
    /// Why the file is shorter than what was published of it.
    private let cutFailure = Mutex<StoreError?>(nil)

    init(
        file: any File, header: FileHeader, transform: (any ChunkTransform)?, cacheLimit: Int,
        values: StoreOptions.ValueAccess = .calls
    ) {
        self.file = file
        self.header = header
        codec = ChunkCodec(header, transform: transform)
        cache = NodeCache(limit: cacheLimit)
        mapped = values == .mapping ? MappedValues(file) : nil
        mappedPlaces = mapped?.places
    }

    /// The same file, all of it written, through another handle.
    init(
        _ other: DataFile, reopened file: any File, writtenEnd end: UInt64, values: StoreOptions.ValueAccess
    ) {
        self.file = file
        header = other.header
        codec = other.codec
        cache = other.cache
        mapped = values == .mapping ? MappedValues(file) : nil
        mappedPlaces = mapped?.places
        writtenEnd.store(end, ordering: .releasing)
    }

    /// The same file, of which nothing is in memory yet. What `other` keeps under places beyond the end of what is written
    /// does not count here.
    convenience init(anew other: DataFile, _ options: StoreOptions) {
        self.init(
            file: other.file, header: other.header, transform: other.codec.transform,
            cacheLimit: options.cacheSize, values: options.valueAccess)
        codec.history.note(other.codec.history.entries)
    }

    var path: String { file.path }

    /// `directory` with what else a checkpoint keeps in it.
    func complete(_ directory: RootDirectory) -> RootDirectory {
        var directory = directory
        if codec.isTransformed { directory.history = codec.history.entries }
        return directory
    }

    /// Draws the number that chunks are bound to which are appended at `start` from now on.
    func beginHistory(at start: UInt64, _ randomness: any Randomness) {
        var number: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &number) { unsafe randomness.fill($0) }
        codec.history.begin(at: start, number)
    }

    /// Learns what the chunks of the commit of `record` are bound to.
    func noteHistory(of record: CommitRecord) {
        guard codec.isTransformed else { return }
        codec.history.note([WritingHistory.Entry(start: record.start, number: record.history)])
    }

    /// Where nodes that a replay makes for a reader can go: 4 GiB of offsets that no file has and nobody else gets.
    func nextReplayedRegion() throws(StoreError) -> UInt64 {
        let region = replayedRegions.add(1, ordering: .relaxed).oldValue
        guard region < DataFile.mostReplayedRegions else {
            throw StoreError(
                .limitExceeded,
                "\(path): too many older commits were opened. Close the store and open it again.")
        }
        return StoreOpener.replayedStart + region << 32
    }

    /// Takes back a region in which nothing was put, if no other was given away since.
    func giveBackReplayedRegion(_ start: UInt64) {
        let region = (start - StoreOpener.replayedStart) >> 32
        _ = replayedRegions.compareExchange(expected: region + 1, desired: region, ordering: .relaxed)
    }

    /// Whether it is time to read the file through a new `DataFile`, which has all regions to give.
    var isShortOfReplayedRegions: Bool {
        replayedRegions.load(ordering: .relaxed) > DataFile.mostReplayedRegions / 2
    }

    private static let mostReplayedRegions: UInt64 = 1 << 15

    /// Fills `buffer` from `offset`, from memory where the bytes are not written yet.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) {
        guard offset + UInt64(buffer.count) > writtenEnd.load(ordering: .acquiring) else {
            return unsafe try readFromFile(buffer, at: offset)
        }
        // A transaction that was written ahead in part, or a window over several values, may lie in both.
        var done = 0
        while done < buffer.count {
            let position = offset + UInt64(done)
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let (copied, gap) = unsafe copyUnwritten(into: rest, from: position)
            if copied == 0 {
                let part = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[..<gap])
                unsafe try readFromFile(part, at: position)
            }
            done += copied + gap
        }
    }

    /// Cuts the file off where `failure` has left the medium: what was published beyond can't be read any more, which is no damage.
    func cut(at end: UInt64, becauseOf failure: StoreError?) {
        if let failure { cutFailure.withLock { $0 = failure } }
        try? file.truncate(to: end)
    }

    /// Copies what is in memory from `position` on; where nothing is, says how many bytes come before what is.
    private func copyUnwritten(
        into buffer: UnsafeMutableRawBufferPointer, from position: UInt64
    ) -> (copied: Int, gap: Int) {
        unwritten.withLock { regions in
            var gap = buffer.count
            for region in regions {
                let copied = unsafe region.copy(into: buffer, from: position)
                if copied > 0 { return (copied, 0) }
                if region.start > position { gap = min(gap, Int(clamping: region.start - position)) }
            }
            return (0, gap)
        }
    }

    private func readFromFile(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) {
        let count = try fileCall { () throws(FileError) in
            unsafe try file.readFully(into: buffer, at: offset)
        }
        guard count == buffer.count else { throw missing("the file ends within a chunk", at: offset) }
    }

    /// Why bytes that were published can't be read any more: the failure that had them cut off, or damage.
    func missing(_ what: String, at offset: UInt64) -> StoreError {
        cutFailure.withLock { $0 } ?? .damaged(what, at: offset, in: path)
    }

    /// The payload of the chunk at `chunk`, in memory of its own.
    func payload(_ kind: ChunkKind, _ chunk: ChunkReference) throws(StoreError) -> [UInt8] {
        let buffer = try read(chunk)
        var scratch: ByteBuffer?
        let payload = try payload(of: buffer.view, kind, chunk, scratch: &scratch)
        return withExtendedLifetime((buffer, scratch)) { payload.array }
    }

    /// The bytes of a chunk of any length. A length that the file does not have is damage, not a reason to ask for
    /// that much memory.
    func read(_ chunk: ChunkReference) throws(StoreError) -> ByteBuffer {
        if chunk.length > DataFile.unquestionedLength {
            let size = try fileCall { () throws(FileError) in try file.size() }
            guard chunk.end <= size || chunk.offset >= writtenEnd.load(ordering: .acquiring) else {
                throw damaged("a chunk that reaches beyond the file's end", chunk)
            }
        }
        let buffer = ByteBuffer(capacity: Int(chunk.length))
        buffer.resize(to: Int(chunk.length))
        unsafe try read(buffer.mutableBytes, at: chunk.offset)
        return buffer
    }

    private static let unquestionedLength: UInt32 = 1 << 20

    /// The payload of `bytes`, which were read from `chunk`; a part of them where nothing had to be decoded.
    func payload(
        of bytes: ByteView, _ kind: ChunkKind, _ chunk: ChunkReference,
        scratch: inout ByteBuffer?
    ) throws(StoreError) -> ByteView {
        do {
            return try codec.payload(of: bytes, kind, at: chunk, scratch: &scratch)
        } catch {
            throw damaged(error.reason, chunk)
        }
    }

    func damaged(_ what: String, _ chunk: ChunkReference) -> StoreError {
        .damaged(what, at: chunk.offset, in: path)
    }
}

/// A region of the file's end that is in memory only: a commit on its way, or a transaction being built.
final class UnwrittenBytes: @unchecked Sendable {
    // Its buffer is written by the transaction that owns it and read by others only after that has committed,
    // through the lock of `DataFile.unwritten`.
    let start: UInt64
    let buffer: ByteBuffer

    init(start: UInt64, buffer: ByteBuffer) {
        self.start = start
        self.buffer = buffer
    }

    var end: UInt64 { start + UInt64(buffer.count) }

    /// Copies the bytes from `offset` of the file that are here; returns how many.
    func copy(into target: UnsafeMutableRawBufferPointer, from offset: UInt64) -> Int {
        guard offset >= start, offset < end else { return 0 }
        let count = Int(min(UInt64(target.count), end - offset))
        unsafe target.copyMemory(from: buffer.view.slice(Int(offset - start), count).buffer)
        return count
    }
}

// MARK: - Nodes

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

// MARK: - Durability

extension DataFile {
    /// Makes everything up to the commit of `record`, the newest, durable, whoever wrote it.
    ///
    /// A failed sync says nothing of what is on the medium, and later ones need not make up for it. Who met one may have been
    /// killed before it took back what it could not sync. So what is not known to be there is written once more before the sync.
    func makeDurable(upTo record: CommitRecord) throws(FileError) {
        try writeAgain(from: record.syncedEnd, to: record.end)
        do throws(FileError) {
            try file.sync()
        } catch {
            try writeAgain(from: record.syncedEnd, to: record.end)
            try file.sync()
        }
        // The system may have let go of what could not be written: then that was not what the commits consist of.
        guard (try? LogScanner(file: self).lastCommit()) == record else {
            throw FileError(.inputOutput, operation: "sync", path: file.path)
        }
    }

    private func writeAgain(from start: UInt64, to end: UInt64) throws(FileError) {
        let window = ByteBuffer(capacity: Int(min(end - start, UInt64(LogScanner.largestWindow))))
        var position = start
        while position < end {
            window.resize(to: Int(min(end - position, UInt64(LogScanner.largestWindow))))
            let count = unsafe try file.readFully(into: window.mutableBytes, at: position)
            guard count > 0 else { return }
            window.resize(to: count)
            unsafe try file.writeFully(window.view.buffer, at: position)
            position += UInt64(count)
        }
    }
}

import RoostBytes
import RoostFile

/// Finds the chunks of a part of the file one after another, whether anything leads to them or not.
///
/// A commit's chunks follow each other without gaps, so each tells where the next begins. After damage the scan tries
/// every offset until a chunk's checksum fits; the salt makes sure that only real chunks do.
struct ChunkScan {
    private let file: DataFile
    /// Where the next chunk is expected.
    private(set) var position: UInt64
    private let end: UInt64
    private let window = ByteBuffer(capacity: ChunkScan.windowLength)
    private var windowStart: UInt64 = 0
    /// Bytes that may still be hashed in search of the next chunk, so that bytes made for it can't cost hours.
    private var patience: UInt64

    private static let windowLength = 1 << 18

    /// - Parameters:
    ///   - start: where a chunk begins.
    ///   - end: the first byte that belongs to no chunk, such as a commit's record.
    init(file: DataFile, from start: UInt64, to end: UInt64) {
        self.file = file
        position = start
        self.end = end
        patience = (end - min(start, end)) * 16 + 1 << 22
    }

    enum Item {
        case chunk(ChunkReference, ChunkKind)
        /// Bytes that are no chunk and not the zeros that fill a commit's last block.
        case damage(Range<UInt64>)
    }

    /// The next chunk or damage; `nil` at the end.
    mutating func next() throws(StoreError) -> Item? {
        guard position < end else { return nil }
        if let (chunk, kind) = try chunk(at: position) {
            position = chunk.end
            return .chunk(chunk, kind)
        }
        if try isPadding() { return nil }
        let start = position
        try findNext()
        return .damage(start..<position)
    }

    /// Moves to the next chunk after damage, or to the end.
    private mutating func findNext() throws(StoreError) {
        let start = position
        // Most damage leaves a chunk's length alone.
        if let shape = try shape(at: start), start + UInt64(shape.length) < end {
            position = start + UInt64(shape.length)
            if try chunk(at: position) != nil { return }
        }
        position = start + 1
        while position < end, patience > 0 {
            if try chunk(at: position) != nil { return }
            position += 1
        }
        position = end
    }

    private mutating func shape(at offset: UInt64) throws(StoreError) -> (kind: ChunkKind, length: Int)? {
        let length = min(UInt64(ChunkCodec.maximumHeaderLength), end - offset)
        guard try load(offset, Int(length)) else { return nil }
        return ChunkCodec.shape(of: window.view.slice(Int(offset - windowStart), Int(length)))
    }

    /// The chunk that begins at `offset`, if one does and is whole.
    private mutating func chunk(at offset: UInt64) throws(StoreError) -> (ChunkReference, ChunkKind)? {
        guard let (kind, length) = try shape(at: offset), UInt64(length) <= end - offset else { return nil }
        let chunk = ChunkReference(offset: offset, length: UInt32(length))
        patience -= min(patience, UInt64(length))
        if length <= ChunkScan.windowLength / 2 {
            guard try load(offset, length) else { return nil }
            let bytes = window.view.slice(Int(offset - windowStart), length)
            return file.codec.isWhole(bytes, at: offset) ? (chunk, kind) : nil
        }
        guard let buffer = try? file.read(chunk) else { return nil }
        return withExtendedLifetime(buffer) {
            file.codec.isWhole(buffer.view, at: offset) ? (chunk, kind) : nil
        }
    }

    /// Whether nothing but zeros is left: of the last block, and in a checkpoint of the one before.
    private mutating func isPadding() throws(StoreError) -> Bool {
        let longest = 2 * UInt64(Format.blockSize)
        let length = Int(min(end - position, longest))
        guard end - position < longest, try load(position, length) else { return false }
        let bytes = window.view.slice(Int(position - windowStart), length)
        return (0..<length).allSatisfy { bytes[$0] == 0 }
    }

    /// Gets `length` bytes from `offset` into the window; `false` where the file does not have or give them.
    private mutating func load(_ offset: UInt64, _ length: Int) throws(StoreError) -> Bool {
        if offset >= windowStart, offset + UInt64(length) <= windowStart + UInt64(window.count) {
            return true
        }
        window.resize(to: Int(min(UInt64(ChunkScan.windowLength), end - offset)))
        windowStart = offset
        do {
            let count = unsafe try file.file.readFully(into: window.mutableBytes, at: offset)
            window.resize(to: count)
        } catch {
            window.resize(to: 0)
        }
        return window.count >= length
    }
}

// MARK: - FileEnding

/// What a store's file ended with when the store was opened.
public struct FileEnding: Sendable, Hashable {
    /// Whether the file ends with the note that its writer closed it and that everything before was on the medium, or was made
    /// by this opening.
    ///
    /// Where it does not, nothing need be wrong: another process is writing the store, its writer was killed or never closed
    /// it, or it is a backup. But commits that the end of the file held may be lost, by a medium or a program that cut it
    /// off, and nothing else tells.
    public let isClean: Bool
    /// Where the newest whole commit ends.
    public let offset: UInt64
    /// How many bytes behind that are not zeros prepared for later commits: what a crash left of commits that nobody was told
    /// of, a commit that another process is writing, or commits that were damaged since. Opening for writing cuts them off.
    public let bytesBehind: UInt64
}

extension FileEnding {
    /// That of a file that was just made, up to `offset`.
    init(newFileOf offset: UInt64) {
        self.init(isClean: true, offset: offset, bytesBehind: 0)
    }

    /// That of `file`, whose newest whole commit is the one of `record`. Reads what is behind it.
    init(of file: DataFile, after record: CommitRecord) throws(StoreError) {
        let size = try fileCall { () throws(FileError) in try file.file.size() }
        let isNoted = record.kind == .cleanShutdown && record.syncedEnd == record.start
        let end = try FileEnding.lastByte(of: file, from: record.end, to: size)
        self.init(isClean: isNoted && end == record.end, offset: record.end, bytesBehind: end - record.end)
    }

    /// The end of the last byte in the range that is not zero; `start` where all are.
    private static func lastByte(
        of file: DataFile, from start: UInt64, to size: UInt64
    ) throws(StoreError) -> UInt64 {
        let window = ByteBuffer(capacity: Format.blockSize)
        var end = size
        while end > start {
            let from = end - min(end - start, UInt64(LogScanner.largestWindow))
            window.resize(to: Int(end - from))
            window.resize(
                to: try fileCall { () throws(FileError) in
                    unsafe try file.file.readFully(into: window.mutableBytes, at: from)
                })
            let last = unsafe window.view.buffer.lastIndex { $0 != 0 }
            if let last { return from + UInt64(last) + 1 }
            end = from
        }
        return start
    }
}

import RoostBytes

@testable import RoostStorage

/// Where things are in the bytes of a data file, as far as they can still be made out, and how to give them their right
/// checksums again.
struct StoreLayout {
    private(set) var bytes: [UInt8]
    /// Where commit records begin, in their order.
    private(set) var records: [Int] = []
    /// The chunks of all commits.
    private(set) var chunks: [Chunk] = []

    struct Chunk {
        var range: Range<Int>
        var payload: Range<Int>
        var kind: ChunkKind
        /// Which of ``records`` ends its commit.
        var record: Int
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        find()
    }

    private var salt: UInt64 { integer(72) }

    func integer(_ offset: Int) -> UInt64 {
        guard offset >= 0, offset + 8 <= bytes.count else { return 0 }
        return (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
    }

    mutating func set(_ value: UInt64, at offset: Int, width: Int = 8) {
        guard offset >= 0, offset + width <= bytes.count else { return }
        for index in 0..<width {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
        }
    }

    mutating func replace(_ range: Range<Int>, with new: [UInt8]) {
        precondition(range.count == new.count)
        bytes.replaceSubrange(range, with: new)
    }

    private mutating func find() {
        let block = Format.blockSize
        for end in stride(from: 3 * block, through: bytes.count, by: block)
        where integer(end - CommitRecord.size) == CommitRecord.magic {
            let record = end - CommitRecord.size
            records.append(record)
            findChunks(of: records.count - 1)
        }
    }

    private mutating func findChunks(of index: Int) {
        let record = records[index]
        var position = Int(clamping: integer(record + 32))
        guard position >= Int(Format.firstCommit), position < record else { return }
        while position < record {
            let shape = Array(bytes[position..<min(position + ChunkCodec.maximumHeaderLength, record)])
                .withView { ChunkCodec.shape(of: $0) }
            guard let shape, shape.length <= record - position else { return }
            let header = 5 + varintLength(UInt64(max(0, shape.length - 6)))
            let range = position..<position + shape.length
            guard header < range.count else { return }
            chunks.append(
                Chunk(
                    range: range, payload: position + header..<range.upperBound, kind: shape.kind,
                    record: index))
            position += shape.length
        }
    }

    // MARK: Sealing

    /// Gives headers, chunks, commits and the chain of commits the checksums that they need.
    mutating func seal() {
        sealHeaders()
        for index in records.indices { sealCommit(index) }
    }

    private mutating func sealHeaders() {
        let block = Format.blockSize
        for start in [0, block] where bytes.count >= start + block {
            set(hash(start..<start + block - 8, seed: 0), at: start + block - 8)
        }
    }

    private mutating func sealCommit(_ index: Int) {
        let record = records[index]
        for chunk in chunks where chunk.record == index {
            let seed = salt &+ UInt64(chunk.range.lowerBound)
            set(hash(chunk.range.dropFirst(4), seed: seed), at: chunk.range.lowerBound, width: 4)
        }
        set(UInt64(record), at: record + 24)
        let start = Int(clamping: integer(record + 32))
        if start >= 0, start < record { set(hash(start..<record, seed: salt), at: record + 112) }
        let previous = Int(clamping: integer(record + 40))
        if records.contains(previous) { set(integer(previous + CommitRecord.size - 8), at: record + 48) }
        let end = record + CommitRecord.size - 8
        set(hash(record..<end, seed: salt &+ UInt64(record)), at: end)
    }

    private func hash(_ range: Range<Int>, seed: UInt64) -> UInt64 {
        unsafe bytes.withUnsafeBytes {
            Checksum.of(unsafe ByteView(UnsafeRawBufferPointer(rebasing: $0[range])), seed: seed)
        }
    }
}

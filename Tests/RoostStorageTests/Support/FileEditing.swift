import Foundation

@testable import RoostBytes
@testable import RoostStorage

/// A file's bytes, to be looked at and damaged.
struct FileBytes {
    let path: String

    func read() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }

    /// Changes some bits of one byte.
    func flip(_ offset: UInt64, _ mask: UInt8 = 0x40) throws {
        var bytes = try read()
        bytes[Int(offset)] ^= mask
        try write(bytes)
    }

    /// Opens the file as the engine does.
    func open(_ options: StoreOptions = StoreOptions()) throws -> DataFile {
        let file = try StoreOpener(path: path, options: options, environment: .system).openFile(.readOnly)
        file.writtenEnd.store(StoreOpener.replayedStart, ordering: .releasing)
        return file
    }

    /// All commits, oldest first.
    func commits(_ options: StoreOptions = StoreOptions()) throws -> [CommitRecord] {
        var stream = CommitStream(file: try open(options), after: nil)
        var records: [CommitRecord] = []
        while let record = try stream.next() { records.append(record) }
        return records
    }

    /// All whole chunks of the file in their order.
    func chunks(_ options: StoreOptions = StoreOptions()) throws -> [(chunk: ChunkReference, kind: ChunkKind)]
    {
        let file = try open(options)
        var chunks: [(ChunkReference, ChunkKind)] = []
        for record in try commits(options) {
            var scan = ChunkScan(file: file, from: record.start, to: record.offset)
            while let item = try scan.next() {
                if case .chunk(let chunk, let kind) = item { chunks.append((chunk, kind)) }
            }
        }
        return chunks
    }

    /// Changes bytes of a chunk's payload and gives the chunk its right checksum again.
    func rewrite(_ chunk: ChunkReference, _ body: (inout [UInt8]) -> Void) throws {
        let file = try open()
        var bytes = try read()
        let range = Int(chunk.offset)..<Int(chunk.end)
        var whole = Array(bytes[range])
        let start = 5 + varintLength(UInt64(whole.count - 6))
        var payload = Array(whole[start...])
        body(&payload)
        whole.replaceSubrange(start..., with: payload)
        let checksum = whole.withView { file.codec.checksum($0, chunk.offset) }
        for index in 0..<4 { whole[index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index))) }
        bytes.replaceSubrange(range, with: whole)
        try write(bytes)
    }
}

import RoostBytes
import RoostFile

/// Writes a plain blob: its bytes and nothing else.
final class PlainSink: ByteSink {
    private let file: any File
    private let staging = Staging(limit: 256 << 10)
    private var offset: UInt64 = 0

    init(_ file: any File) { self.file = file }

    func write(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        if staging.view.isEmpty, bytes.count >= 64 << 10 { return unsafe try put(bytes) }
        var done = 0
        while done < bytes.count {
            unsafe done += staging.take(UnsafeRawBufferPointer(rebasing: bytes[done...]))
            if staging.isFull { try flush() }
        }
    }

    func finish(_ facts: SealedFacts) throws(BlobError) { try flush() }

    private func flush() throws(BlobError) {
        unsafe try put(staging.view.buffer)
        staging.clear()
    }

    private func put(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        try medium { () throws(FileError) in unsafe try file.writeFully(bytes, at: offset) }
        offset += UInt64(bytes.count)
    }
}

/// Reads a plain blob.
final class PlainSource: ByteSource {
    let length: UInt64
    private let file: any File

    init(_ file: any File, length: UInt64) {
        self.file = file
        self.length = length
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError) {
        let count = try medium { () throws(FileError) in unsafe try file.readFully(into: buffer, at: offset) }
        guard count == buffer.count else { throw BlobError.damaged(file.path, "it was cut off") }
    }
}

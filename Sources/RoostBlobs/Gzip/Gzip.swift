import RoostBytes

/// Whole gzip members (RFC 1952) in memory.
package enum Gzip {
    /// What `bytes` decompress to, verified against gzip's length and checksum.
    ///
    /// - Parameter limit: How long the content may be, in bytes.
    /// - Throws: `damaged` for what is no gzip, or longer.
    package static func decompress(_ bytes: [UInt8], limit: UInt64) throws(BlobError) -> [UInt8] {
        let source = try GzipSource(MemorySource(bytes), length: nil, path: "the data")
        guard source.length <= limit else {
            throw BlobError.damaged("the data", "it is longer than it may be")
        }
        let content = ByteBuffer(capacity: Int(source.length))
        content.resize(to: Int(source.length))
        unsafe try source.read(into: content.mutableBytes, at: 0)
        try source.checkEnd()
        return content.view.array
    }
}

/// Bytes in memory as the stored form of a blob.
private final class MemorySource: ByteSource {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var length: UInt64 { UInt64(bytes.count) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) {
        unsafe buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + buffer.count])
    }
}

import CRoostZlib
import RoostBytes

/// Decompresses gzip (RFC 1952) that comes in pieces, in constant memory.
@safe package final class Inflater {
    /// How many members the gzip has.
    package enum Members {
        case one
        /// One or more, as `gzip` takes them: their contents follow each other.
        case any
    }

    private static let windowBits: Int32 = 15 + 16

    private let stream: UnsafeMutablePointer<z_stream>
    private let output = ByteBuffer(capacity: 64 << 10)
    private let members: Members
    /// Whether the member that came last is complete.
    private var hasEnded = false

    package init(members: Members = .one) {
        self.members = members
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe inflateInit2_(
            stream, Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { fatalError("zlib has no memory") }
        output.resize(to: 64 << 10)
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decompresses the next piece and hands what comes out to `take`, piece by piece.
    ///
    /// - Throws: `invalidContent` for what is no gzip, or goes on after its end; what `take` throws.
    func write(
        _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws(BlobError) -> Void
    ) throws(BlobError) {
        var done = 0
        while done < bytes.count {
            if hasEnded {
                guard members == .any else { throw Self.invalid("bytes follow its end") }
                unsafe inflateReset(stream)
                hasEnded = false
            }
            let part = min(bytes.count - done, 1 << 30)
            // zlib's type lacks a const, it does not write here.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(
                mutating: (bytes.baseAddress! + done).assumingMemoryBound(to: Bytef.self))
            unsafe stream.pointee.avail_in = uInt(part)
            var hasMore = true
            while hasMore, !hasEnded {
                let space = unsafe output.mutableBytes
                unsafe stream.pointee.next_out = space.baseAddress?.assumingMemoryBound(to: Bytef.self)
                unsafe stream.pointee.avail_out = uInt(space.count)
                let status = unsafe inflate(stream, Z_NO_FLUSH)
                guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
                    throw Self.invalid("it cannot be decompressed")
                }
                hasEnded = status == Z_STREAM_END
                let produced = unsafe space.count - Int(stream.pointee.avail_out)
                unsafe try take(UnsafeRawBufferPointer(rebasing: space[..<produced]))
                hasMore = unsafe stream.pointee.avail_out == 0
            }
            done += unsafe part - Int(stream.pointee.avail_in)
        }
    }

    /// What comes out of the next piece.
    package func decompress(_ bytes: [UInt8]) throws(BlobError) -> [UInt8] {
        var content: [UInt8] = []
        let result: Result<Void, BlobError> = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(BlobError) in
                unsafe try write(bytes) { (piece) throws(BlobError) in unsafe content += piece }
            }
        }
        try result.get()
        return content
    }

    /// Verifies that the last member is complete.
    package func finish() throws(BlobError) {
        guard hasEnded else { throw Self.invalid("it ends early") }
    }

    private static func invalid(_ reason: String) -> BlobError {
        BlobError(
            .invalidContent, "The content is not one gzip member: \(reason). Send it again, or send it plain."
        )
    }
}

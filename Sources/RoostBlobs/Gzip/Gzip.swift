import CRoostZlib
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

// MARK: - Deflater

/// Compresses a stream of bytes to one gzip member (RFC 1952) without a name or a time, in constant memory.
@safe package final class Deflater {
    private static let level: Int32 = 6
    /// Fifteen bits of window, and 16 for gzip's header and trailer.
    private static let windowBits: Int32 = 15 + 16
    private static let memoryLevel: Int32 = 8

    private let stream: UnsafeMutablePointer<z_stream>
    private let output = ByteBuffer(capacity: 64 << 10)

    package init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe deflateInit2_(
            stream, Self.level, Z_DEFLATED, Self.windowBits, Self.memoryLevel, Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { fatalError("zlib has no memory") }
        output.resize(to: 64 << 10)
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses `bytes` and hands what comes out to `sink`; returns how many bytes that were.
    func write(_ bytes: UnsafeRawBufferPointer, to sink: any ByteSink) throws(BlobError) -> UInt64 {
        var count: UInt64 = 0
        var done = 0
        while done < bytes.count {
            let part = min(bytes.count - done, 1 << 30)
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done..<done + part])
            unsafe count += try run(rest, Z_NO_FLUSH, to: sink)
            done += part
        }
        return count
    }

    /// Ends the member.
    func finish(to sink: any ByteSink) throws(BlobError) -> UInt64 {
        unsafe try run(UnsafeRawBufferPointer(start: nil, count: 0), Z_FINISH, to: sink)
    }

    /// What comes out of the next piece.
    package func compress(_ bytes: [UInt8]) throws(BlobError) -> [UInt8] {
        let sink = CollectingSink()
        let result: Result<UInt64, BlobError> = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(BlobError) in unsafe try write(bytes, to: sink) }
        }
        _ = try result.get()
        return sink.content
    }

    /// The end of the member.
    package func finish() throws(BlobError) -> [UInt8] {
        let sink = CollectingSink()
        _ = try finish(to: sink)
        return sink.content
    }

    private func run(
        _ bytes: UnsafeRawBufferPointer, _ flush: Int32, to sink: any ByteSink
    ) throws(BlobError) -> UInt64 {
        // zlib's type lacks a const, it does not write here.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(
            mutating: bytes.baseAddress?.assumingMemoryBound(to: Bytef.self))
        unsafe stream.pointee.avail_in = uInt(bytes.count)
        var count: UInt64 = 0
        while true {
            let space = unsafe output.mutableBytes
            unsafe stream.pointee.next_out = space.baseAddress?.assumingMemoryBound(to: Bytef.self)
            unsafe stream.pointee.avail_out = uInt(space.count)
            let status = unsafe deflate(stream, flush)
            let produced = unsafe space.count - Int(stream.pointee.avail_out)
            unsafe try sink.write(UnsafeRawBufferPointer(rebasing: space[..<produced]))
            count += UInt64(produced)
            let isDone = unsafe flush == Z_FINISH ? status == Z_STREAM_END : stream.pointee.avail_out > 0
            if isDone { return count }
        }
    }
}

/// Keeps what is written to it.
private final class CollectingSink: ByteSink {
    private(set) var content: [UInt8] = []

    func write(_ bytes: UnsafeRawBufferPointer) { unsafe content += bytes }
    func finish(_ facts: SealedFacts) {}
}

// MARK: - Inflater

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

// MARK: - GzipSource

/// Reads the content of a blob that is stored as gzip. Made for reading from the beginning to the end: going back
/// begins anew, and going ahead decompresses what lies between.
@safe final class GzipSource: ByteSource {
    private static let windowBits: Int32 = 15 + 16
    /// Deflate cannot expand further than this (zlib's technical notes).
    private static let maximumRatio: UInt64 = 1032

    private(set) var length: UInt64
    private let stored: any ByteSource
    private let path: String
    private let stream: UnsafeMutablePointer<z_stream>
    private let input = ByteBuffer(capacity: 64 << 10)
    private let skipped = ByteBuffer(capacity: 64 << 10)
    private var inputOffset: UInt64 = 0
    private var position: UInt64 = 0
    private var hasEnded = false

    /// - Parameter length: The length of the content; `nil` to find it out, which for large blobs means to decompress
    ///   them.
    init(_ stored: any ByteSource, length: UInt64?, path: String) throws(BlobError) {
        self.stored = stored
        self.path = path
        self.length = length ?? .max
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe inflateInit2_(
            stream, Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { fatalError("zlib has no memory") }
        if length == nil { self.length = try findLength() }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError) {
        if offset < position { rewind() }
        skipped.resize(to: 64 << 10)
        while position < offset {
            let count = Int(min(UInt64(skipped.count), offset - position))
            let space = unsafe UnsafeMutableRawBufferPointer(rebasing: skipped.mutableBytes[..<count])
            guard unsafe try decompress(into: space) == count else { throw endsEarly }
        }
        guard unsafe try decompress(into: buffer) == buffer.count else { throw endsEarly }
    }

    /// Verifies that the content ends where reading has come to, with the checksum that it must have.
    func checkEnd() throws(BlobError) {
        skipped.resize(to: 1)
        guard unsafe try decompress(into: skipped.mutableBytes) == 0 else {
            throw BlobError.damaged(path, "its compressed content is longer than it says")
        }
    }

    private var endsEarly: BlobError { BlobError.damaged(path, "its compressed content ends early") }

    /// gzip's last four bytes are the content's length modulo 2^32, which is the length where more cannot be.
    private func findLength() throws(BlobError) -> UInt64 {
        guard stored.length >= 18 else { throw BlobError.damaged(path, "it is no gzip file") }
        if stored.length * Self.maximumRatio <= UInt64(UInt32.max) {
            input.resize(to: 4)
            unsafe try stored.read(into: input.mutableBytes, at: stored.length - 4)
            let length = UInt64(input.view.load(UInt32.self, at: 0))
            guard length <= stored.length * Self.maximumRatio else {
                throw BlobError.damaged(path, "it says that it is longer than it can be")
            }
            return length
        }
        skipped.resize(to: 64 << 10)
        while unsafe try decompress(into: skipped.mutableBytes) > 0 {}
        defer { rewind() }
        return position
    }

    private func rewind() {
        unsafe inflateReset(stream)
        unsafe stream.pointee.avail_in = 0
        inputOffset = 0
        position = 0
        hasEnded = false
    }

    /// Fills `buffer` as far as there is content; verifies gzip's checksum when the end is reached.
    private func decompress(into buffer: UnsafeMutableRawBufferPointer) throws(BlobError) -> Int {
        var done = 0
        while done < buffer.count, !hasEnded {
            if unsafe stream.pointee.avail_in == 0 { try refill() }
            let part = min(buffer.count - done, 1 << 30)
            unsafe stream.pointee.next_out = (buffer.baseAddress! + done).assumingMemoryBound(to: Bytef.self)
            unsafe stream.pointee.avail_out = uInt(part)
            let status = unsafe inflate(stream, Z_NO_FLUSH)
            done += unsafe part - Int(stream.pointee.avail_out)
            guard status == Z_OK || status == Z_STREAM_END else {
                throw BlobError.damaged(path, "its compressed content cannot be decompressed")
            }
            hasEnded = status == Z_STREAM_END
        }
        position += UInt64(done)
        return done
    }

    private func refill() throws(BlobError) {
        let count = Int(min(64 << 10, stored.length - inputOffset))
        guard count > 0 else { throw endsEarly }
        input.resize(to: count)
        unsafe try stored.read(into: input.mutableBytes, at: inputOffset)
        inputOffset += UInt64(count)
        unsafe stream.pointee.next_in = input.mutableBytes.baseAddress?.assumingMemoryBound(to: Bytef.self)
        unsafe stream.pointee.avail_in = uInt(count)
    }
}

import CRoostZlib
import RoostBytes

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

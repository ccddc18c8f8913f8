import CRoostZlib
import RoostBytes

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

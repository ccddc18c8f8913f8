import CRoostZlib

/// The end of what a synchronizing flush writes, which senders cut off and readers append again.
private let flushMark: [UInt8] = [0, 0, 0xFF, 0xFF]

/// One raw deflate stream (RFC 1951) over the compressed frames of one direction.
@safe final class FrameDeflater {
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { fatalError("zlib has no memory") }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// The compressed form of a piece, flushed to a byte boundary, without the mark at its end.
    func deflate(_ piece: [UInt8]) -> [UInt8] {
        // zlib writes nothing for a second flush in a row; this is the header of the empty block that the mark ends.
        guard !piece.isEmpty else { return [0] }
        var input = piece
        var output: [UInt8] = []
        unsafe input.withUnsafeMutableBufferPointer { source in
            unsafe stream.pointee.next_in = source.baseAddress
            unsafe stream.pointee.avail_in = uInt(source.count)
            var isFull = true
            while isFull {
                let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { target, produced in
                    unsafe stream.pointee.next_out = target.baseAddress
                    unsafe stream.pointee.avail_out = uInt(target.count)
                    _ = unsafe CRoostZlib.deflate(stream, Z_SYNC_FLUSH)
                    produced = unsafe target.count - Int(stream.pointee.avail_out)
                }
                output += chunk
                isFull = chunk.count == 16 << 10
            }
        }
        if output.suffix(4).elementsEqual(flushMark) { output.removeLast(4) }
        return output
    }
}

/// The other end of ``FrameDeflater``.
@safe final class FrameInflater {
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { fatalError("zlib has no memory") }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decompresses the piece of one frame.
    func inflate(_ coded: ArraySlice<UInt8>, limit: Int) throws(BLIPError) -> [UInt8] {
        guard !coded.isEmpty else { return [] }
        var input = Array(coded) + flushMark
        var output: [UInt8] = []
        var status = Z_OK
        var isConsumed = false
        unsafe input.withUnsafeMutableBufferPointer { source in
            unsafe stream.pointee.next_in = source.baseAddress
            unsafe stream.pointee.avail_in = uInt(source.count)
            var isFull = true
            while isFull, status == Z_OK, output.count <= limit {
                let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { target, produced in
                    unsafe stream.pointee.next_out = target.baseAddress
                    unsafe stream.pointee.avail_out = uInt(target.count)
                    status = unsafe CRoostZlib.inflate(stream, Z_SYNC_FLUSH)
                    produced = unsafe target.count - Int(stream.pointee.avail_out)
                }
                output += chunk
                isFull = chunk.count == 16 << 10
            }
            isConsumed = unsafe stream.pointee.avail_in == 0
        }
        guard output.count <= limit else { throw BLIPError("The frame is too large.") }
        // No progress is an error only where input is left.
        guard status == Z_OK || status == Z_BUF_ERROR, isConsumed else {
            throw BLIPError("The compressed data of a frame is damaged.")
        }
        return output
    }
}

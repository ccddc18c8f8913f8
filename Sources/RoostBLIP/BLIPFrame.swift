import CRoostZlib
import RoostBytes

/// The kind of a message, or of an acknowledgement, which is a frame of its own kind.
package enum BLIPKind: UInt64, Sendable {
    case request = 0
    case reply = 1
    case errorReply = 2
    case requestAcknowledgement = 4
    case replyAcknowledgement = 5

    /// Whether frames of this kind say how much of a message has arrived, and carry nothing of a message.
    var isAcknowledgement: Bool { rawValue >= 4 }
}

/// One frame of BLIP 3: a piece of a message, or an acknowledgement. On the wire each frame is one binary WebSocket message.
///
/// Source of the format: "BLIP Protocol.md" of couchbase/couchbase-lite-core.
package struct BLIPFrame: Sendable, Equatable {
    /// The bits of a frame besides its kind.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt64

        package init(rawValue: UInt64) { self.rawValue = rawValue }

        /// The piece went through the compressor.
        package static let compressed = Flags(rawValue: 0x08)
        /// The message goes before others.
        package static let urgent = Flags(rawValue: 0x10)
        /// The sender wants no reply.
        package static let noReply = Flags(rawValue: 0x20)
        /// More frames of this message follow.
        package static let moreComing = Flags(rawValue: 0x40)

        static let all: Flags = [.compressed, .urgent, .noReply, .moreComing]
    }

    /// The number of the request: the sender's own for a request, the other side's for a reply.
    package var number: UInt64
    package var kind: BLIPKind
    package var flags: Flags
    /// The piece of the message, decompressed; of an acknowledgement, the varint.
    package var piece: [UInt8]
    /// The number of bytes that the piece took on the wire with its checksum, which is what acknowledgements count.
    package var wireCount: Int

    package init(number: UInt64, kind: BLIPKind, flags: Flags = [], piece: [UInt8], wireCount: Int = 0) {
        self.number = number
        self.kind = kind
        self.flags = flags
        self.piece = piece
        self.wireCount = wireCount
    }

    /// An acknowledgement: how many bytes of a message have arrived so far.
    package init(acknowledging number: UInt64, isReply: Bool, bytes: UInt64) {
        var piece: [UInt8] = []
        piece.append(varint: bytes)
        self.init(
            number: number, kind: isReply ? .replyAcknowledgement : .requestAcknowledgement,
            flags: [.urgent, .noReply], piece: piece)
    }

    /// What an acknowledgement says: the number of bytes that have arrived; `nil` for other frames.
    package var acknowledged: UInt64? {
        guard kind.isAcknowledgement else { return nil }
        var offset = 0
        guard let count = piece.span.varint(at: &offset), offset == piece.count else { return nil }
        return count
    }
}

/// Decodes the frames of one direction of a connection, in their order: the checksum and the compression run on from frame to frame.
///
/// A reader that has thrown must not be used again.
package struct BLIPFrameReader {
    private let inflater = FrameInflater()
    private var checksum: UInt32 = 0

    package init() {}

    /// Decodes a frame and verifies its checksum.
    ///
    /// - Parameter limit: The largest piece, decompressed, in bytes. A longer one is an error before it is held in memory.
    package mutating func read(_ bytes: [UInt8], limit: Int) throws(BLIPError) -> BLIPFrame {
        var offset = 0
        guard let number = bytes.span.varint(at: &offset), let bits = bytes.span.varint(at: &offset) else {
            throw BLIPError("The frame ends within its header, or a number is malformed.")
        }
        guard number > 0 else { throw BLIPError("The number of a message must not be 0.") }
        guard bits & 7 | BLIPFrame.Flags.all.rawValue == bits | BLIPFrame.Flags.all.rawValue,
            let kind = BLIPKind(rawValue: bits & 7)
        else { throw BLIPError("The frame has unknown flags.") }
        let flags = BLIPFrame.Flags(rawValue: bits & BLIPFrame.Flags.all.rawValue)
        let payload = bytes[offset...]
        if kind.isAcknowledgement {
            let frame = BLIPFrame(number: number, kind: kind, flags: flags, piece: Array(payload))
            guard frame.acknowledged != nil else { throw BLIPError("An acknowledgement is malformed.") }
            return frame
        }
        guard payload.count >= 4 else { throw BLIPError("The frame has no checksum.") }
        let coded = payload.dropLast(4)
        let piece: [UInt8]
        if flags.contains(.compressed) {
            piece = try inflater.inflate(coded, limit: limit)
        } else {
            guard coded.count <= limit else { throw BLIPError("The frame is too large.") }
            piece = Array(coded)
        }
        checksum = runningChecksum(checksum, piece)
        guard payload.suffix(4).reduce(0, { $0 << 8 | UInt32($1) }) == checksum else {
            throw BLIPError("The checksum of a frame is wrong.")
        }
        return BLIPFrame(number: number, kind: kind, flags: flags, piece: piece, wireCount: payload.count)
    }
}

/// zlib's CRC-32, continued.
func runningChecksum(_ checksum: UInt32, _ bytes: [UInt8]) -> UInt32 {
    unsafe bytes.withUnsafeBufferPointer { buffer in
        // zlib starts over where the pointer is nil, which that of an empty array may be.
        guard let base = buffer.baseAddress, !buffer.isEmpty else { return checksum }
        return UInt32(truncatingIfNeeded: unsafe crc32_z(UInt(checksum), base, buffer.count))
    }
}

/// Encodes the frames of one direction of a connection, in their order: the checksum and the compression run on from frame to frame.
package struct BLIPFrameWriter {
    /// Takes a quarter of a megabyte; `nil` while nothing is compressed.
    private var deflater: FrameDeflater?
    private var checksum: UInt32 = 0

    package init() {}

    /// The bytes of a frame, which must be sent before those of the next. ``BLIPFrame/wireCount`` of the frame is set.
    package mutating func write(_ frame: inout BLIPFrame) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frame.piece.count + 16)
        bytes.append(varint: frame.number)
        bytes.append(varint: frame.kind.rawValue | frame.flags.rawValue)
        let start = bytes.count
        guard !frame.kind.isAcknowledgement else { return bytes + frame.piece }
        if frame.flags.contains(.compressed) {
            let deflater = deflater ?? FrameDeflater()
            self.deflater = deflater
            bytes += deflater.deflate(frame.piece)
        } else {
            bytes += frame.piece
        }
        checksum = runningChecksum(checksum, frame.piece)
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: checksum >> UInt32(shift))) }
        frame.wireCount = bytes.count - start
        return bytes
    }

    /// Releases the memory of the compression. The next frame refers to none before, which readers don't notice: each frame ends at the
    /// end of a block.
    package mutating func rest() { deflater = nil }
}

// MARK: - Compression

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

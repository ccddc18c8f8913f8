import CRoostZlib
import RoostBytes

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

import RoostBytes

/// Encodes the frames of one direction of a connection, in their order: the checksum and the compression run on from frame to frame.
package struct BLIPFrameWriter {
    private let deflater = FrameDeflater()
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
        bytes += frame.flags.contains(.compressed) ? deflater.deflate(frame.piece) : frame.piece
        checksum = runningChecksum(checksum, frame.piece)
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: checksum >> UInt32(shift))) }
        frame.wireCount = bytes.count - start
        return bytes
    }
}

import RoostBytes

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

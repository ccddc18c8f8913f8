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

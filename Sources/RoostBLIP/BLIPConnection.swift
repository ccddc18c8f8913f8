import RoostBytes

/// Both directions of a BLIP 3 connection, without I/O: messages are divided into frames, interleaved and joined again, with flow control.
///
/// Its owner passes each binary WebSocket message to ``receive(_:)`` and sends what ``nextFrame()`` returns, in this order. Bodies go
/// both ways in pieces, so that a large one is never in memory as a whole. After an error the connection must be closed.
///
/// Memory: of each incoming message, the properties and what ``consumed(_:of:)`` has not reported; the sender pauses because
/// acknowledgements wait for it. Of each outgoing message, what ``append(_:to:isLast:)`` was given and no frame has taken.
package struct BLIPConnection {
    /// A message of one direction.
    package struct MessageID: Hashable, Sendable {
        /// The number of the request, also for its reply.
        package let number: UInt64
        package let isReply: Bool

        package init(_ number: UInt64, isReply: Bool) {
            self.number = number
            self.isReply = isReply
        }
    }

    /// How a message is sent.
    package struct Options: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let compressed = Options(rawValue: 1)
        package static let urgent = Options(rawValue: 2)
        /// Only for requests: neither a reply nor an error comes back.
        package static let noReply = Options(rawValue: 4)
    }

    /// The limits of what the other side may send.
    package struct Limits: Sendable {
        /// The largest frame on the wire, in bytes. Senders make none above 16 KiB.
        package var frame = 64 << 10
        /// The largest piece of a frame, decompressed, in bytes.
        package var piece = 4 << 20
        /// The number of requests that may be incomplete at a time.
        package var incompleteRequests = 64

        package init() {}
    }

    package enum Event: Sendable, Equatable {
        /// The properties of a message have arrived.
        case began(MessageID, BLIPProperties, isError: Bool, wantsReply: Bool)
        /// A piece of a message's body has arrived, never empty.
        case body(MessageID, [UInt8])
        /// A message is complete.
        case ended(MessageID)
    }

    /// A receiver acknowledges after this number of bytes (BLIP Protocol, "Flow control").
    private static let acknowledgedBytes: UInt64 = 50_000
    /// A sender pauses at this number of bytes without an acknowledgement.
    private static let pausedBytes: UInt64 = 128_000
    /// The size of a frame's piece, before compression, and while an urgent message waits.
    private static let pieceSize = (16 << 10) - 64
    private static let smallPieceSize = (4 << 10) - 64
    /// Acknowledgements wait while this number of bytes of a body is not consumed.
    private static let mostUnconsumed = 64 << 10

    private struct Outgoing {
        let id: MessageID
        let kind: BLIPKind
        let flags: BLIPFrame.Flags
        var bytes: [UInt8]
        /// Bytes before this offset are in frames.
        var offset = 0
        var isComplete: Bool
        var hasBegun = false
        var sent: UInt64 = 0
        var acknowledged: UInt64 = 0

        var isUrgent: Bool { flags.contains(.urgent) }
        var canSend: Bool { (isComplete || offset < bytes.count) && sent - acknowledged < pausedBytes }
    }

    private struct Incoming {
        let kind: BLIPKind
        let wantsReply: Bool
        var head: BLIPMessageHead? = BLIPMessageHead()
        var received: UInt64 = 0
        var acknowledged: UInt64 = 0
        var unconsumed = 0
    }

    private let limits: Limits
    private var reader = BLIPFrameReader()
    private var writer = BLIPFrameWriter()
    private var queue: [Outgoing] = []
    private var acknowledgements: [BLIPFrame] = []
    private var incoming: [MessageID: Incoming] = [:]
    private var lastSent: UInt64 = 0
    private var lastReceived: UInt64 = 0
    /// The requests that were sent and have no complete reply.
    private var unanswered: Set<UInt64> = []
    /// The requests that have arrived and want a reply.
    private var owed: [UInt64: BLIPFrame.Flags] = [:]

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Whether replies are missing or frames wait.
    package var isBusy: Bool { !unanswered.isEmpty || !queue.isEmpty || !owed.isEmpty }

    /// The number of requests that were sent and have no complete reply.
    package var unansweredCount: Int { unanswered.count }

    // MARK: Sending

    /// Begins a request.
    ///
    /// - Parameter isComplete: Whether `message` has the whole body; else ``append(_:to:isLast:)`` adds the rest.
    package mutating func send(
        _ message: BLIPMessage, options: Options = [], isComplete: Bool = true
    ) -> MessageID {
        lastSent += 1
        let id = MessageID(lastSent, isReply: false)
        if !options.contains(.noReply) { unanswered.insert(lastSent) }
        enqueue(id, .request, flags(options), message, isComplete)
        return id
    }

    /// Begins the reply to a request that has arrived. Does nothing for a request that wants none, or has its reply.
    ///
    /// - Parameter isError: Whether the message was made by ``BLIPMessage/init(errorIn:code:_:)``.
    package mutating func reply(
        to request: MessageID, _ message: BLIPMessage, isError: Bool = false, options: Options = [],
        isComplete: Bool = true
    ) {
        guard !request.isReply, let asked = owed.removeValue(forKey: request.number) else { return }
        let urgent = asked.intersection(.urgent)
        enqueue(
            MessageID(request.number, isReply: true), isError ? .errorReply : .reply,
            flags(options.subtracting(.noReply)).union(urgent), message, isComplete)
    }

    /// Adds to the body of a message that was begun incomplete.
    package mutating func append(_ bytes: [UInt8], to id: MessageID, isLast: Bool) {
        guard let index = queue.firstIndex(where: { $0.id == id && !$0.isComplete }) else { return }
        queue[index].bytes.removeFirst(queue[index].offset)
        queue[index].offset = 0
        queue[index].bytes += bytes
        queue[index].isComplete = isLast
    }

    /// The bytes of a message that no frame has taken; a producer of a large body waits while there are many.
    package func backlog(of id: MessageID) -> Int {
        queue.first { $0.id == id }.map { $0.bytes.count - $0.offset } ?? 0
    }

    private func flags(_ options: Options) -> BLIPFrame.Flags {
        var flags: BLIPFrame.Flags = []
        if options.contains(.compressed) { flags.insert(.compressed) }
        if options.contains(.urgent) { flags.insert(.urgent) }
        if options.contains(.noReply) { flags.insert(.noReply) }
        return flags
    }

    private mutating func enqueue(
        _ id: MessageID, _ kind: BLIPKind, _ flags: BLIPFrame.Flags, _ message: BLIPMessage,
        _ isComplete: Bool
    ) {
        insert(Outgoing(id: id, kind: kind, flags: flags, bytes: message.encoded, isComplete: isComplete))
    }

    /// Puts a message where its next frame is due: urgent ones before others, with one other in between. Requests begin in the order of
    /// their numbers, which receivers insist on.
    private mutating func insert(_ message: Outgoing) {
        guard message.isUrgent else { return queue.append(message) }
        var index = min(queue.lastIndex { $0.isUrgent }.map { $0 + 2 } ?? 1, queue.count)
        if !message.hasBegun, message.kind == .request,
            let earlier = queue.lastIndex(where: { $0.kind == .request && !$0.hasBegun })
        {
            index = max(index, earlier + 1)
        }
        queue.insert(message, at: index)
    }

    /// The next frame to send; `nil` while there is none, or all messages wait for acknowledgements or for more of their bodies.
    package mutating func nextFrame() -> [UInt8]? {
        if !acknowledgements.isEmpty {
            var frame = acknowledgements.removeFirst()
            return writer.write(&frame)
        }
        guard let index = nextIndex() else {
            if queue.isEmpty { writer.rest() }
            return nil
        }
        var message = queue.remove(at: index)
        let size = !message.isUrgent && queue.contains { $0.isUrgent } ? Self.smallPieceSize : Self.pieceSize
        let end = min(message.bytes.count, message.offset + size)
        let isLast = message.isComplete && end == message.bytes.count
        var frame = BLIPFrame(
            number: message.id.number, kind: message.kind,
            flags: isLast ? message.flags : message.flags.union(.moreComing),
            piece: Array(message.bytes[message.offset..<end]))
        let bytes = writer.write(&frame)
        guard !isLast else { return bytes }
        message.offset = end
        message.hasBegun = true
        message.sent += UInt64(frame.wireCount)
        insert(message)
        return bytes
    }

    private func nextIndex() -> Int? {
        var mayBegin = true
        for (index, message) in queue.enumerated() {
            let begins = message.kind == .request && !message.hasBegun
            if message.canSend, !begins || mayBegin { return index }
            if begins { mayBegin = false }
        }
        return nil
    }

    // MARK: Receiving

    /// Takes a frame that has arrived.
    package mutating func receive(_ bytes: [UInt8]) throws(BLIPError) -> [Event] {
        guard bytes.count <= limits.frame else { throw BLIPError("The frame is too large.") }
        let frame = try reader.read(bytes, limit: limits.piece)
        let isReply = [.reply, .errorReply, .replyAcknowledgement].contains(frame.kind)
        let id = MessageID(frame.number, isReply: isReply)
        if let count = frame.acknowledged {
            try acknowledge(id, count)
            return []
        }
        let known = incoming.removeValue(forKey: id)
        var message = if let known { known } else { try begin(id, frame) }
        guard message.kind == frame.kind else { throw BLIPError("The frames of a message differ in kind.") }
        var events: [Event] = []
        var body = frame.piece[...]
        if var head = message.head {
            let found = try head.receive(body)
            message.head = found == nil ? head : nil
            body = found?.rest ?? []
            if let found {
                events.append(
                    .began(
                        id, found.properties, isError: frame.kind == .errorReply,
                        wantsReply: message.wantsReply))
            }
        }
        if !body.isEmpty {
            message.unconsumed += body.count
            events.append(.body(id, Array(body)))
        }
        message.received += UInt64(frame.wireCount)
        guard frame.flags.contains(.moreComing) else {
            guard message.head == nil else { throw BLIPError("The message ends within its properties.") }
            if isReply { unanswered.remove(frame.number) }
            return events + [.ended(id)]
        }
        // A sender that does not wait for acknowledgements would fill the memory.
        guard message.received - message.acknowledged <= Self.pausedBytes + UInt64(limits.frame) else {
            throw BLIPError("The sender does not wait for acknowledgements.")
        }
        incoming[id] = message
        acknowledgeIfDue(id)
        return events
    }

    private mutating func begin(_ id: MessageID, _ frame: BLIPFrame) throws(BLIPError) -> Incoming {
        let wantsReply = frame.kind == .request && !frame.flags.contains(.noReply)
        if id.isReply {
            guard unanswered.contains(id.number) else {
                throw BLIPError("A reply to no request has arrived.")
            }
        } else {
            guard id.number == lastReceived + 1 else { throw BLIPError("A request has the wrong number.") }
            lastReceived += 1
            let incomplete = incoming.keys.count { !$0.isReply }
            guard incomplete < limits.incompleteRequests else {
                throw BLIPError("Too many requests are incomplete.")
            }
            if wantsReply { owed[id.number] = frame.flags }
        }
        return Incoming(kind: frame.kind, wantsReply: wantsReply)
    }

    private mutating func acknowledge(_ id: MessageID, _ count: UInt64) throws(BLIPError) {
        // The last acknowledgement of a message may come after its last frame has gone.
        guard let index = queue.firstIndex(where: { $0.id == id }) else { return }
        guard count <= queue[index].sent else { throw BLIPError("More was acknowledged than was sent.") }
        queue[index].acknowledged = max(queue[index].acknowledged, count)
    }

    /// Reports that bytes of a body were processed, so that the sender may send more.
    package mutating func consumed(_ count: Int, of id: MessageID) {
        incoming[id]?.unconsumed -= count
        acknowledgeIfDue(id)
    }

    private mutating func acknowledgeIfDue(_ id: MessageID) {
        guard let message = incoming[id], message.received - message.acknowledged >= Self.acknowledgedBytes,
            message.unconsumed <= Self.mostUnconsumed
        else { return }
        incoming[id]?.acknowledged = message.received
        acknowledgements.append(
            BLIPFrame(acknowledging: id.number, isReply: id.isReply, bytes: message.received))
    }
}

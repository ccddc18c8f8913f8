import RoostBytes

/// The side of a WebSocket connection that reads. Clients mask what they send, and servers do not (RFC 6455, section 5.1).
public enum WebSocketReader: Sendable {
    /// A server, which reads masked frames.
    case server
    /// A client, which reads frames without a mask.
    case client
}

/// What one direction of a WebSocket connection carries.
public enum WebSocketEvent: Sendable, Equatable {
    /// A binary message, its fragments joined.
    case binary([UInt8])
    /// A text message, its fragments joined, in valid UTF-8.
    case text([UInt8])
    /// A ping. The reader answers with a pong that has the same bytes, at most 125.
    case ping([UInt8])
    /// A pong, which answers a ping or comes unsolicited.
    case pong([UInt8])
    /// The other side closes the connection. No event follows it.
    case close(WebSocketClose)
}

/// Why a WebSocket connection ends (RFC 6455, section 7.4).
public struct WebSocketClose: Error, Sendable, Equatable, CustomStringConvertible {
    /// The status code; 1005 where the other side gave none.
    public let code: UInt16
    /// The reason as text, at most 123 bytes of UTF-8. Not meant for people.
    public let reason: String

    /// A reason to close a connection.
    public init(_ code: UInt16, _ reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// The code and the reason.
    public var description: String {
        "The WebSocket connection was closed with code \(code)\(reason.isEmpty ? "." : ": \(reason)")"
    }

    /// The purpose of the connection is fulfilled.
    public static let normal = WebSocketClose(1000)

    /// Whether a close frame may carry the code. 1004 to 1006 and 1015 never go over the wire.
    static func isPermitted(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// Reads one direction of a WebSocket connection without I/O: takes bytes in pieces of any size, and returns messages and control
/// frames (RFC 6455, section 5).
///
/// No extension is negotiated, so reserved bits are errors. A parser that has thrown must not be used again: its owner sends
/// the ``WebSocketClose`` that was thrown, and closes the connection. Memory is bounded by the limit for a message.
public struct WebSocketParser: Sendable {
    private enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    private struct Header {
        let opcode: Opcode
        let isFinal: Bool
        let mask: UInt32?
        let length: Int
    }

    /// The longest payload of a control frame, in bytes.
    private static let longestControl = 125

    private let reader: WebSocketReader
    private let limit: Int
    private var pending: [UInt8] = []
    /// Bytes of `pending` before this offset are consumed.
    private var offset = 0
    private var header: Header?
    /// The fragments of the message so far, and the opcode that began it.
    private var message: (opcode: Opcode, bytes: [UInt8])?
    private var hasClosed = false

    /// A parser for the first byte after the handshake.
    ///
    /// - Parameter limit: The largest message, in bytes.
    public init(readBy reader: WebSocketReader, limit: Int = 1 << 20) {
        self.reader = reader
        self.limit = limit
    }

    /// Whether a frame or a message has begun that is not complete.
    public var isIncomplete: Bool { header != nil || message != nil || offset < pending.count }

    /// Adds bytes that have arrived.
    ///
    /// - Complexity: Amortized O(n) in the number of bytes, as long as ``next()`` is called until it returns `nil`.
    public mutating func receive(_ bytes: some Sequence<UInt8>) {
        if offset > 0 {
            pending.removeFirst(offset)
            offset = 0
        }
        pending.append(contentsOf: bytes)
    }

    /// The next event; `nil` when more bytes are needed, and after a close.
    ///
    /// - Throws: The close to answer with: 1002 for a violation of the protocol, 1007 for text that is not UTF-8, 1009 for a
    ///   message beyond the limit.
    public mutating func next() throws(WebSocketClose) -> WebSocketEvent? {
        while !hasClosed {
            if header == nil { header = try nextHeader() }
            guard let header, pending.count - offset >= header.length else {
                // A connection that waits for a message holds no memory for the last one.
                if offset == pending.count { (pending, offset) = ([], 0) }
                return nil
            }
            let payload = takePayload(header)
            self.header = nil
            if let event = try event(header, payload) { return event }
        }
        return nil
    }

    private mutating func nextHeader() throws(WebSocketClose) -> Header? {
        let available = pending.count - offset
        guard available >= 2 else { return nil }
        let (first, second) = (pending[offset], pending[offset + 1])
        guard first & 0x70 == 0 else { throw WebSocketClose(1002, "A reserved bit is set.") }
        guard let opcode = Opcode(rawValue: first & 0x0F) else {
            throw WebSocketClose(1002, "Unknown opcode.")
        }
        let isFinal = first & 0x80 != 0
        let isMasked = second & 0x80 != 0
        guard isMasked == (reader == .server) else {
            throw WebSocketClose(1002, isMasked ? "A server must not mask." : "A client must mask.")
        }
        let short = Int(second & 0x7F)
        let extra = short == 127 ? 8 : short == 126 ? 2 : 0
        if opcode.isControl {
            guard isFinal, short <= Self.longestControl else {
                throw WebSocketClose(1002, "A control frame is fragmented or too long.")
            }
        } else {
            guard (opcode == .continuation) == (message != nil) else {
                throw WebSocketClose(1002, "A fragment is missing or misplaced.")
            }
        }
        guard available >= 2 + extra + (isMasked ? 4 : 0) else { return nil }
        let length = extra == 0 ? UInt64(short) : number(extra, at: offset + 2)
        guard extra == 0 || length > (extra == 2 ? 125 : 0xFFFF) else {
            throw WebSocketClose(1002, "The length is not in its shortest form.")
        }
        // Compared before anything of the payload is kept.
        guard length <= UInt64(limit - (opcode.isControl ? 0 : message?.bytes.count ?? 0)) else {
            throw WebSocketClose(1009, "The message is too large.")
        }
        let mask = isMasked ? UInt32(truncatingIfNeeded: number(4, at: offset + 2 + extra)) : nil
        offset += 2 + extra + (isMasked ? 4 : 0)
        return Header(opcode: opcode, isFinal: isFinal, mask: mask, length: Int(length))
    }

    private func number(_ count: Int, at start: Int) -> UInt64 {
        pending[start..<(start + count)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func takePayload(_ header: Header) -> [UInt8] {
        var payload = Array(pending[offset..<(offset + header.length)])
        offset += header.length
        if let mask = header.mask { WebSocketEncoder.apply(mask, to: &payload, from: 0) }
        return payload
    }

    private mutating func event(_ header: Header, _ payload: [UInt8]) throws(WebSocketClose)
        -> WebSocketEvent?
    {
        switch header.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        case .close:
            hasClosed = true
            return .close(try Self.close(payload))
        case .text, .binary, .continuation:
            if message == nil {
                message = (header.opcode, payload)
            } else {
                message?.bytes += payload
            }
            guard header.isFinal, let (opcode, bytes) = message else { return nil }
            message = nil
            guard opcode == .text else { return .binary(bytes) }
            guard String(validating: bytes, as: UTF8.self) != nil else {
                throw WebSocketClose(1007, "The text is not UTF-8.")
            }
            return .text(bytes)
        }
    }

    private static func close(_ payload: [UInt8]) throws(WebSocketClose) -> WebSocketClose {
        guard !payload.isEmpty else { return WebSocketClose(1005) }
        guard payload.count >= 2 else { throw WebSocketClose(1002, "A close has half a code.") }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard WebSocketClose.isPermitted(code) else { throw WebSocketClose(1002, "Not a code of a close.") }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw WebSocketClose(1007, "The reason is not UTF-8.")
        }
        return WebSocketClose(code, reason)
    }
}

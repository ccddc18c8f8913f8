/// Encodes the frames of one direction of a WebSocket connection (RFC 6455, section 5.2). Each message is one frame.
public enum WebSocketEncoder {
    /// The bytes of a frame for an event.
    ///
    /// - Parameter mask: Four random bytes where a client sends, a new number for each frame; `nil` where a server does.
    public static func encode(_ event: WebSocketEvent, mask: UInt32? = nil) -> [UInt8] {
        switch event {
        case .text(let bytes): frame(1, bytes, mask)
        case .binary(let bytes): frame(2, bytes, mask)
        case .close(let close): frame(8, payload(of: close), mask)
        case .ping(let bytes): frame(9, Array(bytes.prefix(125)), mask)
        case .pong(let bytes): frame(10, Array(bytes.prefix(125)), mask)
        }
    }

    private static func frame(_ opcode: UInt8, _ payload: [UInt8], _ mask: UInt32?) -> [UInt8] {
        let count = payload.count
        var bytes: [UInt8] = [0x80 | opcode]
        bytes.reserveCapacity(count + 14)
        let flag: UInt8 = mask == nil ? 0 : 0x80
        if count <= 125 {
            bytes.append(flag | UInt8(count))
        } else {
            let width = count <= 0xFFFF ? 2 : 8
            bytes.append(flag | (width == 2 ? 126 : 127))
            for shift in (0..<width).reversed() {
                bytes.append(UInt8(truncatingIfNeeded: UInt64(count) >> (shift * 8)))
            }
        }
        if let mask {
            for shift in (0..<4).reversed() { bytes.append(UInt8(truncatingIfNeeded: mask >> (shift * 8))) }
        }
        let start = bytes.count
        bytes += payload
        if let mask { apply(mask, to: &bytes, from: start) }
        return bytes
    }

    private static func payload(of close: WebSocketClose) -> [UInt8] {
        guard WebSocketClose.isPermitted(close.code) else { return [] }
        var reason = close.reason
        while reason.utf8.count > 123 { reason.removeLast() }
        return [UInt8(close.code >> 8), UInt8(truncatingIfNeeded: close.code)] + reason.utf8
    }

    /// Masks or unmasks the bytes from an offset on.
    static func apply(_ mask: UInt32, to bytes: inout [UInt8], from start: Int) {
        let keys = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: mask >> UInt32($0)) }
        for index in start..<bytes.count { bytes[index] ^= keys[(index - start) & 3] }
    }
}

import Roost
import RoostBLIP
import RoostWire

/// What a peer of Couchbase Lite's protocol sends: WebSocket frames, BLIP frames in them, and version vectors.
extension FuzzTarget {
    static let blip = [webSocket, blipFrames, versionVector]

    private static let webSocket = FuzzTarget("websocket", largestInput: 1024) {
        [
            WebSocketEvent.binary([1, 2, 3]), .text(Array("é".utf8)), .ping([]),
            .close(WebSocketClose(1000, "bye")),
        ].flatMap { [WebSocketEncoder.encode($0), WebSocketEncoder.encode($0, mask: 0x0102_0304)] }
    } run: { input in
        for reader in [WebSocketReader.client, .server] {
            let whole = events(input, by: reader, size: input.count + 1)
            for size in [1, 7] {
                try demand(
                    events(input, by: reader, size: size) == whole,
                    "frames that depend on the pieces they come in")
            }
            for event in whole {
                let mask: UInt32? = reader == .server ? 0xA5A5_5A5A : nil
                try demand(
                    events(WebSocketEncoder.encode(event, mask: mask), by: reader, size: 1 << 20) == [event],
                    "an event that does not come back")
            }
        }
    }

    private static func events(_ input: [UInt8], by reader: WebSocketReader, size: Int) -> [WebSocketEvent] {
        var parser = WebSocketParser(readBy: reader, limit: 512)
        var found: [WebSocketEvent] = []
        var rest = input[...]
        do {
            while !rest.isEmpty {
                parser.receive(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let event = try parser.next() { found.append(event) }
            }
        } catch { return found }
        return found
    }

    /// Frames one after another, a byte with the length before each.
    private static let blipFrames = FuzzTarget("blip", largestInput: 1024) {
        var writer = BLIPFrameWriter()
        var input: [UInt8] = []
        let message = BLIPMessage(["Profile": "changes", "collection": "0"], body: Array("[]".utf8))
        for flags in [[], .compressed, [.compressed, .moreComing]] as [BLIPFrame.Flags] {
            var frame = BLIPFrame(number: 1, kind: .request, flags: flags, piece: message.encoded)
            let bytes = writer.write(&frame)
            input += [UInt8(bytes.count)] + bytes
        }
        return [input]
    } run: { input in
        var reader = BLIPFrameReader()
        var (writer, second) = (BLIPFrameWriter(), BLIPFrameReader())
        var connection: BLIPConnection? = BLIPConnection()
        _ = connection?.send(BLIPMessage())
        var rest = input[...]
        while let length = rest.popFirst() {
            let bytes = Array(rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
            if let message = try? BLIPMessage(decoding: bytes) {
                try demand(
                    (try? BLIPMessage(decoding: message.encoded)) == message,
                    "a message that does not come back")
            }
            if let events = try? connection?.receive(bytes) {
                for case .ended(let id) in events {
                    connection?.reply(to: id, BLIPMessage(), options: .compressed)
                }
                while connection?.nextFrame() != nil {}
            } else {
                // After an error it must not be used again.
                connection = nil
            }
            guard let frame = try? reader.read(bytes, limit: 4096) else { return }
            try demand(frame.piece.count <= 4096, "a piece beyond its limit")
            var written = frame
            let again = try? second.read(writer.write(&written), limit: 4096)
            try demand(again == written, "a frame that does not come back")
        }
    }

    private static let versionVector = FuzzTarget("version-vector", largestInput: 256) {
        ["5@*; 4@51L7VlzEQGqO1Xdrlp5YmQ", "7@*, 5@51L7VlzEQGqO1Xdrlp5YmQ, 4@VtbcvMR1TWWdzpljj7YCIg;"].flatMap
        { text in
            [Array(text.utf8), VersionVector(text: text.utf8)!.encoded]
        }
    } run: { input in
        for vector in [VersionVector(text: input), VersionVector(decoding: input)].compactMap({ $0 }) {
            try demand(
                VersionVector(text: vector.description.utf8) == vector, "a text that does not come back")
            if vector.versions.allSatisfy({ $0.time < 1 << 62 }) {
                try demand(VersionVector(decoding: vector.encoded) == vector, "bytes that do not come back")
            }
            try demand(vector.compare(to: vector) == .same, "a vector that is not itself")
        }
    }
}

import Testing

@testable import RoostBLIP

/// Malformed frames and messages are refused, and what they hold in memory is bounded.
@Suite struct FrameTests {
    private func read(_ bytes: [UInt8], limit: Int = 1 << 20) throws -> BLIPFrame {
        var reader = BLIPFrameReader()
        return try reader.read(bytes, limit: limit)
    }

    @Test(
        arguments: [
            // No header, or a message without a number.
            [], [0x01], [0x80], [0x01, 0x80], [0x00, 0x00, 0, 0, 0, 0],
            [0x81, 0x00, 0x00, 0, 0, 0, 0],  // a number that is longer than it must be
            // Unknown kinds and flags.
            [0x01, 0x03, 0, 0, 0, 0], [0x01, 0x07, 0, 0, 0, 0], [0x01, 0x80, 0x01, 0, 0, 0, 0],
            [0x01, 0x00, 0, 0, 0],  // half a checksum
            [0x01, 0x00, 0, 0, 0, 1],  // a wrong one
            [0x01, 0x08, 0xFF, 0xFF, 0, 0, 0, 0],  // not compressed data
            // Acknowledgements without a number, or with more.
            [0x01, 0x34], [0x01, 0x34, 0x80], [0x01, 0x34, 0x01, 0x02],
        ] as [[UInt8]])
    func malformedFramesAreRefused(bytes: [UInt8]) {
        #expect(throws: BLIPError.self) { try read(bytes) }
    }

    @Test func acknowledgementsHaveNoChecksumAndDoNotCount() throws {
        // From a recorded connection: the reply number 4 has arrived up to byte 65,560.
        let acknowledgement = try read([0x04, 0x35, 0x98, 0x80, 0x04])
        #expect(acknowledgement.kind == .replyAcknowledgement && acknowledgement.acknowledged == 65_560)
        var writer = BLIPFrameWriter()
        var made = BLIPFrame(acknowledging: 4, isReply: true, bytes: 65_560)
        #expect(writer.write(&made) == [0x04, 0x35, 0x98, 0x80, 0x04])
        // The checksum of the next frame is that of a connection's first.
        var frame = BLIPFrame(number: 1, kind: .reply, piece: Array("\u{0}{}".utf8))
        var first = frame
        var fresh = BLIPFrameWriter()
        #expect(writer.write(&frame) == fresh.write(&first))
    }

    /// 100 megabytes of zeros in a frame of 100 kilobytes are refused with no more held than the limit and a piece.
    @Test func whatUnpacksBeyondTheLimitIsRefused() throws {
        var writer = BLIPFrameWriter()
        var frame = BLIPFrame(
            number: 1, kind: .request, flags: .compressed, piece: [UInt8](repeating: 0, count: 1 << 20))
        let bytes = writer.write(&frame)
        #expect(bytes.count < 4096)
        #expect(throws: BLIPError("The frame is too large.")) { try read(bytes, limit: 16 << 10) }
        #expect(try read(bytes).piece.count == 1 << 20)
    }

    @Test func aCompressedFrameMayBeEmpty() throws {
        var (writer, reader) = (BLIPFrameWriter(), BLIPFrameReader())
        for piece in [[], Array("abc".utf8), [], Array("abcabcabc".utf8)] {
            var frame = BLIPFrame(number: 1, kind: .request, flags: [.compressed, .moreComing], piece: piece)
            #expect(try reader.read(writer.write(&frame), limit: 100).piece == piece)
        }
    }

    // MARK: Messages

    @Test func messagesComeBackEqual() throws {
        let message = BLIPMessage(
            ["Profile": "rev", "id": "Zürich", "empty": ""], body: Array(#"{"a":1}"#.utf8))
        #expect(try BLIPMessage(decoding: message.encoded) == message)
        #expect(try BLIPMessage(decoding: [0]) == BLIPMessage())
        let failure = BLIPMessage(errorIn: "HTTP", code: 409, "conflict")
        #expect(failure.properties["Error-Code"] == "409")
    }

    @Test func propertiesArriveInPieces() throws {
        let message = BLIPMessage(["Profile": "changes", "collection": "0"], body: Array("[]".utf8))
        for size in 1...message.encoded.count {
            var head = BLIPMessageHead()
            var found: (properties: BLIPProperties, rest: ArraySlice<UInt8>)?
            var rest = message.encoded[...]
            while found == nil, !rest.isEmpty {
                found = try head.receive(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(found?.properties == message.properties)
            #expect(Array((found?.rest ?? []) + rest) == message.body)
        }
    }

    @Test(
        arguments: [
            [], [0x80], [5, 0x61, 0], [2, 0x61, 0x62], [2, 0x61, 0], [3, 0xFF, 0, 0],
            [0x81, 0x80, 0x80, 0x01],  // two megabytes of properties
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
        ] as [[UInt8]])
    func malformedMessagesAreRefused(bytes: [UInt8]) {
        #expect(throws: BLIPError.self) { try BLIPMessage(decoding: bytes) }
    }

    /// The names "é" and "e" with an accent are one text to Swift's `==`, and two properties.
    @Test func propertiesAreFoundByTheirBytes() {
        let properties: BLIPProperties = ["\u{E9}": "composed", "e\u{301}": "decomposed"]
        #expect(properties["\u{E9}"] == "composed")
        #expect(properties["e\u{301}"] == "decomposed")
    }
}

import Testing

@testable import RoostWire

/// WebSocket is read strictly (RFC 6455): what breaks the protocol closes the connection with the right code.
@Suite struct WebSocketTests {
    private func events(
        _ bytes: [UInt8], by reader: WebSocketReader = .client, limit: Int = 1 << 20, size: Int = .max
    ) throws -> [WebSocketEvent] {
        var parser = WebSocketParser(readBy: reader, limit: limit)
        var found: [WebSocketEvent] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            parser.receive(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let event = try parser.next() { found.append(event) }
        }
        return found
    }

    private func code(_ bytes: [UInt8], by reader: WebSocketReader = .client, limit: Int = 1 << 20) -> UInt16?
    {
        do {
            _ = try events(bytes, by: reader, limit: limit)
            return nil
        } catch { return (error as? WebSocketClose)?.code }
    }

    /// The examples of RFC 6455, section 5.7.
    @Test(arguments: [1, 2, 3, 7, .max])
    func theStandardsExamplesAreRead(size: Int) throws {
        #expect(try events([0x81, 0x05] + "Hello".utf8, size: size) == [.text(Array("Hello".utf8))])
        #expect(
            try events(
                [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], by: .server, size: size)
                == [.text(Array("Hello".utf8))])
        #expect(
            try events([0x01, 0x03] + "Hel".utf8 + [0x80, 0x02] + "lo".utf8, size: size)
                == [.text(Array("Hello".utf8))])
        #expect(try events([0x89, 0x05] + "Hello".utf8, size: size) == [.ping(Array("Hello".utf8))])
        let long = [UInt8](repeating: 7, count: 65_536)
        #expect(
            try events([0x82, 0x7E, 0x01, 0x00] + long.prefix(256), size: size) == [
                .binary(Array(long.prefix(256)))
            ])
        #expect(
            try events([0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + long, size: max(size, 1000)) == [.binary(long)])
    }

    @Test func controlFramesComeBetweenFragments() throws {
        #expect(
            try events([0x02, 1, 1, 0x89, 0, 0x00, 1, 2, 0x8A, 1, 9, 0x80, 1, 3])
                == [.ping([]), .pong([9]), .binary([1, 2, 3])])
    }

    @Test func whatIsWrittenIsRead() throws {
        for mask in [nil, 0x0102_0304, 0xFFFF_FFFF] as [UInt32?] {
            for count in [0, 1, 125, 126, 65_535, 65_536] {
                let message = WebSocketEvent.binary((0..<count).map { UInt8(truncatingIfNeeded: $0) })
                let bytes = WebSocketEncoder.encode(message, mask: mask)
                #expect(try events(bytes, by: mask == nil ? .client : .server) == [message])
            }
            let close = WebSocketEvent.close(WebSocketClose(1001, "going away"))
            #expect(
                try events(WebSocketEncoder.encode(close, mask: mask), by: mask == nil ? .client : .server)
                    == [close])
        }
    }

    @Test(
        arguments: [
            ([0xC1, 0], 1002), ([0x91, 0], 1002), ([0xA1, 0], 1002),  // reserved bits
            ([0x83, 0], 1002), ([0x8B, 0], 1002), ([0x8F, 0], 1002),  // reserved opcodes
            // Control frames in parts, or too long.
            ([0x09, 0], 1002), ([0x08, 0], 1002), ([0x89, 0x7E, 0, 126], 1002),
            ([0x80, 0], 1002), ([0x00, 0], 1002),  // a continuation of nothing
            ([0x01, 0, 0x81, 0], 1002),  // a message within another
            // Lengths that are too long.
            ([0x82, 0x7E, 0, 125], 1002), ([0x82, 0x7F, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 1002),
            ([0x82, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], 1009),
            ([0x82, 0x80, 0, 0, 0, 0], 1002),  // a server that masks
            ([0x81, 1, 0xFF], 1007), ([0x01, 1, 0xC3, 0x80, 1, 0x28], 1007),
            ([0x81, 3, 0xED, 0xA0, 0x80], 1007),
            ([0x88, 1, 3], 1002), ([0x88, 2, 0x03, 0xED], 1002), ([0x88, 2, 0x03, 0xE7], 1002),
            ([0x88, 2, 0x13, 0x88], 1002),
            ([0x88, 3, 0x03, 0xE8, 0xFF], 1007),
        ] as [([UInt8], UInt16)])
    func violationsAreRefusedWithTheirCode(bytes: [UInt8], expected: UInt16) {
        #expect(code(bytes) == expected)
    }

    @Test func aClientThatDoesNotMaskIsRefused() { #expect(code([0x82, 0], by: .server) == 1002) }

    /// A message beyond the limit is refused by its header, before its payload has arrived, also where fragments add up to it.
    @Test func aMessageBeyondTheLimitIsRefusedByItsHeader() throws {
        #expect(code([0x82, 0x7E, 0x04, 0x01], limit: 1024) == 1009)
        #expect(
            code(
                [0x02, 0x7E, 0x02, 0x00] + [UInt8](repeating: 0, count: 512) + [0x80, 0x7E, 0x02, 0x01],
                limit: 1024) == 1009)
        #expect(
            try events([0x82, 0x7E, 0x04, 0x00] + [UInt8](repeating: 0, count: 1024), limit: 1024).count == 1)
    }

    @Test func nothingFollowsAClose() throws {
        #expect(
            try events([0x88, 2, 0x03, 0xE8, 0x81, 1, 0x61]) == [.close(WebSocketClose(1000))])
        #expect(try events([0x88, 0]) == [.close(WebSocketClose(1005))])
    }

    // MARK: Handshake

    private func request(_ changes: [(String, String?)] = [], method: String = "GET") -> HTTPRequest {
        var headers: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "keep-alive, Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Protocol": "BLIP_3+CBMobile_4,BLIP_3+CBMobile_3",
        ]
        for (name, value) in changes { headers[name] = value }
        return HTTPRequest(method, "/db/_blipsync", headers: headers)
    }

    /// The key and its answer are those of RFC 6455, section 1.3.
    @Test func aHandshakeIsAccepted() throws {
        let (response, subprotocol) = try WebSocketHandshake.accept(
            request(), protocols: ["BLIP_3+CBMobile_3", "BLIP_3+CBMobile_2"])
        #expect(response.status == 101)
        #expect(response.headers["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(subprotocol == "BLIP_3+CBMobile_3")
        #expect(response.headers["Sec-WebSocket-Protocol"] == "BLIP_3+CBMobile_3")
        #expect(try WebSocketHandshake.accept(request()).subprotocol == nil)
    }

    @Test(
        arguments: [
            ("Upgrade", nil, 400), ("Upgrade", "h2c", 400), ("Connection", "close", 400),
            ("Sec-WebSocket-Version", "8", 426), ("Sec-WebSocket-Version", nil, 426),
            ("Sec-WebSocket-Key", nil, 400),
            ("Sec-WebSocket-Key", "short", 400), ("Sec-WebSocket-Protocol", "chat", 400),
            ("Sec-WebSocket-Protocol", nil, 400),
        ] as [(String, String?, Int)])
    func whatIsNoHandshakeIsRefused(name: String, value: String?, status: Int) {
        #expect {
            try WebSocketHandshake.accept(request([(name, value)]), protocols: ["BLIP_3+CBMobile_3"])
        } throws: {
            ($0 as? WireError)?.status == status
        }
    }
}

import RoostWire
import Testing

/// HTTP/1.1 taken apart strictly: what two readers could understand differently is refused.
@Suite struct MessageParserTests {
    /// The events of `text`, fed `size` bytes at a time, as one line each.
    private func events(_ text: String, size: Int = .max) throws -> [String] {
        try events(Array(text.utf8), size: size)
    }

    private func events(_ bytes: [UInt8], size: Int = .max) throws -> [String] {
        var parser = MessageParser<RequestHead>()
        var found: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            parser.receive(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let event = try parser.next() {
                switch event {
                case .head(let head, let framing):
                    found.append("\(head.method) \(head.target) \(framing)")
                case .body(let bytes):
                    let text = String(decoding: bytes, as: UTF8.self)
                    if found.last?.hasPrefix("body") == true {
                        found[found.count - 1] += text
                    } else {
                        found.append("body \(text)")
                    }
                case .end: found.append("end")
                }
            }
        }
        return found
    }

    private func status(_ text: String) -> Int? {
        do {
            _ = try events(text)
            return nil
        } catch { return (error as? WireError)?.status }
    }

    @Test(arguments: [1, 2, 3, 7, .max])
    func readsPipelinedMessagesInPiecesOfAnySize(size: Int) throws {
        let text =
            "\r\nGET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n"
            + "PUT /d HTTP/1.1\r\nHost:x\r\nContent-Length:  5 \r\n\r\nhello"
            + "\r\n\r\nPOST /e HTTP/1.1\r\nhost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
            + "3;name=value\r\nabc\r\n0A\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\nGET / HTTP/1.0\r\n\r\n"
        #expect(
            try events(text, size: size) == [
                "GET /a?b=c none", "end", "PUT /d length(5)", "body hello", "end", "POST /e chunked",
                "body abc0123456789", "end", "GET / none", "end",
            ])
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n", 400), ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n folded\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: b\u{0}\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: b\u{1}\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET / a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nb\r\n\r\n", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0,3\r\n\r\n", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\nabc", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("PUT / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        (
            "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            400
        ),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX : y\r\n\r\n", 400),
        ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400),
    ])
    func refusesWhatIsAmbiguous(text: String, expected: Int) {
        #expect(status(text) == expected, "\(text.debugDescription)")
    }

    @Test func holdsToItsLimits() {
        let host = "Host: a\r\n"
        let get = "GET / HTTP/1.1\r\n\(host)\r\n"
        #expect(status(String(repeating: "\r\n", count: 16) + get) == nil)
        #expect(status(String(repeating: "\r\n", count: 17) + get) == 400)
        #expect(status("\n" + get) == 400)
        #expect(status("GET /\(String(repeating: "a", count: 8000)) HTTP/1.1\r\n\(host)\r\n") == 414)
        #expect(status("GET /\(String(repeating: "a", count: 20000))") == 414)
        #expect(status("GET / HTTP/1.1\r\nX: \(String(repeating: "a", count: 17000))\r\n") == 431)
        #expect(
            status("GET / HTTP/1.1\r\n\(host)\(String(repeating: "a: b\r\n", count: 101))\r\n") == 431)
        let chunked = "PUT / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n"
        #expect(status(chunked + "1;\(String(repeating: "a", count: 300))") == 400)
        #expect(status(chunked + "0\r\n" + String(repeating: "a: b\r\n", count: 4000)) == 400)
    }

    @Test func keepsPathAndQueryOfAnAbsoluteTarget() throws {
        #expect(
            try events(
                "GET http://a:1/b?c HTTP/1.1\r\nHost: a\r\n\r\nGET HTTP://a?c HTTP/1.1\r\nHost: a\r\n\r\n")
                == ["GET /b?c none", "end", "GET /?c none", "end"])
    }

    @Test func readsResponses() throws {
        var parser = MessageParser<ResponseHead>()
        parser.receive(
            Array("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200\r\n\r\nabc".utf8))
        guard case .head(let first, .none)? = try parser.next(), case .end? = try parser.next(),
            case .head(let second, .untilClose)? = try parser.next(),
            case .body(let body)? = try parser.next()
        else {
            Issue.record("other events")
            return
        }
        #expect((first.status, second.status, body) == (204, 200, Array("abc".utf8)))
        #expect(try parser.next() == nil)
        guard case .end? = try parser.close() else {
            Issue.record("no end")
            return
        }
        parser.receive(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na".utf8))
        while try parser.next() != nil {}
        #expect(throws: WireError.self) { try parser.close() }
    }

    /// What is written is read again as what it was, and no value adds fields.
    @Test func readsWhatTheEncoderWrites() throws {
        var response = HTTPResponse(200, headers: ["X": "a\r\nInjected: b"], body: .bytes([1, 2]))
        let whole = MessageEncoder.head(of: response, answering: "GET", minorVersion: 1, keepsAlive: true)
        #expect((whole.framing, whole.keepsAlive) == (.length(2), true))
        var parser = MessageParser<ResponseHead>()
        parser.receive(whole.bytes)
        guard case .head(let head, .length(2))? = try parser.next() else {
            Issue.record("no head")
            return
        }
        #expect(head.headers["X"] == "aInjected: b" && head.headers["Injected"] == nil)
        response.body = .stream(BytesBody([1]), length: nil)
        let stream = MessageEncoder.head(of: response, answering: "HEAD", minorVersion: 1, keepsAlive: true)
        #expect(stream.framing == .none && String(decoding: stream.bytes, as: UTF8.self).contains("chunked"))
        let old = MessageEncoder.head(of: response, answering: "GET", minorVersion: 0, keepsAlive: true)
        #expect((old.framing, old.keepsAlive) == (.untilClose, false))
        let chunk = MessageEncoder.chunkStart(17) + Array(repeating: 65, count: 17) + MessageEncoder.chunkEnd
        #expect(String(decoding: chunk, as: UTF8.self) == "11\r\n\(String(repeating: "A", count: 17))\r\n")
    }
}

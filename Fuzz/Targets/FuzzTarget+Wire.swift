import RoostWire

/// What a network sends: messages of HTTP/1.1 and multipart bodies.
extension FuzzTarget {
    static let wire = [http, multipart]

    private static let messages = [
        "GET /a?b=%22c%22 HTTP/1.1\r\nHost: x\r\nRange: bytes=0-4\r\n\r\n",
        "PUT /d HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloPOST / HTTP/1.0\r\n\r\n",
        "POST /e HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: t\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=\"b\\\"c\"\r\n\r\nbody",
    ]

    private static let http = FuzzTarget("http", largestInput: 1024) {
        messages.map { Array($0.utf8) }
    } run: { input in
        try parse(RequestHead.self, input)
        try parse(ResponseHead.self, input)
        let text = String(decoding: input, as: UTF8.self)
        _ = (
            MediaType(text), ByteRange(text, length: 10), PercentEncoding.decode(text),
            try? QueryParameters(text)
        )
        try demand(
            PercentEncoding.decode(PercentEncoding.encode(text)) == text, "encoding that changes a text")
    }

    /// The messages are the same in whatever pieces they come.
    private static func parse<Head: MessageHead>(_ type: Head.Type, _ input: [UInt8]) throws {
        let whole = events(type, input, size: input.count + 1)
        for size in [1, 7] {
            try demand(
                events(type, input, size: size) == whole, "messages that depend on the pieces they come in")
        }
    }

    private static func events<Head: MessageHead>(_ type: Head.Type, _ input: [UInt8], size: Int) -> [String]
    {
        var parser = MessageParser<Head>()
        var found: [String] = []
        var body: [UInt8] = []
        var rest = input[...]
        do {
            while !rest.isEmpty {
                parser.receive(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let event = try parser.next() {
                    switch event {
                    case .head(let head, let framing): found.append("\(head) \(framing)")
                    case .body(let bytes): body += bytes
                    case .end:
                        found.append("\(body)")
                        body = []
                    }
                }
            }
        } catch {
            // How much of a body comes before what is wrong depends on the pieces.
            return found
        }
        return found + ["\(body)"]
    }

    private static let multipart = FuzzTarget("multipart", largestInput: 1024) {
        [
            "x--b\r\nX: 1\r\n\r\none\r\n--b \r\n\r\n\r\n\r\n--b--y", "--b--",
            "--b\r\nA: \r\n\r\n\r\n-\r\n--\r\n--b",
        ].map {
            Array($0.utf8)
        }
    } run: { input in
        let whole = try parts(input, size: input.count + 1)
        for size in [1, 7] {
            let same = try parts(input, size: size)
            try demand(whole == nil || same == whole, "parts that depend on the pieces they come in")
        }
    }

    /// The parts as text; `nil` where the body can't be understood.
    private static func parts(_ input: [UInt8], size: Int) throws -> [String]? {
        var parser = try MultipartParser(boundary: "b")
        var found: [String] = []
        var body: [UInt8] = []
        var rest = input[...]
        while !rest.isEmpty {
            parser.receive(rest.prefix(size))
            rest = rest.dropFirst(size)
            do {
                while let event = try parser.next() {
                    switch event {
                    case .part(let headers): found.append("\(headers)")
                    case .data(let bytes): body += bytes
                    case .endOfPart, .end:
                        found.append("\(body)")
                        body = []
                    }
                }
            } catch { return nil }
        }
        return found
    }
}

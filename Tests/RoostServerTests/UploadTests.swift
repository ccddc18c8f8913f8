import RoostWire
import Testing

/// Large bodies, from clients that send as they like.
@Suite struct UploadTests {
    private static let size = 3 << 20
    private static let boundary = "a3f1b7c5"

    /// How a client sends a body.
    enum Manner: CaseIterable {
        case counted, chunked, tinyChunks, expecting

        var field: String {
            switch self {
            case .counted: "Content-Length: \(UploadTests.body.count)\r\n"
            case .expecting: "Content-Length: \(UploadTests.body.count)\r\nExpect: 100-continue\r\n"
            case .chunked, .tinyChunks: "Transfer-Encoding: chunked\r\n"
            }
        }

        var pieceSize: Int { self == .tinyChunks ? 1_000 : 16 << 10 }
        var isChunked: Bool { self == .chunked || self == .tinyChunks }
    }

    /// A document and its attachment, as replicators send them.
    private static let body: [UInt8] = {
        let document =
            #"{"_attachments":{"a":{"follows":true,"content_type":"application/x-a","length":\#(size)}}}"#
        var body = Array(
            "--\(boundary)\r\nContent-Type: application/json\r\n\r\n\(document)\r\n--\(boundary)\r\n\r\n".utf8
        )
        body += content
        return body + Array("\r\n--\(boundary)--".utf8)
    }()

    /// Full of what a boundary begins with.
    private static let content = Array(
        repeatElement(Array("\r\n--a3f1b7c\r\n-".utf8), count: size / 14 + 1).joined().prefix(size))

    private func upload(_ target: String, _ manner: Manner, to test: TestServer) async throws -> String {
        let client = try test.connect()
        await client.send(
            "PUT \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Content-Type: multipart/related; boundary=\"\(Self.boundary)\"\r\n\(manner.field)\r\n")
        if manner == .expecting { _ = await client.receive(until: "100 Continue\r\n\r\n") }
        var rest = Self.body[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(manner.pieceSize))
            rest = rest.dropFirst(piece.count)
            guard manner.isChunked else {
                await client.send(piece)
                continue
            }
            await client.send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10])
        }
        if manner.isChunked { await client.send("0\r\n\r\n") }
        return await client.receiveAll()
    }

    @Test(arguments: Manner.allCases)
    func attachmentsFollowTheirDocument(manner: Manner) async throws {
        let test = try await TestServer()
        // Several at a time, more than Swift's executor has threads for.
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<4 {
                group.addTask { try await upload("/db/d\(number)", manner, to: test) }
            }
            for try await answer in group { #expect(answer.hasPrefix("HTTP/1.1 201 "), "\(answer)") }
        }
        let stored = try await test.router.respond(to: .get("/db/d3/a"), as: .admin).bytes()
        #expect(stored == Self.content)
        await test.server.stop()
    }

    /// A client that reads only when it has sent everything gets the answer, although nobody wanted the body.
    @Test func aRefusalArrivesWhole() async throws {
        let test = try await TestServer()
        let answer = try await upload("/none/d", .counted, to: test)
        #expect(answer.hasPrefix("HTTP/1.1 404 ") && answer.hasSuffix("\"Database does not exist.\"}\n"))
        try await test.waitForConnections(0)
        await test.server.stop()
    }

    /// The same when the head itself is refused, long before what follows it has come.
    @Test func aRefusalOfAHeadArrivesWhole() async throws {
        let test = try await TestServer()
        let client = try test.connect()
        await client.send("GET / HTTP/1.1\nHost: a\n\n")
        await client.send([UInt8](repeating: 65, count: 8 << 20))
        client.finishSending()
        let answer = await client.receiveAll()
        #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.hasSuffix("\"}\n"))
        try await test.waitForConnections(0)
        await test.server.stop()
    }
}

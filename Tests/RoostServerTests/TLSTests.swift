import ChildProcesses
import Foundation
import RoostREST
import RoostServer
import RoostWire
import TestCertificates
import Testing

/// The listener over TLS, asked by curl, by Python's `ssl` and byte by byte.
@Suite(.enabled(if: TLSIdentity.isAvailable)) struct TLSTests {
    private let certificates: TestCertificates
    private let pair: TestCertificates.Pair
    private let get = #"b"GET /db HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n""#

    init() throws {
        certificates = try TestCertificates()
        pair = try certificates.issue()
    }

    private func server(_ change: (inout ServerOptions) -> Void = { _ in }) async throws -> TestServer {
        let identity = try TLSIdentity(certificateFile: pair.certificate, keyFile: pair.key)
        return try await TestServer {
            $0.identity = identity
            change(&$0)
        }
    }

    /// Runs a program in Python that ends well and prints `expected`.
    private func expect(
        _ expected: String, from test: TestServer, _ script: String,
        _ place: SourceLocation = #_sourceLocation
    ) async throws {
        let (status, output) = try await TLSProgram.python(
            test, authority: certificates.authority.certificate, script)
        #expect(status == 0 && output == expected, "\(output)", sourceLocation: place)
    }

    // MARK: What works

    @Test func curlTakesAndGivesLargeAttachments() async throws {
        let test = try await server()
        #expect(test.server.url == "https://127.0.0.1:\(test.server.port)")
        let file = certificates.path("large")
        let content = Data((0..<(5 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) })
        try content.write(to: URL(fileURLWithPath: file))
        for version in ["1.2", "1.3"] {
            let url = "https://localhost:\(test.server.port)/db/a\(version)/file"
            let curl = [
                "curl", "-sS", "--cacert", certificates.authority.certificate, "--resolve",
                "localhost:\(test.server.port):127.0.0.1", "--tlsv\(version)", "--tls-max", version,
            ]
            let put = try await TLSProgram.run(
                curl + ["-T", file, "-H", "Content-Type: application/octet-stream", url])
            #expect(put.status == 0 && put.output.contains(#""ok":true"#), "\(put.output)")
            let back = try await TLSProgram.run(curl + ["-o", file + ".back", url])
            #expect(back.status == 0, "\(back.output)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file + ".back")) == content)
        }
        await test.server.stop()
    }

    /// Requests in records of a byte, a body in full ones, many answers on one connection; `http/1.1` is chosen, nothing is
    /// compressed, and both ends say that they end.
    @Test func requestsComeInRecordsOfAnySize() async throws {
        let test = try await server()
        try await expect(
            "http/1.1 None\nHTTP/1.1 201 Created\nHTTP/1.1 200 OK 300011\nended\n", from: test,
            """
            c = context()
            c.set_alpn_protocols(["h2", "http/1.1"])
            s = connect(c)
            print(s.selected_alpn_protocol(), s.compression())
            body = b'{"a":"' + b"x" * 300000 + b'"}'
            for byte in b"PUT /db/a HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body):
                s.send(bytes([byte]))
            s.sendall(body)
            s.sendall(\(get).replace(b"/db", b"/db/a"))
            answers = everything(s)
            first, second = answers.split(b"HTTP/1.1 ")[1:]
            print("HTTP/1.1", first.split(b"\\r\\n")[0].decode())
            print("HTTP/1.1", second.split(b"\\r\\n")[0].decode(), second.count(b"x") + 11)
            s.unwrap()
            print("ended")
            """)
        try await test.waitForConnections(0)
        await test.server.stop()
    }

    @Test func aClientThatEndsIsAnsweredWithAnEnd() async throws {
        let test = try await server()
        try await expect(
            "idle\nstopped\n", from: test,
            """
            s = connect()
            s.unwrap()
            print("idle")
            s = connect()
            s.sendall(\(get))
            everything(s)
            print("stopped")
            """)
        await test.server.stop()
    }

    @Test func cookiesAreForEncryptedConnections() async throws {
        let test = try await server()
        for (method, body) in [("POST", #"{"name":"nobody","password":"x"}"#), ("DELETE", "")] {
            try await expect(
                "True\n", from: test,
                """
                s = connect()
                s.sendall(b'''\(method) /_session HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r
                Content-Length: \(body.utf8.count)\\r\\nConnection: close\\r\\n\\r\\n\(body)''')
                head = everything(s).split(b"\\r\\n\\r\\n")[0]
                print([line for line in head.split(b"\\r\\n") if line.startswith(b"Set-Cookie: ")][0].endswith(b"; Secure"))
                """)
        }
        let plain = try await TestServer()
        let answer = try await plain.exchange(
            "DELETE /_session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(answer.contains("Set-Cookie: ") && !answer.contains("Secure"))
        await plain.server.stop()
        await test.server.stop()
    }

    @Test func feedsGoOnAndEndWhenTheirClientHangsUp() async throws {
        let test = try await server()
        // By an orderly end that leaves the socket open, by a closed socket, and by a reset.
        let reset = "s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); s.close()"
        for (number, end) in ["s.unwrap()", "socket.socket(fileno=s.detach()).close()", reset].enumerated() {
            try await expect(
                "True\n", from: test,
                """
                s = connect()
                s.sendall(b"GET /db/_changes?feed=continuous&since=now&heartbeat=600000 HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                whole = b""
                while not whole.endswith(b"1\\r\\n\\n\\r\\n"): whole += s.recv(65536)
                t = connect()
                t.sendall(b"PUT /db/doc\(number) HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\n{}")
                everything(t)
                while b'"id":"doc\(number)"' not in whole: whole += s.recv(65536)
                print(True)
                \(end)
                """)
            try await test.waitForConnections(0)
        }
        await test.server.stop()
    }

    /// A client that does not read stops the server from making more, not from serving others.
    @Test func aSlowReaderHoldsUpOnlyItself() async throws {
        let test = try await server()
        let size = 20 << 20
        let put = HTTPRequest(
            "PUT", "/db/a/large", headers: ["Content-Type": "application/octet-stream"],
            body: BytesBody([UInt8](repeating: 7, count: size)))
        #expect(await test.router.respond(to: put, as: .admin).status == 201)
        try await expect(
            "True\nTrue\n", from: test,
            """
            slow = connect()
            slow.sendall(\(get).replace(b"/db", b"/db/a/large"))
            first = slow.recv(1000)
            for _ in range(5):
                s = connect()
                s.sendall(\(get))
                assert everything(s).startswith(b"HTTP/1.1 200 ")
            s = connect()
            s.sendall(\(get).replace(b"/db", b"/_node/_local/_prometheus"))
            answer = everything(s)
            print(answer.startswith(b"HTTP/1.1 401 "))
            print(\(size) < len(first) + len(everything(slow)) < \(size) + 1000)
            """)
        await test.server.stop()
    }

    // MARK: What is refused

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{0}\u{1}\u{2}\u{3}\u{4}", "SSH-2.0-x\r\n",
        // A record of a handshake that is none, one of application data, one that is too long, an alert.
        "\u{16}\u{3}\u{1}\u{0}\u{5}\u{2}\u{0}\u{0}\u{1}\u{0}", "\u{17}\u{3}\u{3}\u{0}\u{1}a",
        "\u{16}\u{3}\u{1}\u{7F}\u{7F}\u{1}\u{0}\u{0}\u{1}", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{28}",
    ])
    func whatIsNoHandshakeIsClosedAtOnce(text: String) async throws {
        let test = try await server()
        let client = try test.connect()
        await client.send(text)
        // It has not closed its side, and no deadline is near.
        let answer = await client.receiveAll()
        #expect(answer.utf8.count < 16 && !answer.contains("HTTP"))
        try await test.waitForConnections(0)
        await test.server.stop()
    }

    @Test func halfAHandshakeIsCut() async throws {
        let hello = "\u{16}\u{3}\u{1}\u{1}\u{0}\u{1}\u{0}"
        let ended = try await server()
        let client = try ended.connect()
        await client.send(hello)
        client.finishSending()
        #expect(await client.receiveAll() == "")
        try await ended.waitForConnections(0)
        await ended.server.stop()
        let test = try await server { $0.headSeconds = 0 }
        for text in [hello, ""] {
            let client = try test.connect()
            await client.send(text)
            #expect(await client.receiveAll() == "")
        }
        try await test.waitForConnections(0)
        await test.server.stop()
    }

    /// A hello of 130,000 bytes in records of a hundred, which OpenSSL would wait for.
    @Test func aHandshakeHasALimit() async throws {
        let test = try await server()
        let client = try test.connect()
        await client.send([0x16, 3, 1, 0, 100, 1, 1, 0xFB, 0xD0] + [UInt8](repeating: 3, count: 96))
        for _ in 0..<1290 { await client.send([0x16, 3, 1, 0, 100] + [UInt8](repeating: 3, count: 100)) }
        _ = await client.receiveAll()
        try await test.waitForConnections(0)
        await test.server.stop()
    }

    @Test func oldVersionsWeakSuitesAndOtherProtocolsAreRefused() async throws {
        let test = try await server()
        try await expect(
            "refused\nrefused\nrefused\nTLSv1.2\nTLSv1.3\n", from: test,
            """
            import warnings
            warnings.simplefilter("ignore")
            old, weak, other, second, third = (context() for _ in range(5))
            old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
            old.set_ciphers("ALL:@SECLEVEL=0")
            weak.maximum_version = ssl.TLSVersion.TLSv1_2
            weak.set_ciphers("ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:@SECLEVEL=0")
            other.set_alpn_protocols(["h2"])
            second.maximum_version = ssl.TLSVersion.TLSv1_2
            for c in [old, weak, other, second, third]:
                try: print(connect(c).version())
                except ssl.SSLError: print("refused")
            """)
        // "R" asks for a renegotiation.
        let (_, output) = try await TLSProgram.run(
            [
                "openssl", "s_client", "-connect", "127.0.0.1:\(test.server.port)", "-tls1_2", "-CAfile",
                certificates.authority.certificate,
            ], input: "R\n")
        #expect(output.contains("RENEGOTIATING") && output.contains("no renegotiation"), "\(output)")
        await test.server.stop()
    }

    /// Half a record, half a request and half a body, then nothing more: nothing is saved, and nobody stays.
    @Test func hangingUpMidwaySavesNothing() async throws {
        let test = try await server()
        try await expect(
            "", from: test,
            """
            for text in [b"PUT /db/half HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 20\\r\\n\\r\\n{",
                         b"PUT /db/half HT", b"PUT /db/half/file HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 99999\\r\\n\\r\\n" + b"x" * 40000]:
                s = connect()
                s.sendall(text)
                f = s.detach()
                socket.socket(fileno=f).close()
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            o = context().wrap_bio(incoming, outgoing, server_hostname="localhost")
            r = raw()
            while True:
                try: o.do_handshake(); break
                except ssl.SSLWantReadError:
                    r.sendall(outgoing.read())
                    incoming.write(r.recv(65536))
            o.write(b"PUT /db/half HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 2\\r\\n\\r\\n{}")
            r.sendall(outgoing.read()[:-1])
            r.close()
            """)
        try await test.waitForConnections(0)
        #expect(await test.router.respond(to: .get("/db/half"), as: .admin).status == 404)
        await test.server.stop()
    }

    /// A bit that was changed on the way ends the connection.
    @Test func whatWasChangedOnTheWayIsRefused() async throws {
        let test = try await server()
        try await expect(
            "alert\n", from: test,
            """
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            o = context().wrap_bio(incoming, outgoing, server_hostname="localhost")
            r = raw()
            while True:
                try: o.do_handshake(); break
                except ssl.SSLWantReadError:
                    r.sendall(outgoing.read())
                    incoming.write(r.recv(65536))
            r.sendall(outgoing.read())
            o.write(\(get))
            sealed = bytearray(outgoing.read())
            sealed[20] ^= 1
            r.sendall(sealed)
            incoming.write(r.recv(65536))
            try: print(o.read(1000))
            except ssl.SSLError as e: print("alert" if "ALERT" in str(e) else e)
            """)
        try await test.waitForConnections(0)
        await test.server.stop()
    }

    // MARK: Identities

    @Test func aChainIsShownWhole() async throws {
        let chain = certificates.path("chain.pem")
        let texts = try [pair.certificate, certificates.authority.certificate].map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
        try texts.joined().write(toFile: chain, atomically: true, encoding: .utf8)
        let identity = try TLSIdentity(certificateFile: chain, keyFile: pair.key)
        let test = try await TestServer { $0.identity = identity }
        let shown = try await TLSProgram.run([
            "openssl", "s_client", "-showcerts", "-connect", "127.0.0.1:\(test.server.port)",
        ])
        for text in texts { #expect(shown.output.contains(text)) }
        // A certificate that was renewed.
        let renewed = try certificates.issue("renewed")
        test.server.use(try TLSIdentity(certificateFile: renewed.certificate, keyFile: renewed.key))
        let other = try await TLSProgram.run([
            "openssl", "s_client", "-showcerts", "-connect", "127.0.0.1:\(test.server.port)",
        ])
        #expect(other.output.contains("CN = renewed") && !other.output.contains(texts[0]))
        await test.server.stop()
    }

    @Test func whatIsWrongWithFilesIsTold() throws {
        let other = try certificates.issue("other")
        let encrypted = certificates.path("encrypted.key")
        let oldEncrypted = certificates.path("old.key")
        try TestCertificates.openSSL([
            "pkcs8", "-topk8", "-in", pair.key, "-passout", "pass:x", "-out", encrypted,
        ])
        try TestCertificates.openSSL([
            "ec", "-aes128", "-in", pair.key, "-passout", "pass:x", "-out", oldEncrypted,
        ])
        let broken = certificates.path("broken.pem")
        let text = try String(contentsOfFile: pair.certificate, encoding: .utf8)
        try text.replacing("MII", with: "MIA").write(toFile: broken, atomically: true, encoding: .utf8)
        let empty = certificates.path("empty.pem")
        try "".write(toFile: empty, atomically: true, encoding: .utf8)
        let large = certificates.path("large.pem")
        try Data(count: 2 << 20).write(to: URL(fileURLWithPath: large))
        let missing = certificates.path("missing")
        let cases: [(String, String, TLSError.Code, String)] = [
            (missing, pair.key, .unreadable, missing), (pair.certificate, missing, .unreadable, missing),
            (certificates.directory, pair.key, .unreadable, certificates.directory),
            (large, pair.key, .unreadable, large), (empty, pair.key, .badCertificate, empty),
            (pair.key, pair.key, .badCertificate, pair.key), (broken, pair.key, .badCertificate, broken),
            (pair.certificate, empty, .badKey, empty),
            (pair.certificate, pair.certificate, .badKey, pair.certificate),
            (pair.certificate, encrypted, .encryptedKey, encrypted),
            (pair.certificate, oldEncrypted, .encryptedKey, oldEncrypted),
            (pair.certificate, other.key, .otherKey, other.key),
        ]
        for (certificate, key, code, path) in cases {
            let error = #expect(throws: TLSError.self) {
                try TLSIdentity(certificateFile: certificate, keyFile: key)
            }
            #expect(
                error?.code == code && error?.message.contains(path) == true,
                "\(key): \(String(describing: error))")
        }
    }
}

/// A program of somebody else's that talks to the server over TLS. No thread of the tasks' waits for it.
enum TLSProgram {
    /// Runs a program; answers its exit status and what it printed, errors too.
    static func run(_ arguments: [String], input: String = "") async throws -> (status: Int32, output: String)
    {
        let (status, output) = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try ChildProcess.run(arguments, input: input) })
            }
        }
        return (status, String(decoding: output, as: UTF8.self))
    }

    /// Runs a program in Python with `connect()`, which answers a socket over TLS whose end must be an orderly one, and
    /// `everything(socket)`, what comes until that end; `raw()` is a socket without TLS.
    static func python(
        _ test: TestServer, authority: String, _ script: String
    ) async throws -> (status: Int32, output: String) {
        let prelude = """
            import socket, ssl, struct, sys
            def context(): return ssl.create_default_context(cafile=sys.argv[2])
            def raw(): return socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            def connect(c=None):
                return (c or context()).wrap_socket(raw(), server_hostname="localhost", suppress_ragged_eofs=False)
            def everything(s):
                whole = bytearray()
                while piece := s.recv(65536): whole += piece
                return bytes(whole)

            """
        return try await run(["python3", "-c", prelude + script, "\(test.server.port)", authority])
    }
}

import RoostWire
import Testing

/// Multipart bodies, read and written.
@Suite struct MultipartTests {
    private func stream(_ bytes: [UInt8], _ size: Int) -> GeneratedBody {
        GeneratedBody {
            var rest = bytes[...]
            return {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(size) }
                return Array(rest.prefix(size))
            }
        }
    }

    private func read(_ text: String, boundary: String = "b", size: Int = .max) async throws -> [String] {
        let type = try #require(MediaType("multipart/mixed; boundary=\"\(boundary)\""))
        let reader = try MultipartReader(stream(Array(text.utf8), size), type: type)
        var parts: [String] = []
        while let part = try await reader.nextPart() {
            let body = String(decoding: try await part.body.collect(), as: UTF8.self)
            parts.append("\(part.headers["X"] ?? "-"): \(body)")
        }
        return parts
    }

    @Test(arguments: [1, 2, 5, .max])
    func readsParts(size: Int) async throws {
        let text =
            "preamble\r\n--b\r\nX: 1\r\n\r\none\r\n--cad\r\n-\r\n--b \t\r\n\r\n\r\n--b\r\nX:3\r\n\r\n\r\r\n\r\n--b--epilogue"
        #expect(try await read(text, size: size) == ["1: one\r\n--cad\r\n-", "-: ", "3: \r\r\n"])
        #expect(try await read("--b\r\n\r\nfirst\r\n--b--", size: size) == ["-: first"])
        #expect(try await read("---x\r\n\r\nfirst\r\n---x--", boundary: "-x", size: size) == ["-: first"])
        #expect(try await read("--b--", size: size) == [])
    }

    @Test(arguments: [
        "", "no boundary", "--b\r\n\r\nunfinished", "--b\r\nX : 1\r\n\r\n\r\n--b--",
        "--b\r\nX: 1\r\n\r\nno end\r\n--b",
        "--b\r\n" + String(repeating: "a", count: 20000), "--b" + String(repeating: " ", count: 200),
    ])
    func refusesWhatIsCutOffOrMalformed(text: String) async {
        await #expect(throws: WireError.self) { try await read(text) }
    }

    @Test func refusesBoundariesThatCanBeNone() throws {
        for boundary in ["", String(repeating: "b", count: 201), "a\r\nb"] {
            #expect(throws: WireError.self) { try MultipartParser(boundary: boundary) }
        }
        let type = try #require(MediaType("multipart/mixed"))
        #expect(throws: WireError.self) { try MultipartReader(BytesBody([]), type: type) }
    }

    @Test func passesOverWhatIsNotReadOfAPart() async throws {
        let body = BytesBody(Array("--b\r\nX: 1\r\n\r\none\r\n--b\r\nX: 2\r\n\r\ntwo\r\n--b--".utf8))
        let reader = try MultipartReader(body, type: try #require(MediaType("multipart/mixed;boundary=b")))
        let first = try #require(try await reader.nextPart())
        let second = try #require(try await reader.nextPart())
        #expect(second.headers["X"] == "2")
        #expect(try await first.body.next() == nil)
        #expect(try await second.body.collect() == Array("two".utf8))
        #expect(try await reader.nextPart() == nil)
    }

    /// What is written has the length that was said, and is read again; also nested.
    @Test func readsWhatItWrites() async throws {
        let inner: [MultipartBody.Part] = [
            .init(headers: ["X": "a"], body: .bytes(Array("A".utf8))),
            .init(headers: [:], body: .stream(BytesBody(Array("\r\n--outer".utf8)), length: 9)),
        ]
        let length = try #require(MultipartBody.length(boundary: "inner", inner))
        let outer: [MultipartBody.Part] = [
            .init(
                headers: ["X": "nested"],
                body: .stream(MultipartBody(boundary: "inner", inner), length: length)),
            .init(headers: ["X": "none"], body: .none),
        ]
        let whole = try await MultipartBody(boundary: "outer-", outer).collect()
        #expect(UInt64(whole.count) == MultipartBody.length(boundary: "outer-", outer))
        let reader = try MultipartReader(
            stream(whole, 3), type: try #require(MediaType("multipart/mixed;boundary=outer-")))
        let part = try #require(try await reader.nextPart())
        let nested = try MultipartReader(
            part.body, type: try #require(MediaType("multipart/related;boundary=inner")))
        let a = try #require(try await nested.nextPart())
        #expect(try await a.body.collect() == Array("A".utf8))
        let b = try #require(try await nested.nextPart())
        #expect(try await b.body.collect() == Array("\r\n--outer".utf8))
        #expect(try await nested.nextPart() == nil)
        #expect(try await reader.nextPart()?.body.collect() == [])
        #expect(try await reader.nextPart() == nil)
    }
}

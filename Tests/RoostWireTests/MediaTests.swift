import CRoostZlib
import RoostWire
import Testing

/// Dates, ranges, media types, percent-encoding, gzip.
@Suite struct MediaTests {
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    ])
    func writesDates(seconds: Int, text: String) {
        #expect(HTTPDate.text(secondsSince1970: seconds) == text)
    }

    @Test(arguments: [
        (nil, ByteRange.whole), ("bytes=0-4", .part(0..<5)), ("bytes=5-", .part(5..<10)),
        ("bytes=-3", .part(7..<10)), ("bytes=-30", .part(0..<10)), ("bytes=9-99", .part(9..<10)),
        ("bytes=10-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=4-2", .whole),
        ("bytes=0-1,3-4", .whole), ("lines=0-1", .whole), ("bytes=a-b", .whole), ("bytes=-", .whole),
        ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=2-99999999999999999999", .part(2..<10)),
        ("bytes=-99999999999999999999", .part(0..<10)), ("BYTES=0-0", .part(0..<1)),
        ("bytes= 1-2 ", .part(1..<3)),
        // Several, of which one is there; elements may be empty.
        ("bytes=0-1,20-", .part(0..<2)), ("bytes=,0-1,", .part(0..<2)), ("bytes=20-,30-", .unsatisfiable),
        ("bytes=,", .whole), ("bytes=", .whole), ("bytes=0-1,x", .whole), ("bytes=1-2-3", .whole),
        ("bytes=+1-2", .whole), ("bytes", .whole),
    ])
    func readsRanges(field: String?, range: ByteRange) {
        #expect(ByteRange(field, length: 10) == range)
    }

    /// RFC 9110, sections 13.1 and 13.2.2, of a representation with the tag `"a,b"`.
    @Test(
        arguments: [
            ([:], .proceed), (["If-None-Match": #""a,b""#], .notModified),
            (["If-None-Match": #"W/"a,b""#], .notModified),
            (["If-None-Match": "*"], .notModified), (["If-None-Match": #""x", W/"y" ,"a,b""#], .notModified),
            (["If-None-Match": #""A,B""#], .proceed), (["If-None-Match": #""a", "b""#], .proceed),
            (["If-None-Match": "a,b"], .proceed), (["If-None-Match": #""a,b"#], .proceed),
            (["If-None-Match": ""], .proceed),
            (["If-None-Match": #"x, "a,b""#], .notModified), (["If-Match": #""a,b""#], .proceed),
            (["If-Match": "*"], .proceed),
            (["If-Match": #"W/"a,b""#], .failed), (["If-Match": #""x""#], .failed),
            (["If-Match": #""x","a,b""#], .proceed),
            (["If-Match": #""x""#, "If-None-Match": #""a,b""#], .failed),
            (["If-Match": #""a,b""#, "If-None-Match": #""a,b""#], .notModified),
            // Without a date these say nothing.
            (["If-Modified-Since": "Sun, 28 Feb 2100 23:59:59 GMT"], .proceed),
            (["If-Unmodified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"], .proceed),
        ] as [(HTTPHeaders, Preconditions.Verdict)])
    func judgesConditions(headers: HTTPHeaders, verdict: Preconditions.Verdict) {
        #expect(Preconditions(headers).verdict(#""a,b""#) == verdict)
    }

    @Test(arguments: [
        (nil, true), (#""a""#, true), (#"W/"a""#, false), (#""b""#, false),
        ("Thu, 01 Jan 1970 00:00:00 GMT", false),
        ("a", false),
    ])
    func partsAreOfOneVersion(field: String?, allows: Bool) {
        let headers: HTTPHeaders = field.map { ["If-Range": $0] } ?? [:]
        #expect(Preconditions(headers).allowsPart(#""a""#) == allows)
    }

    @Test func readsMediaTypes() {
        let type = MediaType("Multipart/Related; boundary=\"a;\\\"b\"; Type=\"application/json\" ;x")
        #expect(type?.essence == "multipart/related")
        #expect(type?.parameters == ["boundary": "a;\"b", "type": "application/json"])
        #expect(MediaType("text") == nil && MediaType("") == nil && MediaType(nil) == nil)
        #expect(
            ContentDisposition.filename(ContentDisposition.attachment("a \"b\\c\".txt")) == "a \"b\\c\".txt")
        #expect(MediaType.accepts("text/html, */*;q=0.1", "multipart/mixed"))
        #expect(!MediaType.accepts("text/html, */*;q=0.1", "multipart/mixed", wildcards: false))
        #expect(!MediaType.accepts("application/json", "multipart/mixed"))
        #expect(!MediaType.accepts("multipart/mixed;q=0", "multipart/mixed"))
        #expect(MediaType.accepts(nil, "multipart/mixed"))
    }

    @Test(arguments: [
        ([], false), ([""], false), (["gzip"], true), (["x-gzip"], true), (["GZip"], true),
        (["deflate, gzip;q=0.5"], true), (["gzip;q=0"], false), (["gzip; q=0.000"], false),
        (["br", "gzip"], true), (["*"], true), (["*;q=0"], false), (["gzip;q=0, *"], false),
        (["*, gzip;q=0"], false), (["identity;q=1, *;q=0"], false), (["*;q=0, gzip"], true),
        (["gzipped"], false), (["gzip;q=x"], false), ([";,;q=1"], false),
    ])
    func readsAcceptedCodings(fields: [String], accepts: Bool) {
        let headers = HTTPHeaders(fields.map { ("Accept-Encoding", $0) })
        #expect(headers.acceptsCoding("gzip") == accepts)
    }

    @Test func decodesPercentEscapes() throws {
        #expect(PercentEncoding.decode("a%2Fb+%C3%A9") == "a/b+é")
        #expect(PercentEncoding.decode("a+b", plusIsSpace: true) == "a b")
        for broken in ["%", "%2", "%zz", "%ff"] { #expect(PercentEncoding.decode(broken) == nil) }
        #expect(PercentEncoding.encode("a/é+b") == "a%2F%C3%A9%2Bb")
        let query = try QueryParameters("a=1&b=%22x+y%22&a=2&c&=d&&")
        #expect((query["a"], query["b"], query["c"], query["z"]) == ("2", "\"x y\"", "", nil))
        #expect(throws: WireError.self) { try QueryParameters("a=%") }
    }

    @Test func writesEvents() {
        #expect(
            String(decoding: EventStream.event(Array("{}".utf8), id: "1\n2"), as: UTF8.self)
                == "data: {}\nid: 12\n\n")
    }

    /// A stream of `bytes` in pieces of `size`.
    private func pieces(_ bytes: [UInt8], _ size: Int) -> GeneratedBody {
        GeneratedBody {
            var rest = bytes[...]
            return {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(size) }
                return Array(rest.prefix(size))
            }
        }
    }

    private func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var stream = unsafe z_stream()
        unsafe deflateInit2_(
            &stream, 9, Z_DEFLATED, 31, 8, 0, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        var input = bytes
        let output = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count + 1000) { target, count in
            unsafe input.withUnsafeMutableBufferPointer { source in
                unsafe stream.next_in = source.baseAddress
                unsafe stream.avail_in = uInt(source.count)
                unsafe stream.next_out = target.baseAddress
                unsafe stream.avail_out = uInt(target.count)
                unsafe deflate(&stream, Z_FINISH)
                count = unsafe target.count - Int(stream.avail_out)
            }
        }
        unsafe deflateEnd(&stream)
        return output
    }

    @Test func decompressesGzip() async throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 1000) }
        let compressed = gzip(bytes)
        for size in [1, 100, .max] {
            #expect(try await GunzipBody(pieces(compressed, size)).collect() == bytes)
        }
        #expect(try await GunzipBody(pieces(gzip([]), 5)).collect() == [])
        let broken: [[UInt8]] = [Array(compressed.dropLast()), compressed + [0], [1, 2, 3], []]
        for bytes in broken {
            await #expect(throws: WireError.self) { try await GunzipBody(pieces(bytes, 64)).collect() }
        }
        await #expect(throws: WireError(413, "The request entity is too large: more than 1000 bytes.")) {
            try await GunzipBody(pieces(compressed, 64)).collect(limit: 1000)
        }
    }
}

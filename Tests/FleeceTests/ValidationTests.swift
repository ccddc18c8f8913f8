import Fleece
import Testing

@Suite struct ValidationTests {
    private static let keys = ["name", "grams", "x", "tags", "c", "d", ""]

    private static let examples = [
        #"{"name": "Apus apus", "grams": 42.5, "tags": ["a", "bird", "bird", 300000, null, true], "é": {"x": -1.5, "": []}}"#,
        #"[[[[1, "two", 3.25]], {}], {"a b": {"c": [{"d": 18446744073709551615}]}}, "漢字"]"#,
        #""just a string of some length""#, "12345678", "null",
    ]

    /// Reads everything there is in a body, in every way.
    private func readAll(_ document: FleeceDocument) {
        _ = (
            document.root.json(.canonical), document.root.json(.pretty), document.dump(), document.description
        )
        _ = document.root == document.root
        _ = document.root.hashValue
        _ = (
            document["name"].string, document[0].double, document[path: "tags[-1]"].int, document.root.uint64
        )
        var writer = FleeceWriter()
        writer.write(document.root)
        _ = try? writer.finish()
        visit(document.root, depth: 0)
    }

    private func visit(_ value: FleeceValue, depth: Int) {
        guard depth < 20 else { return }
        _ = (value.bool, value.int, value.double, value.string, value.data, value.isNull, value.kind)
        for element in value.array?.prefix(10) ?? FleeceDocument(trusting: [0x60, 0]).root.array!.prefix(0) {
            visit(element, depth: depth + 1)
        }
        for (key, element) in value.dictionary?.prefix(10)
            ?? FleeceDocument(trusting: [0x70, 0]).root.dictionary!.prefix(0)
        {
            _ = value[key].kind
            visit(element, depth: depth + 1)
        }
    }

    @Test(arguments: examples, [false, true])
    func everyTruncationIsRefusedOrReadable(json: String, isSharing: Bool) throws {
        let keys = isSharing ? try SharedKeys(Self.keys) : nil
        let body = try converted(json, sharedKeys: keys)
        #expect(throws: Never.self) { try FleeceDocument(validating: body, sharedKeys: keys) }
        for length in 0..<body.count {
            for part in [body.prefix(length), body.suffix(length)] {
                if let document = try? FleeceDocument(validating: Array(part), sharedKeys: keys) {
                    readAll(document)
                }
                readAll(FleeceDocument(trusting: Array(part), sharedKeys: keys))
            }
        }
    }

    @Test(arguments: examples, [false, true])
    func everyFlippedBitIsRefusedOrReadable(json: String, isSharing: Bool) throws {
        let keys = isSharing ? try SharedKeys(Self.keys) : nil
        let body = try converted(json, sharedKeys: keys)
        for bit in 0..<(body.count * 8) {
            var damaged = body
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            if let document = try? FleeceDocument(validating: damaged, sharedKeys: keys) {
                readAll(document)
                #expect(throws: Never.self) { try FleeceDocument(json: document.root.json()) }
            }
            readAll(FleeceDocument(trusting: damaged, sharedKeys: keys))
        }
    }

    @Test func randomBytesAreRefusedOrReadable() throws {
        var random = Random(state: 2024)
        for _ in 0..<20_000 {
            var body = (0..<Int.random(in: 0..<24, using: &random)).map { _ in
                UInt8(truncatingIfNeeded: random.next())
            }
            if Bool.random(using: &random) { body += [0x80, UInt8.random(in: 1...12, using: &random)] }
            if let document = try? FleeceDocument(validating: body) { readAll(document) }
            readAll(FleeceDocument(trusting: body))
        }
    }

    @Test(
        arguments: [
            ("", .malformedBody), ("00", .malformedBody), ("0000 00", .malformedBody),
            // Two values without a pointer between them; pointers to themselves, to before the body, to pointers.
            ("0000 0000", .malformedBody), ("0000 8000", .malformedBody), ("0000 8002", .malformedBody),
            ("8001 8001 8001", .malformedBody), ("0000 8000 0000 8002", .malformedBody),
            // Values that are cut off.
            ("1700 8001", .malformedBody), ("2800 0000 8002", .malformedBody),
            ("4461 6200 8002", .malformedBody),
            ("4F80 8001", .malformedBody), ("4FFF FFFF FF7F 8003", .malformedBody),
            ("6002 0000 8002", .malformedBody),
            ("67FF FFFF FFFF 0F00 8004", .malformedBody), ("7801 4161 0001 8003", .malformedBody),
            // Collections that contain themselves, directly and as an inline item.
            ("6001 8001 8002", .malformedBody), ("6801 8000 0001 8003", .malformedBody),
            ("6802 6001 8001 0000 0000 8005", .malformedBody), ("6002 6001 8002 8003", .malformedBody),
            // Collections hidden in the unused halves of wide items, which lead into the collection around them.
            ("6803 0005 6001 0007 0000 8000 0003 8007", .malformedBody),
            ("6802 0005 6002 0006 8004 6002 8006 8005 8003", .malformedBody),
            // Ill-formed and overlong UTF-8.
            ("42C3 2800 8002", .illFormedText), ("42C0 8000 8002", .illFormedText), ("41FF", .illFormedText),
            // Keys: not ascending, twice, of another kind, unknown, and inheritance.
            ("7002 4162 0000 4161 0000 8005", .malformedBody),
            ("7002 4161 0000 4161 0000 8005", .malformedBody),
            ("7001 3000 0000 8003", .malformedBody), ("7001 0000 0000 8003", .unknownSharedKey),
            ("7001 0FFF 0000 8003", .unknownSharedKey), ("7001 0800 7000 8003", .unsupported),
            // Infinity and not-a-number, as float and double.
            ("2000 0000 807F 8003", .unrepresentableNumber), ("2000 0000 C07F 8003", .unrepresentableNumber),
            ("2800 0000 0000 0000 F0FF 8005", .unrepresentableNumber),
        ] as [(String, FleeceError.Code)])
    func malformedBodies(hex: String, code: FleeceError.Code) {
        #expect(failure { _ = try root(bytes(hex)) }?.code == code, "\(hex)")
        readAll(FleeceDocument(trusting: bytes(hex)))
    }

    /// Thirty arrays, each with two pointers to the one before, would unfold to 2³⁰ values.
    @Test func unfoldingIsLimited() {
        var body: [UInt8] = [0x60, 0x02, 0x00, 0x01, 0x00, 0x02]
        for _ in 0..<30 { body += [0x60, 0x02, 0x80, 0x04, 0x80, 0x05] }
        body += [0x80, 0x03]
        #expect(failure { _ = try FleeceDocument(validating: body) }?.code == .tooLarge)
        let four = Array(body.prefix(6 * 5)) + [0x80, 0x03]
        #expect(failure { _ = try FleeceDocument(validating: four) } == nil)
    }

    @Test func nestingIsLimited() {
        func nested(_ depth: Int) -> [UInt8] {
            [0x60, 0x00] + (1..<depth).flatMap { [0x60, 0x01, 0x80, $0 == 1 ? 0x02 : 0x03] as [UInt8] } + [
                0x80, 0x02,
            ]
        }
        #expect(failure { _ = try FleeceDocument(validating: nested(FleeceLimits.maximumDepth)) } == nil)
        #expect(
            failure { _ = try FleeceDocument(validating: nested(FleeceLimits.maximumDepth + 1)) }?.code
                == .tooDeep)
        let deep = FleeceDocument(trusting: nested(100_000))
        #expect(deep.root.json().utf8.count < 5000)
        #expect(deep.root.array?.count == 1)
    }

    /// A collection that was found well-formed near the root counts with its full height further down.
    @Test func nestingIsLimitedForSharedCollections() {
        func body(inner: Int, outer: Int) -> [UInt8] {
            var body: [UInt8] = [0x60, 0x01, 0x00, 0x01]
            for _ in 1..<inner { body += [0x60, 0x01, 0x80, 0x03] }
            let shared = body.count - 4
            for _ in 0..<outer { body += [0x60, 0x01, 0x80, 0x03] }
            let units = (body.count + 2 - shared) / 2
            body += [0x60, 0x02, 0x80 | UInt8(units >> 8), UInt8(units & 0xFF), 0x80, 0x04, 0x80, 0x03]
            return body
        }
        #expect(failure { _ = try FleeceDocument(validating: body(inner: 300, outer: 211)) } == nil)
        #expect(
            failure { _ = try FleeceDocument(validating: body(inner: 300, outer: 212)) }?.code == .tooDeep)
    }

    @Test func validationNamesThePlace() throws {
        let error = try #require(failure { _ = try root(bytes("42C3 2800 6001 8003 8002")) })
        #expect(error.offset == 1)
        #expect(error.description == "Byte 1: A string is not well-formed UTF-8.")
    }
}

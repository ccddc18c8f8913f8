import Roost
import Testing

@Suite struct RevisionEncodingTests {
    /// The worked example in the description of the format.
    private static let example: [UInt8] = [
        0x01, 0x03,
        0x41, 0x02, 0x02, 0x63, 0x63, 0x02, 0x03,
        0x50, 0x00, 0x02, 0x62, 0x62, 0x02,
        0x60, 0x02, 0x61, 0x61, 0x01,
    ]

    private static func randomTree(_ seed: UInt64) throws -> RevisionTree {
        var generator = SeededGenerator(seed: seed)
        let universe = RevisionUniverse(count: Int.random(in: 1...40, using: &generator), using: &generator)
        var tree = try RevisionTree(universe.messages(30, using: &generator))
        if generator.oneIn(2) { tree.stem(to: 3) }
        return tree
    }

    @Test func theWorkedExample() throws {
        var tree = RevisionTree()
        try tree.edit(nil, as: id("1-aa"), sequence: 1)
        try tree.edit(id("1-aa"), as: id("2-bb"), sequence: 2)
        try tree.insert(history: ids("2-cc 1-aa"), flags: .deleted, sequence: 3)
        #expect(tree.encoded == Self.example)
        #expect(try RevisionTree(Self.example.span) == tree)
    }

    @Test func theEmptyTree() throws {
        #expect(RevisionTree().encoded == [0x01, 0x00])
        let bytes: [UInt8] = [0x01, 0x00]
        #expect(try RevisionTree(bytes.span).isEmpty)
    }

    @Test func oneRevisionCostsThreeBytesMoreThanItsParts() throws {
        var tree = RevisionTree()
        let id = RevisionID(generation: 1, digest: digest(parent: nil, deleted: false, content: 1))
        try tree.edit(nil, as: id, sequence: 100)
        #expect(tree.encoded.count == 17 + 1 + 3)
    }

    @Test func anAncestorCostsEighteenBytes() throws {
        var tree = RevisionTree()
        var parent: RevisionID?
        for sequence in 1...101 as ClosedRange<UInt64> {
            let id = try RevisionID.next(
                after: parent, digest: digest(parent: parent, deleted: false, content: sequence))
            try tree.edit(parent, as: id, sequence: sequence)
            parent = id
        }
        #expect(tree.encoded.count == 17 + 1 + 3 + 100 * 18)
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func roundTrip(_ seed: UInt64) throws {
        let tree = try Self.randomTree(seed)
        let bytes = tree.encoded
        let decoded = try RevisionTree(bytes.span)
        #expect(decoded == tree)
        decoded.expectInvariants()
    }

    /// 3-cc has the parents 2-bb and 2-aa.
    @Test func furtherParentsAreStored() throws {
        let tree = try RevisionTree(histories: "3-cc 2-bb", "3-cc 2-aa 1-aa")
        let expected: [UInt8] = [
            0x01, 0x04,
            0x54, 0x03, 0x02, 0x63, 0x63, 0x01, 0x02, 0x01,
            0x60, 0x02, 0x62, 0x62, 0x00,
            0x50, 0x00, 0x02, 0x61, 0x61, 0x00,
            0x60, 0x02, 0x61, 0x61, 0x00,
        ]
        #expect(tree.encoded == expected)
        #expect(try RevisionTree(expected.span) == tree)
    }

    @Test func theLargestNumbersSurvive() throws {
        var tree = RevisionTree()
        try tree.insert(
            history: ids("9223372036854775807-aa 9223372036854775806-bb"),
            flags: [.deleted, .hasAttachments], sequence: .max)
        try tree.insert(history: ids("1-aa"), sequence: 0)
        #expect(try RevisionTree(tree.encoded.span) == tree)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func everyTruncationIsAnError(_ seed: UInt64) throws {
        let bytes = try Self.randomTree(seed).encoded
        for length in bytes.indices {
            let truncated = Array(bytes[..<length])
            #expect(code { _ = try RevisionTree(truncated.span) } == .damaged)
        }
        #expect(code { _ = try RevisionTree((bytes + [0]).span) } == .damaged)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func everyFlippedBitIsAnErrorOrAnotherTree(_ seed: UInt64) throws {
        let bytes = try Self.randomTree(seed).encoded
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            try expectErrorOrTree(flipped)
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func randomBytesAreAnErrorOrATree(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let length = Int.random(in: 0...60, using: &generator)
            // Small bytes are more often meaningful than large ones.
            var bytes = (0..<length).map { _ in
                UInt8.random(in: 0...(generator.oneIn(4) ? 255 : 7), using: &generator)
            }
            if length > 2 { bytes[0] = 1 }
            for index in bytes.indices.dropFirst(2) where generator.oneIn(5) { bytes[index] |= 0x40 }
            try expectErrorOrTree(bytes)
        }
    }

    /// Decoding either throws `damaged`, or gives a sound tree of which these bytes are the one encoding.
    private func expectErrorOrTree(_ bytes: [UInt8]) throws {
        do {
            let tree = try RevisionTree(bytes.span)
            tree.expectInvariants()
            #expect(tree.encoded == bytes)
        } catch {
            #expect(error.code == .damaged)
        }
    }

    @Test(
        arguments: [
            ("no bytes", []),
            ("another version", [0x02, 0x00]),
            ("no count", [0x01]),
            ("more revisions than bytes", [0x01, 0x02, 0x60, 0x01, 0x01, 0x61, 0x01]),
            ("2^24 revisions", [0x01, 0x80, 0x80, 0x80, 0x08, 0x60, 0x01, 0x01, 0x61, 0x01]),
            ("2^63 revisions", [0x01, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]),
            ("a count in needless bytes", [0x01, 0x81, 0x00, 0x60, 0x01, 0x01, 0x61, 0x01]),
            ("a byte after the end", [0x01, 0x01, 0x60, 0x01, 0x01, 0x61, 0x01, 0x00]),
            ("a reserved bit", [0x01, 0x01, 0xE0, 0x01, 0x01, 0x61, 0x01]),
            ("another reserved bit", [0x01, 0x01, 0x68, 0x01, 0x01, 0x61, 0x01]),
            ("text that is not UTF-8", [0x01, 0x01, 0x60, 0x01, 0x01, 0xFF, 0x01]),
            ("a control character", [0x01, 0x01, 0x60, 0x01, 0x01, 0x0A, 0x01]),
            ("a further parent of a root", [0x01, 0x01, 0x64, 0x01, 0x01, 0x61, 0x01, 0x01, 0x01]),
            (
                "no further parents",
                [0x01, 0x02, 0x54, 0x02, 0x01, 0x62, 0x00, 0x02, 0x60, 0x01, 0x61, 0x01]
            ),
            (
                "the same parent twice",
                [0x01, 0x02, 0x54, 0x02, 0x01, 0x62, 0x01, 0x01, 0x02, 0x60, 0x01, 0x61, 0x01]
            ),
            (
                "a further parent of its own generation",
                [
                    0x01, 0x04, 0x44, 0x02, 0x01, 0x63, 0x02, 0x01, 0x03, 0x01, 0x60, 0x00, 0x01, 0x62, 0x01,
                    0x60, 0x01, 0x01, 0x62, 0x01, 0x60, 0x00, 0x01, 0x00, 0x61, 0x01,
                ]
            ),
            ("generation 0", [0x01, 0x01, 0x60, 0x00, 0x01, 0x61, 0x01]),
            (
                "generation 2^63",
                [
                    0x01, 0x01, 0x60, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x01, 0x61,
                    0x01,
                ]
            ),
            ("a digest of no bytes", [0x01, 0x01, 0x60, 0x01, 0x00, 0x01, 0x00]),
            ("a text of 65 bytes", [0x01, 0x01, 0x60, 0x01, 65] + [UInt8](repeating: 0x67, count: 66)),
            (
                "32 digits as text",
                [0x01, 0x01, 0x60, 0x01, 32] + [UInt8](repeating: 0x61, count: 32) + [0x01]
            ),
            ("root and child at once", [0x01, 0x02, 0x70, 0x02, 0x01, 0x62, 0x02, 0x60, 0x01, 0x61, 0x01]),
            ("a parent after the last", [0x01, 0x01, 0x50, 0x02, 0x01, 0x62, 0x02]),
            (
                "its own parent",
                [0x01, 0x02, 0x40, 0x02, 0x01, 0x62, 0x00, 0x02, 0x60, 0x01, 0x01, 0x61, 0x01]
            ),
            (
                "the next as a distant parent",
                [0x01, 0x02, 0x40, 0x02, 0x01, 0x62, 0x01, 0x02, 0x60, 0x01, 0x01, 0x61, 0x01]
            ),
            ("a parent of generation 0", [0x01, 0x02, 0x50, 0x01, 0x01, 0x62, 0x02, 0x60, 0x01, 0x61, 0x01]),
            (
                "a parent two generations down",
                [
                    0x01, 0x03, 0x40, 0x03, 0x01, 0x63, 0x02, 0x03, 0x60, 0x01, 0x01, 0x62, 0x02, 0x60, 0x01,
                    0x01, 0x61, 0x01,
                ]
            ),
            ("the same ID twice", [0x01, 0x02, 0x60, 0x01, 0x01, 0x61, 0x01, 0x60, 0x00, 0x01, 0x61, 0x01]),
            ("ascending order", [0x01, 0x02, 0x60, 0x01, 0x01, 0x61, 0x01, 0x60, 0x00, 0x01, 0x62, 0x01]),
        ] as [(String, [UInt8])])
    func crafted(_ name: String, _ bytes: [UInt8]) {
        #expect(code { _ = try RevisionTree(bytes.span) } == .damaged, "\(name)")
    }

    @Test func theErrorSaysWhere() {
        let error = #expect(throws: DatabaseError.self) {
            let bytes: [UInt8] = [0x01, 0x01, 0x60, 0x01, 0x21, 0x61, 0x01]
            _ = try RevisionTree(bytes.span)
        }
        #expect(error?.message.contains("damaged at byte 4: a digest runs past its end") == true)
    }
}

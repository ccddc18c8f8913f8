import Foundation
import Roost
import Testing

@Suite struct RevisionIDTests {
    @Test(arguments: [
        "1-aa", "97-beef", "1-3de83144ab0b66114ff350b20724e1fd48c6c57b", "10-00", "9223372036854775807-0f",
        "3-" + String(repeating: "5a", count: 32),
    ])
    func textSurvivesARoundTrip(_ text: String) throws {
        #expect(try RevisionID(validating: text).description == text)
        #expect(RevisionID(text)?.description == text)
    }

    @Test(arguments: [
        "", "-", "1", "1-", "-aa", "1-a", "1-AA", "1-aA", "1-aag", "97-beeef", "0-aa", "00-aa", "01-aa",
        "+1-aa",
        "-1-aa", " 1-aa", "1 -aa", "1- aa", "1-aa ", "1-aa\n", "1--aa", "1-aa-bb", "1-0xaa", "a-aa", "1.0-aa",
        "١-aa",
        "1-ａａ", "9223372036854775808-aa", "18446744073709551615-aa", "18446744073709551616-aa",
        "18446744073709551617-aa", "99999999999999999999-aa", "3-" + String(repeating: "5a", count: 33),
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(RevisionID(text) == nil)
        #expect(code { _ = try RevisionID(validating: text) } == .invalidRevisionID)
    }

    @Test func theErrorSaysWhatIsWrongAndWhere() {
        let error = #expect(throws: DatabaseError.self) { try RevisionID(validating: "12-aBcd") }
        #expect(
            error?.message
                == "\"12-aBcd\" is not a revision ID: byte 4 is not a lowercase hexadecimal digit. "
                + "A revision ID looks like 3-9f86d081.")
    }

    @Test func compactBytesAreVarintAndRawDigest() throws {
        for (text, bytes) in [
            ("3-abcd", [0x03, 0xAB, 0xCD]), ("128-00", [0x80, 0x01, 0x00]), ("300-ff", [0xAC, 0x02, 0xFF]),
        ] as [(String, [UInt8])] {
            var compact: [UInt8] = []
            try id(text).append(to: &compact)
            #expect(compact == bytes)
            #expect(try RevisionID(bytes.span) == id(text))
        }
    }

    @Test(
        arguments: [
            [], [0x03], [0x00, 0xAA], [0x80], [0x80, 0x00, 0xAA], [0x83, 0x00, 0xAA],
            [UInt8](repeating: 0xFF, count: 9) + [0x01, 0xAA], [UInt8](repeating: 0xFF, count: 12),
            [0x01] + [UInt8](repeating: 7, count: 33),
        ] as [[UInt8]])
    func otherCompactBytesAreRefused(_ bytes: [UInt8]) {
        #expect(code { _ = try RevisionID(bytes.span) } == .invalidRevisionID)
    }

    @Test func orderIsByGenerationThenDigestBytes() throws {
        let zeros = String(repeating: "00", count: 20)
        let sorted = try ids(
            "1-00 1-0000 1-0001 1-01 1-7f 1-80 1-80ff 1-ff 2-00 9-ff 10-00 10-\(zeros) 10-\(zeros)01 11-00")
        #expect(sorted.reversed().sorted() == sorted)
        #expect(Set(sorted).count == sorted.count)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func orderOfDigestsIsThatOfTheirBytes(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var digests: [[UInt8]] = []
        for _ in 0..<60 {
            // Common beginnings and zeros are where lengths matter.
            var bytes = generator.oneIn(2) ? digests.randomElement(using: &generator) ?? [] : []
            bytes = Array(bytes.prefix(Int.random(in: 0...31, using: &generator)))
            for _ in 0...Int.random(in: 0..<(32 - bytes.count), using: &generator) {
                bytes.append(UInt8.random(in: 0...1, using: &generator) * 255)
            }
            digests.append(bytes)
        }
        for left in digests {
            for right in digests {
                let (first, second) = (RevisionDigest(left)!, RevisionDigest(right)!)
                #expect((first < second) == left.lexicographicallyPrecedes(right))
                #expect((first == second) == (left == right))
                #expect(first.bytes == left)
            }
        }
    }

    @Test func digestsAreOfOneTo32Bytes() {
        #expect(RevisionDigest([]) == nil)
        #expect(RevisionDigest([UInt8](repeating: 1, count: 33)) == nil)
        #expect(RevisionDigest([UInt8](repeating: 1, count: 32))?.count == 32)
    }

    @Test func codableAsText() throws {
        let list = try ids("1-aa 97-beef")
        let json = try JSONEncoder().encode(list)
        #expect(String(decoding: json, as: UTF8.self) == #"["1-aa","97-beef"]"#)
        #expect(try JSONDecoder().decode([RevisionID].self, from: json) == list)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([RevisionID].self, from: Data(#"["1-AA"]"#.utf8))
        }
    }

    @Test func nextGoesUpByOneUntilTheHighestGeneration() throws {
        let digest = RevisionDigest([0xCC])!
        #expect(try RevisionID.next(after: nil, digest: digest) == id("1-cc"))
        #expect(try RevisionID.next(after: id("7-aa"), digest: digest) == id("8-cc"))
        let last = try id("9223372036854775807-aa")
        #expect(code { _ = try RevisionID.next(after: last, digest: digest) } == .limitExceeded)
    }

    @Test func holdingAnIDAllocatesNothing() {
        #expect(MemoryLayout<RevisionID>.size == 41)
        #expect(_isPOD(RevisionID.self))
    }
}

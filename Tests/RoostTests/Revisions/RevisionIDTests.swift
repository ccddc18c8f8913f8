import Foundation
import Roost
import Testing

@Suite struct RevisionIDTests {
    @Test(arguments: [
        "1-", "1-aa", "97-beef", "1-3de83144ab0b66114ff350b20724e1fd48c6c57b", "10-00",
        "9223372036854775807-0f",
        "3-" + String(repeating: "5a", count: 32), "1-a", "1-AA", "1-aag", "97-beeef", "1- aa", "1--aa",
        "1-aa-bb",
        "1-0xaa", "1-ａａ", "1-0E4D3A2C-7A51-4F0E-9B53-16D1B0E1A9F2", "1-abcdefghijklmnop",
        "1-" + String(repeating: "AB", count: 20), "3-" + String(repeating: "é", count: 32),
    ])
    func textSurvivesARoundTrip(_ text: String) throws {
        #expect(try RevisionID(validating: text).description == text)
        #expect(RevisionID(text)?.description == text)
    }

    @Test(arguments: [
        "", "-", "1", "-aa", "0-aa", "00-aa", "01-aa", "+1-aa", "-1-aa", " 1-aa", "1 -aa", "1-aa\n",
        "1-\u{7F}",
        "1-\u{85}", "a-aa", "1.0-aa", "١-aa", "9223372036854775808-aa", "18446744073709551615-aa",
        "18446744073709551616-aa", "18446744073709551617-aa", "99999999999999999999-aa",
        "3-" + String(repeating: "x", count: 65),
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(RevisionID(text) == nil)
        #expect(code { _ = try RevisionID(validating: text) } == .invalidRevisionID)
    }

    @Test func digitsOfEitherSizeAreOneNumber() throws {
        let number = "00ff" + String(repeating: "ab", count: 14)
        #expect(try id("1-\(number)") == id("1-\(number.uppercased())"))
        #expect(try id("1-\(number.uppercased())").description == "1-\(number)")
    }

    @Test func theErrorSaysWhatIsWrong() {
        let error = #expect(throws: DatabaseError.self) { try RevisionID(validating: "12-a\n") }
        #expect(
            error?.message
                == "\"12-a\\n\" is not a revision ID: what follows the hyphen is not at most 64 bytes of UTF-8 without "
                + "control characters. A revision ID looks like 3-9f86d081.")
    }

    @Test func compactBytesAreVarintAndDigest() throws {
        let number = [UInt8](0..<16)
        for (text, bytes) in [
            ("1-", [0x03]), ("3-abcd", [0x07, 0x61, 0x62, 0x63, 0x64]), ("128-00", [0x81, 0x02, 0x30, 0x30]),
            ("300-ff", [0xD9, 0x04, 0x66, 0x66]), ("1-000102030405060708090a0b0c0d0e0f", [0x02] + number),
            ("64-000102030405060708090a0b0c0d0e0f", [0x80, 0x01] + number),
        ] as [(String, [UInt8])] {
            var compact: [UInt8] = []
            try id(text).append(to: &compact)
            #expect(compact == bytes)
            #expect(try RevisionID(bytes.span) == id(text))
        }
    }

    @Test(
        arguments: [
            [], [0x00, 0x61], [0x01, 0x61], [0x80], [0x80, 0x00, 0x61], [0x83, 0x00, 0x61],
            [0x03, 0xFF],
            [UInt8](repeating: 0xFF, count: 9) + [0x01, 0xAA], [UInt8](repeating: 0xFF, count: 12),
            [0x02] + [UInt8](repeating: 7, count: 15), [0x02] + [UInt8](repeating: 7, count: 17),
            [0x03] + [UInt8](repeating: 0x78, count: 65), [0x03] + [UInt8](repeating: 0x61, count: 32),
        ] as [[UInt8]])
    func otherCompactBytesAreRefused(_ bytes: [UInt8]) {
        #expect(code { _ = try RevisionID(bytes.span) } == .invalidRevisionID)
    }

    @Test func orderIsByGenerationThenDigestBytes() throws {
        let zeros = String(repeating: "00", count: 20)
        let sorted = try ids(
            "1- 1-00 1-0000 1-0001 1-01 1-7f 1-80 1-80ff 1-ff 2-00 9-ff 10-00 10-\(zeros) 10-\(zeros)01 11-00"
        )
        #expect(sorted.reversed().sorted() == sorted)
        #expect(Set(sorted).count == sorted.count)
    }

    /// CouchDB compares 32 digits as the 16 bytes that they stand for, everything else as text.
    @Test func numbersAndTextsAreInCouchDBsOrder() throws {
        func number(_ digits: String) -> String { "1-" + String(repeating: digits, count: 16) }
        let sorted = try [
            number("00"), "1-0", "1-1", number("31"), "1-fa", number("66"),
            "1-" + String(repeating: "f", count: 40), "1-é", number("ff"),
        ].map { try id($0) }
        #expect(sorted.reversed().sorted() == sorted)
        let same = try [number("61"), "1-" + String(repeating: "a", count: 16)].map { try id($0) }
        #expect(same[0] < same[1], "of the same bytes the number comes first")
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func orderOfDigestsIsThatOfTheirBytes(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var digests: [[UInt8]] = []
        for _ in 0..<60 {
            // Common beginnings are where lengths matter.
            var bytes = generator.oneIn(2) ? digests.randomElement(using: &generator) ?? [] : []
            bytes = Array(bytes.prefix(Int.random(in: 0...63, using: &generator)))
            for _ in 0...Int.random(in: 0..<(64 - bytes.count), using: &generator) {
                bytes.append(UInt8.random(in: 0x78...0x79, using: &generator))
            }
            digests.append(bytes)
        }
        for left in digests {
            for right in digests {
                let (first, second) = (RevisionDigest(text: left.span)!, RevisionDigest(text: right.span)!)
                #expect((first < second) == left.lexicographicallyPrecedes(right))
                #expect((first == second) == (left == right))
                #expect(first.bytes == left)
            }
        }
    }

    @Test func numbersAreOfSixteenBytes() {
        for count in [0, 1, 15, 17, 64] {
            #expect(RevisionDigest([UInt8](repeating: 1, count: count)) == nil)
        }
        #expect(
            RevisionDigest([UInt8](repeating: 1, count: 16))?.description
                == String(repeating: "01", count: 16))
    }

    @Test func codableAsText() throws {
        let list = try ids("1-aa 97-beef")
        let json = try JSONEncoder().encode(list)
        #expect(String(decoding: json, as: UTF8.self) == #"["1-aa","97-beef"]"#)
        #expect(try JSONDecoder().decode([RevisionID].self, from: json) == list)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([RevisionID].self, from: Data(#"["1"]"#.utf8))
        }
    }

    @Test func nextGoesUpByOneUntilTheHighestGeneration() throws {
        let digest = try id("1-cc").digest
        #expect(try RevisionID.next(after: nil, digest: digest) == id("1-cc"))
        #expect(try RevisionID.next(after: id("7-aa"), digest: digest) == id("8-cc"))
        let last = try id("9223372036854775807-aa")
        #expect(code { _ = try RevisionID.next(after: last, digest: digest) } == .limitExceeded)
    }

    @Test func holdingAnIDAllocatesNothing() {
        #expect(MemoryLayout<RevisionID>.size == 74)
        #expect(_isPOD(RevisionID.self))
    }
}

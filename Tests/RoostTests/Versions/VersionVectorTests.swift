import Testing

@testable import Roost

/// Version vectors are those of Couchbase Lite 4: its texts, its bytes and its comparisons.
@Suite struct VersionVectorTests {
    private func vector(_ text: String) throws -> VersionVector {
        try #require(VersionVector(text: text.utf8), "\(text)")
    }

    private func bytes(_ hexadecimal: String) -> [UInt8] {
        hexadecimal.filter { $0 != " " }.utf8.chunked(by: 2).map {
            UInt8(String(decoding: $0, as: UTF8.self), radix: 16)!
        }
    }

    private let a = "51L7VlzEQGqO1Xdrlp5YmQ"
    private let b = "VtbcvMR1TWWdzpljj7YCIg"

    // MARK: Text and bytes

    @Test(arguments: [
        "18ec4b2f582c0001@51L7VlzEQGqO1Xdrlp5YmQ", "1@*", "ffffffffffffffff@51L7VlzEQGqO1Xdrlp5YmQ",
        "1abcdef0123@Revision+Tree+Encoding",
    ])
    func versionsHaveOneText(text: String) throws {
        #expect(try #require(Version(text: text.utf8)).description == text)
    }

    @Test(arguments: [
        "", "@", "1@", "@*", "0@*", "01@*", "1A@*", "1g@*", "10000000000000000@*", "1@**", "1 @*",
        "1@51L7VlzEQGqO1Xdrlp5YmR",
        "1@51L7VlzEQGqO1Xdrlp5Ym", "1@51L7VlzEQGqO1Xdrlp5YmQ=", "1@AAAAAAAAAAAAAAAAAAAAAA",
        "1@51L7VlzEQGqO1Xdrlp5Y_Q",
    ])
    func otherTextsAreRefused(text: String) { #expect(Version(text: text.utf8) == nil) }

    /// Vectors that LiteCore 4.1.0 stored, with their bytes.
    @Test(arguments: [
        (
            "18ec4b2f582c0001@51L7VlzEQGqO1Xdrlp5YmQ, 18ec4b2d4c010001@51L7VlzEQGqO1Xdrlp5YmQ, "
                + "18ec4b2d48490000@VtbcvMR1TWWdzpljj7YCIg;",
            "00 8380e082ebcba5ec31 80 d6b010 80 8380c03b 90 56d6dcbcc4754d659dce99638fb60222"
        ),
        (
            "27a0ed74cfa@Revision+Tree+Encoding; 18ec4b7555df0000@z1M6HOjiSjSUkFtMcHp5Ng, "
                + "18ec4b7555df0003@LS+zzm6zpW/PgzObPkEnvQ",
            "00 f5b3baedc19e01 90 45ebe2b22a27f93ade7be1277287629e f5b3c28f97c1db93ce01 10 "
                + "cf533a1ce8e24a3494905b4c707a7936 fbffffffffffffffff01 10 2d2fb3ce6eb3a56fcf83339b3e4127bd"
        ),
    ])
    func theBytesAreLiteCores(text: String, hexadecimal: String) throws {
        let me = try #require(SourceID(text: a.utf8))
        let decoded = try #require(VersionVector(decoding: bytes(hexadecimal))).replacing(.me, by: me)
        let parsed = try vector(text)
        // LiteCore keeps the order in which previous versions came; here they descend by time.
        #expect(decoded == parsed)
        if decoded.previous.count < 2 {
            #expect(decoded.description == text)
            #expect(decoded.replacing(me, by: .me).encoded == bytes(hexadecimal))
        }
    }

    @Test func vectorsComeBackEqualFromTheirBytes() throws {
        for text in [
            "5@\(a)", "5@\(a); 4@\(b)", "7@*, 5@\(a), 4@\(b);", "7@\(a), 5@\(a), 4@\(b);",
            "3fffffffffffffff@\(a); 2000000000000000@\(b), 1@*",
        ] {
            let vector = try vector(text)
            #expect(vector.description == text)
            #expect(VersionVector(decoding: vector.encoded) == vector)
        }
    }

    @Test(arguments: [
        "", ";", "5@*;4@*;3@*", "5@*, 4@51L7VlzEQGqO1Xdrlp5YmQ", "5@*; 4@*",
        "5@*, 6@*, 4@51L7VlzEQGqO1Xdrlp5YmQ;",
        "5@*,", "5@*; 4@51L7VlzEQGqO1Xdrlp5YmQ,", "5@*; 4@51L7VlzEQGqO1Xdrlp5YmQ, 3@51L7VlzEQGqO1Xdrlp5YmQ",
    ])
    func textsThatAreNoVectorAreRefused(text: String) { #expect(VersionVector(text: text.utf8) == nil) }

    @Test(arguments: [
        "", "01", "00", "00 02", "00 02 01", "00 02 10 00", "00 00 80", "00 0a 80 80 10",
        "00 0b 80 03 10 56d6dcbcc4754d659dce99638fb60222 03 90 51d6dcbcc4754d659dce99638fb60222",
        "00 0b 90 00000000000000000000000000000000",
    ])
    func bytesThatAreNoVectorAreRefused(hexadecimal: String) {
        #expect(VersionVector(decoding: bytes(hexadecimal)) == nil)
    }

    // MARK: Comparing and merging

    @Test func currentVersionsDecide() throws {
        let base = try vector("5@\(a)")
        let edited = try vector("6@\(b); 5@\(a)")
        let other = try vector("7@\(a)")
        #expect(base.compare(to: base) == .same)
        #expect(edited.compare(to: base) == .newer)
        #expect(base.compare(to: edited) == .older)
        #expect(edited.compare(to: other) == .conflicting)
        #expect(try vector("6@\(b); 9@\(a)").compare(to: edited) == .same)
    }

    @Test func anEditKeepsTheNewestOfEachSource() throws {
        let version = try #require(Version(text: "9@*".utf8))
        #expect(try vector("7@\(a), 5@\(a), 4@\(b);").adding(version).description == "9@*; 7@\(a), 4@\(b)")
        #expect(try vector("5@*; 4@\(b)").adding(version).description == "9@*; 4@\(b)")
    }

    @Test func aMergeIsTheSameWhicheverIsFirst() throws {
        let version = try #require(Version(text: "9@*".utf8))
        let one = try vector("7@\(a); 3@\(b), 1@*")
        let two = try vector("6@\(b); 5@\(a)")
        let merged = try #require(one.merging(two, as: version))
        #expect(merged.description == "9@*, 7@\(a), 6@\(b);")
        #expect(two.merging(one, as: version) == merged)
        #expect(merged.compare(to: one) == .newer && merged.compare(to: two) == .newer)
        #expect(try one.merging(vector("8@\(a)"), as: version) == nil)
    }

    @Test func pruningDropsTheOldest() throws {
        let vector = try vector("9@*; 7@\(a), 4@\(b)")
        #expect(vector.pruned(keeping: 1).description == "9@*; 7@\(a)")
        #expect(vector.pruned(keeping: 5) == vector)
    }

    // MARK: Trees

    @Test func revisionsOfTreesAreVersions() throws {
        let version = try #require(Version(generation: 1, digest: [0xAB, 0xCD, 0xEF, 0x01, 0x23, 0x45]))
        #expect(version.description == "1abcdef0123@Revision+Tree+Encoding")
        #expect(version.treeRevision?.generation == 1)
        #expect(version.treeRevision?.digestPrefix == [0xAB, 0xCD, 0xEF, 0x01, 0x23])
        #expect(Version(generation: 2, digest: [0xAA])?.time == 0x2AA_0000_0000)
        #expect(Version(generation: 0, digest: [0xAA]) == nil)
        #expect(Version(generation: 1 << 24, digest: []) == nil)
    }
}

/// A hybrid clock only goes forward, and no other clock drags it far.
@Suite struct HybridClockTests {
    private let second: UInt64 = 1_000_000_000
    private let start: UInt64 = 0x18ec_4b2f_582c_0000

    @Test func timesAscendWhateverTheWallClockSays() {
        var clock = HybridClock()
        #expect(clock.now(wall: start + 5) == start)
        #expect(clock.now(wall: start) == start + 1)
        #expect(clock.now(wall: start - second) == start + 2)
        #expect(clock.now(wall: start + second) > start + 2)
        #expect(clock.last & 0xFFFF == 0)
    }

    @Test func itComesAfterWhatItWasShown() throws {
        var clock = HybridClock()
        try clock.see(start + 3, wall: start)
        #expect(clock.now(wall: start) == start + 4)
        try clock.see(start, wall: start)
        #expect(clock.last == start + 4)
    }

    @Test func itIsNotDraggedAlong() {
        var clock = HybridClock(last: start)
        #expect(throws: HybridClock.Refusal.ahead) { try clock.see(start + 121 * second, wall: start) }
        #expect(throws: HybridClock.Refusal.impossible) { try clock.see(1 << 39, wall: start) }
        #expect(throws: HybridClock.Refusal.impossible) { try clock.see(1 << 63, wall: start) }
        #expect(clock.last == start)
        #expect(throws: Never.self) { try clock.see(start + 119 * second, wall: start) }
    }
}

extension Sequence {
    fileprivate func chunked(by count: Int) -> [[Element]] {
        reduce(into: []) { chunks, element in
            if let last = chunks.last, last.count < count {
                chunks[chunks.count - 1].append(element)
            } else {
                chunks.append([element])
            }
        }
    }
}

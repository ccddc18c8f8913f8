import RoostBytes
import Testing

@testable import RoostStorage

/// Leaves come out of their packed form as they went in, and what is no packed leaf is refused.
@Suite struct PackedLeafTests {
    private var random = SplitMix64(seed: 11)

    /// A leaf of up to `count` entries with keys, inline bytes and chunks of many shapes.
    private mutating func leaf(_ count: Int, longest: Int) -> [UInt8] {
        let shared = bytes(Int.random(in: 0...longest, using: &random))
        let keys = Set((0..<count).map { _ in shared + bytes(Int.random(in: 0...longest, using: &random)) })
        let builder = LeafBuilder()
        var end: UInt64 = 0
        for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let kind = ReferenceKind(rawValue: UInt8.random(in: 0...3, using: &random)) ?? .none
            if Bool.random(using: &random) {
                end = UInt64.random(in: 0..<ChunkReference.maximumOffset, using: &random)
            }
            let lengths: [UInt32] = [.max, 317, 0]
            let length = lengths[Int.random(in: 0...2, using: &random)]
            let inline = Array(shared.prefix(Int.random(in: 0...40, using: &random))) + bytes(Int(length % 7))
            key.withView { key in
                inline.withView { inline in
                    let chunk = ChunkReference(offset: end, length: length)
                    builder.add(key: key, Entry(kind: kind, inline: inline, chunk: chunk))
                }
            }
            if kind != .none { end = min(end + UInt64(length), 1 << 47) }
        }
        return builder.build(0..<builder.count).page.array
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        // Few different bytes, so that keys have much in common.
        (0..<count).map { _ in UInt8.random(in: 0...2, using: &random) }
    }

    private func packed(_ page: [UInt8]) throws -> [UInt8]? {
        let output = ByteBuffer()
        let isShorter = try page.withView { bytes in
            try PackedLeaf.pack(try #require(PageView(bytes)), length: bytes.count, to: output)
        }
        return isShorter ? output.view.array : nil
    }

    private func unpacked(_ packed: [UInt8]) throws -> [UInt8] {
        let output = ByteBuffer()
        try packed.withView { try PackedLeaf.unpack($0, into: output) }
        return output.view.array
    }

    @Test(arguments: [0, 3, 10, 60, 300])
    mutating func leavesSurvivePacking(longest: Int) throws {
        for round in 0..<200 {
            let page = leaf(round % 40, longest: longest)
            guard let packed = try packed(page) else { continue }
            #expect(packed.count < page.count)
            #expect(try unpacked(packed) == page)
        }
    }

    /// Pending changes are packed as the leaf that would be made of them.
    @Test(arguments: [0, 3, 10, 60, 300])
    mutating func pendingChangesPackAsTheirLeaf(longest: Int) throws {
        for round in 0..<200 {
            let page = leaf(round % 40, longest: longest)
            var pending = DeltaPage()
            let (dropped, count) = try page.withView { bytes in
                let view = try #require(PageView(bytes))
                for index in 0..<view.count {
                    let entry = try view.entry(index)
                    view.key(index).withView { pending.put($0, entry, tag: 0, at: index, found: false) }
                }
                return (view.prefixLength, bytes.count)
            }
            #expect(pending.pageLength(sharing: dropped) == count)
            let output = ByteBuffer()
            let isShorter = try PackedLeaf.pack(pending.view, length: count, dropping: dropped, to: output)
            let expected = try packed(page)
            #expect(isShorter == (expected != nil))
            if let expected { #expect(output.view.array == expected) }
        }
    }

    /// 200 documents with IDs of 16 digits and values one after another: what loading in order makes.
    @Test func orderedEntriesTakeLessThanHalf() throws {
        let builder = LeafBuilder()
        for number in 0..<200 as Range<UInt64> {
            let id = String(number &* 0x0140_0000_0000_0000 / 200 + 1 << 60, radix: 16)
            let chunk = ChunkReference(offset: 8192 + number * 307, length: 307)
            Array(id.utf8).withView { key in
                Key(number).bytes.withView { sequence in
                    builder.add(key: key, Entry(kind: .shared, inline: sequence, chunk: chunk))
                }
            }
        }
        let page = builder.build(0..<builder.count).page.array
        let packed = try #require(try packed(page))
        #expect(packed.count < page.count / 2)
        #expect(try unpacked(packed) == page)
    }

    @Test mutating func whatIsCutOffIsRefused() throws {
        let packed = try #require(try packed(leaf(20, longest: 12)))
        for count in 0..<packed.count {
            #expect(throws: MalformedBytes.self) { try unpacked(Array(packed.prefix(count))) }
        }
        #expect(throws: MalformedBytes.self) { try unpacked(packed + [0]) }
    }

    /// Any byte changed ends in an error or in a page within bounds, never in a trap.
    @Test mutating func changedBytesDoNoHarm() throws {
        let packed = try #require(try packed(leaf(20, longest: 12)))
        for position in packed.indices {
            for mask in [1, 2, 4, 8, 16, 32, 64, 128, 255] as [UInt8] {
                var changed = packed
                changed[position] ^= mask
                guard let page = try? unpacked(changed) else { continue }
                #expect(page.count <= LeafBuilder.largestPage)
                #expect(page.withView { PageView($0) != nil })
            }
        }
    }

    @Test func sizesBeyondAPageAreRefused() throws {
        for header in [[0x80, 0x80, 0x04, 0, 0], [8, 2, 0], [0xff, 0xff, 0x03, 0xff, 0x3f, 0]] as [[UInt8]] {
            #expect(throws: MalformedBytes.self) { try unpacked(header) }
        }
    }
}

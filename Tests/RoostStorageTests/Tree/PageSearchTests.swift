import RoostBytes
import Testing

@testable import RoostStorage

/// A search in a page ends where looking at one key after another does.
@Suite struct PageSearchTests {
    private var random = SplitMix64(seed: 5)

    /// `digits` different bytes: with few of them many keys begin alike, also beyond the four bytes that slots hold.
    private mutating func key(_ length: Int, digits: UInt8) -> [UInt8] {
        (0..<length).map { _ in UInt8.random(in: 0..<digits, using: &random) }
    }

    @Test(
        arguments: [0, 1, 8, 9, 16, 17, 33, 64, 65, 97, 200, 300],
        [(3, 255), (12, 2), (6, 3)] as [(Int, UInt8)])
    mutating func searchFindsTheFirstKeyThatIsNotLess(count: Int, shape: (length: Int, digits: UInt8)) throws
    {
        var keys = Set<[UInt8]>()
        for _ in 0..<count {
            keys.insert(key(Int.random(in: 0...shape.length, using: &random), digits: shape.digits))
        }
        let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
        let builder = LeafBuilder()
        for key in sorted {
            key.withView { builder.add(key: $0, .inline(.empty)) }
        }
        let page = try #require(PageView(builder.build(0..<builder.count).page))
        defer { extendLifetime(builder) }
        let others = (0..<300).map { _ in
            key(Int.random(in: 0...shape.length + 1, using: &random), digits: shape.digits)
        }
        for wanted in sorted + others {
            let index = sorted.firstIndex { !$0.lexicographicallyPrecedes(wanted) } ?? sorted.count
            let found = wanted.withView { page.search($0) }
            #expect(found == (index, index < sorted.count && sorted[index] == wanted))
        }
    }
}

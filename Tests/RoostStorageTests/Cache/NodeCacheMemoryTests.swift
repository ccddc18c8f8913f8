import RoostBytes
import Testing

@testable import RoostStorage

/// Which nodes leave a cache when its memory is full, and that those who look at one may go on.
@Suite struct NodeCacheMemoryTests {
    /// Ten segments for eight nodes each.
    private static let segmentSize = 16 << 10
    private static let limit = 10 * segmentSize
    private static let nodesInSegment = 8

    private let cache = NodeCache(limit: limit, segmentSize: segmentSize)

    /// An empty leaf that says in its prefix where it belongs.
    private func page(_ offset: UInt64) -> [UInt8] {
        [0, 0, 0, 0, 8, 0, 0, 0] + Key(offset).bytes
            + [UInt8](repeating: UInt8(truncatingIfNeeded: offset), count: 2000)
    }

    private func insert(_ offsets: ClosedRange<UInt64>) {
        for offset in offsets { page(offset).withView { cache.insert(copyOf: $0, at: offset) } }
    }

    private func isThere(_ offset: UInt64) -> Bool {
        let pin = cache.reclaimer.readers.pin()
        guard let found = cache.find(offset, pin) else { return false }
        return found.bytes.array == page(offset)
    }

    @Test func theOldestLeave() {
        insert(1...1000)
        #expect((1000 - 6 * UInt64(Self.nodesInSegment)...1000).allSatisfy { isThere($0) })
        #expect((1...900).allSatisfy { !isThere($0) })
    }

    @Test func whatIsUsedStays() {
        insert(1...4)
        for start in stride(from: 100 as UInt64, to: 2000, by: 4) {
            #expect((1...4).allSatisfy { isThere($0) })
            insert(start...start + 3)
        }
    }

    @Test func aNodeThatSomebodyLooksAtIsNotOverwritten() throws {
        insert(1...1)
        let pin = cache.reclaimer.readers.pin()
        let first = cache.find(1, pin)
        let found = try #require(first)
        insert(2...2000)
        #expect(found.bytes.array == page(1))
        // Without the reader the memory changes hands again.
        _ = consume pin
        insert(2001...4000)
        #expect(isThere(4000))
    }

    /// A node that is being filled while its segment is given up may be used, but does not go into the cache.
    @Test func aNodeThatComesTooLateIsNotKept() {
        let pin = cache.reclaimer.readers.pin()
        let late = cache.makeNode(offset: 1, length: page(1).count)
        insert(2...2000)
        #expect(late.state == .givenUp)
        page(1).withView { unsafe late.bytes.copyMemory(from: $0.buffer) }
        cache.insert(late)
        #expect(late.page.array == page(1))
        let found = cache.find(1, pin)
        #expect(found == nil)
    }

    @Test func aNodeLargerThanASegmentHasMemoryOfItsOwn() {
        let pin = cache.reclaimer.readers.pin()
        let node = cache.makeNode(offset: 1, length: 2 * Self.segmentSize)
        #expect(node.state == .standalone)
        unsafe node.bytes.initializeMemory(as: UInt8.self, repeating: 7)
        cache.insert(node)
        #expect(node.page.array == [UInt8](repeating: 7, count: 2 * Self.segmentSize))
        let found = cache.find(1, pin)
        #expect(found == nil)
    }

    @Test func aCacheOfNoBytesHoldsNothing() {
        let cache = NodeCache(limit: 0)
        page(1).withView { cache.insert(copyOf: $0, at: 1) }
        let pin = cache.reclaimer.readers.pin()
        let found = cache.find(1, pin)
        #expect(found == nil)
        let node = cache.makeNode(offset: 1, length: 100)
        #expect(node.state == .standalone)
        cache.discard(node)
    }

    /// Whatever is asked for, a cache can be made.
    @Test(arguments: [1, 100_000, 1 << 20, 100 << 20, 1 << 50, .max])
    func anyLimitWillDo(limit: Int) {
        let cache = NodeCache(limit: limit)
        page(1).withView { cache.insert(copyOf: $0, at: 1) }
        let pin = cache.reclaimer.readers.pin()
        let found = cache.find(1, pin)
        #expect(found != nil)
    }
}

import Dispatch
import RoostBytes
import RoostSimulation
import Testing

@testable import RoostStorage

/// A cache without locks, with threads that put nodes into the same few places.
@Suite struct ConcurrentNodeCacheTests {
    private static let offsets = 200

    /// An empty leaf that says in its prefix where it belongs.
    private static func page(_ offset: UInt64) -> [UInt8] { [0, 0, 0, 0, 8, 0, 0, 0] + Key(offset).bytes }

    private static func insert(_ offset: UInt64, _ cache: NodeCache) {
        page(offset).withView { cache.insert(copyOf: $0, at: offset) }
    }

    @Test func whatIsFoundIsWhatWasAskedFor() {
        // Room for a few nodes only, so that places and memory change hands all the time.
        let cache = NodeCache(limit: 2_000, segmentSize: 256)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var generator = SeededGenerator(seed: UInt64(thread))
            for _ in 0..<20_000 {
                let offset = UInt64(1 + generator.next(below: Self.offsets))
                if generator.chance(0.4) { Self.insert(offset, cache) }
                if generator.chance(0.001) {
                    cache.removeAll(from: UInt64(generator.next(below: Self.offsets)))
                }
                let pin = cache.reclaimer.readers.pin()
                guard let found = cache.find(offset, pin) else { continue }
                if found.bytes.array != Self.page(offset) {
                    Issue.record("another node than that of \(offset)")
                }
            }
        }
        cache.removeAll(from: 100)
        let pin = cache.reclaimer.readers.pin()
        for offset in 100...UInt64(Self.offsets) { #expect(cache.find(offset, pin) == nil) }
    }

    @Test func nodesBeforeTheOffsetStay() {
        let cache = NodeCache(limit: 1 << 20)
        for offset in 1...20 as ClosedRange<UInt64> { Self.insert(offset, cache) }
        cache.removeAll(from: 11)
        let pin = cache.reclaimer.readers.pin()
        for offset in 1...20 as ClosedRange<UInt64> {
            #expect((cache.find(offset, pin) != nil) == (offset < 11))
        }
    }
}

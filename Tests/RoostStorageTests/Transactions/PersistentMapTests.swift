import Synchronization
import Testing

@testable import RoostStorage

/// The map in which a state keeps its trees.
@Suite struct PersistentMapTests {
    private struct Number: Weighted, Equatable {
        let value: Int
        var weight: Int { value }
    }

    private typealias Map = PersistentMap<Int, Number>

    private func check(_ map: Map, _ model: [Int: Int], _ comment: Comment) throws {
        #expect(map.map(\.value) == model.sorted { $0.key < $1.key }.map(\.value), comment)
        #expect(map.weight == model.values.reduce(0, +), comment)
    }

    @Test(arguments: [UInt64(1), 2, 3]) func itHoldsWhatADictionaryHoldsAndOldCopiesStay(seed: UInt64) throws
    {
        var random = SplitMix64(seed: seed)
        var map = Map()
        var model: [Int: Int] = [:]
        var kept: [(map: Map, model: [Int: Int])] = []
        for step in 0..<6000 {
            let key = Int.random(in: 0..<2000, using: &random)
            // In the second half most are removed.
            if Int.random(in: 0..<10, using: &random) < (step < 3000 ? 2 : 8) {
                map.remove(key)
                model[key] = nil
            } else {
                let value = Int.random(in: 0..<5, using: &random)
                map.set(Number(value: value), for: key)
                model[key] = value
            }
            #expect(map[key]?.value == model[key])
            if step % 500 == 0 { kept.append((map, model)) }
        }
        for key in 0..<2000 { #expect(map[key]?.value == model[key], "key \(key)") }
        for (index, copy) in kept.enumerated() {
            try check(copy.map, copy.model, "seed \(seed), copy \(index)")
        }
        try check(map, model, "seed \(seed)")
        for key in model.keys { map.remove(key) }
        try check(map, [:], "seed \(seed), emptied")
    }

    @Test func theFirstOfAWeightIsFound() {
        var map = Map()
        for key in 0..<5000 { map.set(Number(value: key % 700 == 699 ? key : 0), for: key) }
        for key in 0..<5000 {
            let wanted = (key..<5000).first { $0 % 700 == 699 }
            #expect(map.first(from: key) { $0 > 0 }?.value == wanted, "from \(key)")
        }
    }

    /// A key that counts how often it is compared.
    private struct Counted: Comparable {
        @TaskLocal static var comparisons: Counter?
        final class Counter: Sendable { let count = Atomic<Int>(0) }

        let value: Int

        static func < (left: Self, right: Self) -> Bool {
            comparisons?.count.add(1, ordering: .relaxed)
            return left.value < right.value
        }
    }

    @Test func aChangeLooksAtFewKeysOfMany() {
        var map = PersistentMap<Counted, Number>()
        for key in 0..<100_000 { map.set(Number(value: 1), for: Counted(value: key)) }
        let counter = Counted.Counter()
        Counted.$comparisons.withValue(counter) { map.set(Number(value: 2), for: Counted(value: 77_777)) }
        #expect(counter.count.load(ordering: .relaxed) < 40)
        #expect(map.weight == 100_001)
    }
}

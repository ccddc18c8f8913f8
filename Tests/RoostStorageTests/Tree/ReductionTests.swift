import RoostStorage
import Synchronization
import Testing

/// Reductions: functions of the application that may throw, be unknown, make too much, and see whole rows.
@Suite struct ReductionTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("store") }

    init() throws { directory = try TemporaryDirectory() }

    private struct Refused: Error {}

    private func options(_ reductions: ReductionRegistry = []) -> StoreOptions {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.pendingLimit = 1 << 12
        options.logLimit = 1 << 12
        options.durability = .relaxed(interval: 3600)
        options.compactsAutomatically = false
        options.reductions = reductions
        return options
    }

    /// Adds up the first byte of every value; throws at the value 255. Counts the rows that it sees.
    private final class Sum: Sendable {
        let rows = Atomic(0)

        var reduction: Reduction {
            Reduction(
                name: "sum",
                reduce: { rows, value in
                    self.rows.add(rows.count, ordering: .relaxed)
                    var sum = 0
                    try rows.forEach { _, bytes in
                        guard bytes[0] < 255 else { throw Refused() }
                        sum += Int(bytes[0])
                    }
                    value += Key(UInt64(sum)).bytes
                },
                combine: { values, value in
                    var sum = 0 as UInt64
                    try values.forEach { part in sum += part.indices.reduce(0) { $0 << 8 | UInt64(part[$1]) }
                    }
                    value += Key(sum).bytes
                })
        }
    }

    private func key(_ number: Int) -> Key { Key(UInt64(number)) }

    private func fill(_ store: Store, _ tree: Tree, _ numbers: [Int], length: Int = 1) throws {
        for start in stride(from: 0, to: numbers.count, by: 50) {
            try store.write { transaction in
                for number in numbers[start..<min(start + 50, numbers.count)] {
                    var value = [UInt8](repeating: 0, count: length)
                    value[0] = UInt8(number % 7)
                    try transaction.put(key(number), value, in: tree)
                }
            }
        }
    }

    private func sum(_ range: Range<Int>) -> UInt64 { range.reduce(0) { $0 + UInt64($1 % 7) } }

    private func read(_ store: Store, _ tree: Tree, _ range: Range<Int>) throws -> UInt64? {
        try store.snapshot()[tree].reduction(in: KeyRange(key(range.lowerBound)..<key(range.upperBound)))
            .flatMap { Key($0).number }
    }

    /// Whoever writes without knowing the function leaves nodes without values, in the file and in memory.
    @Test func combineNeverSeesAValueThatIsNotKnown() throws {
        struct NoValue: Error {}
        let base = Sum().reduction
        let reduction = Reduction(
            name: "sum", reduce: base.reduce,
            combine: { values, value in
                try values.forEach { part in if part.isEmpty { throw NoValue() } }
                try base.combine(values, &value)
            })
        var end = 4000
        for round in 0..<6 {
            let store = try Store.open(path, options: options(round % 2 == 0 ? [reduction] : []))
            let tree = try round == 0 ? store.tree("tree", reduction: reduction) : store.tree("tree")
            try fill(store, tree, Array(round == 0 ? 0..<end : end..<end + 1500).shuffled(), length: 40)
            if round > 0 { end += 1500 }
            store.register(reduction)
            #expect(try read(store, tree, 0..<end) == sum(0..<end), "round \(round)")
            #expect(try read(store, tree, 11..<end - 9) == sum(11..<end - 9), "round \(round)")
            try store.close()
        }
    }

    @Test func valuesOutsideTheLeavesAreSeen() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("tree", reduction: Sum().reduction)
        try fill(store, tree, Array(0..<1000).shuffled(), length: 300)
        #expect(try read(store, tree, 0..<1000) == sum(0..<1000))
        #expect(try read(store, tree, 17..<803) == sum(17..<803))
        try store.compact()
        #expect(try read(store, tree, 17..<803) == sum(17..<803))
        #expect(try read(store, tree, 2000..<3000) == nil, "no keys, no value")
    }

    @Test func aFunctionThatThrowsKeepsNobodyFromWriting() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("tree", reduction: Sum().reduction)
        try fill(store, tree, Array(0..<1000).shuffled())
        try store.write { try $0.put(key(500), [255], in: tree) }
        try fill(store, tree, Array(1000..<6000))
        try store.compact()
        #expect(try read(store, tree, 0..<500) == sum(0..<500))
        #expect(try read(store, tree, 501..<6000) == sum(501..<6000))
        #expect(throws: Refused.self) { try read(store, tree, 400..<600) }
        #expect(throws: Refused.self) { try store.snapshot()[tree].reduction() }
        try store.write { try $0.put(key(500), [UInt8(500 % 7)], in: tree) }
        #expect(try read(store, tree, 0..<6000) == sum(0..<6000))
        try store.close()
        #expect(try Store.check(path, options: options([Sum().reduction])).findings.isEmpty)
    }

    @Test func aMissingFunctionKeepsNobodyFromWritingReplayingAndCompacting() throws {
        do {
            let store = try Store.open(path, options: options())
            let tree = try store.tree("tree", reduction: Sum().reduction)
            try fill(store, tree, Array(0..<1000).shuffled())
        }
        do {
            let store = try Store.open(path, options: options())
            let tree = try store.tree("tree")
            try fill(store, tree, Array(1000..<1500).shuffled())
            try store.compact()
            try fill(store, tree, Array(1500..<2000))
            #expect(code { _ = try read(store, tree, 0..<2000) } == .missingReduction)
        }
        let store = try Store.open(path, options: options())
        let tree = try store.tree("tree")
        #expect(code { _ = try read(store, tree, 0..<2000) } == .missingReduction)
        let sum = Sum()
        _ = try store.tree("tree", reduction: sum.reduction)
        #expect(try read(store, tree, 3..<1999) == self.sum(3..<1999), "given late, known at once")
        try store.compact()
        sum.rows.store(0, ordering: .relaxed)
        #expect(try read(store, tree, 3..<1999) == self.sum(3..<1999))
        #expect(sum.rows.load(ordering: .relaxed) < 500, "a compaction has written the values")
        try store.close()
        #expect(try Store.check(path, options: options([Sum().reduction])).findings.isEmpty)
    }

    @Test func valuesThatAreTooLongForTheFileAreMadeWhereTheyAreRead() throws {
        let all = Reduction(
            name: "all", reduce: { rows, value in try rows.forEach { key, _ in value.append(key[7]) } },
            combine: { values, value in
                try values.forEach { part in for index in part.indices { value.append(part[index]) } }
            })
        let expected = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        do {
            let store = try Store.open(path, options: options())
            let tree = try store.tree("tree", reduction: all)
            try fill(store, tree, Array(0..<1000).shuffled())
            #expect(try store.snapshot()[tree].reduction() == expected)
        }
        let store = try Store.open(path, options: options([all]))
        let tree = try store.tree("tree")
        #expect(try store.snapshot()[tree].reduction() == expected)
        try store.compact()
        #expect(
            try store.snapshot()[tree].reduction(in: KeyRange(key(10)..<key(900)))
                == Array(expected[10..<900]))
    }

    @Test func readingAgainSeesNoMoreRowsThanTheEndsOfTheRange() throws {
        var options = options()
        options.pendingLimit = 64 << 20
        options.logLimit = 64 << 20
        let store = try Store.open(path, options: options)
        let sum = Sum()
        let tree = try store.tree("tree", reduction: sum.reduction)
        try fill(store, tree, Array(0..<5000).shuffled())
        #expect(try read(store, tree, 10..<4990) == self.sum(10..<4990))
        sum.rows.store(0, ordering: .relaxed)
        #expect(try read(store, tree, 20..<4980) == self.sum(20..<4980))
        #expect(sum.rows.load(ordering: .relaxed) < 400, "nodes in memory keep what was read")
    }

    @Test func aTransactionReadsItsOwnChanges() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("tree", reduction: Sum().reduction)
        try fill(store, tree, Array(0..<1000))
        try store.write { transaction in
            var expected = sum(0..<1000)
            for number in stride(from: 0, to: 1000, by: 100) {
                #expect(try transaction[tree].reduction().flatMap { Key($0).number } == expected)
                expected = expected - UInt64(number % 7) + 100
                try transaction.put(key(number), [100], in: tree)
            }
            #expect(try transaction[tree].reduction().flatMap { Key($0).number } == expected)
        }
    }

    @Test func leavesOfATreeWithAReductionArePacked() throws {
        func size(_ reduction: Reduction?) throws -> UInt64 {
            let path = directory.file(reduction == nil ? "plain" : "reduced")
            let store = try Store.open(path, options: options())
            let tree = try store.tree("tree", reduction: reduction)
            try fill(store, tree, Array(0..<20_000))
            return try store.inspect().liveBytes
        }
        #expect(try size(Sum().reduction) < size(nil) / 10 * 11)
    }

    @Test(arguments: [1, 3, 50, 333, 5000])
    func groupsAreThoseOfTheirKeys(width: Int) throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("tree", reduction: Sum().reduction)
        try fill(store, tree, Array(0..<2000).shuffled())
        let view = try store.snapshot()[tree]
        var groups: [(Int, UInt64)] = []
        try view.forEachGroup(in: KeyRange(key(10)..<key(1990))) { first in
            key((Int(first.number ?? 0) / width + 1) * width)
        } _: { first, value in
            groups.append((Int(first.number ?? 0), Key(value).number ?? 0))
            return true
        }
        var expected: [(Int, UInt64)] = []
        var start = 10
        while start < 1990 {
            let end = min((start / width + 1) * width, 1990)
            expected.append((start, sum(start..<end)))
            start = end
        }
        #expect(groups.map(\.0) == expected.map(\.0))
        #expect(groups.map(\.1) == expected.map(\.1))
    }

    @Test func ofGroupsOfSeveralLeavesOnlyLeavesAtTheirEndsAreReduced() throws {
        let sum = Sum()
        let store = try Store.open(path, options: options())
        let tree = try store.tree("tree", reduction: sum.reduction)
        try fill(store, tree, Array(0..<2000))
        let view = try store.snapshot()[tree]
        sum.rows.store(0, ordering: .relaxed)
        var groups: [UInt64] = []
        try view.forEachGroup { first in
            key((Int(first.number ?? 0) / 500 + 1) * 500)
        } _: { _, value in
            groups.append(Key(value).number ?? 0)
            return true
        }
        #expect(groups == (0..<4).map { self.sum($0 * 500..<($0 + 1) * 500) })
        // A leaf of 1,024 bytes has less than a hundred entries; each of five bounds is in one.
        #expect(sum.rows.load(ordering: .relaxed) < 500)
    }

    @Test func aGroupThatEndsBeforeItBeginsIsRefused() throws {
        let store = try Store.open(path, options: options())
        let tree = try store.tree("tree", reduction: Sum().reduction)
        try fill(store, tree, Array(0..<100))
        let view = try store.snapshot()[tree]
        #expect(
            code { try view.forEachGroup(endingBefore: { $0 }) { _, _ in true } } == .limitExceeded)
    }
}

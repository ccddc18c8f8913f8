import RoostBytes
import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// What the cache keeps of leaves that it has no room for.
@Suite struct LeafFilterTests {
    private var generator = SplitMix64(seed: 7)

    private mutating func randomKey(_ prefix: String, _ lengths: ClosedRange<Int>) -> [UInt8] {
        let length = Int.random(in: lengths, using: &generator)
        return Array(prefix.utf8) + (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// The filter of a leaf with `keys`, which are sorted.
    private func withFilter(_ keys: [[UInt8]], _ body: (LeafFilter) -> Void) throws {
        let builder = LeafBuilder()
        for key in keys { key.withView { builder.add(key: $0, .inline(.empty)) } }
        let (bytes, _) = builder.build(0..<keys.count)
        let page = try #require(PageView(bytes))
        var memory = [UInt8](repeating: 0xff, count: LeafFilter.length(for: page))
        unsafe memory.withUnsafeMutableBytes { unsafe LeafFilter.fill($0, with: page) }
        memory.withView { body(LeafFilter($0)) }
    }

    @Test(arguments: ["", "p", "prefix of all keys"])
    mutating func noKeyOfTheLeafIsDeniedAndFewOthersAreNot(prefix: String) throws {
        for lengths in [0...3, 0...12, 4...4, 8...40] {
            var known = Set<[UInt8]>()
            for _ in 0..<200 { known.insert(randomKey(prefix, lengths)) }
            var others: [[UInt8]] = []
            for _ in 0..<2000 {
                let key = randomKey(prefix, lengths)
                if !known.contains(key) { others.append(key) }
            }
            try withFilter(known.sorted { $0.lexicographicallyPrecedes($1) }) { filter in
                #expect(filter.count == known.count)
                for key in known {
                    let isPossible = key.withView { filter.mayContain($0) }
                    #expect(isPossible)
                }
                let mistakes = others.count { key in key.withView { filter.mayContain($0) } }
                #expect(mistakes < others.count / 25)
            }
        }
    }

    @Test func aKeyWithAnotherStartIsDenied() throws {
        try withFilter([Array("same-1".utf8), Array("same-2".utf8)]) { filter in
            for text in ["", "s", "same", "other-1"] {
                let isPossible = Array(text.utf8).withView { filter.mayContain($0) }
                #expect(!isPossible)
            }
        }
    }

    /// What is known of a leaf goes on being known of the leaf with changes beside it.
    @Test mutating func keysThatAreAddedToAFilterAreNotDenied() throws {
        let cache = NodeCache(limit: 1 << 20)
        var known = Set<[UInt8]>()
        for _ in 0..<100 { known.insert(randomKey("p", 8...8)) }
        let added = (0..<20).map { _ in randomKey("p", 8...8) }.sorted { $0.lexicographicallyPrecedes($1) }
        try withFilter(known.sorted { $0.lexicographicallyPrecedes($1) }) { filter in
            var changes = DeltaPage()
            for (index, key) in added.enumerated() {
                key.withView { changes.put($0, .inline(.empty), tag: 0, at: index, found: false) }
            }
            let pin = cache.reclaimer.readers.pin()
            cache.insertFilter(filter, adding: changes.view, at: 5)
            let larger = cache.filter(5, pin)
            for key in Array(known) + added {
                let isPossible = key.withView { larger?.mayContain($0) }
                #expect(isPossible == true)
            }
            #expect(larger?.count == 120)
            #expect(larger?.pageLength == filter.pageLength + changes.used - PageView.headerLength)
            let others = (0..<2000).map { _ in randomKey("p", 8...8) }.filter { !known.contains($0) }
            let mistakes = others.count { key in key.withView { larger?.mayContain($0) == true } }
            #expect(mistakes < others.count / 15)

            var other = DeltaPage()
            Array("other".utf8).withView { other.put($0, .inline(.empty), tag: 0, at: 0, found: false) }
            #expect(filter.canAdd(changes.view) && !filter.canAdd(other.view))
            extendLifetime(pin)
        }
    }

    @Test func anEmptyLeafDeniesAll() throws {
        try withFilter([]) { filter in
            let isPossible = [UInt8](repeating: 1, count: 4).withView { filter.mayContain($0) }
            #expect(!isPossible)
        }
    }

    // MARK: In a store

    private static let entries = 40_000

    private static func key(_ number: Int) -> Key { Key(UInt64(number) &* 0x9E37_79B9_7F4A_7C15) }

    /// A key that no entry has, in the leaf of the entry before it.
    private static func key(after number: Int, _ last: UInt8) -> Key { Key(key(number).bytes + [last]) }

    /// A store with some two megabytes of leaves and a quarter of that in memory.
    private func store(_ disk: SimulatedMedium) throws -> (Store, Tree) {
        var options = StoreOptions()
        options.cacheSize = 1 << 19
        options.valueAccess = .calls
        options.compactsAutomatically = false
        options.nodeSize = 2048
        let store = try Store.open("store", options: options, environment: Simulation.environment(of: disk))
        let tree = try store.tree("tree")
        try store.write { transaction in
            for number in 0..<Self.entries {
                try transaction.put(Self.key(number), [UInt8](repeating: 1, count: 30), in: tree)
            }
        }
        let transaction = try store.beginWriting()
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        return (store, tree)
    }

    private let asked = stride(from: 3, to: LeafFilterTests.entries, by: LeafFilterTests.entries / 50)

    /// How often the file is read while new keys go to fifty leaves.
    private func reads(_ disk: SimulatedMedium, _ body: () throws -> Void) rethrows -> Int {
        let before = disk.counts
        try body()
        return (disk.counts - before)[.read]
    }

    private func readsOfPresentKeys(_ view: TreeView, _ disk: SimulatedMedium) throws -> Int {
        try reads(disk) {
            for number in asked {
                let value = try view.value(Self.key(number))
                #expect(value != nil)
            }
        }
    }

    @Test func newKeysNeedTheirLeafOnlyOnce() throws {
        let disk = SimulatedMedium()
        let (store, tree) = try store(disk)
        func put(_ last: UInt8) throws {
            try store.write { transaction in
                for number in asked { try transaction.put(Self.key(after: number, last), [last], in: tree) }
            }
        }
        let first = try reads(disk) { try put(0) }
        #expect(first >= 20)
        // A filter errs now and then.
        let second = try reads(disk) { try put(1) }
        #expect(second <= 3)

        let view = try store.snapshot()[tree]
        let absent = try reads(disk) {
            for number in asked {
                let value = try view.value(Self.key(after: number, 2))
                #expect(value == nil)
            }
        }
        #expect(absent <= 3)
        #expect(try readsOfPresentKeys(view, disk) >= 20)
        #expect(view.count == UInt64(Self.entries + 2 * asked.underestimatedCount))
        for number in asked {
            for last in 0...1 as ClosedRange<UInt8> {
                #expect(try view.value(Self.key(after: number, last)) == [last])
            }
        }
        #expect(try store.check().findings.isEmpty)
    }

    /// A transaction that looks up keys before it puts them, as documents are, leaves filters in the cache and not leaves: before its
    /// first change and after it.
    @Test(arguments: [false, true])
    func newKeysThatAreLookedUpLeaveFiltersAlone(afterAChange isChanged: Bool) throws {
        let disk = SimulatedMedium()
        let (store, tree) = try store(disk)
        func lookUp(_ last: UInt8) throws {
            let transaction = try store.beginWriting()
            defer { transaction.rollback() }
            if isChanged { try transaction.put(Self.key(after: 0, 9), [9], in: tree) }
            for number in asked {
                #expect(try transaction[tree, Self.key(after: number, last)] == nil)
            }
        }
        let first = try reads(disk) { try lookUp(0) }
        #expect(first >= 20)
        let second = try reads(disk) { try lookUp(1) }
        #expect(second <= 4)
        let view = try store.snapshot()[tree]
        #expect(try readsOfPresentKeys(view, disk) >= 20)
    }

    /// Leaves that are written while they are not in the cache leave filters there.
    @Test func whatIsWrittenColdIsNotReadForNewKeys() throws {
        let disk = SimulatedMedium()
        let (store, tree) = try store(disk)
        try store.write { transaction in
            for number in asked { try transaction.put(Self.key(after: number, 0), [0], in: tree) }
        }
        let transaction = try store.beginWriting()
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        let second = try reads(disk) {
            try store.write { transaction in
                for number in asked { try transaction.put(Self.key(after: number, 1), [1], in: tree) }
            }
        }
        // Without filters it is more than sixty. A filter errs now and then, and a leaf with changes beside it takes two reads.
        #expect(second <= 30)
        #expect(try store.snapshot()[tree].count == UInt64(Self.entries + 2 * asked.underestimatedCount))
        #expect(try store.check().findings.isEmpty)
    }
}

import RoostCampaign
import RoostStorage
import Testing

/// Long random histories against a sorted dictionary: the same keys, values, order, ranks and reductions, within
/// transactions, in snapshots, after rollback and after reopening.
@Suite struct ModelTests {
    @Test(arguments: 1...24)
    func randomHistoryEqualsModel(seed: Int) throws {
        var run = try RandomHistory(seed: UInt64(seed))
        for _ in 0..<60 { try run.step() }
        try run.finish()
    }

    @Test(arguments: 1...16)
    func randomHistoryOfGroupedKeysEqualsModel(seed: Int) throws {
        var run = try RandomHistory(seed: UInt64(seed), hasGroupedKeys: true)
        for _ in 0..<40 { try run.step() }
        try run.finish()
    }
}

/// A store beside its model.
struct RandomHistory {
    private let directory = try! TemporaryDirectory()
    private let options: StoreOptions
    private var store: Store
    private var models: [String: Model] = [:]
    private var generator: SplitMix64
    private var snapshots: [(Snapshot, [String: Model])] = []
    private let style: Int
    private let groups: GroupedKeys

    /// - Parameter hasGroupedKeys: draws keys with long beginnings in common, and any sizes of nodes and entries.
    init(seed: UInt64, hasGroupedKeys: Bool = false) throws {
        generator = SplitMix64(seed: seed)
        var options = StoreOptions()
        options.nodeSize = 1024
        options.pendingLimit = seed % 3 == 0 ? 0 : 1 << 20
        options.logLimit = seed % 4 == 0 ? 0 : 1 << 22
        options.cacheSize = seed % 5 == 0 ? 1 << 14 : 1 << 20
        options.compression = seed % 6 == 0 ? 1 : 0
        options.inlineLimit = [0, 16, 128][Int(seed % 3)]
        options.valueAccess = seed % 2 == 0 ? .mapping : .calls
        options.reductions = [.sum]
        options.durability = seed % 2 == 0 ? .relaxed(interval: 60) : .full
        var drawing = generator
        groups = GroupedKeys(&drawing)
        style = hasGroupedKeys ? 4 : Int(seed % 4)
        if hasGroupedKeys {
            options.nodeSize = Int.random(in: 1024...32_768, using: &generator)
            options.inlineLimit = Int.random(in: 0...2048, using: &generator)
        }
        self.options = options
        store = try Store.open(directory.file("store"), options: options)
    }

    private mutating func key() -> Key {
        switch style {
        case 0: Key(UInt64.random(in: 0..<5_000, using: &generator))
        case 1: Key("doc-\(Int.random(in: 0..<20_000, using: &generator))")
        case 2:
            Key(
                (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    UInt8.random(in: 0...3, using: &generator)
                })
        case 4: groups.next(&generator)
        default:
            Key(
                (0..<Int.random(in: 1...300, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                })
        }
    }

    private mutating func value() -> [UInt8] {
        let longest = style == 4 ? 2_500 : 600
        let length =
            Bool.random(using: &generator)
            ? Int.random(in: 0...20, using: &generator)
            : Int.random(in: 0...longest, using: &generator)
        let byte = UInt8.random(in: 0...255, using: &generator)
        return (0..<length).map { $0 % 7 == 0 ? byte : UInt8(truncatingIfNeeded: $0) }
    }

    private mutating func range() -> KeyRange {
        let (a, b) = (key(), key())
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return KeyRange(lower: a)
        case 1: return KeyRange(upper: b)
        case 2: return KeyRange(lower: max(a, b), upper: min(a, b))
        default: return KeyRange(lower: min(a, b), upper: max(a, b))
        }
    }

    mutating func step() throws {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: try reopen()
        case 1: snapshots.append((store.snapshot(), models))
        case 2 where !snapshots.isEmpty:
            let (snapshot, models) = snapshots.removeFirst()
            try check(snapshot, models)
        case 3: try transaction(commits: false)
        case 4: try check(store.snapshot(), models)
        default: try transaction(commits: true)
        }
    }

    mutating func finish() throws {
        try check(store.snapshot(), models)
        for (snapshot, models) in snapshots { try check(snapshot, models) }
        try reopen()
        try check(store.snapshot(), models)
    }

    private mutating func reopen() throws {
        snapshots.removeAll()
        try store.close()
        store = try Store.open(directory.file("store"), options: options)
    }

    private mutating func transaction(commits: Bool) throws {
        let transaction = try store.beginWriting()
        var next = models
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let name = ["alpha", "beta"].randomElement(using: &generator)!
            let tree = try transaction.tree(name, reduction: name == "beta" ? .sum : nil)
            try change(transaction, tree, &next[name, default: Model()])
        }
        if commits {
            try transaction.commit()
            models = next
        } else {
            transaction.rollback()
        }
    }

    private mutating func change(_ transaction: StoreTransaction, _ tree: Tree, _ model: inout Model) throws {
        let count = [1, 10, 300].randomElement(using: &generator)!
        let looksUp = Bool.random(using: &generator)
        var looked: [Key] = []
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
            let range = range()
            try transaction.delete(range, in: tree)
            model.delete(range)
        case 1, 2:
            let existing = model.sorted.map(\.key)
            for _ in 0..<count {
                let key = existing.randomElement(using: &generator) ?? key()
                try transaction.delete(key, in: tree)
                model.delete(key)
            }
        case 3:
            var number = UInt64.random(in: 0..<100_000, using: &generator)
            for _ in 0..<count {
                number += UInt64.random(in: 1...3, using: &generator)
                let value = value()
                try transaction.put(Key(number), value, in: tree)
                model.put(Key(number), value)
            }
        default:
            for _ in 0..<count {
                let (key, value) = (key(), value())
                if looksUp {
                    let known = looked.randomElement(using: &generator) ?? key
                    #expect(try transaction[tree, known] == model.entries[known])
                    looked.append(key)
                }
                try transaction.put(key, value, in: tree)
                model.put(key, value)
            }
        }
        if Bool.random(using: &generator) { try check(try transaction[tree], model) }
    }

    private mutating func check(_ snapshot: Snapshot, _ models: [String: Model]) throws {
        for (name, model) in models {
            let tree = try #require(snapshot.tree(name))
            try check(try snapshot[tree], model)
            if name == "beta" {
                let range = range()
                let expected = model.sorted.filter { range.contains($0.key) }.reduce(0) {
                    $0 + $1.key.bytes.count
                }
                #expect(Reduction.sumValue(try snapshot[tree].reduction(in: range) ?? []) == expected)
            }
        }
    }

    private mutating func check(_ view: TreeView, _ model: Model) throws {
        let sorted = model.sorted
        #expect(view.count == UInt64(sorted.count))
        var forwards: [(Key, [UInt8])] = []
        try view.forEach {
            forwards.append(($0, $1)); return true
        }
        #expect(forwards.map(\.0) == sorted.map(\.key))
        #expect(forwards.map(\.1) == sorted.map(\.value))
        let range = range()
        let expected = sorted.filter { range.contains($0.key) }
        var backwards: [Key] = []
        try view.forEach(in: range, reversed: true) { key, _ in
            backwards.append(key); return true
        }
        #expect(backwards == expected.reversed().map(\.key))
        #expect(try view.count(in: range) == UInt64(expected.count))
        for _ in 0..<5 {
            let key = key()
            #expect(try view.value(key) == model.entries[key])
            #expect(try view.contains(key) == (model.entries[key] != nil))
            #expect(try view.rank(key) == UInt64(sorted.count { $0.key < key }))
        }
        if !sorted.isEmpty {
            let offset = Int.random(in: 0..<sorted.count, using: &generator)
            let cursor = view.cursor()
            #expect(try cursor.seek(offset: UInt64(offset)))
            #expect(cursor.key == sorted[offset].key)
        }
    }
}

extension Reduction {
    /// The sum of the lengths of all keys.
    static let sum = Reduction(
        name: "sum",
        reduce: { rows, value in
            var sum = 0
            try rows.forEach { key, _ in sum += key.count }
            value += encode(sum)
        },
        combine: { values, value in
            var sum = 0 as UInt64
            try values.forEach { sum &+= $0.number }
            value += encode(Int(truncatingIfNeeded: sum))
        })

    private static func encode(_ number: Int) -> [UInt8] { Key(UInt64(number)).bytes }
    static func sumValue(_ bytes: [UInt8]) -> Int { Int(Key(bytes).number ?? 0) }
}

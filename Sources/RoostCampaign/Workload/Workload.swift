import RoostBytes
import RoostSimulation
import RoostStorage

/// Draws keys, values and whole transactions, and makes the same changes to a store and to a model.
struct Workload {
    var generator: SeededGenerator
    let settings: CampaignSettings
    /// The next number in the tree of documents by sequence.
    var sequence: UInt64 = 0
    private let groups: GroupedKeys

    /// - Parameter groups: draws what groups of keys have in common.
    init(_ settings: CampaignSettings, _ generator: SeededGenerator, groups: SeededGenerator) {
        self.settings = settings
        self.generator = generator
        var groups = groups
        self.groups = GroupedKeys(&groups)
    }

    // MARK: Drawing

    mutating func key() -> Key {
        switch settings.keyStyle {
        case .sequence: return Key(UInt64(generator.next(below: settings.population)))
        case .text: return Key("document-\(generator.next(below: settings.population))")
        case .dense: return Key((0..<generator.next(below: 7)).map { _ in UInt8(generator.next(below: 4)) })
        case .long: return Key(bytes(1 + generator.next(below: 300)))
        case .grouped: return groups.next(&generator)
        }
    }

    mutating func value() -> [UInt8] {
        let largest =
            switch generator.next(below: 20) {
            case 0: settings.largestValue
            case 1...4: min(settings.largestValue, 5_000)
            case 5...10: min(settings.largestValue, 600)
            default: 20
            }
        let length = generator.next(below: largest + 1)
        return generator.chance(0.5) ? bytes(length) : compressibleBytes(length)
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe bytes.withUnsafeMutableBytes { unsafe generator.fill($0) }
        return bytes
    }

    private mutating func compressibleBytes(_ count: Int) -> [UInt8] {
        let pattern = bytes(5)
        return (0..<count).map { pattern[$0 % 5] }
    }

    mutating func range() -> KeyRange {
        let (a, b) = (key(), key())
        switch generator.next(below: 8) {
        case 0: return KeyRange(lower: a)
        case 1: return KeyRange(upper: b)
        case 2: return KeyRange(lower: max(a, b), upper: min(a, b))
        case 3: return .all
        default: return KeyRange(lower: min(a, b), upper: max(a, b))
        }
    }

    // MARK: Changing

    /// Makes one to four kinds of changes in `transaction`, and the same ones in `model`.
    mutating func change(_ transaction: StoreTransaction, _ model: inout StoreModel) throws(StoreError) {
        for _ in 0...generator.next(below: 4) {
            switch generator.next(below: 12) {
            case 0...2: try changeDocuments(transaction, &model)
            case 3 where generator.chance(0.3): try drop(transaction, &model)
            case 4...7: try changeTree("plain", transaction, &model)
            default: try changeTree("reduced", transaction, &model)
            }
        }
        if settings.allowsHugeTransactions, generator.chance(0.03) { try fillUp(transaction, &model) }
    }

    private mutating func drop(_ transaction: StoreTransaction, _ model: inout StoreModel) throws(StoreError)
    {
        guard model.trees["plain"] != nil else { return }
        try transaction.drop(try transaction.tree("plain"))
        model.trees["plain"] = nil
    }

    private mutating func changeTree(
        _ name: String, _ transaction: StoreTransaction, _ model: inout StoreModel
    ) throws(StoreError) {
        let tree = try transaction.tree(name, reduction: name == "reduced" ? .keyBytes : nil)
        let count = [1, 1, settings.mostEntries / 4, settings.mostEntries][generator.next(below: 4)]
        var entries = model[name]
        model[name] = TreeModel()  // so that the copy below is not shared, and changed in place
        defer { model[name] = entries }
        switch generator.next(below: 8) {
        case 0:
            let range = range()
            try transaction.delete(range, in: tree)
            entries.delete(range)
        case 1, 2:
            for _ in 0..<count {
                let key = entries.keys.isEmpty ? key() : entries.keys[generator.next(below: entries.count)]
                try transaction.delete(key, in: tree)
                _ = entries.delete(key)
            }
        case 3:
            var number = UInt64(generator.next(below: 2 * settings.population))
            for _ in 0..<count * 2 {
                number += 1 + UInt64(generator.next(below: 3))
                try put(Key(number), tree, transaction, &entries)
            }
        default:
            for _ in 0..<count { try put(key(), tree, transaction, &entries) }
        }
    }

    private mutating func put(
        _ key: Key, _ tree: Tree, _ transaction: StoreTransaction, _ entries: inout TreeModel
    ) throws(StoreError) {
        let value = value()
        try transaction.put(key, value, in: tree)
        entries.put(key, TreeModel.Value(bytes: value))
    }

    /// More than the engine gathers in memory before it writes parts of a transaction ahead.
    private mutating func fillUp(
        _ transaction: StoreTransaction, _ model: inout StoreModel
    ) throws(StoreError) {
        let tree = try transaction.tree("plain")
        for index in 0..<10 {
            let value = [UInt8](repeating: UInt8(generator.next(below: 256)), count: 1 << 20)
            // The same few keys each time: what they replace is dead, and the model stays small.
            try transaction.put(Key("huge-\(index % 3)"), value, in: tree)
            model["plain"].put(Key("huge-\(index % 3)"), TreeModel.Value(bytes: value))
        }
    }
}

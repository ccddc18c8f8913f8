import RoostBytes
import RoostStorage

/// Stores that together use every construct of the file format.
enum FormatSample: CaseIterable {
    case empty, logOnly, checkpoints, compressed, spreadOutCheckpoint, deletions, rangeDeletions,
        appendedLeaves
    case largeValues, droppedTrees, sharedValues, reductions, longKeys, compacted, changedLeaves

    /// What a reader meets in the sample, so that the samples stay what their names say.
    var constructs: [String] {
        switch self {
        case .empty: []
        case .logOnly, .droppedTrees, .sharedValues: ["put", "commit to replay"]
        case .compacted: ["leaf", "branch node", "commit to replay"]
        case .checkpoints, .reductions, .longKeys: ["packed leaf", "leaf", "branch node"]
        case .compressed: ["packed leaf", "compressed node", "compressed value"]
        case .spreadOutCheckpoint: ["checkpoint of several commits", "commit to replay"]
        case .deletions: ["leaf", "delete"]
        case .rangeDeletions: ["delete a range"]
        case .appendedLeaves: ["append a leaf"]
        case .largeValues: ["put"]
        case .changedLeaves: ["changes of a leaf", "deletion from a leaf"]
        }
    }

    var options: StoreOptions {
        var options = StoreOptions()
        options.durability = .relaxed(interval: 60)
        options.nodeSize = 1024
        options.compactsAutomatically = false
        options.reductions = [.sum]
        switch self {
        case .checkpoints, .rangeDeletions, .reductions, .longKeys, .changedLeaves:
            options.logLimit = 0
            options.pendingLimit = 0
        case .deletions:
            options.logLimit = 32 << 10
        case .spreadOutCheckpoint:
            options.logLimit = 512 << 10
            options.inlineLimit = 2048
        case .compressed:
            options.compression = 6
            options.logLimit = 0
        default: break
        }
        return options
    }

    var readingOptions: StoreOptions {
        var options = options
        options.isReadOnly = true
        return options
    }

    func fill(_ store: Store) throws {
        var random = SplitMix64(seed: 7)
        switch self {
        case .empty: break
        case .logOnly: try putAtRandom(store, commits: 5, each: 40, &random)
        case .checkpoints, .compressed, .longKeys: try putAtRandom(store, commits: 30, each: 60, &random)
        case .spreadOutCheckpoint: try putAtRandom(store, commits: 16, each: 300, &random)
        case .reductions: try putAtRandom(store, commits: 20, each: 60, reduction: .sum, &random)
        case .deletions: try delete(store, &random)
        case .rangeDeletions: try deleteRanges(store, &random)
        case .appendedLeaves: try append(store)
        case .largeValues: try putLargeValues(store)
        case .droppedTrees: try dropTrees(store, &random)
        case .sharedValues: try shareValues(store)
        case .changedLeaves: try changeAFew(store, &random)
        case .compacted:
            try shareValues(store)
            try delete(store, &random)
            try store.compact()
            try putAtRandom(store, commits: 3, each: 20, &random)
        }
    }

    private func key(_ random: inout SplitMix64) -> Key {
        guard self == .longKeys else { return Key("document-\(Int.random(in: 0..<4000, using: &random))") }
        return Key(
            (0..<Int.random(in: 0...700, using: &random)).map { UInt8($0 % 250) }
                + [UInt8.random(in: 0...255, using: &random)])
    }

    private func value(_ random: inout SplitMix64) -> [UInt8] {
        let length = Int.random(in: 0...400, using: &random)
        let byte = UInt8.random(in: 0...255, using: &random)
        return (0..<length).map { UInt8(truncatingIfNeeded: $0 / 9) ^ byte }
    }

    private func putAtRandom(
        _ store: Store, commits: Int, each: Int, reduction: Reduction? = nil, _ random: inout SplitMix64
    ) throws {
        let trees = [try store.tree("first", reduction: reduction), try store.tree("second")]
        for _ in 0..<commits {
            try store.write { transaction in
                for _ in 0..<each {
                    try transaction.put(
                        key(&random), value(&random), in: trees[Int.random(in: 0...1, using: &random)])
                }
            }
        }
    }

    private func changeAFew(_ store: Store, _ random: inout SplitMix64) throws {
        try append(store)
        let tree = try store.tree("sequence")
        for _ in 0..<6 {
            try store.write { transaction in
                for _ in 0..<4 {
                    try transaction.put(Key(UInt64.random(in: 0..<3000, using: &random)), [7], in: tree)
                    try transaction.delete(Key(UInt64.random(in: 0..<3000, using: &random)), in: tree)
                }
            }
        }
    }

    private func delete(_ store: Store, _ random: inout SplitMix64) throws {
        try putAtRandom(store, commits: 20, each: 100, &random)
        let tree = try store.tree("first")
        for _ in 0..<20 {
            try store.write { for _ in 0..<60 { try $0.delete(key(&random), in: tree) } }
        }
    }

    private func deleteRanges(_ store: Store, _ random: inout SplitMix64) throws {
        try putAtRandom(store, commits: 20, each: 100, &random)
        for name in ["first", "second"] {
            let tree = try store.tree(name)
            try store.write { transaction in
                let (a, b) = (key(&random), key(&random))
                try transaction.delete(KeyRange(lower: min(a, b), upper: max(a, b)), in: tree)
                try transaction.put(a, [1], in: tree)
                try transaction.delete(KeyRange(upper: "document-11"), in: tree)
                try transaction.delete(KeyRange(lower: "document-98"), in: tree)
            }
        }
        let emptied = try store.tree("emptied")
        try store.write { for number in 0..<500 { try $0.put(Key(UInt64(number)), [2], in: emptied) } }
        try store.write { try $0.delete(.all, in: emptied) }
    }

    private func append(_ store: Store) throws {
        let tree = try store.tree("sequence")
        for start in stride(from: 0, to: 3000, by: 500) {
            try store.write { transaction in
                for number in start..<start + 500 {
                    try transaction.put(Key(UInt64(number)), Array("entry \(number)".utf8), in: tree)
                }
            }
        }
    }

    private func putLargeValues(_ store: Store) throws {
        let tree = try store.tree("blobs")
        for length in [0, 1, 127, 128, 129, 4096, 70_000, 300_000] {
            try store.write { transaction in
                try transaction.put(
                    Key("blob-\(length)"), (0..<length).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) },
                    in: tree)
            }
        }
    }

    private func dropTrees(_ store: Store, _ random: inout SplitMix64) throws {
        try putAtRandom(store, commits: 5, each: 40, &random)
        let dropped = try store.tree("first")
        try store.write { try $0.drop(dropped) }
        try store.write { transaction in
            let again = try transaction.tree("first")
            try transaction.put("only", [1, 2, 3], in: again)
            try transaction.drop(try transaction.tree("short-lived"))
            _ = try transaction.tree("never filled")
        }
    }

    private func shareValues(_ store: Store) throws {
        let (byKey, byNumber) = (try store.tree("by key"), try store.tree("by number"))
        for number in 0..<200 {
            try store.write { transaction in
                let body = [UInt8](repeating: UInt8(number), count: 200)
                let value = try body.withView { try transaction.append(value: $0) }
                let key = Key("document \(number)")
                try key.bytes.withView { key in
                    try transaction.put(key, inline: key, value: value, owns: true, in: byKey)
                    try Key(UInt64(number)).bytes.withView {
                        try transaction.put($0, inline: key, value: value, owns: false, in: byNumber)
                    }
                }
            }
        }
    }
}

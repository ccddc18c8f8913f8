import RoostBytes

@testable import RoostStorage

/// A small store with trees of every form, and what must be in it.
struct ExampleStore {
    let directory: TemporaryDirectory
    let path: String
    var options: StoreOptions
    var models: [String: Model] = [:]

    /// - Parameters:
    ///   - commits: how many commits are made; the last few stay in the log when `checkpoints` is false.
    ///   - checkpoints: whether the store is closed with a checkpoint.
    ///   - transform: what stands for encryption.
    init(
        commits: Int = 12, perCommit: Int = 60, checkpoints: Bool = true, compression: Int32 = 0,
        transform: (any ChunkTransformFactory)? = nil
    ) throws {
        directory = try TemporaryDirectory()
        path = directory.file("store")
        options = StoreOptions()
        options.nodeSize = 1024
        options.inlineLimit = 16
        options.logLimit = 1 << 13
        options.compression = compression
        options.transform = transform
        options.compactsAutomatically = false
        options.reductions = [.sum]
        let store = try Store.open(path, options: options)
        var generator = SplitMix64(seed: UInt64(commits * 1000 + perCommit))
        for number in 0..<commits { try commit(store, number, perCommit, &generator) }
        if checkpoints {
            let transaction = try store.beginWriting()
            if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        }
        try store.close()
    }

    private mutating func commit(
        _ store: Store, _ number: Int, _ count: Int, _ generator: inout SplitMix64
    ) throws {
        let transaction = try store.beginWriting()
        let (plain, summed) = (
            try transaction.tree("plain"), try transaction.tree("summed", reduction: .sum)
        )
        for _ in 0..<count {
            let key = Key("document-\(Int.random(in: 0..<500, using: &generator))")
            let length = Int.random(in: 0..<60, using: &generator)
            let value = [UInt8](repeating: UInt8(number + 1), count: length)
            try transaction.put(key, value, in: plain)
            models["plain", default: Model()].put(key, value)
            let place = Key(UInt64.random(in: 0..<120, using: &generator))
            try transaction.put(place, Array(value.prefix(3)), in: summed)
            models["summed", default: Model()].put(place, Array(value.prefix(3)))
        }
        let gone = Key("document-\(Int.random(in: 0..<500, using: &generator))")
        try transaction.delete(gone, in: plain)
        models["plain"]?.delete(gone)
        try transaction.commit()
    }

    var file: FileBytes { FileBytes(path: path) }
}

extension Snapshot {
    /// Everything that the trees hold.
    func contents() throws -> [String: Model] {
        var models: [String: Model] = [:]
        for name in treeNames {
            guard let tree = tree(name) else { continue }
            var model = Model()
            try self[tree].forEach { key, value in
                model.put(key, value)
                return true
            }
            models[name] = model
        }
        return models
    }
}

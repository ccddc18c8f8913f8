import RoostBytes
import RoostCampaign
import RoostFile
import RoostSimulation

@testable import RoostStorage

/// Small data files with everything in them that a file can have.
enum StoreSeeds {
    /// The path of the file on a simulated disk.
    static let path = "store"

    static var options: StoreOptions {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.inlineLimit = 8
        options.cacheSize = 1 << 14
        options.compactsAutomatically = false
        options.reductions = [.keyBytes]
        return options
    }

    static func environment(_ disk: SimulatedMedium) -> Environment {
        Environment(medium: disk, clock: SimulatedClock(), randomness: SeededRandomness(seed: 1))
    }

    static func files() throws -> [[UInt8]] {
        [
            try file { _ in },
            try file { try fill($0, commits: 2, keys: 8) },
            try file { try fill($0, commits: 3, keys: 60, checkpointAt: 1) },
            try file {
                try fill($0, commits: 2, keys: 60)
                try $0.compact()
                try fill($0, commits: 1, keys: 3)
            },
            try file(compression: 6) { try fill($0, commits: 2, keys: 40, checkpointAt: 1) },
            try file { try share($0) },
            try file { try changeAFew($0) },
        ]
    }

    /// The payloads of one kind of chunk in all files, without those that are stored in another form.
    static func payloads(of kind: ChunkKind) throws -> [[UInt8]] {
        try payloads(withByte: kind.rawValue)
    }

    static func packedLeaves() throws -> [[UInt8]] { try payloads(withByte: ChunkKind.node.rawValue | 0x40) }

    static func leafChanges() throws -> [[UInt8]] { try payloads(withByte: ChunkKind.node.rawValue | 0x80) }

    /// Nodes as pages.
    static func pages() throws -> [[UInt8]] {
        try payloads(of: .node)
            + packedLeaves().map { packed in
                let page = ByteBuffer()
                try packed.withView { try PackedLeaf.unpack($0, into: page) }
                return page.view.array
            }
    }

    private static func payloads(withByte kindAndFlags: UInt8) throws -> [[UInt8]] {
        try files().flatMap { bytes in
            let layout = StoreLayout(bytes)
            return layout.chunks.filter { layout.bytes[$0.range.lowerBound + 4] == kindAndFlags }
                .prefix(6).map { Array(layout.bytes[$0.payload]) }
        }
    }

    private static func file(compression: Int32 = 0, _ body: (Store) throws -> Void) throws -> [UInt8] {
        let disk = SimulatedMedium()
        var options = options
        options.compression = compression
        let store = try Store.open(path, options: options, environment: environment(disk))
        try body(store)
        let end = Int(store.state.record.end)
        return Array((disk.contents(of: path) ?? []).prefix(end))
    }

    private static func fill(_ store: Store, commits: Int, keys: Int, checkpointAt: Int = -1) throws {
        for number in 0..<commits {
            let transaction = try store.beginWriting()
            let plain = try transaction.tree("plain")
            let reduced = try transaction.tree("reduced", reduction: .keyBytes)
            for key in 0..<keys {
                let value = [UInt8](repeating: UInt8(number + key), count: key % 5 * 5)
                try transaction.put(Key("document-\(key * (number + 1) % 97)"), value, in: plain)
                try transaction.put(Key(UInt64(key * 3)), value, in: reduced)
            }
            try transaction.delete(Key("document-1"), in: plain)
            try transaction.delete(KeyRange(lower: "document-3", upper: "document-4"), in: plain)
            if number > 0 { try transaction.drop(try transaction.tree("short")) }
            _ = try transaction.tree("short")
            let policy: StoreTransaction.CheckpointPolicy = number == checkpointAt ? .always : .ifNeeded
            if let ticket = try transaction.stage(policy) { try transaction.queue.makeDurable(ticket) }
        }
    }

    /// Leaves with changes beside them.
    private static func changeAFew(_ store: Store) throws {
        let tree = try store.tree("entries")
        for change in 0..<3 as Range<UInt64> {
            let transaction = try store.beginWriting()
            if change == 0 {
                for key in 0..<300 as Range<UInt64> { try transaction.put(Key(key), [1], in: tree) }
            } else {
                for key in [7, 40, 100, 1000 * change] as [UInt64] {
                    try transaction.put(Key(key * change), [2, 3], in: tree)
                    try transaction.delete(Key(key + change), in: tree)
                }
            }
            if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        }
    }

    /// Two trees that lead to the same values.
    private static func share(_ store: Store) throws {
        let (names, numbers) = (try store.tree("names"), try store.tree("numbers"))
        let transaction = try store.beginWriting()
        for number in 0..<30 {
            let value = try [UInt8](repeating: 1, count: 30 + number).withView {
                try transaction.append(value: $0)
            }
            try Key("n\(number)").bytes.withView {
                try transaction.put($0, inline: $0, value: value, owns: true, in: names)
            }
            try Key(UInt64(number)).bytes.withView {
                try transaction.put($0, inline: $0, value: value, owns: false, in: numbers)
            }
        }
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
    }
}

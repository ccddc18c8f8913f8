import RoostBytes
import RoostCampaign
import RoostFile
import RoostSimulation

@testable import RoostStorage

/// Whole data files, and all that the engine does with them.
extension FuzzTarget {
    static let wholeStores = [
        store("store-read", read), store("store-check", check), store("store-write", write),
        store("store-compact", compact), store("store-salvage", salvage), database,
    ]

    private static func store(
        _ name: String, _ body: @escaping @Sendable (SimulatedMedium) throws -> Void
    ) -> FuzzTarget {
        FuzzTarget(name, corpus: "store", largestInput: 48 << 10, isStore: true, seeds: StoreSeeds.files) {
            input in
            let disk = SimulatedMedium()
            try disk.install(input, at: StoreSeeds.path)
            do { try body(disk) } catch let error as StoreError { try check(error) }
        }
    }

    /// What a file's bytes alone can cause.
    static func check(_ error: StoreError) throws {
        let codes: Set<StoreError.Code> = [
            .notAStore, .unsupportedFormat, .damaged, .wrongKey, .missingReduction, .limitExceeded, .readOnly,
        ]
        try demand(codes.contains(error.code), "a file's bytes are answered by \(error.code): \(error)")
    }

    private static func open(_ disk: SimulatedMedium, readOnly: Bool = false) throws(StoreError) -> Store {
        var options = StoreSeeds.options
        options.isReadOnly = readOnly
        return try Store.open(StoreSeeds.path, options: options, environment: StoreSeeds.environment(disk))
    }

    private static func isClean(_ disk: SimulatedMedium) -> Bool {
        let report = try? Store.check(
            StoreSeeds.path, options: StoreSeeds.options, environment: StoreSeeds.environment(disk))
        return report?.isClean == true
    }

    // MARK: The targets

    private static func read(_ disk: SimulatedMedium) throws {
        let store = try open(disk, readOnly: true)
        do { _ = try BoundedReader.contents(store.snapshot()) } catch let error as StoreError {
            try check(error)
        }
        _ = try store.refresh()
        for commit in try store.history.commits(limit: 6) {
            _ = try BoundedReader.contents(try store.snapshot(at: commit))
        }
    }

    private static func check(_ disk: SimulatedMedium) throws {
        let environment = StoreSeeds.environment(disk)
        let report = try Store.check(StoreSeeds.path, options: StoreSeeds.options, environment: environment)
        if report.isClean {
            do {
                _ = try BoundedReader.contents(try open(disk, readOnly: true).snapshot())
            } catch let error as StoreError where error.code != .missingReduction {
                throw FuzzFinding("a file that checks clean does not read: \(error)")
            }
        }
        _ = try FileDump.header(of: StoreSeeds.path, environment: environment)
        let dump = try FileDump(StoreSeeds.path, options: StoreSeeds.options, environment: environment)
        for offset in stride(from: Format.firstCommit, to: dump.size, by: 1500) {
            _ = try dump.section(at: offset)
        }
        _ = try Store.inspect(StoreSeeds.path, options: StoreSeeds.options, environment: environment)
    }

    private static func write(_ disk: SimulatedMedium) throws {
        let wasClean = isClean(disk)
        let store = try open(disk)
        let names = store.snapshot().treeNames
        try store.write { transaction in
            for name in names.prefix(3) + ["new"] {
                let tree = try transaction.tree(name)
                for number in 0..<12 {
                    try transaction.put(Key("document-\(number * 7)"), [1, 2, 3, 4, 5, 6, 7, 8, 9], in: tree)
                }
                try transaction.delete(KeyRange(lower: "document-2", upper: "document-4"), in: tree)
                try transaction.delete(Key(UInt64(3)), in: tree)
            }
        }
        if let ticket = try store.beginWriting().stage(.always) {
            try store.commitQueue().makeDurable(ticket)
        }
        try store.close()
        let again = try open(disk)
        let snapshot = again.snapshot()
        for name in names.prefix(3) + ["new"] {
            guard let tree = snapshot.tree(name) else { throw FuzzFinding("a tree is gone") }
            guard wasClean || name == "new" else { continue }
            try demand(try snapshot[tree, "document-7"]?.count == 9, "what was written is not there")
        }
        if wasClean { try demand(isClean(disk), "writing made a clean file unclean") }
    }

    private static func compact(_ disk: SimulatedMedium) throws {
        let wasClean = isClean(disk)
        let store = try open(disk)
        let before = wasClean ? try BoundedReader.contents(store.snapshot()) : nil
        try store.compact()
        guard let before else { return }
        try demand(try BoundedReader.contents(store.snapshot()) == before, "compaction changed the contents")
        try demand(isClean(disk), "compaction made a clean file unclean")
    }

    private static func salvage(_ disk: SimulatedMedium) throws {
        let environment = StoreSeeds.environment(disk)
        let wasClean = isClean(disk)
        _ = try Store.salvage(
            StoreSeeds.path, to: "new", options: StoreSeeds.options, environment: environment)
        let result = try Store.check("new", options: StoreSeeds.options, environment: environment)
        try demand(result.isClean, "what was salvaged is unclean: \(result.findings)")
        let store = try Store.open("new", options: StoreSeeds.options, environment: environment)
        let found = try BoundedReader.contents(store.snapshot())
        // A torn commit at the end is no damage, and salvage takes from it what it can.
        let end = try open(disk, readOnly: true).state.record.end
        guard wasClean, Int(end) == disk.contents(of: StoreSeeds.path)?.count else { return }
        let original = try BoundedReader.contents(try open(disk, readOnly: true).snapshot())
        for (name, items) in original {
            let place = zip(items, found[name] ?? []).enumerated().first { $1.0 != $1.1 }
            try demand(
                found[name] == items,
                "salvaging a clean file changed the tree \(name): \(String(describing: place))")
        }
    }
}

/// Reads what a file holds, which may claim to hold far more than it does, up to a limit.
struct BoundedReader {
    private var entries = 0
    private static let largest = 20_000

    /// Tree names, keys and values as far as they were read.
    static func contents(_ snapshot: Snapshot) throws -> [String: [[UInt8]]] {
        var reader = BoundedReader()
        return try reader.read(snapshot)
    }

    private mutating func read(_ snapshot: Snapshot) throws -> [String: [[UInt8]]] {
        var contents: [String: [[UInt8]]] = [:]
        for name in snapshot.treeNames {
            guard let tree = snapshot.tree(name) else { continue }
            contents[name] = try read(try snapshot[tree])
        }
        return contents
    }

    private mutating func read(_ view: TreeView) throws -> [[UInt8]] {
        var items: [[UInt8]] = []
        let cursor = view.cursor()
        while entries < Self.largest, try cursor.next() {
            items += [cursor.key.bytes, try cursor.value()]
            entries += 1
        }
        _ = try view.last()
        _ = try view.rank("document-5")
        _ = try view.count(in: KeyRange(lower: "a", upper: "n"))
        _ = try view.value("document-7")
        if view.reader.reduction != nil { _ = try view.reduction(in: KeyRange(lower: "\u{0}", upper: "e")) }
        return items
    }
}

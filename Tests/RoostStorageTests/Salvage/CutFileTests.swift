import RoostCampaign
import RoostFile
import RoostSimulation
import Testing

@testable import RoostStorage

/// Files of which a part is missing: what names trees is found all the same, and no loss goes unsaid.
@Suite struct CutFileTests {
    private let simulation = Simulation(seed: 12)

    private func options(_ isEncrypted: Bool) -> StoreOptions {
        var options = StoreOptions()
        options.nodeSize = 1024
        options.inlineLimit = 128
        options.compactsAutomatically = false
        if isEncrypted { options.transform = SimulatedCipher() }
        return options
    }

    /// A compacted store with trees of several sizes, one of which is filled by borrowing.
    private func makeCompacted(_ options: StoreOptions) throws -> (bytes: [UInt8], contents: [String: Model])
    {
        let store = try Store.open("store", options: options, environment: simulation.environment)
        let trees = try ["catalog", "documents", "words", "empty"].map { try store.tree($0) }
        for start in stride(from: 0, to: 6000, by: 500) {
            try store.write { transaction in
                if start == 0 { try transaction.put("name", [1, 2, 3], in: trees[0]) }
                for number in start..<start + 500 {
                    let value = [UInt8](repeating: UInt8(number % 251), count: 40 + number % 50)
                    try transaction.put(Key(UInt64(number * 7919 % 6007)), value, in: trees[1])
                    try transaction.put(Key("word-\(number)"), [UInt8(number % 200)], in: trees[2])
                }
            }
        }
        try store.compact()
        let contents = try store.snapshot().contents()
        try store.close()
        return (try #require(simulation.disk.contents(of: "store")), contents)
    }

    private func salvage(
        _ bytes: [UInt8], _ options: StoreOptions
    ) throws -> (contents: [String: Model], report: SalvageReport) {
        try simulation.disk.install(bytes, at: "damaged")
        defer { for path in ["damaged", "rescued"] { try? simulation.disk.remove(path) } }
        let report = try Store.salvage(
            "damaged", to: "rescued", options: options, environment: simulation.environment)
        let store = try Store.open("rescued", options: options, environment: simulation.environment)
        #expect(try store.check().isClean)
        return (try store.snapshot().contents(), report)
    }

    @Test(arguments: [false, true], [95, 90, 70, 40])
    func ofACompactedFileThatWasCutOffTreesKeepTheirNames(isEncrypted: Bool, percent: Int) throws {
        let options = options(isEncrypted)
        let (bytes, contents) = try makeCompacted(options)
        let (rescued, report) = try salvage(Array(bytes.prefix(bytes.count * percent / 100)), options)
        #expect(!report.isComplete)
        #expect(report.strayTrees.isEmpty)
        #expect(rescued["catalog"] == contents["catalog"])
        var count = 0
        for (name, tree) in rescued {
            for (key, value) in tree.entries { #expect(contents[name]?.entries[key] == value, "\(name)") }
            count += tree.entries.count
        }
        #expect(count > 6000 * (percent - 15) / 100, "\(count)")
    }

    /// A hole anywhere, with all that leads to trees cut off.
    @Test func leavesBehindAHoleBelongToTheRightTree() throws {
        let options = options(false)
        let (bytes, contents) = try makeCompacted(options)
        let end = bytes.count * 9 / 10
        for start in stride(from: 16_384, to: end - 60_000, by: 12_345) {
            var damaged = Array(bytes.prefix(end))
            damaged.replaceSubrange(start..<start + 30_000, with: [UInt8](repeating: 0, count: 30_000))
            let (rescued, report) = try salvage(damaged, options)
            #expect(!report.isComplete)
            var count = 0
            for (name, tree) in rescued where !report.strayTrees.contains(name) {
                for (key, value) in tree.entries {
                    #expect(contents[name]?.entries[key] == value, "\(name), \(start)")
                }
                count += tree.entries.count
            }
            #expect(count > 5000, "\(start)")
        }
    }

    /// Of a commit of one block nothing is left that could be found damaged.
    @Test func aCommitThatWasZeroedIsReported() throws {
        let options = options(false)
        let store = try Store.open("store", options: options, environment: simulation.environment)
        let tree = try store.tree("tree")
        var records: [CommitRecord] = []
        for number in 0..<12 as Range<UInt64> {
            try store.write { try $0.put(Key(number), [UInt8(number)], in: tree) }
            records.append(store.state.record)
        }
        try store.close()
        let bytes = try #require(simulation.disk.contents(of: "store"))
        for (number, record) in records.enumerated() {
            #expect(record.end - record.start == 4096)
            var damaged = bytes
            damaged.replaceSubrange(
                Int(record.start)..<Int(record.end), with: [UInt8](repeating: 0, count: 4096))
            let (rescued, report) = try salvage(damaged, options)
            #expect(!report.isComplete, "\(number)")
            #expect(rescued["tree"]?.entries.count == 11, "\(number)")
        }
    }

    /// Bytes that were inserted or taken out move all records behind them from their places.
    @Test(arguments: [false, true])
    func aClosedFileWithBytesInsertedOrTakenOutDoesNotOpenAsItWasBefore(isEncrypted: Bool) throws {
        let options = options(isEncrypted)
        let store = try Store.open("store", options: options, environment: simulation.environment)
        let tree = try store.tree("tree")
        for number in 0..<8 as Range<UInt64> {
            try store.write { transaction in
                try transaction.put(Key(number), [UInt8](repeating: 1, count: Int(number) * 900), in: tree)
            }
        }
        let contents = try store.snapshot().contents()
        try store.close()
        let bytes = try #require(simulation.disk.contents(of: "store"))
        var refusals = 0
        for place in stride(from: 0, to: bytes.count, by: 517) {
            for length in [1, 300, 4096, -1, -4096] where place - length <= bytes.count {
                var damaged = bytes
                if length > 0 {
                    damaged.insert(contentsOf: [UInt8](repeating: 7, count: length), at: place)
                } else {
                    damaged.removeSubrange(place..<place - length)
                }
                try simulation.disk.install(damaged, at: "damaged")
                do {
                    let found = try Store.open(
                        "damaged", options: options, environment: simulation.environment)
                    #expect(try found.snapshot().contents() == contents, "\(length) at \(place)")
                    try found.close()
                } catch {
                    let code = (error as? StoreError)?.code
                    #expect(
                        [.damaged, .notAStore, .wrongKey].contains(code), "\(length) at \(place): \(error)")
                    refusals += 1
                    let report = try? Store.check(
                        "damaged", options: options, environment: simulation.environment)
                    #expect(report?.isClean != true, "\(length) at \(place)")
                }
                try simulation.disk.remove("damaged")
            }
        }
        #expect(refusals > 50)
    }
}

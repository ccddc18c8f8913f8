import RoostBytes
import Testing

@testable import RoostStorage

/// What the damage did not touch comes into the new store, and the report says what did not.
@Suite struct SalvageTests {
    /// Salvages the example's file and returns the report and the new store's contents.
    private func salvage(_ sample: ExampleStore, _ name: String = "new") throws -> (
        SalvageReport, [String: Model]
    ) {
        let before = try sample.file.read()
        let path = sample.directory.file(name)
        let report = try Store.salvage(sample.path, to: path, options: sample.options)
        #expect(try sample.file.read() == before)
        #expect(try Store.check(path, options: sample.options).findings == [])
        return (report, try Store.open(path, options: sample.options).snapshot().contents())
    }

    @Test(arguments: [true, false]) func wholeFileComesOverWhole(checkpoints: Bool) throws {
        let sample = try ExampleStore(checkpoints: checkpoints)
        let (report, contents) = try salvage(sample)
        #expect(contents == sample.models)
        #expect(report.isComplete)
        #expect(report.trees == 2)
        #expect(report.entries == sample.models.values.reduce(0) { $0 + UInt64($1.entries.count) })
    }

    /// Names are compared by their bytes, as everywhere, not as Swift compares text.
    @Test func treesWhoseNamesLookAlikeKeepThem() throws {
        let sample = try ExampleStore(commits: 2)
        let store = try Store.open(sample.path, options: sample.options)
        let names = ["caf\u{E9}", "cafe\u{301}"]
        for name in names {
            let tree = try store.tree(name)
            try store.write { try $0.put("name", Array(name.utf8), in: tree) }
        }
        try store.close()
        _ = try salvage(sample)
        let salvaged = try Store.open(sample.directory.file("new"), options: sample.options).snapshot()
        for name in names {
            let tree = try #require(salvaged.tree(name))
            #expect(try salvaged[tree, "name"] == Array(name.utf8))
        }
    }

    @Test func damagedNodesAreReplacedByTheLog() throws {
        let sample = try ExampleStore()
        for (chunk, kind) in try sample.file.chunks() where kind == .node {
            try sample.file.flip(chunk.offset + UInt64(chunk.length) - 1)
        }
        let (report, contents) = try salvage(sample)
        #expect(contents == sample.models)
        #expect(!report.isComplete)
        #expect(report.concernedEntries == sample.models.values.reduce(0) { $0 + UInt64($1.entries.count) })
        #expect(report.losses.contains { $0.tree == "plain" && $0.keys == .all })
    }

    @Test func lostCommitRecordsAreBridged() throws {
        let sample = try ExampleStore(checkpoints: false)
        for record in try sample.file.commits().dropFirst(3) { try sample.file.flip(record.offset + 40) }
        #expect(try salvage(sample).1 == sample.models)
    }

    @Test func lostHeaderIsReplacedByItsCopy() throws {
        let sample = try ExampleStore(commits: 3)
        try sample.file.flip(100)
        #expect(try salvage(sample).1 == sample.models)
        try sample.file.flip(4196)
        let error = #expect(throws: StoreError.self) { try salvage(sample, "other") }
        #expect(error?.code == .damaged)
    }

    @Test func olderVersionStandsInForALostValue() throws {
        let sample = try ExampleStore(commits: 2)
        var store = try Store.open(sample.path, options: sample.options)
        let tree = try store.tree("plain")
        try store.write { try $0.put("twice", [UInt8](repeating: 1, count: 100), in: tree) }
        let offset = store.snapshot().state.record.end
        try store.write { try $0.put("twice", [UInt8](repeating: 2, count: 100), in: tree) }
        try store.close()
        store = try Store.open(sample.path, options: sample.options)
        try store.close()
        try sample.file.flip(offset + 50)
        let (report, contents) = try salvage(sample)
        #expect(contents["plain"]?.entries["twice"] == [UInt8](repeating: 1, count: 100))
        #expect(report.lostValues >= 1)
        #expect(report.losses.contains { $0.keys.lower == "twice" && $0.offset == offset })
    }

    @Test func whatACommitDidOnTheWayStandsInForNothing() throws {
        let sample = try ExampleStore(commits: 2)
        let store = try Store.open(sample.path, options: sample.options)
        let tree = try store.tree("plain")
        func value(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 100) }
        try store.write { transaction in
            for key in ["edited", "deleted", "range"] as [Key] {
                try transaction.put(key, value(1), in: tree)
            }
        }
        try store.write { transaction in
            try transaction.put("edited", value(2), in: tree)
            try transaction.put("edited", value(3), in: tree)
            try transaction.delete("deleted", in: tree)
            try transaction.put("deleted", value(4), in: tree)
            try transaction.put("range", value(5), in: tree)
            try transaction.delete(KeyRange(prefix: "range"), in: tree)
        }
        try store.close()
        for (chunk, kind) in try sample.file.chunks() where kind == .value {
            let payload = try sample.file.open().payload(.value, chunk)
            if payload == value(3) || payload == value(4) || payload == value(5) {
                try sample.file.flip(chunk.end - 1)
            }
        }
        let (report, contents) = try salvage(sample)
        let plain = try #require(contents["plain"])
        #expect(plain.entries["edited"] == value(1))
        #expect(plain.entries["deleted"] == value(1))
        #expect(plain.entries["range"] == nil)
        #expect(report.lostValues == 2)
    }

    /// After a compaction there is no log to fall back on.
    private func compacted(_ commits: Int) throws -> ExampleStore {
        let sample = try ExampleStore(commits: commits)
        let store = try Store.open(sample.path, options: sample.options)
        _ = try store.compact()
        try store.close()
        return sample
    }

    @Test func lossOfOneLeafIsTheLossOfItsKeys() throws {
        let sample = try compacted(12)
        let whole = try sample.file.read()
        var leaves = 0
        for (chunk, kind) in try sample.file.chunks() where kind == .node {
            let payload = try sample.file.open().payload(.node, chunk)
            let page = try payload.withView { try #require(PageView($0)).level }
            guard page == 0 else { continue }
            leaves += 1
            try sample.file.flip(chunk.offset + UInt64(chunk.length) - 1)
            let (report, contents) = try salvage(sample, "new-\(leaves)")
            let loss = try #require(report.losses.first { $0.offset == chunk.offset })
            let model = try #require(sample.models[loss.tree])
            let lost = model.entries.keys.filter { loss.keys.contains($0) }
            #expect(UInt64(lost.count) == loss.entries && loss.entries == report.concernedEntries)
            var expected = sample.models
            expected[loss.tree]?.delete(loss.keys)
            #expect(contents == expected)
            try sample.file.write(whole)
        }
        #expect(leaves > 5)
    }

    @Test func leavesWithoutParentsFindTheirTree() throws {
        let sample = try compacted(12)
        var inner = 0
        for (chunk, kind) in try sample.file.chunks() where kind == .node {
            let payload = try sample.file.open().payload(.node, chunk)
            guard try payload.withView({ try #require(PageView($0)).level }) > 0, inner == 0 else { continue }
            inner += 1
            try sample.file.flip(chunk.offset + UInt64(chunk.length) - 1)
        }
        #expect(inner == 1)
        let (report, contents) = try salvage(sample)
        #expect(contents == sample.models)
        #expect(!report.isComplete && report.strayTrees == [])
    }

    @Test func treesWithoutADirectoryAreKnownByTheList() throws {
        let sample = try ExampleStore(commits: 6)
        let store = try Store.open(sample.path, options: sample.options)
        _ = try store.tree("empty")
        _ = try store.compact()
        try store.close()
        let directories = try sample.file.chunks().filter { $0.kind == .directory }
        #expect(directories.count == 2)
        for directory in directories { try sample.file.flip(directory.chunk.offset + 6) }
        let (report, contents) = try salvage(sample)
        #expect(!report.isComplete && report.strayTrees == [])
        var expected = sample.models
        expected["empty"] = Model()
        #expect(contents == expected)
    }

    @Test func treesWithoutADirectoryAndTheListGetNamesOfTheirOwn() throws {
        let sample = try compacted(6)
        for (chunk, kind) in try sample.file.chunks() where kind == .directory || kind == .operations {
            try sample.file.flip(chunk.offset + 6)
        }
        let (report, contents) = try salvage(sample)
        #expect(report.strayTrees.count == 2)
        for model in sample.models.values { #expect(contents.values.contains(model)) }
    }

    @Test func sharedValuesStaySharedAndKeepAnOwner() throws {
        let sample = try ExampleStore(commits: 1)
        let store = try Store.open(sample.path, options: sample.options)
        let (ids, sequences) = (try store.tree("ids"), try store.tree("sequences"))
        try store.write { transaction in
            for number in 0..<200 as Range<UInt64> {
                let value = try [UInt8](repeating: UInt8(number), count: 100)
                    .withView { try transaction.append(value: $0) }
                try Key("id-\(number)").bytes
                    .withView { try transaction.put($0, inline: .empty, value: value, owns: true, in: ids) }
                try Key(number).bytes
                    .withView {
                        try transaction.put($0, inline: .empty, value: value, owns: false, in: sequences)
                    }
            }
        }
        let contents = try store.snapshot().contents()
        _ = try store.compact()
        try store.close()
        var made = try salvage(sample)
        #expect(made.1 == contents && made.0.isComplete)
        let copies = try FileBytes(path: sample.directory.file("new")).chunks().filter {
            $0.kind == .value && $0.chunk.length > 100
        }
        #expect(copies.count == 200)
        // One leaf of owners is lost: those who borrowed from them own the values now.
        let root = try sample.file.chunks().first { chunk, kind in
            guard kind == .node else { return false }
            let payload = try sample.file.open().payload(.node, chunk)
            return payload.withView { PageView($0)?.key(0).starts(with: Array("id-".utf8)) ?? false }
        }
        try sample.file.flip(try #require(root).chunk.offset + 20)
        made = try salvage(sample, "other")
        #expect(made.1["sequences"] == contents["sequences"])
        #expect((made.1["ids"]?.entries.count ?? 200) < 200)
        #expect(!made.0.isComplete)
    }

    @Test func existingFilesAreLeftAloneAndStoppedSalvageLeavesNothing() throws {
        let sample = try ExampleStore(commits: 40)
        let error = #expect(throws: StoreError.self) {
            try Store.salvage(sample.path, to: sample.path, options: sample.options)
        }
        #expect(error?.code == .alreadyExists)
        let path = sample.directory.file("new")
        let stopped = #expect(throws: StoreError.self) {
            try Store.salvage(sample.path, to: path, options: sample.options) { _ in false }
        }
        #expect(stopped?.code == .cancelled)
        for name in [path, path + ".part"] {
            #expect(throws: (any Error).self) { try FileBytes(path: name).read() }
        }
    }
}

import Foundation
import Testing

@testable import RoostStorage

/// A store opened for reading follows another handle that writes.
@Suite struct RefreshTests {
    private func reader(_ path: String, _ options: StoreOptions = StoreOptions()) throws -> Store {
        var options = options
        options.isReadOnly = true
        return try Store.open(path, options: options)
    }

    @Test(arguments: [1 << 16, 1 << 26] as [UInt64]) func readerSeesEveryCommit(logLimit: UInt64) throws {
        let directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.nodeSize = 1024
        options.compactsAutomatically = false
        options.logLimit = logLimit
        let path = directory.file("store")
        let writer = try Store.open(path, options: options)
        let tree = try writer.tree("tree")
        let reader = try reader(path, options)
        #expect(try reader.refresh() == false)
        var generator = SplitMix64(seed: 8)
        var old: [(Snapshot, [String: Model])] = []
        for round in 0..<40 {
            for _ in 0..<Int.random(in: 1..<4, using: &generator) {
                try writer.write { transaction in
                    for _ in 0..<Int.random(in: 1..<80, using: &generator) {
                        let key = Key("key-\(Int.random(in: 0..<800, using: &generator))")
                        try transaction.put(key, [UInt8](repeating: 1, count: round * 7), in: tree)
                    }
                    let number = UInt64(round) << 32
                    for next in 0..<60 { try transaction.put(Key(number + UInt64(next)), [9], in: tree) }
                    try transaction.delete(Key("key-\(round)"), in: tree)
                }
            }
            #expect(try reader.refresh())
            #expect(try reader.refresh() == false)
            let contents = try reader.snapshot().contents()
            #expect(contents == (try writer.snapshot().contents()))
            old.append((reader.snapshot(), contents))
        }
        for (snapshot, contents) in old { #expect(try snapshot.contents() == contents) }
        try writer.close()
        _ = try reader.refresh()
        #expect(
            reader.snapshot().commit == writer.snapshot().commit || reader.snapshot().commit.kind == .close)
    }

    @Test func readerFollowsAFileThatTakesTheOthersPlace() throws {
        let (one, other) = (try ExampleStore(commits: 3), try ExampleStore(commits: 7))
        let reader = try reader(one.path, one.options)
        let before = reader.snapshot()
        #expect(unsafe rename(other.path, one.path) == 0)
        #expect(try reader.refresh())
        #expect(try reader.snapshot().contents() == other.models)
        #expect(try before.contents() == one.models)
    }

    @Test func halfACommitIsLeftForTheNextTime() throws {
        let sample = try ExampleStore(commits: 3)
        let start = try sample.file.read()
        let reader = try reader(sample.path, sample.options)
        let writer = try Store.open(sample.path, options: sample.options)
        let tree = try writer.tree("plain")
        try writer.write {
            for number in 0..<300 {
                try $0.put(Key(UInt64(number)), [UInt8](repeating: 5, count: 90), in: tree)
            }
        }
        let expected = try writer.snapshot().contents()
        let record = writer.snapshot().state.record
        let whole = Array(try sample.file.read().prefix(Int(record.end)))
        for length in stride(from: start.count, to: whole.count, by: 4096) {
            var part = Array(whole.prefix(length + 1000))
            part += [UInt8](repeating: 0, count: 1 << 16)
            try FileHandle(forUpdating: URL(filePath: sample.path)).write(contentsOf: part)
            #expect(try reader.refresh() == false)
            #expect(try reader.snapshot().contents() == sample.models)
        }
        // The end may come to be seen before what is in the middle.
        for hole in stride(from: start.count, to: whole.count - 4096, by: 4096) {
            var part = whole
            for index in hole..<hole + 4096 { part[index] = 0 }
            try FileHandle(forUpdating: URL(filePath: sample.path)).write(contentsOf: part)
            #expect(try reader.refresh() == false)
        }
        try FileHandle(forUpdating: URL(filePath: sample.path)).write(contentsOf: whole)
        #expect(try reader.refresh())
        #expect(try reader.snapshot().contents() == expected)
    }

    @Test func readerFollowsACompaction() throws {
        let sample = try ExampleStore(commits: 8)
        let reader = try reader(sample.path, sample.options)
        let before = reader.snapshot()
        let writer = try Store.open(sample.path, options: sample.options)
        let tree = try writer.tree("plain")
        _ = try writer.compact()
        try writer.write { try $0.put("after", [1], in: tree) }
        #expect(try reader.refresh())
        #expect(try reader.snapshot().contents() == writer.snapshot().contents())
        #expect(try before.contents() == sample.models)
        try writer.write { try $0.put("later", [1], in: tree) }
        #expect(try reader.refresh())
        #expect(try reader.snapshot().contents() == writer.snapshot().contents())
    }

    @Test func aWriterNeedsNoRefresh() throws {
        let sample = try ExampleStore(commits: 2)
        #expect(try Store.open(sample.path, options: sample.options).refresh() == false)
    }
}

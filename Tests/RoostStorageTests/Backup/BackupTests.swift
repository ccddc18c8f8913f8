import Foundation
import RoostFile
import Synchronization
import Testing

@testable import RoostStorage

/// A backup is a store as of one commit, made while others write; a later one adds what is new.
@Suite struct BackupTests {
    @Test func backupOpensAndHoldsEverything() throws {
        let sample = try ExampleStore(checkpoints: false)
        let store = try Store.open(sample.path, options: sample.options)
        let target = sample.directory.file("backup")
        let report = try store.backup(to: target)
        #expect(!report.isIncremental && report.copiedBytes == report.size)
        #expect(report.commit == store.snapshot().commit)
        let backup = try Store.open(target, options: sample.options)
        #expect(try backup.snapshot().contents() == sample.models)
        #expect(try backup.history.commits() == store.history.commits())
        #expect(try backup.check().findings == [])
    }

    @Test func laterBackupCopiesOnlyWhatIsNew() throws {
        let sample = try ExampleStore()
        let store = try Store.open(sample.path, options: sample.options)
        let target = sample.directory.file("backup")
        let first = try store.backup(to: target)
        #expect(try store.backup(to: target).copiedBytes == 0)
        // A backup that somebody opened and closed is still the same.
        try Store.open(target, options: sample.options).close()
        let tree = try store.tree("plain")
        for number in 0..<40 { try store.write { try $0.put(Key("new-\(number)"), [3], in: tree) } }
        let second = try store.backup(to: target)
        #expect(second.isIncremental)
        #expect(second.copiedBytes == second.size - first.size)
        #expect(try FileBytes(path: target).read() == Array(try sample.file.read().prefix(Int(second.size))))
        let backup = try Store.open(target, options: sample.options)
        #expect(try backup.snapshot().contents() == store.snapshot().contents())
    }

    @Test func compactionIsFollowedByAWholeBackup() throws {
        let sample = try ExampleStore()
        let store = try Store.open(sample.path, options: sample.options)
        let target = sample.directory.file("backup")
        try store.backup(to: target)
        _ = try store.compact()
        let report = try store.backup(to: target)
        #expect(!report.isIncremental && report.copiedBytes == report.size)
        #expect(try store.backup(to: target).isIncremental)
        #expect(try Store.open(target, options: sample.options).snapshot().contents() == sample.models)
    }

    @Test func interruptedBackupOpensAsItWas() throws {
        let sample = try ExampleStore(commits: 3)
        let store = try Store.open(sample.path, options: sample.options)
        let target = FileBytes(path: sample.directory.file("backup"))
        try store.backup(to: target.path)
        let old = try target.read()
        let tree = try store.tree("plain")
        try store.write { try $0.put("large", [UInt8](repeating: 1, count: 1 << 20), in: tree) }
        var during: [UInt8] = []
        #expect(throws: StoreError.self) {
            try store.backup(to: target.path) { _ in
                during = (try? target.read()) ?? []
                return false
            }
        }
        #expect(during.count > old.count + 1 << 20)
        #expect(try target.read() == old)
        try target.write(during)
        #expect(try Store.open(target.path, options: sample.options).snapshot().contents() == sample.models)
        try target.write(during)
        #expect(try Store.check(target.path, options: sample.options).isClean)
    }

    @Test func backupThatWentItsOwnWayIsReplaced() throws {
        let sample = try ExampleStore()
        let store = try Store.open(sample.path, options: sample.options)
        let target = sample.directory.file("backup")
        try store.backup(to: target)
        let own = try Store.open(target, options: sample.options)
        try own.write { try $0.put("own", [1], in: try $0.tree("plain")) }
        #expect(throws: StoreError.self) { try store.backup(to: target) }
        try own.close()
        #expect(try store.backup(to: target).isIncremental == false)
        #expect(try Store.open(target, options: sample.options).snapshot().contents() == sample.models)
    }

    @Test func otherFilesAreLeftAlone() throws {
        let (sample, other) = (try ExampleStore(commits: 2), try ExampleStore(commits: 3))
        let store = try Store.open(sample.path, options: sample.options)
        let text = FileBytes(path: sample.directory.file("text"))
        try text.write(Array("not a store".utf8))
        let foreign = try other.file.read()
        for path in [text.path, other.path, sample.path] {
            let error = #expect(throws: StoreError.self) { try store.backup(to: path) }
            #expect(error?.code == .alreadyExists)
        }
        #expect(try text.read() == Array("not a store".utf8))
        #expect(try other.file.read() == foreign)
    }

    @Test func damagedStoreIsNotBackedUp() throws {
        let sample = try ExampleStore()
        let target = sample.directory.file("backup")
        let store = try Store.open(sample.path, options: sample.options)
        let value = try #require(try sample.file.chunks().first { $0.kind == .value }).chunk
        let handle = try FileHandle(forUpdating: URL(filePath: sample.path))
        try handle.seek(toOffset: value.offset + 8)
        try handle.write(contentsOf: [99])
        let error = #expect(throws: StoreError.self) { try store.backup(to: target) }
        #expect(error?.code == .damaged)
        #expect(!FileManager.default.fileExists(atPath: target))
        #expect(!FileManager.default.fileExists(atPath: target + ".new"))
    }

    @Test func stoppedBackupLeavesWhatWasThere() throws {
        let sample = try ExampleStore(commits: 60)
        let store = try Store.open(sample.path, options: sample.options)
        let target = sample.directory.file("backup")
        let error = #expect(throws: StoreError.self) { try store.backup(to: target) { _ in false } }
        #expect(error?.code == .cancelled)
        #expect(!FileManager.default.fileExists(atPath: target))
        try store.backup(to: target)
        let tree = try store.tree("plain")
        try store.write { try $0.put("large", [UInt8](repeating: 1, count: 1 << 20), in: tree) }
        #expect(throws: StoreError.self) { try store.backup(to: target) { _ in false } }
        #expect(try Store.open(target, options: sample.options).snapshot().contents() == sample.models)
    }

    @Test func backupsWhileWritingAreConsistent() throws {
        let sample = try ExampleStore(commits: 2)
        var options = sample.options
        options.durability = .relaxed(interval: 60)
        let store = try Store.open(sample.path, options: options)
        let tree = try store.tree("counter")
        let target = sample.directory.file("backup")
        let isDone = Atomic<Bool>(false)
        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var number: UInt64 = 0
            while !isDone.load(ordering: .relaxed) {
                // Two keys that are equal in every commit.
                try? store.write {
                    try $0.put("a", Key(number).bytes, in: tree)
                    try $0.put(
                        "b", Key(number).bytes + [UInt8](repeating: 0, count: Int(number % 5000)), in: tree)
                }
                number += 1
            }
            finished.signal()
        }
        var last: UInt64 = 0
        for round in 0..<12 {
            let report = try store.backup(to: target)
            #expect(report.isIncremental == (round > 0))
            var reading = options
            reading.isReadOnly = true
            let backup = try Store.open(target, options: reading).snapshot()
            #expect(backup.commit == report.commit)
            #expect(try backup[tree, "a"] == backup[tree, "b"].map { Array($0.prefix(8)) })
            #expect(report.commit.number >= last)
            last = report.commit.number
        }
        isDone.store(true, ordering: .relaxed)
        finished.wait()
        #expect(try Store.check(target, options: options).isClean)
    }
}

import ChildProcesses
import Foundation
import RoostCampaign
import RoostStorage
import Testing

/// Processes of their own on files of the system's: killed at any moment, and competing for the writer.
@Suite(.serialized) struct ProcessTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("store")
    }

    @Test(arguments: [1, 3])
    func aKilledWriterLosesNothingThatItAcknowledged(threads: Int) throws {
        var generator = SplitMix64(seed: UInt64(threads))
        var acknowledged = [UInt64](repeating: 0, count: threads)
        for round in 0..<15 {
            let child = try ChildProcess(["write", path, "7", "\(threads)"])
            var text = child.read()
            usleep(UInt32.random(in: 0...120_000, using: &generator))
            child.kill()
            text += child.readToEnd()
            // The last line may be torn; whole ones were acknowledged before they were written.
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let words = line.split(separator: " ").compactMap { UInt64($0) }
                try #require(words.count == 2, "round \(round): \(line)")
                acknowledged[Int(words[0])] = max(acknowledged[Int(words[0])], words[1])
            }
            acknowledged = try verify(acknowledged, round)
        }
        #expect(acknowledged.allSatisfy { $0 > 15 })
    }

    /// Opens what the killed process left; returns how many commits each thread made.
    private func verify(_ acknowledged: [UInt64], _ round: Int) throws -> [UInt64] {
        var options = StoreOptions()
        options.createsIfMissing = false
        let store = try Store.open(path, options: options)
        let contents = try Contents.read(store.snapshot())
        var found: [UInt64] = []
        for (thread, count) in acknowledged.enumerated() {
            let work = NumberedWork(seed: 7 + UInt64(thread), tree: "thread-\(thread)")
            let number = NumberedWork.number(contents[work.name])
            #expect(count...count + 1 ~= number, "round \(round)")
            #expect(contents[work.name] == work.model(after: number), "round \(round)")
            found.append(number)
        }
        #expect(try store.check().isClean)
        return found
    }

    @Test func theSecondWriterIsToldWhoTheFirstIs() throws {
        let child = try ChildProcess(["hold", path])
        #expect(child.read() == "open\n")
        #expect {
            _ = try Store.open(path)
        } throws: { error in
            guard let error = error as? StoreError else { return false }
            #if os(Linux)
                let holder = "process \(child.identifier) (CommitWriter)"
            #else
                let holder = "another process"
            #endif
            return error.code == .locked && error.message.contains(holder)
        }
        var reading = StoreOptions()
        reading.isReadOnly = true
        #expect(try Store.open(path, options: reading).snapshot().treeNames == [])
        #expect(child.finish() == 0)
        try Store.open(path).close()
    }

    @Test func aKilledWriterLeavesNoLock() throws {
        let child = try ChildProcess(["hold", path])
        #expect(child.read() == "open\n")
        child.kill()
        try Store.open(path).close()
    }
}

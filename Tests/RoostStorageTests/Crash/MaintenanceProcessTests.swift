import ChildProcesses
import Foundation
import RoostCampaign
import Testing

@testable import RoostStorage

/// Processes on files of the system's that are killed amid compactions and backups, follow each other, and run out of space.
@Suite(.serialized) struct MaintenanceProcessTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let work = NumberedWork(seed: 11, tree: "thread-0")

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("store")
    }

    /// The last number of `thread` in whole lines of `text`.
    private func last(_ text: String, thread: String = "0") throws -> UInt64 {
        var last: UInt64 = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ")
            guard words.first.map(String.init) == thread else {
                try #require(["full", "done"].contains(line) || words.first == "1", "\(line)")
                continue
            }
            last = try #require(UInt64(words[1]))
        }
        return last
    }

    /// Verifies a store; returns how many commits are in it.
    @discardableResult
    private func verify(_ path: String, readOnly: Bool = false) throws -> UInt64 {
        var options = StoreOptions()
        options.createsIfMissing = false
        options.isReadOnly = readOnly
        let store = try Store.open(path, options: options)
        let tree = try Contents.read(store.snapshot())[work.name]
        let number = NumberedWork.number(tree)
        #expect(tree == work.model(after: number))
        #expect(try store.check().isClean)
        return number
    }

    @Test(arguments: ["compact", "backup"])
    func aKillDuringMaintenanceLosesNothing(mode: String) throws {
        var generator = SplitMix64(seed: 5)
        var acknowledged: UInt64 = 0
        for round in 0..<12 {
            let child = try ChildProcess([mode, path, "11"])
            var text = child.read()
            usleep(UInt32.random(in: 0...90_000, using: &generator))
            child.kill()
            text += child.readToEnd()
            acknowledged = max(acknowledged, try last(text))
            let found = try verify(path)
            #expect(acknowledged...acknowledged + 1 ~= found, "round \(round)")
            if FileManager.default.fileExists(atPath: path + ".backup") {
                #expect(try verify(path + ".backup", readOnly: true) <= found)
            }
            acknowledged = found
        }
        #expect(acknowledged > 12)
        let leftovers = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(leftovers.allSatisfy { $0 == "store" || $0.hasPrefix("store.backup") })
    }

    @Test func aReaderLivesThroughCommitsAndCompactionsOfAnotherProcess() throws {
        let writer = try ChildProcess(["compact", path, "11"])
        _ = writer.read()
        let reader = try ChildProcess(["follow", path, "11"])
        _ = reader.read()
        usleep(600_000)
        writer.kill()
        usleep(100_000)
        #expect(reader.finish() == 0)
        let text = reader.readToEnd()
        #expect(text.hasSuffix("done\n"), "\(text.suffix(200))")
        #expect(try last(text) > 1)
        try verify(path)
    }

    @Test func theReaderOutlivesManyWriters() throws {
        try Store.open(path).close()
        let reader = try ChildProcess(["follow", path, "11"])
        for _ in 0..<5 {
            let writer = try ChildProcess(["compact", path, "11"])
            _ = writer.read()
            usleep(60_000)
            writer.kill()
        }
        usleep(100_000)
        #expect(reader.finish() == 0)
        #expect(reader.readToEnd().hasSuffix("done\n"))
    }

    @Test(arguments: [100_000, 300_000, 1_000_000])
    func aFileThatMayNotGrowIsAnsweredByNoSpace(bytes: Int) throws {
        let child = try ChildProcess(["fill", path, "11", "\(bytes)"])
        let text = child.readToEnd()
        #expect(child.finish() == 0)
        #expect(text.contains("full\n"))
        let acknowledged = try last(text)
        #expect(acknowledged > 5)
        #expect(text.hasSuffix("1 \(acknowledged)\n"), "what was committed can be read on")
        #expect(try verify(path) == acknowledged)
        // With space again, the store goes on.
        let store = try Store.open(path)
        try store.write { try work.apply(acknowledged + 1, to: $0) }
        try store.close()
        #expect(try verify(path) == acknowledged + 1)
    }

    @Test func onlyOneOfManyProcessesWrites() throws {
        let children = try (0..<4).map { _ in try ChildProcess(["hold", path]) }
        let answers = children.map { $0.read() }
        #expect(answers.filter { $0 == "open\n" }.count == 1)
        #expect(children.map { $0.finish() }.filter { $0 == 0 }.count == 1)
    }
}

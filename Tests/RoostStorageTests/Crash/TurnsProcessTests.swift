import ChildProcesses
import Foundation
import RoostCampaign
import RoostStorage
import Testing

/// Processes that write one store by turns, and are killed at any moment.
@Suite(.serialized) struct TurnsProcessTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("store")
    }

    private func start(_ process: Int, logLimit: Int) throws -> ChildProcess {
        try ChildProcess(["turns", path, "\(process)", "\(logLimit)"])
    }

    /// The last number that whole lines of `text` acknowledge.
    private func last(_ text: String) throws -> UInt64 {
        var last: UInt64 = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ").compactMap { UInt64($0) }
            try #require(words.count == 2, "\(line)")
            last = words[1]
        }
        return last
    }

    /// - Parameter logLimit: how often checkpoints come, and so what of the others' commits is replayed.
    @Test(arguments: [0, 1 << 18])
    func tenProcessesLoseNothingThatTheyAcknowledged(logLimit: Int) throws {
        var generator = SplitMix64(seed: UInt64(logLimit))
        var children = try (0..<10).map { try start($0, logLimit: logLimit) }
        var acknowledged = [UInt64](repeating: 0, count: children.count)
        for _ in 0..<30 {
            usleep(UInt32.random(in: 0...40_000, using: &generator))
            let victim = Int.random(in: 0..<children.count, using: &generator)
            #expect(children[victim].end(by: SIGKILL) == SIGKILL, "it has not ended by itself")
            acknowledged[victim] = max(acknowledged[victim], try last(children[victim].readToEnd()))
            children[victim] = try start(victim, logLimit: logLimit)
        }
        for (process, child) in children.enumerated() {
            // Each has had its turn.
            let text = child.read()
            #expect(child.end(by: SIGKILL) == SIGKILL)
            acknowledged[process] = max(acknowledged[process], try last(text + child.readToEnd()))
        }
        #expect(acknowledged.allSatisfy { $0 > 0 })
        try verify(acknowledged)
    }

    private func verify(_ acknowledged: [UInt64]) throws {
        let store = try Store.open(path)
        let contents = try Contents.read(store.snapshot())
        var total: UInt64 = 0
        for (process, count) in acknowledged.enumerated() {
            let work = NumberedWork(
                seed: 11 + UInt64(process), tree: "process-\(process)", largestValue: 2000)
            let number = NumberedWork.number(contents[work.name])
            #expect(number >= count, "process \(process)")
            #expect(contents[work.name] == work.model(after: number), "process \(process)")
            total += number
        }
        let tree = try #require(store.snapshot().tree("count"))
        #expect(
            try store.snapshot()[tree, "count"].flatMap { Key($0).number } == total,
            "no commit missed another")
        #expect(try store.check().isClean)
    }

    @Test func whoWritesAloneKeepsThoseWhoTakeTurnsWaiting() throws {
        let child = try ChildProcess(["hold", path])
        #expect(child.read() == "open\n")
        let other = try start(1, logLimit: 0)
        #expect(child.finish() == 0)
        #expect(other.read().hasPrefix("1 1\n"))
        other.kill()
        #expect(throws: Never.self) { try Store.open(path).close() }
    }
}

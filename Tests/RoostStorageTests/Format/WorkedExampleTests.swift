import Foundation
import RoostFile
import Synchronization
import Testing

@testable import RoostStorage

/// The hexadecimal example in FileFormat.md shows the bytes that the engine writes.
@Suite struct WorkedExampleTests {
    private let document = PythonReader.repository.appendingPathComponent("FileFormat.md")

    /// With `ROOST_REWRITE_EXAMPLE` in the environment the document gets the listing instead of being compared.
    @Test func documentShowsTheBytesOfARealStore() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("example")
        try makeExample(path)
        let listing = "\n```\n" + (try PythonReader.explain(path)) + "```\n"

        let text = try String(contentsOf: document, encoding: .utf8)
        let start = try #require(text.range(of: "<!-- example -->"))
        let end = try #require(text.range(of: "<!-- /example -->"))
        if ProcessInfo.processInfo.environment["ROOST_REWRITE_EXAMPLE"] != nil {
            try text.replacingCharacters(in: start.upperBound..<end.lowerBound, with: listing)
                .write(to: document, atomically: true, encoding: .utf8)
        } else {
            let isCurrent = text[start.upperBound..<end.lowerBound] == listing
            #expect(
                isCurrent, "run `make format-example` after a change of the format, and read what changed")
        }
    }

    @Test func listingShowsAllBytesThatAreNotZero() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("example")
        try makeExample(path)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        for line in try PythonReader.explain(path).split(separator: "\n") {
            let fields = line.split(separator: "  ", maxSplits: 1)
            let start = try #require(Int(fields[0], radix: 16))
            bytes.replaceSubrange(start..<start + length(of: fields[1]), with: [])
            bytes.insert(contentsOf: [UInt8](repeating: 0, count: length(of: fields[1])), at: start)
        }
        #expect(bytes.allSatisfy { $0 == 0 })
    }

    /// How many bytes a field takes: as many as are shown, or as many as it says.
    private func length(of field: Substring) -> Int {
        let words = field.split(separator: " ")
        if let more = words.firstIndex(of: "…") { return Int(words[more + 1].dropFirst()) ?? 0 }
        return words.prefix { $0.count == 2 && Int($0, radix: 16) != nil }.count
    }

    private func makeExample(_ path: String) throws {
        var options = StoreOptions()
        options.inlineLimit = 8
        let environment = Environment(
            medium: Environment.system.medium, clock: SteppingClock(), randomness: CountingBytes())
        let store = try Store.open(path, options: options, environment: environment)
        try store.write { transaction in
            let tree = try transaction.tree("fruit")
            try transaction.put("apple", Array("red".utf8), in: tree)
            try transaction.put("banana", Array("yellow when ripe".utf8), in: tree)
            try transaction.put("cherry", Array("dark".utf8), in: tree)
        }
        let transaction = try store.beginWriting()
        let tree = try transaction.tree("fruit")
        try transaction.delete("cherry", in: tree)
        try transaction.put("zeros", [UInt8](repeating: 0, count: 33_000), in: tree)
        if let ticket = try transaction.stage(.always) { try transaction.queue.makeDurable(ticket) }
        try store.close()
    }
}

/// A clock that goes a second ahead each time it is asked.
private final class SteppingClock: WallClock {
    private let time = Mutex<UInt64>(1_767_225_600_000_000)

    func now() -> UInt64 {
        time.withLock { time in
            defer { time += 1_000_000 }
            return time
        }
    }

    func monotonic() -> UInt64 { now() }
}

/// Bytes that count up from 0xA0, in the place of random ones.
private struct CountingBytes: Randomness {
    func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in 0..<buffer.count { unsafe buffer[index] = UInt8(truncatingIfNeeded: 0xa0 + index) }
    }
}

import ChildProcesses
import Foundation
import RoostBlobs
import Testing

/// The script Tests/format/blob_reader.py, which knows blobs from FileFormat.md alone, reads what is written here.
@Suite struct PythonBlobReaderTests {
    private struct Entry: Decodable, Equatable {
        var digest: String
        var encoding: String
        var content: String
    }

    /// Runs the script on the files of a store; returns its exit status and what it wrote.
    private func run(_ test: TestStore, _ arguments: [String], change: (inout [UInt8]) -> Void = { _ in })
        throws
        -> (status: Int32, output: Data)
    {
        let directory = NSTemporaryDirectory() + "roost-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let files = try test.names().map { name in
            var bytes = test.contents(name)
            change(&bytes)
            try Data(bytes).write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
            return "\(directory)/\(name)"
        }
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let reader = tests.appendingPathComponent("format/blob_reader.py").path
        return try ChildProcess.run(["python3", "-B", reader] + arguments + files)
    }

    private let keys = ["--keys", (0..<32).map { String(format: "%02x", $0) }.joined()]

    @Test(arguments: [BlobLayout.plain, .testSealed]) func itReadsWhatIsWritten(_ layout: BlobLayout) throws {
        let test = try TestStore(layout)
        var expected: [String: Entry] = [:]
        for (index, count) in [0, 1, 3960, 3961, 8040, 8041, 9000].enumerated() {
            var options = BlobWriteOptions()
            options.algorithm = index % 2 == 0 ? .sha1 : .sha256
            options.compresses = index % 3 == 2
            let bytes = content(count, seed: UInt64(index))
            let blob = try test.store.put(bytes, options)
            expected[blob.digest.description] = Entry(
                digest: blob.digest.description, encoding: blob.encoding == .gzip ? "gzip" : "none",
                content: bytes.map { String(format: "%02x", $0) }.joined())
        }
        let (status, output) = try run(test, keys)
        try #require(status == 0, "\(String(decoding: output, as: UTF8.self))")
        let found = try JSONDecoder().decode([Entry].self, from: output)
        #expect(found.count == expected.count)
        #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.digest, $0) }) == expected)
    }

    @Test(arguments: [BlobLayout.plain, .testSealed]) func itFindsAFlippedBit(_ layout: BlobLayout) throws {
        let test = try TestStore(layout)
        try test.store.put(content(5000))
        let (status, output) = try run(test, keys) { $0[4500] ^= 4 }
        #expect(status == 1)
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.contains(layout.isSealed ? "frame 1: a tag that does not verify" : "another content"))
    }

    @Test func itNeedsTheRightKey() throws {
        let test = try TestStore(.testSealed)
        try test.store.put([1, 2, 3])
        #expect(try run(test, ["--keys", String(repeating: "00", count: 32)]).status == 1)
        #expect(try run(test, []).status == 1)
        #expect(try run(test, ["--keys", "abc"]).status == 2)
    }
}

extension BlobLayout {
    fileprivate var isSealed: Bool { if case .sealed = self { true } else { false } }
}

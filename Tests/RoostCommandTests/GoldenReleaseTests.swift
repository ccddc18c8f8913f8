import ChildProcesses
import Foundation
import Roost
import RoostCrypto
import Testing

@testable import RoostCommand

/// Databases as each release left them: documents with conflicts, attachments, deletions, expirations and purges in several collections,
/// value and text indexes and a view, in every kind of file. Every later build reads and writes them.
///
/// `make golden` writes those that are missing; none is ever written again. Beside each stands what it holds, as the tool showed
/// it then, with the digests of its files.
@Suite(.serialized) struct GoldenReleaseTests {
    enum Kind: String, CaseIterable {
        case plain, compressed, encrypted
        /// Encrypted with another key than at first.
        case rekeyed
        case compacted
        /// A backup of one that was written meanwhile.
        case backup
        /// Written by two processes that took turns.
        case turns
        /// The files as a process left them that was killed.
        case crashed
        /// The same with a commit at its end of which a part never reached the medium.
        case torn
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Golden/0.1.0")

    private let tool = Tool()
    private let keys: (old: String, new: String)

    init() throws {
        try FileManager.default.createDirectory(atPath: tool.path, withIntermediateDirectories: true)
        keys = (tool.path + "/old-key", tool.path + "/new-key")
        try Data(repeating: 42, count: 32).write(to: URL(fileURLWithPath: keys.old))
        try Data(repeating: 43, count: 32).write(to: URL(fileURLWithPath: keys.new))
    }

    // MARK: Making them

    private func key(_ kind: Kind) -> [String] {
        switch kind {
        case .encrypted: ["--key-file", keys.old]
        case .rekeyed: ["--key-file", keys.new]
        default: []
        }
    }

    private func run(_ arguments: [String], _ key: [String] = []) throws -> String {
        let result = tool.run(arguments + key)
        try #require(result.status == 0, "\(arguments): \(result.output)")
        return result.output
    }

    /// Fills a database.
    private func fill(_ path: String, _ key: [String]) throws {
        let file = tool.path + "/content"
        func importing(_ text: String, _ more: String...) throws {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            _ = try run(["import", path, file] + more, key)
        }
        try importing(
            (0..<40).map { number in
                #"{"_id":"bird-\#(number)","n":\#(number),"kind":"\#(["swift", "owl", "rook"][number % 3])","text":"#
                    + #""A bird that nests at \#(number) metres, Ærøskøbing","list":[\#(number),null,{"a":1.5}]}"#
            }.joined(separator: "\n"))
        try importing(
            """
            {"_id":"fork","_rev":"2-bb","_revisions":{"start":2,"ids":["bb","aa"]},"side":"left"}
            {"_id":"fork","_rev":"2-cc","_revisions":{"start":2,"ids":["cc","aa"]},"side":"right"}
            {"_id":"gone","_rev":"3-ee","_deleted":true,"_revisions":{"start":3,"ids":["ee","dd","cc"]}}
            """, "--revisions", "keep")
        try importing(
            (0..<5).map { "{\"_id\":\"nest-\($0)\",\"eggs\":\($0)}" }.joined(separator: "\n"), "--collection",
            "field.nests")
        _ = try run(["index", "create", path, "by-kind", "--on", "kind, n DESC", "--summing", "n"], key)
        _ = try run(["index", "create", path, "words", "--text", "text", "--language", "en"], key)
        let design = #"""
            {"language":"query","views":{"kinds":{"map":{"fields":{"kind":"asc","n":"asc"}},"reduce":"_count",
            "options":{"def":{"fields":["kind","n"]}}}}}
            """#
        _ = try run(["put", path, "_design/birds", design], key)
        // Indexes and views are made when they are asked.
        _ = try questions(path, key)
        let content = tool.path + "/attached"
        try Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) }).write(
            to: URL(fileURLWithPath: content))
        _ = try run(["attach", path, "bird-1", "picture", content, "--type", "image/x"], key)
        _ = try run(["attach", path, "bird-2", "text.txt", content, "--gzip"], key)
        _ = try run(["rm", path, "bird-3"], key)
        _ = try run(["purge", path, "bird-4"], key)
        _ = try run(["expire", path, "bird-5", "2990-01-02T03:04:05Z"], key)
        _ = try run(["put", path, "bird-6", #"{"n":600,"kind":"owl","text":"moved to the gable"}"#], key)
    }

    private func make(_ kind: Kind, _ path: String) throws {
        let built = tool.path + "/built"
        switch kind {
        case .plain, .encrypted: try fill(path, key(kind))
        case .compressed:
            var options = DatabaseOptions()
            options.compression = 6
            let database = try Database.open(path, options: options)
            try database.write { batch in
                let notes = try database.defaultCollection
                for number in 0..<50 {
                    let text = String(repeating: "compress me \(number) ", count: 40)
                    try batch.save(json: "{\"text\":\"\(text)\"}", id: "long-\(number)", in: notes)
                }
            }
            try database.close()
            try fill(path, [])
        case .rekeyed:
            try fill(path, ["--key-file", keys.old])
            _ = try run(["rekey", path, "--new-key-file", keys.new], ["--key-file", keys.old])
            _ = try run(["put", path, "later", "{}"], key(kind))
        case .compacted:
            try fill(path, [])
            _ = try run(["compact", path])
        case .backup:
            try fill(built, [])
            _ = try run(["backup", built, path])
            _ = try run(["put", built, "later", "{}"])
            _ = try run(["backup", built, path])
        case .turns:
            try fill(path, [])
            let writers = try [1, 2].map { try ChildProcess([path, "\($0)"], of: "DatabaseWriter") }
            for writer in writers {
                var told = ""
                while told.split(separator: "\n").count < 4 { told += writer.read() }
            }
            writers.forEach { $0.kill() }
        case .crashed, .torn:
            try fill(built, [])
            let writer = try ChildProcess([built, "1"], of: "DatabaseWriter")
            var told = ""
            while told.split(separator: "\n").count < 4 { told += writer.read() }
            writer.kill()
            try FileManager.default.copyItem(atPath: built, toPath: path)
            guard kind == .torn else { return }
            let file = URL(fileURLWithPath: path + "/data.roost")
            var data = try Data(contentsOf: file)
            data.append(contentsOf: data.suffix(1_000).prefix(700))
            try data.write(to: file)
        }
        // Locks are of the process that took them.
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".lock") {
            try FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
    }

    // MARK: Reading them

    /// What indexes and the view answer.
    private func questions(_ path: String, _ key: [String]) throws -> String {
        try [
            [
                "query", path,
                "SELECT kind, count(*), sum(n) FROM _ WHERE kind IS VALUED GROUP BY kind ORDER BY kind",
                "--json",
            ],
            ["query", path, "SELECT META().id FROM _ WHERE kind = 'owl' ORDER BY n DESC LIMIT 5", "--json"],
            ["search", path, "words", "gable OR 17", "--json"],
            ["view", path, "birds/kinds", "--group-level", "1"],
            ["view", path, "birds/kinds", "--no-reduce"],
        ].map { try run($0, key) }.joined()
    }

    /// The documents of a database, with all that is known of them.
    private func documents(_ path: String, _ key: [String]) throws -> String {
        var parts: [String] = []
        for collection in [[], ["--collection", "field.nests"]] {
            parts.append(try run(["export", path, "--with-revisions"] + collection, key))
            parts.append(try run(["changes", path, "--json"] + collection, key))
        }
        parts.append(try run(["expire", path, "--json"], key))
        parts.append(try run(["index", "list", path, "--json"], key))
        return parts.joined()
    }

    /// Everything that a database holds.
    private func contents(_ path: String, _ key: [String]) throws -> String {
        try documents(path, key) + questions(path, key)
            + "check \(tool.run(["check", path, "--json"] + key).status)\n"
    }

    /// The files below a directory, by their paths in it, with their digests.
    private func digests(_ path: String) throws -> String {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return try names.sorted().compactMap { name in
            var isDirectory: ObjCBool = false
            let file = "\(path)/\(name)"
            guard unsafe FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory),
                !isDirectory.boolValue
            else { return nil }
            let digest = SHA256.hash(Array(try Data(contentsOf: URL(fileURLWithPath: file))))
            return digest.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                + "  \(name)\n"
        }.joined()
    }

    @Test(arguments: Kind.allCases) func everyReleaseIsReadAndWritten(kind: Kind) throws {
        let golden = Self.folder.appendingPathComponent(kind.rawValue).path
        let isWanted = ProcessInfo.processInfo.environment["ROOST_WRITE_GOLDEN"] != nil
        if isWanted, !FileManager.default.fileExists(atPath: golden) {
            try FileManager.default.createDirectory(
                at: Self.folder, withIntermediateDirectories: true)
            try make(kind, golden)
            let read = tool.path + "/first"
            try FileManager.default.copyItem(atPath: golden, toPath: read)
            let text = try digests(golden) + contents(read, key(kind))
            try text.write(toFile: golden + ".txt", atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOfFile: golden + ".txt", encoding: .utf8)
        let copy = tool.path + "/copy"
        try FileManager.default.copyItem(atPath: golden, toPath: copy)
        let before = try digests(golden)
        #expect(expected.hasPrefix(before), "A file is another one than was released.")
        // Reading upgrades nothing.
        let data = try Data(contentsOf: URL(fileURLWithPath: copy + "/data.roost"))
        let shown = try documents(copy, key(kind))
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy + "/data.roost")) == data)
        let held = try contents(copy, key(kind))
        #expect(held.hasPrefix(shown) && held.hasSuffix("check 0\n"))
        #expect(before + held == expected)
        // What is written goes beside what is there.
        _ = try run(["put", copy, "zz-new", #"{"kind":"rook","n":1000}"#], key(kind))
        let id = #""_id":"zz-new""#
        let then = try run(["export", copy], key(kind)).split(separator: "\n").filter { !$0.contains(id) }
        #expect(try then == run(["export", try restored(kind, golden)], key(kind)).split(separator: "\n"))
        #expect(try questions(copy, key(kind)).contains("1000"))
        _ = try run(["compact", copy], key(kind))
        _ = try run(["check", copy], key(kind))
    }

    /// A copy of a golden database that nothing was written to.
    private func restored(_ kind: Kind, _ golden: String) throws -> String {
        let path = tool.path + "/restored"
        try FileManager.default.copyItem(atPath: golden, toPath: path)
        return path
    }
}

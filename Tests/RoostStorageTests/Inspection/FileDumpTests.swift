import RoostBytes
import Testing

@testable import RoostStorage

/// A dump names the fields as FileFormat.md does, and shows damaged files as far as they go.
@Suite struct FileDumpTests {
    /// Every field of a file, in the order of the file.
    private func fields(_ path: String, _ options: StoreOptions = StoreOptions()) throws -> [FileField] {
        let dump = try FileDump(path, options: options)
        var sections = try FileDump.header(of: path)
        var commits: [FileDump.CommitPart] = []
        try dump.forEachCommit { commit in
            commits.append(commit)
            return true
        }
        for commit in commits.reversed() {
            try dump.forEachPart(of: commit) { (part) throws(StoreError) in
                sections.append(try dump.section(of: part))
                return true
            }
            sections.append(try dump.record(of: commit))
        }
        #expect(sections.flatMap(\.problems) == [])
        return sections.flatMap(\.fields)
    }

    /// The scripts in Tests/format know the format from its description alone; both must see the same fields.
    @Test(arguments: [true, false]) func dumpSaysWhatTheFormatSays(checkpoints: Bool) throws {
        let sample = try ExampleStore(commits: 5, checkpoints: checkpoints)
        let listed = try PythonReader.explain(sample.path).split(separator: "\n").map(String.init)
        var dumped = try fields(sample.path).map { field in
            var field = field
            field.note = nil
            return field.line
        }
        // The salt is kept out of dumps.
        let salt = try #require(listed.first { $0.contains("  salt: ") })
        dumped.insert(salt, at: try #require(listed.firstIndex(of: salt)))
        #expect(dumped.count == listed.count)
        for (ours, theirs) in zip(dumped, listed) where ours != theirs {
            Issue.record("\(ours)\n\(theirs)")
            return
        }
    }

    @Test func everyOffsetLeadsToItsChunk() throws {
        let sample = try ExampleStore(commits: 3)
        let dump = try FileDump(sample.path)
        for (chunk, kind) in try sample.file.chunks() {
            for offset in [chunk.offset, chunk.offset + 7 % UInt64(chunk.length), chunk.end - 1] {
                let section = try dump.section(at: offset)
                #expect(section.range == chunk.offset..<chunk.end && section.title == "Chunk: \(kind)")
            }
        }
        for record in try sample.file.commits() {
            #expect(try dump.section(at: record.offset + 100).title == "Record of commit \(record.number)")
            #expect(try dump.commit(number: record.number)?.range == record.start..<record.offset)
        }
        #expect(try dump.commit(number: 1000) == nil)
        #expect(try dump.section(at: 4100).title == "Copy of the file header")
        #expect(throws: StoreError.self) { try dump.section(at: dump.size) }
    }

    @Test func keysAreWrittenOut() throws {
        let sample = try ExampleStore(commits: 3)
        let notes = try fields(sample.path).compactMap(\.note)
        for key in try #require(sample.models["plain"]).entries.keys.prefix(20) {
            let text = try #require(key.string)
            #expect(notes.contains { $0.hasPrefix("ends entry") && $0.hasSuffix("key \"\(text)\"") })
        }
    }

    @Test func compressedChunksAreShownAsTheyAreUsed() throws {
        let sample = try ExampleStore(commits: 6, perCommit: 300, compression: 9)
        let fields = try fields(sample.path)
        #expect(fields.contains { $0.isDecoded && $0.note?.hasPrefix("ends entry") == true })
        #expect(fields.contains { $0.meaning == "payload as it is stored, compressed or encrypted" })
    }

    @Test func damagedChunkIsShownWithItsFault() throws {
        let sample = try ExampleStore(commits: 3)
        let node = try #require(try sample.file.chunks().last { $0.kind == .node }).chunk
        try sample.file.flip(node.offset + 9)
        let section = try FileDump(sample.path).section(at: node.offset + 9)
        #expect(section.title == "Damaged bytes" && section.problems.count == 1)
        #expect(section.fields.first?.offset == node.offset)
    }

    @Test func lostHeadersAreShownAllTheSame() throws {
        let sample = try ExampleStore(commits: 1)
        try sample.file.flip(500)
        try sample.file.flip(4096 + 16)
        let sections = try FileDump.header(of: sample.path)
        #expect(sections.map(\.problems.count) == [1, 2])
        #expect(sections.allSatisfy { $0.fields.count > 8 })
        try sample.file.write(Array(try sample.file.read().prefix(1000)))
        #expect(try FileDump.header(of: sample.path).count == 1)
    }

    /// Nothing traps, whatever the bytes are.
    @Test func anyDamageIsSurvived() throws {
        let sample = try ExampleStore(commits: 3, perCommit: 30)
        let whole = try sample.file.read()
        let chunks = try sample.file.chunks()
        var generator = SplitMix64(seed: 11)
        for _ in 0..<150 {
            // Inside a chunk with a checksum that fits, so that the fields themselves are nonsense.
            let chunk = try #require(chunks.randomElement(using: &generator)).chunk
            try sample.file.rewrite(chunk) { payload in
                for _ in 0..<4 {
                    payload[Int.random(in: 0..<payload.count, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
            }
            #expect(try !FileDump(sample.path).section(at: chunk.offset).fields.isEmpty)
            _ = try Store.inspect(sample.path, options: sample.options)
            try sample.file.write(whole)
        }
    }
}

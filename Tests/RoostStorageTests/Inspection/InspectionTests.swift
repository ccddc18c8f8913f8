import RoostBytes
import Testing

@testable import RoostStorage

/// An inspection accounts for every byte of the file, and what it calls live is what the trees lead to.
@Suite struct InspectionTests {
    @Test(arguments: [true, false], [0, 1] as [Int32])
    func everyByteIsAccountedFor(checkpoints: Bool, compression: Int32) throws {
        let sample = try ExampleStore(checkpoints: checkpoints, compression: compression)
        let inspection = try Store.inspect(sample.path, options: sample.options)
        #expect(inspection.findings == [])
        #expect(inspection.fileBytes == UInt64(try sample.file.read().count))
        #expect(FileContent.allCases.reduce(0) { $0 + inspection[$1].bytes } == inspection.fileBytes)
        #expect(inspection[.unreadable].bytes == 0)
        for (kind, content) in [
            (ChunkKind.value, FileContent.value), (.node, .node), (.operations, .operations),
        ] {
            let chunks = try sample.file.chunks().filter { $0.kind == kind }
            let use = inspection[content]
            #expect(use.liveChunks + use.deadChunks == UInt64(chunks.count))
            #expect(use.bytes == chunks.reduce(0) { $0 + UInt64($1.chunk.length) })
        }
        for content in FileContent.allCases {
            for isLive in [true, false] {
                let cells = (0..<inspection.map.count).reduce(0) {
                    $0 + inspection.map.bytes(of: content, isLive: isLive, in: $1)
                }
                #expect(cells == (isLive ? inspection[content].liveBytes : inspection[content].deadBytes))
            }
        }
    }

    @Test func liveIsWhatTheTreesLeadTo() throws {
        let sample = try ExampleStore()
        let store = try Store.open(sample.path, options: sample.options)
        let inspection = try store.inspect()
        #expect(
            inspection[.node].liveBytes + inspection[.value].liveBytes == (try store.statistics()).liveBytes)
        #expect(inspection[.node].deadBytes > 0 && inspection[.value].deadBytes > 0)
        try store.compact()
        let compacted = try store.inspect()
        #expect(compacted[.node].deadBytes == 0 && compacted[.value].deadBytes == 0)
        #expect(compacted[.value].liveBytes == inspection[.value].liveBytes)
    }

    @Test(arguments: [true, false]) func treesHaveTheirShape(checkpoints: Bool) throws {
        let sample = try ExampleStore(checkpoints: checkpoints)
        let inspection = try Store.inspect(sample.path, options: sample.options)
        #expect(inspection.trees.map(\.name) == sample.models.keys.sorted())
        for tree in inspection.trees {
            let model = try #require(sample.models[tree.name])
            #expect(tree.entries == UInt64(model.entries.count))
            #expect(tree.inlineValues + tree.values == tree.entries)
            #expect(tree.valueSizes.reduce(0, +) == tree.entries)
            #expect(tree.levels.last?.nodes == 1)
            for (level, below) in zip(tree.levels.dropFirst(), tree.levels) {
                #expect(level.entries == below.nodes)
            }
            for level in tree.levels { #expect(level.fill.reduce(0, +) == level.nodes) }
        }
        let changed = inspection.trees.reduce(0) { $0 + $1.levels.reduce(0) { $0 + $1.changedNodes } }
        #expect((changed == 0) == checkpoints)
    }

    @Test func pictureStaysWithinItsBounds() throws {
        let sample = try ExampleStore(commits: 40)
        var options = InspectionOptions()
        options.maximumCells = 8
        options.maximumSpans = 5
        let store = try Store.open(sample.path, options: sample.options)
        let inspection = try store.inspect(options)
        #expect(inspection.map.count <= 8 && inspection.map.count > 4)
        #expect(inspection.map.cellBytes * UInt64(inspection.map.count) >= inspection.fileBytes)
        #expect(inspection.timeline.count <= 5)
        let commits = try sample.file.commits()
        #expect(inspection.timeline.reduce(0) { $0 + $1.count } == UInt64(commits.count))
        #expect(inspection.timeline.first?.numbers.lowerBound == commits.first?.number)
        #expect(inspection.timeline.last?.numbers.upperBound == commits.last?.number)
        let ends = inspection.timeline.map(\.end)
        #expect(ends == ends.sorted() && ends.last == commits.last?.end)
        for (span, next) in zip(inspection.timeline, inspection.timeline.dropFirst()) {
            #expect(span.numbers.upperBound + 1 == next.numbers.lowerBound)
        }
    }

    @Test func damageIsSaidAndTheRestIsShown() throws {
        let sample = try ExampleStore()
        let root = try #require(try sample.file.chunks().last { $0.kind == .node }).chunk
        try sample.file.flip(root.offset + UInt64(root.length) - 1)
        let inspection = try Store.inspect(sample.path, options: sample.options)
        #expect(inspection.findings.map(\.offset) == [root.offset])
        #expect(inspection.trees.reduce(0) { $0 + $1.unreadableNodes } == 1)
        #expect(inspection.trees.contains { $0.entries > 0 && $0.unreadableNodes == 0 })
    }

    /// Nothing traps, whatever the bytes are.
    @Test func anyDamageIsSurvived() throws {
        let sample = try ExampleStore(commits: 4)
        let whole = try sample.file.read()
        var generator = SplitMix64(seed: 7)
        for round in 0..<200 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[Int.random(in: 8192..<bytes.count, using: &generator)] ^= UInt8.random(
                    in: 1...255, using: &generator)
            }
            if round % 4 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count - 8192, using: &generator)) }
            try sample.file.write(bytes)
            let inspection = try Store.inspect(sample.path, options: sample.options)
            #expect(FileContent.allCases.reduce(0) { $0 + inspection[$1].bytes } == inspection.fileBytes)
        }
    }

    @Test func canBeStopped() throws {
        let sample = try ExampleStore(commits: 2)
        #expect { try Store.inspect(sample.path, options: sample.options) { _ in false } } throws: {
            ($0 as? StoreError)?.code == .cancelled
        }
    }
}

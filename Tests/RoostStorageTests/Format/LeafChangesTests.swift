import RoostBytes
import Testing

@testable import RoostStorage

/// What changed of a leaf comes out of the file as it went in, and makes of the leaf what the changes made of it in memory.
@Suite struct LeafChangesTests {
    private var random = SplitMix64(seed: 5)

    private struct Change: Equatable {
        let key: [UInt8]
        let kind: ReferenceKind
        let inline: [UInt8]
        let chunk: ChunkReference
        var isDeletion = false
    }

    private mutating func key(_ prefix: [UInt8]) -> [UInt8] {
        let length = Int.random(in: 0...7, using: &random)
        return prefix + (0..<length).map { _ in UInt8.random(in: 0...3, using: &random) }
    }

    private mutating func change(_ key: [UInt8], deletes: Bool) -> Change {
        if deletes {
            return Change(key: key, kind: .none, inline: [], chunk: .nowhere, isDeletion: true)
        }
        let kind = ReferenceKind(rawValue: UInt8.random(in: 0...3, using: &random)) ?? .none
        let offset = UInt64.random(in: 0..<1 << 47, using: &random)
        let inline = (0..<Int.random(in: 0...20, using: &random)).map { UInt8($0) }
        return Change(
            key: key, kind: kind, inline: inline,
            chunk: kind == .none ? .nowhere : ChunkReference(offset: offset, length: 300))
    }

    private mutating func changes(_ count: Int, _ prefix: [UInt8], deletions: Double) -> [Change] {
        let keys = Set((0..<count).map { _ in key(prefix) })
        return keys.sorted { $0.lexicographicallyPrecedes($1) }.map { key in
            change(key, deletes: Double.random(in: 0..<1, using: &random) < deletions)
        }
    }

    /// The page of `changes` as a leaf has them.
    private func page(_ changes: [Change]) -> [UInt8] {
        let builder = LeafBuilder()
        for change in changes {
            change.key.withView { key in
                change.inline.withView { inline in
                    builder.add(key: key, Entry(kind: change.kind, inline: inline, chunk: change.chunk))
                }
            }
        }
        return builder.build(0..<builder.count).page.array
    }

    /// The same as pending changes have them.
    private func pending(_ changes: [Change]) -> DeltaPage {
        var pending = DeltaPage()
        for (index, change) in changes.enumerated() {
            change.key.withView { key in
                change.inline.withView { inline in
                    let entry = Entry(kind: change.kind, inline: inline, chunk: change.chunk)
                    let tag = change.isDeletion ? DeltaPage.tombstone : DeltaPage.replaces
                    pending.put(key, entry, tag: tag, at: index, found: false)
                }
            }
        }
        return pending
    }

    private func read(_ page: PageView) throws -> [Change] {
        try (0..<page.count).map { index in
            let (entry, tag) = try page.taggedEntry(index)
            return Change(
                key: page.key(index), kind: entry.kind, inline: entry.inline.array, chunk: entry.chunk,
                isDeletion: tag & DeltaPage.tombstone != 0)
        }
    }

    private let leaf = ChunkReference(offset: 0x1234_5678_9abc, length: 3000)

    private func stored(_ changes: [Change]) throws -> [UInt8]? {
        let output = ByteBuffer()
        let bytes = page(changes)
        let isShorter = try bytes.withView { view in
            try LeafChanges.append(
                try #require(PageView(view)), length: view.count, deletions: changes.map(\.isDeletion),
                of: leaf,
                to: output)
        }
        return isShorter ? output.view.array : nil
    }

    @Test(arguments: [0, 0.3, 1])
    mutating func changesSurviveStoring(deletions: Double) throws {
        for round in 1..<200 {
            let changes = changes(round % 30 + 1, [7, 7], deletions: deletions)
            guard let bytes = try stored(changes) else { continue }
            let read = try bytes.withView { try LeafChanges($0) }
            #expect(read.leaf == leaf)
            #expect(try self.read(read.page) == changes)
            extendLifetime(read)
        }
    }

    /// Both ways of merging, copying what stands between changes and taking all entries apart, come to the same entries.
    @Test(arguments: [[], [1, 2], [1, 2, 3, 3, 3, 3]] as [[UInt8]])
    mutating func mergedLeavesHoldWhatTheChangesSay(prefix: [UInt8]) throws {
        var fast = 0
        for round in 0..<400 {
            let entries = changes(round % 60, prefix, deletions: 0)
            // Some keys don't start as those of the leaf do.
            let changes = changes(round % 13 + 1, round % 5 == 0 ? [1] : prefix, deletions: 0.4)
            var expected = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0) })
            for change in changes { expected[change.key] = change.isDeletion ? nil : change }
            let base = page(entries)
            let delta = pending(changes)
            try base.withView { bytes in
                let view = try #require(PageView(bytes))
                let memory = ByteBuffer()
                unsafe try LeafBuilder.merge(view, delta.view, using: LeafBuilder()) { length in
                    memory.reset()
                    memory.resize(to: length)
                    return unsafe memory.mutableBytes
                }
                let merged = try #require(PageView(memory.view))
                #expect(PageCheck(page: merged, lower: nil, upper: nil).fault() == nil)
                #expect(
                    try read(merged)
                        == expected.values.sorted { $0.key.lexicographicallyPrecedes($1.key) })
                if try PageMerge(view, delta.view) != nil { fast += 1 }
            }
        }
        #expect(fast > 100)
    }

    @Test mutating func laterChangesTakeThePlaceOfEarlierOnes() throws {
        for round in 0..<200 {
            let older = changes(round % 20 + 1, [9], deletions: 0.3)
            let newer = changes(round % 7 + 1, [9], deletions: 0.3)
            guard let bytes = try stored(older) else { continue }
            let read = try bytes.withView { try LeafChanges($0) }
            let builder = LeafBuilder()
            let delta = pending(newer)
            let deletions = try builder.unite(read.page, delta.view)
            extendLifetime(read)
            var expected = Dictionary(uniqueKeysWithValues: older.map { ($0.key, $0) })
            for change in newer { expected[change.key] = change }
            let sorted = expected.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            #expect(deletions == sorted.map(\.isDeletion))
            #expect((0..<builder.count).map { builder.key($0).array } == sorted.map(\.key))
        }
    }

    @Test mutating func whatIsCutOffIsRefused() throws {
        let bytes = try #require(try stored(changes(20, [4], deletions: 0.5)))
        for count in 0..<bytes.count {
            #expect(throws: MalformedBytes.self) {
                try Array(bytes.prefix(count)).withView { try LeafChanges($0) }
            }
        }
    }

    /// Marks of deletions begin after the reference to the leaf: six bytes of offset, two of length, one of their own length.
    @Test mutating func wrongMarksAreRefused() throws {
        let changes = (0..<5 as Range<UInt8>).map { change([$0], deletes: $0 == 2) }
        let bytes = try #require(try stored(changes))
        #expect(bytes[8] == 1 && bytes[9] == 0b100)
        for marks in [0b10_0100, 0b1000_0000] as [UInt8] {
            var wrong = bytes
            wrong[9] = marks
            #expect(throws: MalformedBytes.self) { try wrong.withView { try LeafChanges($0) } }
        }
        // An entry that would be deleted.
        let puts = [
            Change(key: [1], kind: .none, inline: [5], chunk: .nowhere),
            Change(key: [2], kind: .none, inline: [], chunk: .nowhere, isDeletion: true),
        ]
        var wrong = try #require(try stored(puts))
        wrong[9] = 0b11
        #expect(throws: MalformedBytes.self) { try wrong.withView { try LeafChanges($0) } }
        wrong[8] = 2
        wrong.insert(0, at: 10)
        wrong[9] = 0b10
        #expect(throws: MalformedBytes.self) { try wrong.withView { try LeafChanges($0) } }
    }
}

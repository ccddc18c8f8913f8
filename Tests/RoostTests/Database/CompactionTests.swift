import Roost
import Testing

/// Bodies are shared between a collection's trees; compaction must carry each along once and for all that lead to it.
@Suite struct CompactionTests {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func nothingChangesByCompaction(seed: UInt64) throws {
        let files = try TemporaryDatabase()
        let database = try files.open()
        let notes = try database.collection("notes")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<6 {
            for _ in 0..<10 {
                try database.write { batch in
                    for _ in 0..<5 { try notes.change(batch, &generator) }
                }
            }
            let before = try notes.snapshot()
            let content = try before.content()
            try database.compact()
            #expect(try notes.snapshot().content() == content)
            #expect(try before.content() == content, "an older snapshot reads on")
            try notes.snapshot().expectConsistency()
            #expect(try database.check().isSound)
        }
        let content = try notes.snapshot().content()
        try database.close()
        #expect(try files.use { try $0.collection("notes").snapshot().content() } == content)
    }
}

import Testing

@testable import RoostStorage

/// Overlaps are found whatever memory there is.
@Suite struct ChunkLedgerTests {
    /// Notes `chunks` as often as the ledger asks for.
    private func findings(
        _ chunks: [(ChunkReference, ChunkLedger.Use)], memory: Int
    ) -> (found: [CheckFinding], rounds: Int) {
        let list = FindingList(limit: 1000)
        var (lower, rounds) = (UInt64?.some(0), 0)
        while let start = lower {
            let ledger = ChunkLedger(from: start, memoryLimit: memory, list)
            for (chunk, use) in chunks { ledger.note(chunk, use) }
            lower = ledger.finish()
            rounds += 1
        }
        return (list.findings, rounds)
    }

    private func chunks(_ generator: inout SplitMix64) -> [(ChunkReference, ChunkLedger.Use)] {
        var offset: UInt64 = 8192
        var chunks: [(ChunkReference, ChunkLedger.Use)] = []
        for _ in 0..<5000 {
            let chunk = ChunkReference(offset: offset, length: UInt32.random(in: 6..<300, using: &generator))
            let isShared = Bool.random(using: &generator)
            chunks.append((chunk, isShared ? .shared : .owned))
            if isShared {
                for _ in 0..<Int.random(in: 0..<3, using: &generator) { chunks.append((chunk, .borrowed)) }
            }
            offset =
                chunk.end
                + (Bool.random(using: &generator) ? 0 : UInt64.random(in: 1..<99, using: &generator))
        }
        return chunks.shuffled(using: &generator)
    }

    @Test(arguments: [1 << 10, 1 << 14, 1 << 26])
    func chunksApartAreFine(memory: Int) {
        var generator = SplitMix64(seed: 5)
        let (found, rounds) = findings(chunks(&generator), memory: memory)
        #expect(found == [])
        #expect((rounds > 1) == (memory < 1 << 16))
    }

    @Test(arguments: [1 << 10, 1 << 14, 1 << 26], 1...5)
    func overlapAndLostOwnersAreFound(memory: Int, seed: Int) throws {
        var generator = SplitMix64(seed: UInt64(seed))
        var chunks = chunks(&generator)
        let victim = try #require(chunks.first { $0.1 == .owned && $0.0.length > 20 }).0
        let inside = ChunkReference(offset: victim.offset + 9, length: 6)
        let orphan = ChunkReference(offset: 1 << 40, length: 10)
        let unshared = try #require(chunks.last { $0.1 == .owned && $0.0 != victim }).0
        chunks.insert((inside, .owned), at: Int.random(in: 0..<chunks.count, using: &generator))
        chunks.insert((orphan, .borrowed), at: Int.random(in: 0..<chunks.count, using: &generator))
        chunks.insert((unshared, .borrowed), at: Int.random(in: 0..<chunks.count, using: &generator))
        let offsets = Set(findings(chunks, memory: memory).found.map(\.offset))
        #expect(offsets == [inside.offset, orphan.offset, unshared.offset])
    }
}

import Foundation
import RoostFile
import Testing

@testable import RoostStorage

/// The table of where values went, also when it outgrows its memory.
@Suite struct RelocationTests {
    private func relocations(in directory: TemporaryDirectory, memory: Int) -> Relocations {
        let files = CompactionFiles(path: directory.file("store"), medium: Environment.system.medium)
        return Relocations(
            files: files, access: FileAccess(permissions: 0o600, owner: getuid(), group: getgid()),
            memory: memory)
    }

    @Test(arguments: [100, 5_000, 60_000])
    func findsWhatWasAdded(count: Int) throws {
        let directory = try TemporaryDirectory()
        let relocations = relocations(in: directory, memory: 48 * 500)
        var generator = SplitMix64(seed: UInt64(count))
        var expected: [UInt64: ChunkReference] = [:]
        for _ in 0..<count {
            let old = UInt64.random(in: 0..<1 << 48, using: &generator)
            let new = ChunkReference(
                offset: .random(in: 0..<1 << 48, using: &generator),
                length: .random(in: 1 ... .max, using: &generator))
            guard expected[old] == nil else { continue }
            try relocations.add(old, new)
            expected[old] = new
            if expected.count % 997 == 0 { #expect(try relocations.find(old) == new) }
        }
        for (old, new) in expected { #expect(try relocations.find(old) == new) }
        for old in expected.keys.sorted() { #expect(try relocations.find(old) == expected[old]) }
        for _ in 0..<1_000 {
            let old = UInt64.random(in: 0..<1 << 48, using: &generator)
            #expect(try relocations.find(old) == expected[old])
        }
        #expect((relocations.scratchEnd > 0) == (count > 1_000))
        #expect(try Environment.system.medium.list(directory.path).isEmpty)
    }

    @Test(arguments: [2, 300, 7_000])
    func findsWhatWasAddedAsRuns(length: Int) throws {
        let directory = try TemporaryDirectory()
        let relocations = relocations(in: directory, memory: 48 * 5_000)
        var generator = SplitMix64(seed: UInt64(length))
        var expected: [UInt64: ChunkReference] = [:]
        for number in 0..<40 {
            var run: [Relocation] = []
            // Runs that lie among one another, and some that are shorter.
            let count = number % 3 == 0 ? length / 2 : length
            for old in (0..<count).map({ UInt64($0 * 64 + number) }) {
                let new = ChunkReference(
                    offset: .random(in: 0..<1 << 48, using: &generator),
                    length: .random(in: 1 ... .max, using: &generator))
                run.append(Relocation(old, new))
                expected[old] = new
            }
            try relocations.add(run)
            let single = UInt64(1 << 40 + number)
            try relocations.add(single, ChunkReference(offset: single, length: 1))
            expected[single] = ChunkReference(offset: single, length: 1)
        }
        for old in expected.keys.sorted() { #expect(try relocations.find(old) == expected[old]) }
        for old in expected.keys.sorted(by: >) { #expect(try relocations.find(old) == expected[old]) }
        for old in UInt64(0)..<2_000 { #expect(try relocations.find(old) == expected[old]) }
        #expect((relocations.scratchEnd > 0) == (length > 300))
    }
}

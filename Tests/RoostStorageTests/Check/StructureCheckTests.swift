import RoostBytes
import Testing

@testable import RoostStorage

/// Faults with right checksums, as an error in the engine would write them: found by what nodes say of each other.
@Suite struct StructureCheckTests {
    private func findings(_ sample: ExampleStore) throws -> [CheckFinding] {
        try Store.check(sample.path, options: sample.options).findings
    }

    /// The newest root of a tree, and its first child.
    private func root(_ name: String, of sample: ExampleStore) throws -> (
        root: ChunkReference, child: StoredChild
    ) {
        let file = try sample.file.open(sample.options)
        let record = try #require(try sample.file.commits().last { $0.kind == .checkpoint })
        let replayer = Replayer(file: file, reductions: [.sum], nodeSize: 1024)
        let tree = try #require(try replayer.load(record).trees.first { $0.name == name })
        guard case .stored(let root, _) = tree.root else { throw StoreError(.notFound, "no root") }
        let payload = try file.payload(.node, root.chunk)
        let child = try payload.withView { bytes in try #require(PageView(bytes)).child(0) }
        return (root.chunk, child)
    }

    /// Where in the root's page the first child is described.
    private func cell(_ page: [UInt8]) -> Int {
        let prefix = Int(page[4]) | Int(page[5]) << 8
        return Int(page[8 + prefix + 6]) | Int(page[8 + prefix + 7]) << 8
    }

    @Test func wrongCountIsFound() throws {
        let sample = try ExampleStore()
        let (root, child) = try root("plain", of: sample)
        try sample.file.rewrite(root) { page in
            let place = cell(page) + 6 + varintLength(UInt64(child.chunk.length))
            page[place] ^= 1
        }
        let findings = try findings(sample)
        #expect(findings.contains { $0.offset == child.chunk.offset && $0.what.contains("miscounted") })
        #expect(findings.contains { $0.offset == root.offset && $0.tree == "plain" })
    }

    @Test func wrongLiveBytesAreFound() throws {
        let sample = try ExampleStore()
        let (root, child) = try root("plain", of: sample)
        try sample.file.rewrite(root) { page in
            let lengths = [UInt64(child.chunk.length), child.summary.count].map(varintLength).reduce(0, +)
            page[cell(page) + 6 + lengths] ^= 1
        }
        #expect(
            try findings(sample).contains {
                $0.offset == child.chunk.offset && $0.what.contains("live bytes")
            })
    }

    @Test func wrongReductionIsFound() throws {
        let sample = try ExampleStore()
        let (root, child) = try root("summed", of: sample)
        try sample.file.rewrite(root) { page in
            let lengths = [UInt64(child.chunk.length), child.summary.count, child.summary.bytes].map(
                varintLength)
            page[cell(page) + 6 + lengths.reduce(0, +) + 8] ^= 1
        }
        #expect(
            try findings(sample).contains { $0.offset == child.chunk.offset && $0.what.contains("reduction") }
        )
    }

    @Test func reductionThatWasNotGivenIsNoDamage() throws {
        let sample = try ExampleStore(checkpoints: false)
        let report = try Store.check(sample.path)
        #expect(report.findings.map(\.severity) == [.notice])
        #expect(report.isClean)
    }

    /// Makes the first key of a leaf greater than the others; returns where the leaf is.
    private func disorder(_ sample: ExampleStore) throws -> ChunkReference {
        let leaf = try root("summed", of: sample).child.chunk
        try sample.file.rewrite(leaf) { packed in
            // Page length (2), count (1), prefix with its length, control (2), then the first suffix with its length.
            let length = 4 + Int(packed[3]) + 2
            packed[length + Int(packed[length])] = 0xff
        }
        return leaf
    }

    @Test func keysOutOfOrderAreFound() throws {
        let sample = try ExampleStore()
        let leaf = try disorder(sample)
        #expect(try findings(sample).contains { $0.offset == leaf.offset && $0.what.contains("order") })
    }

    @Test func keysOutOfOrderAreNotCompacted() throws {
        let sample = try ExampleStore()
        _ = try disorder(sample)
        let store = try Store.open(sample.path, options: sample.options)
        let error = try #require(throws: StoreError.self) { _ = try store.compact() }
        #expect(error.code == .damaged)
        #expect(error.message.contains("\"summed\" are out of order"))
    }

    @Test func nodeOfAnotherLevelIsFound() throws {
        let sample = try ExampleStore()
        let root = try root("plain", of: sample).root
        try sample.file.rewrite(root) { $0[0] = 2 }
        #expect(try findings(sample).contains { $0.offset == root.offset && $0.what.contains("level") })
    }

    @Test func nodeThatLeadsInACircleIsFound() throws {
        let sample = try ExampleStore()
        let root = try root("plain", of: sample).root
        try sample.file.rewrite(root) { page in
            for index in 0..<6 {
                page[cell(page) + index] = UInt8(truncatingIfNeeded: root.offset >> (8 * UInt64(index)))
            }
        }
        #expect(try findings(sample).contains { $0.offset == root.offset && $0.what.contains("circle") })
    }

    @Test func borrowedValueWithoutAnOwnerIsFound() throws {
        let sample = try ExampleStore(commits: 1)
        let store = try Store.open(sample.path, options: sample.options)
        let offset = try store.write { transaction in
            let tree = try transaction.tree("plain")
            let value = try [UInt8](repeating: 1, count: 50).withView { try transaction.append(value: $0) }
            try [1].withView { try transaction.put($0, inline: .empty, value: value, owns: false, in: tree) }
            return value.chunk.offset
        }
        #expect(try store.check().findings.map(\.offset) == [offset])
        let (tree, reference) = (try store.tree("other"), ChunkReference(offset: offset, length: 56))
        try store.write { transaction in
            let value = ValueReference(chunk: reference)
            for key in [1, 2] as [UInt8] {
                try [key].withView {
                    try transaction.put($0, inline: .empty, value: value, owns: false, in: tree)
                }
            }
            try [3].withView { try transaction.put($0, inline: .empty, value: value, owns: true, in: tree) }
        }
        #expect(try store.check().findings == [])
        try store.write { transaction in
            let value = ValueReference(chunk: reference)
            try [4].withView { try transaction.put($0, inline: .empty, value: value, owns: true, in: tree) }
        }
        #expect(try store.check().findings.map(\.offset) == [offset])
    }
}

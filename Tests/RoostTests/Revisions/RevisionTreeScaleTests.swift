import Roost
import Testing

/// A million revisions in a line, and a document with nothing but conflicts: nothing recurses and nothing
/// is quadratic.
@Suite struct RevisionTreeScaleTests {
    private static let count = 1_000_000

    private static func line() -> [RevisionID] {
        (1...UInt64(count)).reversed().map { generation in
            let bytes = (0..<16).map { UInt8(truncatingIfNeeded: generation >> UInt64($0 % 8 * 8)) }
            return RevisionID(generation: generation, digest: RevisionDigest(bytes)!)
        }
    }

    @Test func aLineOfAMillionEdits() throws {
        let line = Self.line()
        var tree = RevisionTree()
        try tree.insert(history: line, sequence: 1)
        var bytes: [UInt8] = []
        tree.encode(to: &bytes)
        #expect(try RevisionTree(bytes.span) == tree)
        #expect(tree.history(of: line[0]).count == Self.count)
        var last = line[0]
        for _ in 0..<10_000 {
            let next = try RevisionID.next(after: last, digest: id("1-7").digest)
            try tree.edit(last, as: next, sequence: 2)
            last = next
        }
        #expect(tree.winner?.id == last)
        #expect(tree.stem(to: 1000) == Self.count + 9000)
        #expect(tree.count == 1000)
    }

    @Test func aHundredThousandConflicts() throws {
        let count = 100_000
        var tree = try RevisionTree(histories: "1-aa")
        let root = try id("1-aa")
        for number in 0..<UInt32(count) {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - $0 * 8)) }
            try tree.insert(
                history: [
                    RevisionID(
                        generation: 2, digest: RevisionDigest(bytes + [UInt8](repeating: 0, count: 12))!),
                    root,
                ], sequence: 1)
        }
        #expect(tree.conflicts.count == count - 1)
        #expect(tree.difference(from: tree.map(\.id)).missing.isEmpty)
        #expect(tree.purge(tree.leaves.map(\.id)).count == count)
        #expect(tree.isEmpty)
    }
}

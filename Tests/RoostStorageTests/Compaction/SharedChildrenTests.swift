import RoostBytes
import RoostSimulation
import Testing

@testable import RoostStorage

/// Files whose branch nodes lead to the same child twice, level by level: a walk over them would be exponentially long.
@Suite struct SharedChildrenTests {
    private let store: Store
    private let output: CommitBuffer
    private let root: Root

    init() throws {
        store = try Store.open(
            "store", options: StoreOptions(), environment: Simulation.environment(of: SimulatedMedium()))
        let file = store.state.file
        output = CommitBuffer(file: file, start: store.state.record.end, compression: 0, pool: nil)
        var child = try Self.append([0, 0, 0, 0, 0, 0, 0, 0], output)
        for level in 1...35 as ClosedRange<UInt8> {
            child = try Self.append(Self.inner(level, child), output)
        }
        root = .stored(StoredChild(chunk: child, summary: Summary(count: 1 << 35, bytes: 1 << 40)), level: 35)
    }

    private static func append(_ page: [UInt8], _ output: CommitBuffer) throws(StoreError) -> ChunkReference {
        try page.withView { (page) throws(StoreError) in try output.append(.node, page) }
    }

    /// A node with two children that are one, parted by the key "m".
    private static func inner(_ level: UInt8, _ child: ChunkReference) -> [UInt8] {
        let cell = ByteBuffer()
        cell.append(integer: UInt32(truncatingIfNeeded: child.offset))
        cell.append(integer: UInt16(truncatingIfNeeded: child.offset >> 32))
        for number in [UInt64(child.length), 1, 1, 0] { cell.append(varint: number) }
        let page = ByteBuffer()
        for byte in [level, 0, 2, 0, 0, 0, 0, 0] { page.append(byte) }
        for (head, length) in [(0, 0), (UInt32(0x6D) << 24, 1)] as [(UInt32, UInt16)] {
            page.append(integer: head)
            page.append(integer: length)
            page.append(integer: UInt16(24))
        }
        page.append(cell.view)
        return withExtendedLifetime((page, cell)) { page.view.array }
    }

    @Test func walkingTheLeavesIsGivenUp() throws {
        let file = store.state.file
        var walk = LeafWalk(file: file, end: output.start + UInt64(output.count), root: root)
        var leaves = 0
        #expect(throws: StoreError.self) {
            while try walk.next(), leaves < 100_000 { leaves += 1 }
        }
        #expect(leaves < 1_000)
    }

    @Test func cursorsEnd() throws {
        let cursor = Cursor(
            reader: TreeReader(file: store.state.file, root: root, reduction: nil), range: .all)
        #expect(try !cursor.next())
        #expect(try !cursor.previous())
    }

    @Test func checksEnd() throws {
        let findings = FindingList(limit: 10)
        let walk = TreeWalk(
            file: store.state.file, end: output.start + UInt64(output.count), tree: "tree", reduction: nil,
            findings: findings, readsValues: false
        ) { (_, _, _) throws(StoreError) in }
        try walk.walk(root)
        #expect(walk.nodeCount < 2_000)
    }
}

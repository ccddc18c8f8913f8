import Roost
import Testing

/// A device that edits its copy of one document and replicates with others.
private struct Peer {
    var tree = RevisionTree()
    var limit: Int
    private var sequence: UInt64 = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Does one of the things that users do. Contents are few, so that peers also make the same edit.
    mutating func work(_ generator: inout SeededGenerator) throws {
        let content = UInt64.random(in: 0..<3, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: try edit(tree.leaves.randomElement(using: &generator)?.id, deleted: true, content: 0)
        case 1: try edit(tree.leaves.randomElement(using: &generator)?.id, deleted: false, content: content)
        case 2: try resolve(content)
        case 3: for leaf in tree.leaves where !leaf.isDeleted { try edit(leaf.id, deleted: true, content: 0) }
        default: try edit(tree.winner?.id, deleted: false, content: content)
        }
    }

    private mutating func resolve(_ content: UInt64) throws {
        for conflict in tree.conflicts { try edit(conflict.id, deleted: true, content: 0) }
        try edit(tree.winner?.id, deleted: false, content: content)
    }

    private mutating func edit(_ base: RevisionID?, deleted: Bool, content: UInt64) throws {
        let parent = try tree.parentForEdit(of: base)
        let id = try RevisionID.next(
            after: parent, digest: digest(parent: parent, deleted: deleted, content: content))
        sequence += 1
        try tree.edit(parent, as: id, flags: deleted ? .deleted : [], sequence: sequence)
        tree.stem(to: limit)
    }

    /// Fetches what `other` has and this one lacks, in any order; some of it gets lost when the network is
    /// bad.
    mutating func pull(from other: Peer, losing: Bool, _ generator: inout SeededGenerator) throws {
        let difference = tree.difference(from: other.tree.leaves.map(\.id))
        for id in difference.missing.shuffled(using: &generator) where !(losing && generator.oneIn(3)) {
            sequence += 1
            try tree.insert(
                history: other.tree.history(of: id), flags: other.tree[id]?.flags ?? [], sequence: sequence)
        }
        tree.stem(to: limit)
    }
}

@Suite struct RevisionPeersTests {
    /// Runs three peers for a while, then lets everybody hear from everybody.
    private func run(_ seed: UInt64, limit: Int) throws -> [Peer] {
        var generator = SeededGenerator(seed: seed)
        var peers = [Peer](repeating: Peer(limit: limit), count: 3)
        for _ in 0..<60 {
            let one = Int.random(in: 0..<3, using: &generator)
            let other = (one + Int.random(in: 1...2, using: &generator)) % 3
            if generator.oneIn(2) {
                try peers[one].pull(from: peers[other], losing: true, &generator)
            } else {
                try peers[one].work(&generator)
            }
            peers[one].tree.expectInvariants()
        }
        for _ in 0..<2 {
            for one in [0, 1, 2].shuffled(using: &generator) {
                for other in [0, 1, 2].shuffled(using: &generator) where other != one {
                    try peers[one].pull(from: peers[other], losing: false, &generator)
                }
            }
        }
        return peers
    }

    @Test(arguments: 0..<120 as Range<UInt64>)
    func threePeersConverge(_ seed: UInt64) throws {
        let peers = try run(seed, limit: RevisionTree.defaultRevisionLimit)
        #expect(peers[0].tree.count > 1)
        #expect(peers[1].tree.shape == peers[0].tree.shape)
        #expect(peers[2].tree.shape == peers[0].tree.shape)
        #expect(Set(peers.map { $0.tree.winner?.id }).count == 1)
    }

    @Test(arguments: 0..<120 as Range<UInt64>)
    func threePeersConvergeThoughTheyStem(_ seed: UInt64) throws {
        let peers = try run(seed, limit: 12)
        #expect(Set(peers.map { $0.tree.leaves.map(\.id) }).count == 1)
        #expect(Set(peers.map { $0.tree.winner?.id }).count == 1)
    }

    @Test func theRunsContainWhatTheyAreMeantToTest() throws {
        let trees = try (0..<120).map { try run($0, limit: 1000).first!.tree }
        #expect(trees.contains { $0.isConflicted })
        #expect(trees.contains { $0.winner!.isDeleted })
        #expect(
            trees.contains { tree in tree.contains { $0.isDeleted && !$0.isLeaf } }, "a document recreated")
        let stemmed = try (0..<120).map { try run($0, limit: 12).first!.tree }
        #expect(zip(trees, stemmed).contains { $1.count < $0.count })
    }
}

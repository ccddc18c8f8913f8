import Roost
import Testing

/// What holds for every tree, tried on random ones and against ``RevisionModel``.
@Suite struct RevisionTreeProperties {
    private static let seeds: Range<UInt64> = 0..<60

    private static func messages(_ seed: UInt64, forging: Bool = true) -> (
        [RevisionUniverse.Message], SeededGenerator
    ) {
        var generator = SeededGenerator(seed: seed)
        let universe = RevisionUniverse(count: Int.random(in: 1...60, using: &generator), using: &generator)
        let count = Int.random(in: 1...80, using: &generator)
        return (universe.messages(count, forging: forging, using: &generator), generator)
    }

    @Test(arguments: seeds) func theOrderOfMergingDoesNotMatter(_ seed: UInt64) throws {
        var (messages, generator) = Self.messages(seed)
        let tree = try RevisionTree(messages)
        tree.expectInvariants()
        for _ in 0..<6 {
            messages.shuffle(using: &generator)
            #expect(try RevisionTree(messages) == tree)
        }
    }

    @Test(arguments: seeds) func mergingTreesIsMergingTheirHistories(_ seed: UInt64) throws {
        var (messages, generator) = Self.messages(seed)
        let all = try RevisionTree(messages)
        messages.shuffle(using: &generator)
        let cut = Int.random(in: 0...messages.count, using: &generator)
        let left = try RevisionTree(Array(messages[..<cut]))
        let right = try RevisionTree(Array(messages[cut...]))
        var union = left
        try union.merge(right)
        #expect(union == all)
        var opposite = right
        try opposite.merge(left)
        #expect(opposite == all)
    }

    @Test(arguments: seeds) func mergingAgainChangesNothing(_ seed: UInt64) throws {
        let (messages, _) = Self.messages(seed)
        let tree = try RevisionTree(messages)
        var again = tree
        for message in messages { #expect(try again.insert(message) == .known) }
        #expect(again == tree)
        try again.merge(tree)
        #expect(again == tree)
    }

    @Test(arguments: seeds) func everyPeerSeesTheSameWinner(_ seed: UInt64) throws {
        var (messages, generator) = Self.messages(seed)
        let model = RevisionModel(messages)
        for _ in 0..<4 {
            messages.shuffle(using: &generator)
            let tree = try RevisionTree(messages)
            #expect(RevisionModel(tree) == model)
            #expect(tree.winner?.id == model.winner)
            #expect(Set(tree.leaves.map(\.id)) == model.leaves)
            #expect(tree.leaves.first == tree.winner)
            #expect(tree.conflicts + tree.deletedConflicts == Array(tree.leaves.dropFirst()))
            #expect(tree.isConflicted == !tree.conflicts.isEmpty)
        }
    }

    @Test(arguments: seeds) func historiesAreThoseOfTheModel(_ seed: UInt64) throws {
        let (messages, _) = Self.messages(seed)
        let tree = try RevisionTree(messages)
        let model = RevisionModel(messages)
        for (offset, id) in tree.map(\.id).enumerated() where offset.isMultiple(of: 3) {
            #expect(tree.history(of: id) == model.path(of: id))
        }
    }

    @Test(arguments: seeds) func stemmingIsThatOfTheModel(_ seed: UInt64) throws {
        let (messages, _) = Self.messages(seed)
        let tree = try RevisionTree(messages)
        for limit in [1, 2, 3, 7, 20, 1000] {
            var stemmed = tree
            let removed = stemmed.stem(to: limit)
            stemmed.expectInvariants()
            #expect(RevisionModel(stemmed) == RevisionModel(tree).stemmed(to: limit))
            #expect(removed == tree.count - stemmed.count)
            #expect(stemmed.leaves == tree.leaves, "stemming keeps the leaves as they are")
            #expect(stemmed.stem(to: limit) == 0)
        }
    }

    @Test(arguments: seeds) func stemmedTreesMergeAgain(_ seed: UInt64) throws {
        let (messages, _) = Self.messages(seed, forging: false)
        let tree = try RevisionTree(messages)
        var stemmed = tree
        stemmed.stem(to: 3)
        var restored = stemmed
        for leaf in tree.leaves {
            let history = tree.history(of: leaf.id)
            #expect(try restored.insert(history: history, flags: leaf.flags, sequence: 1) == .known)
        }
        #expect(restored.shape == tree.shape, "histories bring back what was forgotten")
        restored.stem(to: 3)
        #expect(restored == stemmed)
    }

    @Test(arguments: seeds) func purgingIsThatOfTheModel(_ seed: UInt64) throws {
        var (messages, generator) = Self.messages(seed)
        var tree = try RevisionTree(messages)
        let before = RevisionModel(tree)
        let asked = tree.map(\.id).filter { _ in generator.oneIn(3) }
        let purged = tree.purge(asked)
        #expect(purged == asked.filter(before.leaves.contains))
        #expect(RevisionModel(tree) == before.purging(Set(purged)))
        tree.expectInvariants()
    }

    @Test(arguments: seeds) func differenceIsThatOfTheModel(_ seed: UInt64) throws {
        var (messages, generator) = Self.messages(seed)
        let half = messages.prefix(messages.count / 2)
        let tree = try RevisionTree(Array(half))
        let model = RevisionModel(Array(half))
        messages.shuffle(using: &generator)
        let offered = messages.prefix(10).map { $0.history[0] }
        let difference = tree.difference(from: offered)
        #expect(Set(difference.missing) == Set(offered).subtracting(model.parents.keys))
        let ancestors = model.leaves.filter { leaf in
            difference.missing.contains { leaf.generation < $0.generation }
        }
        #expect(difference.possibleAncestors == ancestors.sorted(by: >))
    }
}

import Roost
import Testing

/// Examples by name: what CouchDB, TouchDB and LiteCore do.
@Suite struct RevisionTreeTests {
    @Test func editsFormALine() throws {
        var tree = RevisionTree()
        #expect(tree.winner == nil && tree.leaves.isEmpty && !tree.isConflicted)
        #expect(try tree.edit(nil, as: id("1-aa"), sequence: 1) == .extendedLeaf)
        #expect(
            try tree.edit(id("1-aa"), as: id("2-bb"), flags: .hasAttachments, sequence: 2)
                == .extendedLeaf)
        let winner = try #require(tree.winner)
        #expect(try winner.id == id("2-bb"))
        #expect(
            winner.flags == .hasAttachments && winner.sequence == 2 && winner.isLeaf)
        #expect(try tree[id("1-aa")]?.isLeaf == false)
        #expect(try tree.parent(of: id("2-bb")) == id("1-aa"))
        #expect(try tree.history(of: id("2-bb")) == ids("2-bb 1-aa"))
        #expect(try tree.history(of: id("2-bb"), limit: 1) == ids("2-bb"))
        #expect(try tree.history(of: id("2-cc")) == [])
    }

    @Test func anEditOfAReplacedRevisionConflicts() throws {
        var tree = try RevisionTree(histories: "2-bb 1-aa")
        let before = tree
        for (parent, new) in [("1-aa", "2-cc"), ("1-ff", "2-cc"), (nil, "1-cc")] as [(String?, String)] {
            #expect(
                code { try tree.edit(parent.map { try id($0) }, as: id(new), sequence: 9) }
                    == .conflict)
        }
        #expect(tree == before)
        let error = #expect(throws: DatabaseError.self) { try tree.parentForEdit(of: id("1-aa")) }
        #expect(error?.message.contains("1-aa has been replaced by a later one. It is now at 2-bb.") == true)
    }

    @Test func theSameEditTwiceIsOneRevision() throws {
        var tree = try RevisionTree(histories: "1-aa")
        #expect(try tree.edit(id("1-aa"), as: id("2-bb"), sequence: 2) == .extendedLeaf)
        let once = tree
        #expect(try tree.edit(id("1-aa"), as: id("2-bb"), sequence: 3) == .known)
        #expect(tree == once)
    }

    @Test func anEditGoesUpByOneGeneration() throws {
        var tree = try RevisionTree(histories: "1-aa")
        #expect(
            code { try tree.edit(id("1-aa"), as: id("3-bb"), sequence: 2) } == .corruptRevisionData
        )
        #expect(
            code { try tree.edit(id("1-aa"), as: id("1-bb"), sequence: 2) } == .corruptRevisionData
        )
        #expect(code { try tree.edit(nil, as: id("2-bb"), sequence: 2) } == .corruptRevisionData)
        #expect(tree.count == 1)
    }

    @Test func deleteAndRecreateExtendsTheTombstone() throws {
        var tree = try RevisionTree(histories: "1-aa")
        try tree.edit(id("1-aa"), as: id("2-dd"), flags: .deleted, sequence: 2)
        #expect(tree.winner?.isDeleted == true)
        let parent = try tree.parentForEdit(of: nil)
        #expect(try parent == id("2-dd"))
        #expect(code { try tree.edit(nil, as: id("1-bb"), sequence: 3) } == .conflict)
        try tree.edit(parent, as: id("3-bb"), sequence: 3)
        #expect(try tree.winner?.id == id("3-bb"))
        #expect(try tree.history(of: id("3-bb")) == ids("3-bb 2-dd 1-aa"))
        #expect(!tree.isConflicted)
    }

    @Test func ofSeveralTombstonesTheWinningOneIsRecreated() throws {
        let tree = try RevisionTree(histories: "3-aa! 2-aa 1-aa", "2-ff! 1-aa", "3-ab! 2-bb 1-aa")
        #expect(try tree.parentForEdit(of: nil) == id("3-ab"))
        #expect(try tree.parentForEdit(of: id("2-ff")) == id("2-ff"))
        #expect(tree.conflicts.isEmpty)
        #expect(try tree.deletedConflicts.map(\.id) == ids("3-aa 2-ff"))
    }

    @Test func theWinnerIsLiveThenLongThenHigh() throws {
        let tree = try RevisionTree(
            histories: "2-a4 1-c0", "2-f1 1-c0", "3-07 2-a4", "5-ff! 4-00 3-00 2-00 1-c0")
        #expect(try tree.leaves.map(\.id) == ids("3-07 2-f1 5-ff"))
        #expect(try tree.winner?.id == id("3-07"))
        #expect(try tree.conflicts.map(\.id) == ids("2-f1"))
        #expect(try tree.deletedConflicts.map(\.id) == ids("5-ff"))
        #expect(tree.isConflicted)
        let tie = try RevisionTree(histories: "2-0fff 1-aa", "2-10 1-aa", "2-0f 1-aa")
        #expect(try tie.leaves.map(\.id) == ids("2-10 2-0fff 2-0f"))
    }

    @Test func resolvingIsEditingOneAndDeletingTheOthers() throws {
        var tree = try RevisionTree(histories: "2-aa 1-aa", "2-bb 1-aa")
        #expect(try tree.edit(id("2-aa"), as: id("3-aa"), sequence: 3) == .extendedLeaf)
        #expect(tree.isConflicted)
        try tree.edit(id("2-bb"), as: id("3-dd"), flags: .deleted, sequence: 4)
        #expect(!tree.isConflicted)
        #expect(try tree.winner?.id == id("3-aa"))
    }

    @Test func insertionWithHistoryTellsWhatItDid() throws {
        var tree = RevisionTree()
        func insert(_ history: String) throws -> RevisionInsertion {
            try tree.insert(history: ids(history), sequence: 1)
        }
        #expect(try insert("3-cc 2-bb 1-aa") == .extendedLeaf)
        #expect(try insert("3-cc 2-bb 1-aa") == .known)
        #expect(try insert("2-bb") == .known)
        #expect(try insert("5-ee 4-dd 3-cc") == .extendedLeaf)
        #expect(try insert("3-c0 2-bb") == .newBranch)
        #expect(try insert("9-99 8-88") == .newBranch)
        #expect(try tree.leaves.map(\.id) == ids("9-99 5-ee 3-c0"))
        tree.expectInvariants()
    }

    @Test func aLaterHistoryFillsInWhatWasNotKnown() throws {
        var tree = try RevisionTree(histories: "4-dd 3-cc")
        #expect(
            try tree.insert(history: ids("3-cc 2-bb 1-aa"), flags: .deleted, sequence: 7)
                == .known)
        #expect(try tree.history(of: id("4-dd")) == ids("4-dd 3-cc 2-bb 1-aa"))
        let filled = try #require(try tree[id("3-cc")])
        #expect(filled.isDeleted && filled.sequence == 7 && !filled.isLeaf)
        #expect(tree.leaves.count == 1)
    }

    @Test func badHistoriesAreRefusedAndChangeNothing() throws {
        var tree = try RevisionTree(histories: "3-cc 2-bb 1-aa")
        let before = tree
        for history in [
            "", "3-dd 1-aa", "3-dd 3-cc", "3-cc 4-dd", "4-dd 3-cc 1-aa",
        ] {
            #expect(
                code { try tree.insert(history: ids(history), sequence: 1) }
                    == .corruptRevisionData,
                "\(history)")
        }
        #expect(tree == before)
    }

    @Test func differenceNamesTheMissingAndPossibleAncestors() throws {
        let tree = try RevisionTree(histories: "3-aa 2-aa 1-aa", "2-bb! 1-aa", "5-cc 4-cc 3-cc")
        let difference = try tree.difference(from: ids("4-dd 2-aa 3-ff 4-dd"))
        #expect(try difference.missing == ids("4-dd 3-ff"))
        #expect(try difference.possibleAncestors == ids("3-aa 2-bb"))
        let nothing = try tree.difference(from: ids("1-aa 5-cc"))
        #expect(nothing.missing.isEmpty && nothing.possibleAncestors.isEmpty)
        #expect(try RevisionTree().difference(from: ids("2-aa")).missing == ids("2-aa"))
    }

    @Test func stemmingKeepsTheNearestOfEachLeaf() throws {
        var tree = try RevisionTree(histories: "5-aa 4-aa 3-aa 2-aa 1-aa", "3-bb 2-aa")
        #expect(tree.stem(to: 3) == 0, "each revision is within 3 of a leaf")
        #expect(tree.stem(to: 2) == 2)
        #expect(try tree.map(\.id) == ids("2-aa 3-bb 4-aa 5-aa"))
        #expect(try tree.history(of: id("5-aa")) == ids("5-aa 4-aa"))
        #expect(try tree.history(of: id("3-bb")) == ids("3-bb 2-aa"))
        #expect(tree.stem(to: 1) == 2)
        #expect(try tree.map(\.id) == ids("3-bb 5-aa"))
    }

    @Test func purgingRemovesALeafAndItsOwnAncestors() throws {
        let tree = try RevisionTree(histories: "4-aa 3-aa 2-aa 1-aa", "3-bb 2-aa", "2-cc 1-aa")
        var one = tree
        #expect(try one.purge(ids("4-aa 2-aa 9-99 4-aa")) == ids("4-aa"))
        #expect(try one.map(\.id) == ids("1-aa 2-aa 2-cc 3-bb"))
        var two = tree
        #expect(try two.purge(ids("3-bb 4-aa")) == ids("3-bb 4-aa"))
        #expect(try two.map(\.id) == ids("1-aa 2-cc"))
        two.purge(try ids("2-cc"))
        #expect(two.isEmpty)
    }

    @Test func aRevisionWithTwoParentsKeepsBothPaths() throws {
        var tree = try RevisionTree(histories: "3-cc 2-bb 1-aa", "2-ff 1-ff")
        #expect(try tree.insert(history: ids("4-dd 3-cc 2-ff 1-ff"), sequence: 1) == .extendedLeaf)
        #expect(try tree.parents(of: id("3-cc")) == ids("2-ff 2-bb"))
        #expect(try tree.history(of: id("4-dd")) == ids("4-dd 3-cc 2-ff 1-ff"))
        #expect(try tree.leaves.map(\.id) == ids("4-dd"), "2-ff has been edited, as is known now")
        for root in ["1-aa", "1-ff"] {
            #expect(try tree.leaves(descendingFrom: id(root)).map(\.id) == ids("4-dd"))
        }
        #expect(try tree.difference(from: ids("2-bb 2-ff 1-aa 1-ff")).missing.isEmpty)
        tree.expectInvariants()
        var opposite = try RevisionTree(histories: "4-dd 3-cc 2-ff 1-ff", "3-cc 2-bb 1-aa")
        #expect(opposite.shape == tree.shape)
        #expect(try opposite.insert(history: ids("3-cc 2-bb 1-aa"), sequence: 1) == .known)
        #expect(try opposite.purge(ids("4-dd")) == ids("4-dd") && opposite.isEmpty)
        #expect(tree.stem(to: 2) == 4)
        #expect(try tree.map(\.id) == ids("3-cc 4-dd"))
    }

    /// The one of the two parents that another branch needs stays.
    @Test func aFurtherParentTakesTheFirstOnesPlace() throws {
        var tree = try RevisionTree(histories: "5-ee 4-dd 3-cc 2-ff", "3-cc 2-bb", "3-aa 2-bb")
        #expect(tree.stem(to: 3) == 1)
        #expect(try tree.parents(of: id("3-cc")) == ids("2-bb"))
        #expect(try tree.history(of: id("5-ee")) == ids("5-ee 4-dd 3-cc 2-bb"))
        tree.expectInvariants()
    }
}

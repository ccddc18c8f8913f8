import RoostBytes

// # Revision trees
//
// Two devices hold the same note. On a train without a network both edit it. No clock can be trusted to say
// which edit came "last", and throwing one away would lose somebody's work. So a document is not a value
// but a tree of values: each revision remembers which revision its author was looking at, its parent.
//
//              ┌── 2-a4 ── 3-07      the phone: two edits
//      1-c0 ───┤
//              └── 2-f1              the laptop: one edit
//
// **Leaves** are the revisions nothing is based on. With one leaf there is no question what the document
// is. When the devices meet, each sends the other the leaves it lacks together with their ancestors' IDs,
// and both arrive at the tree above. Merging is a set union: of the revisions and of the parent links.
// Union does not care for order or repetition, so however the messages travel, all devices end up with the
// same tree.
//
// **The winner** is the leaf a reader gets who asks for no revision in particular. All devices must choose
// the same one without asking each other, so the choice looks at nothing but the tree: a live leaf before a
// deleted one, then the higher generation, then the higher digest, compared as bytes. Here that is 3-07.
// The rule (CouchDB's) does not claim that the winner is the better edit. It only makes everybody see the
// same one.
//
// The other live leaves are **conflicts**. They stay readable until somebody who understands the document
// resolves them: by an edit of one leaf that says what the document should be, and by deleting the others.
//
// **Deleting** is an edit too: it adds a revision with the deleted flag, a tombstone. A tombstone travels
// like any other revision; if the revision were just removed, the next device to come along would bring it
// back. A document whose leaves are all tombstones is deleted, and to create it again is to edit the
// winning tombstone:
//
//      1-c0 ── 2-a4 ── 3-d1 (deleted) ── 4-5e
//
// **Generations** go up by one from parent to child. That makes cycles impossible by construction, lets two
// trees be compared without walking them, and tells which of our leaves could be an ancestor of a revision
// we lack.
//
// **Stemming.** A document edited a million times has a million ancestors, which serve only to recognise
// where another device's history joins ours. So each leaf keeps only so many of its nearest revisions (the
// revision limit, 1000 unless set), and what is farther from every leaf is forgotten. The oldest one kept
// becomes a root, of a generation above 1. The tree is then a forest: two branches may have lost the
// ancestor they share. The price: a device that was away for more than the limit's worth of edits sends a
// history that does not meet ours, and its old leaf shows up as a conflict although ours descends from it.
//
// **Purging** removes a leaf and the ancestors only it had, as if they had never been. It is not an edit
// and does not travel; the next replication may bring the branch back.
//
// An ID names one revision with one parent, as a rule: the digest covers the parent. But others make IDs as they
// like, and histories may give one revision two different parents. As in CouchDB both paths are kept. The revision is
// still one, with one body; of its parents the highest is the one that its history goes through, so that all devices
// tell the same.

/// The revisions of one document that are known here: a forest, held by value.
///
/// A `RandomAccessCollection` of ``Revision`` in ascending order of their IDs. Equal trees hold the same
/// revisions, links, flags, sequences and bodies, however they came about.
///
/// Complexities are in n, the number of revisions (see ``maximumCount``). No operation recurses and none is
/// worse than O(n log n), so a million revisions on one document are slow to store but nothing worse.
///
/// Invariants, which decoding checks and every mutation keeps:
/// 1. `nodes` is in strictly ascending order of `id`.
/// 2. A node's parents stand before it and are of the generation one lower. `parent` is the last of them; the others are
///    in `furtherParents`, which is in strictly ascending order of child and then parent.
/// 3. `isLeaf` is false exactly where some node names this one as its parent.
package struct RevisionTree: Hashable, Sendable {
    /// The most revisions a tree can hold: 2^24.
    package static let maximumCount = 1 << 24

    /// The most leaves that a document may get: each commit of an edit stores its whole tree, so the cost of as many conflicts,
    /// each in a commit of its own, grows with their square.
    package static let maximumLeafCount = 10_000

    /// The most revisions of a document that may get a further leaf. Whoever reads one revision decodes the whole tree, so histories
    /// of their own for thousands of leaves would take gigabytes of memory for each reader.
    package static let maximumBranchedCount = 100_000

    /// The revision limit where none is set; see ``stem(to:)``.
    package static let defaultRevisionLimit = 1000

    /// One revision and its link to its parent.
    struct Node: Hashable, Sendable {
        var id: RevisionID
        var flags: RevisionFlags
        var isLeaf: Bool
        /// The parent's index in `nodes`, or ``Node/none`` for a root.
        var parent: Int32
        var sequence: UInt64

        static let none: Int32 = -1
    }

    /// A parent of a node besides the one that the node names.
    struct Link: Hashable, Sendable, Comparable {
        var child: Int32
        var parent: Int32

        static func < (left: Self, right: Self) -> Bool {
            (left.child, left.parent) < (right.child, right.parent)
        }
    }

    var nodes: [Node]
    /// Empty in nearly every tree.
    var furtherParents: [Link] = []

    /// A document without revisions.
    package init() {
        nodes = []
    }
}

extension RevisionTree: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { nodes.count }

    /// The revision at `index` in ascending order of IDs. O(1).
    package subscript(index: Int) -> Revision {
        let node = nodes[index]
        return Revision(
            id: node.id, flags: node.flags, sequence: node.sequence, isLeaf: node.isLeaf)
    }
}

extension RevisionTree {
    /// The index of the revision `id`, `nil` when it is not in the tree. O(log n).
    package func index(of id: RevisionID) -> Int? {
        var low = 0
        var high = nodes.count
        while low < high {
            let middle = (low + high) / 2
            if nodes[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < nodes.count && nodes[low].id == id ? low : nil
    }

    /// The revision `id`, `nil` when it is not in the tree. O(log n).
    package subscript(id: RevisionID) -> Revision? {
        index(of: id).map { self[$0] }
    }

    /// The revision that `id` is an edit of, the highest one where there are several; `nil` when `id` is a root or not in
    /// the tree. O(log n).
    package func parent(of id: RevisionID) -> RevisionID? {
        guard let index = index(of: id) else { return nil }
        return parentIndex(of: index).map { nodes[$0].id }
    }

    /// All revisions that `id` is an edit of, highest first; more than one only where histories contradicted each other.
    /// O(log n).
    package func parents(of id: RevisionID) -> [RevisionID] {
        var parents: [RevisionID] = []
        if let index = index(of: id) { forEachParent(of: index) { parents.append(nodes[$0].id) } }
        return parents
    }

    /// Whether both know the same revisions as edits of the same ones. O(n).
    func hasSameLinks(as other: Self) -> Bool {
        nodes.elementsEqual(other.nodes) { $0.id == $1.id && $0.parent == $1.parent }
            && furtherParents == other.furtherParents
    }

    func parentIndex(of index: Int) -> Int? {
        let parent = nodes[index].parent
        return parent == Node.none ? nil : Int(parent)
    }

    /// Calls `body` with the index of each parent of the node at `index`, highest first. O(1) but for nodes with several.
    func forEachParent(of index: Int, _ body: (Int) -> Void) {
        if let parent = parentIndex(of: index) { body(parent) }
        guard !furtherParents.isEmpty else { return }
        for link in furtherParents(of: index).reversed() { body(Int(link.parent)) }
    }

    /// The links of the node at `index` to its further parents. O(log n).
    func furtherParents(of index: Int) -> ArraySlice<Link> {
        let start = furtherParents.partitioningIndex { $0.child >= index }
        return furtherParents[start...].prefix { $0.child == index }
    }
}

// MARK: Leaves

extension RevisionTree {
    /// The revision that stands for the document: the first of ``leaves``, `nil` for an empty tree.
    ///
    /// The document is deleted when its winner is. O(1) while the highest revision is live, O(n) at worst.
    package var winner: Revision? {
        var highestTombstone: Int?
        for index in nodes.indices.reversed() where nodes[index].isLeaf {
            guard nodes[index].flags.contains(.deleted) else { return self[index] }
            if highestTombstone == nil { highestTombstone = index }
        }
        return highestTombstone.map { self[$0] }
    }

    /// The revisions that nothing is based on, in the order in which they would win: live before deleted,
    /// then higher generation first, then higher digest first. O(n).
    package var leaves: [Revision] {
        let descending = reversed().filter(\.isLeaf)
        return descending.filter { !$0.isDeleted } + descending.filter(\.isDeleted)
    }

    /// The leaves that `ancestor` is or led to, in winning order. Empty when it is not in the tree. O(n).
    package func leaves(descendingFrom ancestor: RevisionID) -> [Revision] {
        guard let start = index(of: ancestor) else { return [] }
        var descends = [Bool](repeating: false, count: count)
        descends[start] = true
        for index in nodes.indices[(start + 1)...] {
            forEachParent(of: index) { if descends[$0] { descends[index] = true } }
        }
        return leaves.filter { leaf in index(of: leaf.id).map { descends[$0] } ?? false }
    }

    /// The live leaves besides the winner, in winning order: edits that nobody has reconciled. O(n).
    package var conflicts: [Revision] {
        Array(leaves.dropFirst().prefix { !$0.isDeleted })
    }

    /// The deleted leaves besides the winner, in winning order: branches that were closed. O(n).
    package var deletedConflicts: [Revision] {
        leaves.dropFirst().filter(\.isDeleted)
    }

    /// Whether there is more than one live leaf. O(n).
    package var isConflicted: Bool {
        var live = 0
        for node in nodes.reversed() where node.isLeaf && !node.flags.contains(.deleted) {
            live += 1
            if live > 1 { return true }
        }
        return false
    }
}

// MARK: History

extension RevisionTree {
    /// `id` and its ancestors, newest first, through the highest parent where there are several, as far back as they are known but no more than `limit` of them.
    /// Empty when `id` is not in the tree. O(log n + length).
    package func history(of id: RevisionID, limit: Int = .max) -> [RevisionID] {
        var history: [RevisionID] = []
        var next = index(of: id)
        while let index = next, history.count < limit {
            history.append(nodes[index].id)
            next = parentIndex(of: index)
        }
        return history
    }

    /// Which of the revisions that a peer offers are missing here, and what of ours it could build on.
    ///
    /// A revision that is known only as an ancestor is not missing. O(n + k log n) for k offered revisions.
    package func difference(from offered: [RevisionID]) -> RevisionDifference {
        var seen: Set<RevisionID> = []
        let missing = offered.filter { index(of: $0) == nil && seen.insert($0).inserted }
        let newest = missing.max()?.generation ?? 0
        let older = nodes.reversed().filter { $0.isLeaf && $0.id.generation < newest }
        return RevisionDifference(missing: missing, possibleAncestors: older.map(\.id))
    }
}

/// The answer to a peer that asks which of its revisions we lack (CouchDB's `_revs_diff`).
package struct RevisionDifference: Hashable, Sendable {
    /// The revisions asked about that are not in the tree, each once, in the order asked.
    package var missing: [RevisionID]

    /// Our leaves of a lower generation than some missing revision, highest first. The peer may send only
    /// what changed since one of them.
    package var possibleAncestors: [RevisionID]
}

// MARK: - RevisionUnion

/// The union of two revision trees under construction, fed with the nodes of both in ascending order of IDs.
struct RevisionUnion {
    private let left: RevisionTree
    private let right: RevisionTree
    private var result = RevisionTree()
    /// For each node of the left and of the right tree taken so far, where it is in the result.
    private var fromLeft: [Int32] = []
    private var fromRight: [Int32] = []
    /// The parents of the node that is being added.
    private var parents: [Int32] = []

    init(of left: RevisionTree, and right: RevisionTree) {
        self.left = left
        self.right = right
        result.nodes.reserveCapacity(max(left.count, right.count))
    }

    /// Takes the next node of the left tree, which the right one does not have.
    mutating func appendLeft() {
        append(left.nodes[fromLeft.count], isLeft: true, isRight: false)
    }

    /// Takes the next node of the right tree, which the left one does not have.
    mutating func appendRight() {
        append(right.nodes[fromRight.count], isLeft: false, isRight: true)
    }

    /// Takes the next node of both trees, which are of the same ID.
    mutating func appendBoth() {
        var node = left.nodes[fromLeft.count]
        node.fill(from: right.nodes[fromRight.count])
        append(node, isLeft: true, isRight: true)
    }

    /// The finished tree.
    consuming func finish() throws(DatabaseError) -> RevisionTree {
        guard result.count <= RevisionTree.maximumCount else {
            throw DatabaseError(
                .limitExceeded,
                "The document would have \(result.count) revisions, and the most is "
                    + "\(RevisionTree.maximumCount). Resolve its conflicts "
                    + "or lower the collection's revision limit."
            )
        }
        return result
    }

    private mutating func append(_ node: RevisionTree.Node, isLeft: Bool, isRight: Bool) {
        let place = Int32(result.nodes.count)
        // Parents stand before their children, so they are in the result already.
        parents.removeAll(keepingCapacity: true)
        if isLeft {
            left.forEachParent(of: fromLeft.count) { parents.append(fromLeft[$0]) }
            fromLeft.append(place)
        }
        if isRight {
            right.forEachParent(of: fromRight.count) { parents.append(fromRight[$0]) }
            fromRight.append(place)
        }
        if parents.count > 1 { parents.sort() }
        var node = node
        node.isLeaf = true
        node.parent = parents.last ?? RevisionTree.Node.none
        result.nodes.append(node)
        var previous = RevisionTree.Node.none
        for parent in parents where parent != previous {
            result.nodes[Int(parent)].isLeaf = false
            if parent != node.parent {
                result.furtherParents.append(RevisionTree.Link(child: place, parent: parent))
            }
            previous = parent
        }
    }
}

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

/// The union of two revision trees under construction, fed with the nodes of both in ascending order of IDs.
struct RevisionUnion {
    private var nodes: [RevisionTree.Node] = []
    /// For each node of the left and of the right tree taken so far, where it is in `nodes`.
    private var fromLeft: [Int32] = []
    private var fromRight: [Int32] = []

    init(reserving count: Int) {
        nodes.reserveCapacity(count)
    }

    /// Takes the next node of the left tree, which the right one does not have.
    mutating func appendLeft(_ node: RevisionTree.Node) {
        fromLeft.append(Int32(nodes.count))
        append(node, parent: Self.translate(node.parent, fromLeft))
    }

    /// Takes the next node of the right tree, which the left one does not have.
    mutating func appendRight(_ node: RevisionTree.Node) {
        fromRight.append(Int32(nodes.count))
        append(node, parent: Self.translate(node.parent, fromRight))
    }

    /// Takes the next node of both trees, which are of the same ID.
    mutating func appendBoth(_ left: RevisionTree.Node, _ right: RevisionTree.Node) throws(DatabaseError) {
        // Parents stand before their children, so they are translated already.
        let leftParent = Self.translate(left.parent, fromLeft)
        let rightParent = Self.translate(right.parent, fromRight)
        guard leftParent == rightParent || leftParent < 0 || rightParent < 0 else {
            throw DatabaseError(
                .corruptRevisionData,
                "Revision \(left.id) is an edit of \(nodes[Int(leftParent)].id) in one history and of "
                    + "\(nodes[Int(rightParent)].id) in another. One of them is forged or damaged; purge the "
                    + "document where it is wrong, and replicate it again.")
        }
        fromLeft.append(Int32(nodes.count))
        fromRight.append(Int32(nodes.count))
        var node = left
        node.fill(from: right)
        append(node, parent: max(leftParent, rightParent))
    }

    /// The finished nodes.
    consuming func finish() throws(DatabaseError) -> [RevisionTree.Node] {
        guard nodes.count <= RevisionTree.maximumCount else {
            throw DatabaseError(
                .limitExceeded,
                "The document would have \(nodes.count) revisions, and the most is "
                    + "\(RevisionTree.maximumCount). Resolve its conflicts "
                    + "or lower the collection's revision limit."
            )
        }
        return nodes
    }

    private mutating func append(_ node: RevisionTree.Node, parent: Int32) {
        var node = node
        node.parent = parent
        node.isLeaf = true
        if parent >= 0 { nodes[Int(parent)].isLeaf = false }
        nodes.append(node)
    }

    private static func translate(_ parent: Int32, _ positions: [Int32]) -> Int32 {
        parent < 0 ? parent : positions[Int(parent)]
    }
}

extension RevisionTree {
    /// Reads a tree from its stored form, which must be all of `bytes`.
    ///
    /// Bytes that are not exactly what ``encode(to:)`` writes for some tree are refused, whoever made them.
    /// Memory is bounded by 30 times the length of `bytes`. O(n).
    /// - Throws: `damaged`, whose message says what is wrong at which byte.
    package init(_ bytes: Span<UInt8>) throws(DatabaseError) {
        var reader = try StoredRevisionReader(bytes)
        let last = reader.count - 1
        nodes = []
        nodes.reserveCapacity(reader.count)
        // The entries stand in descending order: entry i becomes node `last` − i once the nodes are reversed.
        while let entry = try reader.next(bytes) {
            let parent = entry.parentDistance == 0 ? -1 : last - nodes.count - Int(entry.parentDistance)
            nodes.append(
                Node(
                    id: entry.id, flags: entry.flags, isLeaf: true, parent: Int32(parent),
                    sequence: entry.sequence))
            let index = reader.count - nodes.count
            furtherParents += entry.furtherParentDistances.map {
                Link(child: Int32(index), parent: Int32(index - Int($0)))
            }
        }
        nodes.reverse()
        furtherParents.reverse()
        for index in nodes.indices {
            if let parent = parentIndex(of: index) { try noteEdit(index, of: parent, bytes.count) }
        }
        for link in furtherParents { try noteEdit(Int(link.child), of: Int(link.parent), bytes.count) }
    }

    /// Marks `parent` as edited, if it can be the parent of `child`.
    private mutating func noteEdit(
        _ child: Int, of parent: Int, _ end: Int
    ) throws(DatabaseError) {
        guard nodes[parent].id.generation == nodes[child].id.generation - 1 else {
            throw StoredRevisionReader.damaged(
                at: end, "\(nodes[child].id) cannot be an edit of \(nodes[parent].id)")
        }
        nodes[parent].isLeaf = false
    }
}

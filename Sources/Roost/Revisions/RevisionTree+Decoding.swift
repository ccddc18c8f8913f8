extension RevisionTree {
    /// Reads a tree from its stored form, which must be all of `bytes`.
    ///
    /// Bytes that are not exactly what ``encode(to:)`` writes for some tree are refused, whoever made them.
    /// Memory is bounded by 20 times the length of `bytes`. O(n).
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
                    sequence: entry.sequence, body: entry.body))
        }
        nodes.reverse()
        for index in nodes.indices {
            guard let parent = parentIndex(of: index) else { continue }
            guard nodes[parent].id.generation == nodes[index].id.generation - 1 else {
                throw StoredRevisionReader.damaged(
                    at: bytes.count, "\(nodes[index].id) cannot be an edit of \(nodes[parent].id)")
            }
            nodes[parent].isLeaf = false
        }
    }

    /// The winner of a stored tree, `nil` for a tree without revisions.
    ///
    /// O(1) for a document whose highest revision is live, since that one is stored first; the rest of
    /// `bytes` is then not looked at. O(n) otherwise.
    /// - Throws: `damaged` when the bytes that were needed are not a stored tree's.
    package static func winner(inStored bytes: Span<UInt8>) throws(DatabaseError) -> Revision? {
        var reader = try StoredRevisionReader(bytes)
        guard let first = try reader.next(bytes) else { return nil }
        guard first.flags.contains(.deleted) else {
            return Revision(
                id: first.id, flags: first.flags, sequence: first.sequence, body: first.body, isLeaf: true)
        }
        return try Self(bytes).winner
    }
}

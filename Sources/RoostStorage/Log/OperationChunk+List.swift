import RoostBytes

/// The list of trees that a compacted file begins with: a section that makes them, and for each tree with entries a section
/// without operations. The marks that follow it have the same form: a section without operations of the tree whose
/// leaves end there and another one of the tree whose leaves begin, if any do. Replaying either changes nothing in a file that has
/// these trees.
extension OperationChunk {
    /// Appends the list of `trees`, which are in the order of their numbers.
    static func append(listOf trees: [TreeVersion], to buffer: ByteBuffer) {
        let making = ByteBuffer()
        for tree in trees {
            TreeOperation.create(id: tree.id, name: tree.name, reduction: tree.reduction).encode(to: making)
        }
        append(section: treeSection, making.view, to: buffer)
        let nothing = ByteBuffer()
        for tree in trees where tree.root.summary.count > 0 {
            append(section: tree.id, nothing.view, to: buffer)
        }
        extendLifetime((making, nothing))
    }

    /// Appends the mark between leaves of `former` and of `next`, which may be one tree; `nil` where no more leaves follow.
    static func append(markBetween former: TreeVersion, _ next: TreeVersion?, to buffer: ByteBuffer) {
        let making = ByteBuffer()
        let trees = [former] + (next.map { [$0] } ?? [])
        for tree in former.id == next?.id ? [former] : trees {
            TreeOperation.create(id: tree.id, name: tree.name, reduction: tree.reduction).encode(to: making)
        }
        append(section: treeSection, making.view, to: buffer)
        let nothing = ByteBuffer()
        for tree in trees { append(section: tree.id, nothing.view, to: buffer) }
        extendLifetime((making, nothing))
    }

    /// The list or mark in `payload`: what makes trees, and the numbers of those with entries.
    static func list(
        in payload: ByteView
    ) throws(MalformedBytes) -> (making: [TreeOperation], filled: [UInt64]) {
        var (making, filled): ([TreeOperation], [UInt64]) = ([], [])
        for section in try sections(of: payload) {
            if section.tree == treeSection {
                making += try TreeOperation.decode(section.bytes)
            } else {
                // Operations of a commit are neither a list nor a mark.
                guard section.bytes.isEmpty else { throw MalformedBytes(at: 0) }
                filled.append(section.tree)
            }
        }
        return (making, filled)
    }
}

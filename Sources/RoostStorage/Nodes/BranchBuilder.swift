import RoostBytes

/// Builds the page of a branch node.
final class BranchBuilder {
    private let page = ByteBuffer(capacity: 8192)
    private let cells = ByteBuffer(capacity: 8192)

    /// The page of `children`, whose keys part at `separators`; the first child's separator is not stored.
    ///
    /// The common prefix is shorter than every separator, so that the empty first slot orders below them all.
    func build(level: UInt8, _ separators: SeparatorTable, _ children: [StoredChild]) -> ByteView {
        let count = children.count
        var prefix = 0
        if count > 1 {
            prefix = separators.key(1).commonPrefix(separators.key(count - 1))
            prefix = min(prefix, separators.key(1).count - 1)
        }
        page.reset()
        cells.reset()
        page.append(level)
        page.append(UInt8(0))
        page.append(integer: UInt16(count))
        page.append(integer: UInt16(prefix))
        page.append(integer: UInt16(0))
        if count > 1 { page.append(separators.key(1).slice(0, prefix)) }
        let start = page.count + count * PageView.slotLength
        for index in 0..<count {
            let suffix = index == 0 ? ByteView.empty : separators.key(index).dropFirst(prefix)
            page.append(integer: PageView.head(of: suffix))
            page.append(integer: UInt16(suffix.count))
            page.append(integer: UInt16(start + cells.count))
            if suffix.count > 4 { cells.append(suffix.dropFirst(4)) }
            append(children[index])
        }
        page.append(cells.view)
        return page.view
    }

    private func append(_ child: StoredChild) {
        cells.append(integer: UInt32(truncatingIfNeeded: child.chunk.offset))
        cells.append(integer: UInt16(truncatingIfNeeded: child.chunk.offset >> 32))
        cells.append(varint: UInt64(child.chunk.length))
        cells.append(varint: child.summary.count)
        cells.append(varint: child.summary.bytes)
        child.reduction.withView { cells.append(prefixed: $0) }
    }
}

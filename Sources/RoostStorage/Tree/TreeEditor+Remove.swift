import RoostBytes

extension TreeEditor {
    /// Deletes the keys from `lower` up to, not including, `upper`; `nil` is open. Subtrees that lie within the range
    /// are dropped whole, so it is O(log n) plus the entries of two leaves.
    func deleteRange(_ lower: [UInt8]?, _ upper: [UInt8]?) throws(StoreError) {
        try settle()
        try logTail()
        tail = nil
        log.deleteRange(lower, upper)
        while try dropCovered(lower, upper) {}
        try deleteOneByOne(lower, upper)
    }

    /// Drops the topmost run of children that lie within the range; `false` when there is none left.
    private func dropCovered(_ lower: [UInt8]?, _ upper: [UInt8]?) throws(StoreError) -> Bool {
        for alongLower in [true, false] {
            var (lower, upper) = (lower, upper)
            path.removeAll(keepingCapacity: true)
            var node = ownedRoot()
            while let inner = node as? InnerNode {
                let range = covered(inner, lower, upper)
                if !range.isEmpty {
                    path.append(Step(node: inner, index: range.lowerBound))
                    for index in range { forget(inner[index]) }
                    try replace(range, path, with: [], separators: [])
                    return true
                }
                let first = lower.map { key in key.withView { inner.separators.childIndex($0) } } ?? 0
                let last =
                    upper.map { key in key.withView { inner.separators.childIndex(below: $0) } } ?? inner
                    .count - 1
                // Where the two ends part, everything to the right of the lower one is in the range, and everything
                // to the left of the upper one.
                if first < last {
                    if alongLower { upper = nil } else { lower = nil }
                }
                let index = alongLower ? first : max(first, last)
                node = try ownedChild(inner, index)
                path.append(Step(node: inner, index: index))
            }
        }
        return false
    }

    /// The children of `inner` all of whose keys are in the range. The first child starts where `inner` does, which
    /// is at or above `lower` only if that is open.
    private func covered(_ inner: InnerNode, _ lower: [UInt8]?, _ upper: [UInt8]?) -> Range<Int> {
        var start = 0
        if let lower {
            start = lower.withView { inner.separators.childIndex(below: $0) } + 1
        }
        let end = upper.map { key in key.withView { inner.separators.childIndex($0) } } ?? inner.count
        return start..<max(start, end)
    }

    private func forget(_ child: Child) {
        switch child.memory {
        case let leaf as LeafNode: pendingBytes -= leaf.pendingBytes
        case let inner as InnerNode: for index in 0..<inner.count { forget(inner[index]) }
        default: break
        }
    }

    /// Deletes what is left of the range, which lies in the leaves at its two ends.
    private func deleteOneByOne(_ lower: [UInt8]?, _ upper: [UInt8]?) throws(StoreError) {
        let image = LeafImage()
        var from = lower ?? []
        while true {
            let place = try reader.locate(.key(from), into: image)
            let page = image.page
            for index in from.withView({ page.search($0).index })..<page.count {
                let key = page.key(index)
                if let upper, !key.lexicographicallyPrecedes(upper) { return }
                try key.withView { (view) throws(StoreError) in _ = try deleteUnlogged(view) }
            }
            guard let next = place.upper else { return }
            guard from.lexicographicallyPrecedes(next) else {
                throw context.file.damaged(
                    "inner nodes with separators out of order", ChunkReference(offset: 0, length: 0))
            }
            from = next
            if let upper, !from.lexicographicallyPrecedes(upper) { return }
        }
    }
}

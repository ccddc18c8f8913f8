import RoostBytes

extension TreeReader {
    /// The tree's reduction over the keys from `lower` up to, not including, `upper`. O(log n) plus the pending
    /// changes in the range.
    func reduce(from lower: [UInt8]?, to upper: [UInt8]?) throws(StoreError) -> [UInt8] {
        guard let reduction else {
            throw StoreError(
                .missingReduction, "The tree was made without a reduction, so there is none to read.")
        }
        guard let handle = root.handle else { return reduction.identity }
        let pin = file.cache.reclaimer.readers.pin()
        return try reduce(handle, reduction, lower, upper, Format.maximumLevel, pin)
    }

    private func reduce(
        _ node: NodeHandle, _ reduction: Reduction, _ lower: [UInt8]?, _ upper: [UInt8]?, _ depth: Int,
        _ pin: borrowing EpochReclaimer.Pin
    ) throws(StoreError) -> [UInt8] {
        guard depth >= 0 else { throw file.damaged("a tree deeper than any can be", node.chunk) }
        guard let branch = try file.branch(node, pin) else {
            return try reduceLeaf(node, reduction, lower, upper, pin)
        }
        let first = lower.map { key in key.withView { branch.childIndex($0) } } ?? 0
        let last = upper.map { $0.withView { branch.childIndex(below: $0) } } ?? branch.count - 1
        var value = reduction.identity
        guard first <= last else { return value }
        for index in first...last {
            let child = try branch.child(index, in: file)
            let from = index == first ? lower : nil
            let to = index == last ? upper : nil
            let isWhole = child.memory == nil && from == nil && to == nil && !child.stored.reduction.isEmpty
            let part =
                isWhole
                ? child.stored.reduction
                : try reduce(NodeHandle(child), reduction, from, to, depth - 1, pin)
            value = reduction.combine(value, part)
        }
        return value
    }

    private func reduceLeaf(
        _ node: NodeHandle, _ reduction: Reduction, _ lower: [UInt8]?, _ upper: [UInt8]?,
        _ pin: borrowing EpochReclaimer.Pin
    ) throws(StoreError) -> [UInt8] {
        let image = LeafImage()
        try load(node, pin, into: image)
        let first = lower.map { $0.withView { image.page.search($0).index } } ?? 0
        let last = upper.map { $0.withView { image.page.search($0).index } } ?? image.count
        return try file.reading(node.chunk) { () throws(MalformedBytes) in
            try reduction.value(of: image.page, first..<max(first, last))
        }
    }
}

extension Reduction {
    /// The value over some entries of a leaf.
    func value(of page: PageView, _ range: Range<Int>) throws(MalformedBytes) -> [UInt8] {
        var value = identity
        for index in range {
            value = combine(value, map(page.key(index), try page.entry(index).inline.array))
        }
        return value
    }
}

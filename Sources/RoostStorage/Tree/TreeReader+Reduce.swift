import RoostBytes

/// Reducing ranges of keys.
///
/// The functions belong to the application and may do anything, so none is called while this thread is announced as a
/// reader of the node cache: what is needed of a node is copied before.
extension TreeReader {
    /// The tree's reduction over the keys from `lower` up to, not including, `upper`; `nil` where there are none.
    /// O(log n) where the nodes hold values.
    func reduce(from lower: [UInt8]?, to upper: [UInt8]?) throws -> [UInt8]? {
        let function = try reductionFunction()
        var values = ReductionValues()
        if let handle = root.handle {
            try reduce(handle, function, lower, upper, Format.maximumLevel, into: &values)
        }
        return try function.value(of: values)
    }

    /// The tree's function.
    ///
    /// - Throws: ``StoreError/Code/missingReduction`` for a tree that has none, or none that is known.
    func reductionFunction() throws(StoreError) -> Reduction {
        guard let reduction else {
            throw StoreError(
                .missingReduction,
                "\(file.path): the tree was made without a reduction, so there is none to read.")
        }
        guard let function = reduction.function else {
            throw StoreError(
                .missingReduction,
                "\(file.path): the tree keeps the reduction \"\(reduction.name)\", which is not known here. "
                    + "Give it in the options when opening the store, or register it before reading.")
        }
        return function
    }

    private func reduce(
        _ node: NodeHandle, _ function: Reduction, _ lower: [UInt8]?, _ upper: [UInt8]?, _ depth: Int,
        into values: inout ReductionValues
    ) throws {
        guard depth >= 0 else { throw file.damaged("a tree deeper than any can be", node.chunk) }
        let copy = LeafImage()
        guard let branch = try branch(node, copy) else {
            return try reduceLeaf(copy.page, function, lower, upper, into: &values)
        }
        let first = lower.map { key in key.withView { branch.childIndex($0) } } ?? 0
        let last = upper.map { $0.withView { branch.childIndex(below: $0) } } ?? branch.count - 1
        guard first <= last else { return }
        for index in first...last {
            // A bound at which the child itself begins or ends leaves nothing of it out.
            let from = index == first && !begins(branch, index, at: lower) ? lower : nil
            let to = index == last && !begins(branch, index + 1, at: upper) ? upper : nil
            if from == nil, to == nil, try appendKept(branch, index, to: &values) { continue }
            let child = try branch.child(index, in: file)
            guard from == nil, to == nil, let memory = child.memory, memory.owner != writer else {
                try reduce(NodeHandle(child), function, from, to, depth - 1, into: &values)
                continue
            }
            var parts = ReductionValues()
            try reduce(.memory(memory), function, nil, nil, depth - 1, into: &parts)
            guard let value = try function.value(of: parts) else { continue }
            memory.keep(reduction: value)
            value.withView { values.append($0) }
        }
    }

    /// Appends the value of a whole child where the node holds one, or where the child has no entries.
    private func appendKept(
        _ branch: Branch, _ index: Int, to values: inout ReductionValues
    ) throws(StoreError) -> Bool {
        switch branch {
        case .memory(let node):
            if let memory = node.memory(index) {
                guard memory.summary.count > 0 else { return true }
                guard memory.owner != writer, let kept = memory.keptReduction else { return false }
                kept.withView { values.append($0) }
                return true
            }
            let child = node[index].stored
            guard child.summary.count > 0 else { return true }
            guard !child.reduction.isEmpty else { return false }
            child.reduction.withView { values.append($0) }
            return true
        case .stored(let page, let chunk):
            let (count, value) = try file.reading(chunk) { () throws(MalformedBytes) in
                try page.childReduction(index)
            }
            guard count > 0 else { return true }
            guard !value.isEmpty else { return false }
            values.append(value)
            return true
        }
    }

    /// The branch node at `node`, copied into `copy` if it is a stored one; `nil` for a leaf, which is then in `copy`.
    private func branch(_ node: NodeHandle, _ copy: LeafImage) throws(StoreError) -> Branch? {
        let pin = file.cache.reclaimer.readers.pin()
        switch try file.branch(node, pin) {
        case nil:
            try load(node, pin, into: copy)
            return nil
        case .stored(let page, let chunk)?:
            copy.load(page)
            return .stored(copy.page, chunk)
        case let branch?:
            return branch
        }
    }

    private func reduceLeaf(
        _ page: PageView, _ function: Reduction, _ lower: [UInt8]?, _ upper: [UInt8]?,
        into values: inout ReductionValues
    ) throws {
        let first = lower.map { $0.withView { page.search($0).index } } ?? 0
        let last = upper.map { $0.withView { page.search($0).index } } ?? page.count
        try reduceLeaf(page, function, min(first, last)..<last, into: &values)
    }

    private func reduceLeaf(
        _ page: PageView, _ function: Reduction, _ range: Range<Int>, into values: inout ReductionValues
    ) throws {
        guard !range.isEmpty else { return }
        try function.value(of: page, range, in: file).withView { values.append($0) }
    }

    /// Whether a child that is not the first begins at `key`.
    private func begins(_ branch: Branch, _ index: Int, at key: [UInt8]?) -> Bool {
        guard let key, index > 0, index < branch.count else { return false }
        return branch.separator(index) == key
    }

    // MARK: Groups

    /// Calls `body` with the first key and the reduction of each group of neighbouring keys from `lower` up to, not
    /// including, `upper`, in key order, until it returns `false`.
    ///
    /// A leaf in which one group ends and another one begins is copied once for both; of leaves within a group the values are
    /// taken that inner nodes hold.
    func reduceGroups(
        from lower: [UInt8]?, to upper: [UInt8]?,
        endingBefore end: (_ key: [UInt8], _ entry: Entry) throws -> [UInt8]?,
        _ body: ([UInt8], [UInt8]) throws -> Bool
    ) throws {
        let function = try reductionFunction()
        var (leaf, spare) = (LeafImage(), LeafImage())
        var start = lower
        var place = try locate(start.map { .key($0) } ?? .first, into: leaf)
        while true {
            let first = start.map { $0.withView { leaf.page.search($0).index } } ?? 0
            guard first < leaf.count else {
                guard let next = place.upper, try isAfter(next, start) else { return }
                start = next
                place = try locate(.key(next), into: leaf)
                continue
            }
            let key = leaf.page.key(first)
            if let upper, !key.lexicographicallyPrecedes(upper) { return }
            let page = leaf.page
            let entry = try file.reading(ChunkReference(offset: 0, length: 0)) { () throws(MalformedBytes) in
                try page.entry(first)
            }
            let bound = Self.earlier(try end(key, entry), upper)
            if let bound, !key.lexicographicallyPrecedes(bound) {
                throw StoreError(.limitExceeded, "A group must end after its first key.")
            }
            let last = bound.map { $0.withView { leaf.page.search($0).index } } ?? leaf.count
            var values = ReductionValues()
            try reduceLeaf(leaf.page, function, first..<max(first, last), into: &values)
            if let next = place.upper, bound.map({ !$0.lexicographicallyPrecedes(next) }) ?? true {
                // The group goes up to the leaf's end or on behind it, and ends within the leaf of its bound.
                let rest = try bound.map { (key) throws(StoreError) in try locate(.key(key), into: spare) }
                if let handle = root.handle,
                    rest.map({ next.lexicographicallyPrecedes($0.lower ?? []) }) ?? true
                {
                    try reduce(handle, function, next, rest?.lower, Format.maximumLevel, into: &values)
                }
                if let rest, let bound {
                    swap(&leaf, &spare)
                    place = rest
                    let count = bound.withView { leaf.page.search($0).index }
                    try reduceLeaf(leaf.page, function, 0..<count, into: &values)
                }
            }
            guard try body(key, try function.value(of: values) ?? []), let bound else { return }
            start = bound
        }
    }

    /// Whether a walk from `start` on gets further at `next`. Separators out of order, as damage may leave them, would lead
    /// in circles.
    private func isAfter(_ next: [UInt8], _ start: [UInt8]?) throws(StoreError) -> Bool {
        guard start.map({ $0.lexicographicallyPrecedes(next) }) ?? true else {
            throw file.damaged(
                "branch nodes with separators out of order", .nowhere)
        }
        return true
    }

    private static func earlier(_ a: [UInt8]?, _ b: [UInt8]?) -> [UInt8]? {
        guard let a, let b else { return a ?? b }
        return a.lexicographicallyPrecedes(b) ? a : b
    }
}

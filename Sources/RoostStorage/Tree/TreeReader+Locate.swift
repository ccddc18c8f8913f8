import RoostBytes

/// What to find a leaf by.
enum LeafTarget {
    /// The leaf whose span includes the key.
    case key([UInt8])
    /// The leaf that would hold the greatest key below this one.
    case below([UInt8])
    case first
    case last
    /// The leaf that holds the n-th entry of the tree.
    case position(UInt64)
}

/// Where a located leaf lies in the tree.
struct LeafPlace {
    /// The leaf's keys are at or above this; `nil` in the first leaf.
    var lower: [UInt8]?
    /// The leaf's keys are below this; `nil` in the last leaf.
    var upper: [UInt8]?
    /// Entries of the tree before the leaf; known only for ``LeafTarget/position(_:)``.
    var before: UInt64 = 0
}

extension TreeReader {
    /// Copies the leaf at `target` into `image`. O(log n), for a position also O(node size) a level.
    func locate(_ target: LeafTarget, into image: LeafImage) throws(StoreError) -> LeafPlace {
        var place = LeafPlace()
        guard var node = root.handle else {
            image.clear()
            return place
        }
        let pin = file.cache.reclaimer.readers.pin()
        // The deepest node that has a bound has the nearest one.
        var (lower, upper): ((Branch, Int)?, (Branch, Int)?)
        while let branch = try file.branch(node, pin) {
            let index = try choose(target, in: branch, &place.before)
            if index > 0 { lower = (branch, index) }
            if index + 1 < branch.count { upper = (branch, index + 1) }
            node = try branch.handle(index, in: file)
        }
        place.lower = lower.map { $0.separator($1) }
        place.upper = upper.map { $0.separator($1) }
        try load(node, pin, into: image)
        return place
    }

    private func choose(
        _ target: LeafTarget, in branch: Branch, _ before: inout UInt64
    ) throws(StoreError) -> Int {
        switch target {
        case .key(let key): return key.withView { branch.childIndex($0) }
        case .below(let key): return key.withView { branch.childIndex(below: $0) }
        case .first: return 0
        case .last: return branch.count - 1
        case .position(let position):
            for index in 0..<branch.count - 1 {
                let next = before &+ (try branch.child(index, in: file)).summary.count
                if next > position { return index }
                before = next
            }
            return branch.count - 1
        }
    }

    func load(
        _ node: NodeHandle, _ pin: borrowing EpochReclaimer.Pin, into image: LeafImage
    ) throws(StoreError) {
        guard let memory = unsafe node.memory else {
            return image.load(try file.page(node.chunk, pin))
        }
        let leaf = unsafe unsafeDowncast(memory.takeUnretainedValue(), to: LeafNode.self)
        let base = try leaf.base.map { (child) throws(StoreError) in try file.page(child.chunk, pin) }
        try file.reading(leaf.base?.chunk ?? node.chunk) { () throws(MalformedBytes) in
            try image.load(leaf, base: base)
        }
    }

    // MARK: Ranks

    /// How many keys of the tree are less than `key`. O(log n).
    func rank(_ key: [UInt8]) throws(StoreError) -> UInt64 {
        guard let node = root.handle else { return 0 }
        let pin = file.cache.reclaimer.readers.pin()
        return try rank(key, below: node, pin)
    }

    /// How many keys there are from `lower` up to, not including, `upper`; `nil` means the end of the tree. O(log n), with one
    /// walk down as far as both bounds lie in the same nodes.
    func count(from lower: [UInt8]?, to upper: [UInt8]?) throws(StoreError) -> UInt64 {
        guard var node = root.handle else { return 0 }
        guard let lower else { return try upper.map { (key) throws(StoreError) in try rank(key) } ?? count }
        guard let upper else { return count &- (try rank(lower)) }
        let pin = file.cache.reclaimer.readers.pin()
        while let branch = try file.branch(node, pin) {
            let first = lower.withView { branch.childIndex($0) }
            let last = max(first, upper.withView { branch.childIndex($0) })
            node = try branch.handle(first, in: file)
            guard first == last else {
                let between = try branch.entries(in: first..<last, file)
                let end = try branch.handle(last, in: file)
                return between &+ (try rank(upper, below: end, pin)) &- (try rank(lower, below: node, pin))
            }
        }
        return try rank(upper, below: node, pin) &- (try rank(lower, below: node, pin))
    }

    /// How many keys below `top` are less than `key`.
    private func rank(
        _ key: [UInt8], below top: NodeHandle, _ pin: borrowing EpochReclaimer.Pin
    ) throws(StoreError) -> UInt64 {
        var node = top
        var before: UInt64 = 0
        while let branch = try file.branch(node, pin) {
            let index = key.withView { branch.childIndex($0) }
            before = before &+ (try branch.entries(in: 0..<index, file))
            node = try branch.handle(index, in: file)
        }
        guard unsafe node.memory != nil else {
            let page = try file.page(node.chunk, pin)
            return before &+ UInt64(key.withView { page.search($0).index })
        }
        let image = LeafImage()
        try load(node, pin, into: image)
        return before &+ UInt64(key.withView { image.page.search($0).index })
    }
}

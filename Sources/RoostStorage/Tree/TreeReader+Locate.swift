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
    /// Entries of the tree before the leaf; known only for ``LeafTarget/position(_:)`` or when asked for.
    var before: UInt64 = 0
}

extension TreeReader {
    /// Copies the leaf at `target` into `image`. O(log n), with `counting` or a position also O(node size) a level.
    func locate(
        _ target: LeafTarget, counting: Bool = false, into image: LeafImage
    ) throws(StoreError) -> LeafPlace {
        var place = LeafPlace()
        guard var node = root.handle else {
            image.clear()
            return place
        }
        let pin = file.cache.reclaimer.readers.pin()
        while let branch = try file.branch(node, pin) {
            let index = try choose(target, in: branch, counting, &place.before)
            if index > 0 { place.lower = branch.separator(index) }
            if index + 1 < branch.count { place.upper = branch.separator(index + 1) }
            node = NodeHandle(try branch.child(index, in: file))
        }
        try load(node, pin, into: image)
        return place
    }

    private func choose(
        _ target: LeafTarget, in branch: Branch, _ counting: Bool, _ before: inout UInt64
    ) throws(StoreError) -> Int {
        let index: Int
        switch target {
        case .key(let key): index = key.withView { branch.childIndex($0) }
        case .below(let key): index = key.withView { branch.childIndex(below: $0) }
        case .first: index = 0
        case .last: index = branch.count - 1
        case .position(let position):
            for index in 0..<branch.count - 1 {
                let next = before &+ (try branch.child(index, in: file)).summary.count
                if next > position { return index }
                before = next
            }
            return branch.count - 1
        }
        if counting {
            for index in 0..<index { before = before &+ (try branch.child(index, in: file)).summary.count }
        }
        return index
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

    /// How many keys of the tree are less than `key`. O(log n).
    func rank(_ key: [UInt8]) throws(StoreError) -> UInt64 {
        let image = LeafImage()
        let place = try locate(.key(key), counting: true, into: image)
        return place.before &+ UInt64(key.withView { image.page.search($0).index })
    }
}

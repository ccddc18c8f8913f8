import RoostBytes

/// Reads one version of a tree. Usable from any thread; takes no lock and counts no reference on its way down.
final class TreeReader: Sendable {
    let file: DataFile
    let root: Root
    let reduction: TreeReduction?
    /// The transaction that goes on changing the tree, so that reductions of its nodes can't be kept; 0 for none.
    let writer: UInt64
    private let handle: NodeHandle?

    init(file: DataFile, root: Root, reduction: TreeReduction?, writer: UInt64 = 0) {
        self.file = file
        self.root = root
        self.reduction = reduction
        self.writer = writer
        handle = root.handle
    }

    var count: UInt64 { root.summary.count }

    /// Calls `body` with the entry under `key`, whose views are valid during the call; returns whether there is one.
    /// O(log n).
    ///
    /// - Parameter scratch: given by who may be about to insert `key`. A leaf that is read for that is decoded there, and if it
    ///   has not got the key the cache keeps no more of it than a filter, so that those of leaves that are only written to
    ///   fill it.
    @inline(__always)
    func find(
        _ key: ByteView, using scratch: ByteBuffer? = nil, _ body: (Entry) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        guard var node = handle else { return false }
        let pin = file.cache.reclaimer.readers.pin()
        while let memory = unsafe node.memory {
            switch unsafe memory._withUnsafeGuaranteedRef({ TreeReader.step($0, key) }) {
            case .down(let next): node = next
            case .entry(let entry):
                try body(entry)
                return true
            case .absent: return false
            }
        }
        return try findStored(key, below: node.chunk, pin, scratch, body)
    }

    private enum Step {
        case down(NodeHandle)
        case entry(Entry)
        case absent
    }

    @inline(__always)
    private static func step(_ node: MemoryNode, _ key: ByteView) -> Step {
        if node.level > 0 {
            let inner = unsafe unsafeDowncast(node, to: BranchNode.self)
            return .down(inner.handle(inner.separators.childIndex(key)))
        }
        let leaf = unsafe unsafeDowncast(node, to: LeafNode.self)
        let pending = leaf.delta.view
        let (index, found) = pending.search(key)
        if found, let (entry, tag) = try? pending.taggedEntry(index) {
            return tag & DeltaPage.tombstone == 0 ? .entry(entry) : .absent
        }
        guard let base = leaf.base else { return .absent }
        return .down(.stored(base.chunk))
    }

    @inline(__always)
    private func findStored(
        _ key: ByteView, below top: ChunkReference, _ pin: borrowing EpochReclaimer.Pin,
        _ scratch: ByteBuffer?, _ body: (Entry) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        var chunk = top
        while true {
            let cached = file.cache.find(chunk.offset, pin)
            let filter = cached == nil ? file.cache.filter(chunk.offset, pin) : nil
            if filter?.mayContain(key) == false { return false }
            let page: PageView
            if let cached {
                page = cached
            } else if let scratch, filter == nil {
                page = try load(chunk, orFilterWithout: key, scratch)
            } else {
                page = try file.load(chunk)
            }
            if page.level == 0 {
                let (index, found) = page.search(key)
                guard found else { return false }
                try body(try file.reading(chunk) { () throws(MalformedBytes) in try page.entry(index) })
                return true
            }
            let next = try child(page, page.childIndex(key), of: chunk)
            chunk = next
        }
    }

    /// Reads the node at `chunk` into `scratch`; the cache takes a copy, or the filter of a leaf that has not got `key`.
    /// The caller holds a pin.
    @inline(never)
    private func load(
        _ chunk: ChunkReference, orFilterWithout key: ByteView, _ scratch: ByteBuffer
    ) throws(StoreError) -> PageView {
        let page = try file.load(chunk, into: scratch).page
        if page.level == 0, !page.search(key).found {
            file.cache.insertFilter(of: page, at: chunk.offset)
        } else {
            file.cache.insert(copyOf: page.bytes, at: chunk.offset)
        }
        return page
    }

    /// The chunk of a child, which must lie before its parent: nodes are written bottom-up, so anything else is
    /// damage, and walking down always ends.
    @inline(__always)
    private func child(
        _ page: PageView, _ index: Int, of chunk: ChunkReference
    ) throws(StoreError) -> ChunkReference {
        guard page.count > 0 else { throw file.damaged("a branch node without children", chunk) }
        let next = try file.reading(chunk) { () throws(MalformedBytes) in try page.childChunk(index) }
        guard next.offset < chunk.offset else { throw file.damaged("a node that leads in a circle", chunk) }
        return next
    }
}

extension DataFile {
    /// Runs a decoding step on the node at `chunk` and says where the damage is when it fails.
    @inline(__always)
    func reading<R>(
        _ chunk: ChunkReference, _ body: () throws(MalformedBytes) -> R
    ) throws(StoreError) -> R {
        do throws(MalformedBytes) {
            return try body()
        } catch {
            throw damaged("a malformed node", chunk)
        }
    }
}

// MARK: - Locate

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

// MARK: - BatchLookup

/// Looks up many keys in one walk.
struct BatchLookup {
    private let reader: TreeReader
    private let keys: [Key]
    /// The places in ``keys``, in the order of the keys.
    private let order: [Int]

    init(_ keys: [Key], in reader: TreeReader) {
        self.reader = reader
        self.keys = keys
        order = keys.indices.sorted { keys[$0] < keys[$1] }
    }

    /// Calls `body` in key order with the place in `keys` and the entry of each key that is there. The entry's views are
    /// valid during the call. Visits each node at most once: O(m log m + n) for m keys and n nodes on the ways to them.
    func run(_ body: (Int, Entry) throws(StoreError) -> Void) throws(StoreError) {
        guard let top = reader.root.handle, !keys.isEmpty else { return }
        let pin = reader.file.cache.reclaimer.readers.pin()
        try visit(top, order[...], pin, body)
    }

    private func visit(
        _ node: NodeHandle, _ places: ArraySlice<Int>, _ pin: borrowing EpochReclaimer.Pin,
        _ body: (Int, Entry) throws(StoreError) -> Void
    ) throws(StoreError) {
        let file = reader.file
        let branch: Branch
        if let memory = unsafe node.memory?.takeUnretainedValue() {
            guard let inner = memory as? BranchNode else {
                let leaf = unsafe unsafeDowncast(memory, to: LeafNode.self)
                let base = try leaf.base.map { (child) throws(StoreError) in try file.page(child.chunk, pin) }
                return try visitLeaf(leaf.delta.view, base, leaf.base?.chunk ?? node.chunk, places, body)
            }
            branch = .memory(inner)
        } else {
            let page = try file.page(node.chunk, pin)
            guard page.level > 0 else { return try visitLeaf(nil, page, node.chunk, places, body) }
            guard page.count > 0 else { throw file.damaged("a branch node without children", node.chunk) }
            branch = .stored(page, node.chunk)
        }
        var rest = places
        while let first = rest.first {
            let index = keys[first].bytes.withView { branch.childIndex($0) }
            var end = rest.endIndex
            if index + 1 < branch.count {
                let fence = Key(branch.separator(index + 1))
                end = rest.dropFirst().firstIndex { keys[$0] >= fence } ?? end
            }
            let child = try branch.handle(index, in: file)
            try visit(child, rest[..<end], pin, body)
            rest = rest[end...]
        }
    }

    private func visitLeaf(
        _ pending: PageView?, _ page: PageView?, _ chunk: ChunkReference, _ places: ArraySlice<Int>,
        _ body: (Int, Entry) throws(StoreError) -> Void
    ) throws(StoreError) {
        for place in places {
            try keys[place].bytes.withView { (key) throws(StoreError) in
                let entry = try reader.file.reading(chunk) { () throws(MalformedBytes) in
                    try BatchLookup.entry(key, pending, page)
                }
                if let entry { try body(place, entry) }
            }
        }
    }

    /// The entry of `key` in a leaf with pending changes, or without.
    private static func entry(
        _ key: ByteView, _ pending: PageView?, _ page: PageView?
    ) throws(MalformedBytes) -> Entry? {
        if let pending {
            let (index, found) = pending.search(key)
            if found {
                let (entry, tag) = try pending.taggedEntry(index)
                return tag & DeltaPage.tombstone == 0 ? entry : nil
            }
        }
        guard let page else { return nil }
        let (index, found) = page.search(key)
        return found ? try page.entry(index) : nil
    }
}

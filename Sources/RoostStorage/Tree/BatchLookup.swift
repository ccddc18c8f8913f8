import RoostBytes

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

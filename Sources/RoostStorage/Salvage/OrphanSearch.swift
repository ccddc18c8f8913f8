import RoostBytes

/// Finds nodes of a compacted file that no readable node leads to: there, a tree's first state stands nowhere else.
///
/// Where no root directory is left, the list of trees that the file begins with tells whose the nodes are that are no other
/// node's child: these are the roots, in the order of the trees. Where there are too many or too few of them, or where some
/// trees only miss parts, a leaf is given to the tree that misses its keys, if there is exactly one; the others come into trees
/// of their own.
///
/// Memory: about 40 bytes for each node of the file's first commit.
struct OrphanSearch {
    private let salvage: Salvage
    /// Whether the names of trees are known at all.
    private let hasRoots: Bool
    private let first: SalvageSource.Region

    init(_ salvage: Salvage, hasRoots: Bool) {
        self.salvage = salvage
        self.hasRoots = hasRoots
        first = salvage.source.regions.first ?? SalvageSource.Region(start: 0, end: 0, kind: .gap)
    }

    private var file: DataFile { salvage.file }

    func run() throws(StoreError) {
        let directory = try salvage.source.directory(in: 0)?.0
        let reachable = try nodesBelow(directory)
        var nodes: [(chunk: ChunkReference, level: UInt8)] = []
        var children: Set<UInt64> = []
        var scan = ChunkScan(file: file, from: first.start, to: first.end)
        while let item = try scan.next() {
            guard case .chunk(let chunk, .node) = item, !reachable.contains(chunk.offset),
                chunk.length <= DataFile.maximumNodeLength, let bytes = try? file.payload(.node, chunk)
            else { continue }
            bytes.withView { bytes in
                guard let page = PageView(bytes) else { return }
                nodes.append((chunk, page.level))
                guard page.level > 0 else { return }
                for index in 0..<page.count {
                    if let child = try? page.childChunk(index) { children.insert(child.offset) }
                }
            }
        }
        let tops = nodes.filter { !children.contains($0.chunk.offset) }
        let owners = hasRoots ? [] : try makeListedTrees()
        for (index, top) in tops.enumerated() {
            let owner = owners.count == tops.count ? owners[index] : nil
            try copy(top.chunk, top.level, to: owner, makesTree: !hasRoots || directory != nil)
        }
    }

    /// Makes the trees that the file's list names; answers which of them have entries, in their order.
    private func makeListedTrees() throws(StoreError) -> [UInt64] {
        guard let chunk = try salvage.source.operations(in: first).chunks.first,
            let payload = try? file.payload(.operations, chunk),
            let list = payload.withView({ try? OperationChunk.list(in: $0) })
        else { return [] }
        for case .create(let id, let name, let reduction) in list.making {
            try salvage.target.create(id, name: name, reduction: reduction)
        }
        return list.filled.filter { salvage.target.name($0) != nil }
    }

    /// Everything that the first commit's own roots lead to.
    private func nodesBelow(_ directory: RootDirectory?) throws(StoreError) -> Set<UInt64> {
        var nodes: Set<UInt64> = []
        for tree in directory?.trees ?? [] {
            var walk = makeWalk { (_, _, _) throws(StoreError) in }
            walk.visited = []
            try walk.walk(tree.root)
            nodes.formUnion(walk.visited ?? [])
        }
        return nodes
    }

    private func makeWalk(
        _ leaf: @escaping (PageView, ChunkReference, [KeySpan]) throws(StoreError) -> Void
    ) -> SalvageWalk {
        SalvageWalk(
            file: file, end: first.end, meter: salvage.meter, wanted: nil, leaf: leaf,
            loss: { [salvage] (child, _) throws(StoreError) in
                salvage.report.add(damaged: child.chunk.offset..<child.chunk.end)
            })
    }

    /// Copies what is below a node that nothing leads to.
    ///
    /// - Parameter known: the tree that it is the root of, if that is known.
    private func copy(
        _ top: ChunkReference, _ level: UInt8, to known: UInt64?, makesTree: Bool
    ) throws(StoreError) {
        let stray = UInt64(1) << 63 | top.offset
        var walk = makeWalk { (page, chunk, _) throws(StoreError) in
            guard page.count > 0 else { return }
            if let known {
                _ = try salvage.copy(page, chunk, [KeySpan()], to: known)
            } else if let (tree, parts) = owner(of: page) {
                _ = try salvage.copy(page, chunk, parts, to: tree)
            } else if makesTree {
                if salvage.target.name(stray) == nil {
                    try salvage.target.create(stray, name: "salvaged-\(top.offset)", reduction: "")
                    salvage.report.strayTrees.append(salvage.target.name(stray) ?? "")
                }
                _ = try salvage.copy(page, chunk, [KeySpan()], to: stray)
            }
        }
        try walk.walk(StoredChild(chunk: top, summary: Summary()), level, KeySpan(), before: .max)
    }

    /// The one tree that misses keys between the leaf's first and last, and which.
    private func owner(of page: PageView) -> (UInt64, [KeySpan])? {
        let span = KeySpan(lower: page.key(0), upper: page.key(page.count - 1) + [0])
        let candidates = salvage.lost.compactMap { (tree, spans) -> (UInt64, [KeySpan])? in
            let parts = spans.intersections(span).map(\.span)
            return parts.isEmpty ? nil : (tree, parts)
        }
        return candidates.count == 1 ? candidates.first : nil
    }
}

import RoostBytes

/// Finds nodes of a compacted file that no readable node leads to: there, a tree's first state is stored nowhere else.
///
/// Marks between the leaves tell which tree a leaf belongs to (``TreeMarks``). Leaves that damage has parted from their mark, and
/// files of earlier versions, which have none, leave less to go by: where no root directory is left, the list of trees that the
/// file begins with tells whose the nodes are that are no other node's child, for these are the roots, in the order of the trees.
/// Where there are too many or too few of them, or where some trees only miss parts, a leaf is given to the tree that misses its
/// keys, if there is exactly one; the others come into trees of their own.
///
/// Memory: about 40 bytes for each node of the file's first commit.
struct OrphanSearch {
    private let salvage: Salvage
    /// Whether the names of trees are known at all.
    private let hasRoots: Bool
    private let first: SalvageSource.Region

    private struct Node {
        let chunk: ChunkReference
        let level: UInt8
        /// The tree that the marks before and after say.
        var owner: UInt64?
    }

    /// What a scan of the first commit finds.
    private struct Findings {
        var nodes: [Node] = []
        /// The places of all nodes' children.
        var children: Set<UInt64> = []
        /// What makes the trees that the list and the marks name, by tree.
        var making: [UInt64: TreeOperation] = [:]
        /// The trees with entries, by the list.
        var filled: [UInt64] = []
        var hasMarks = false
        /// Whether the mark behind the last leaf was found. The leaves of later commits follow from the log.
        var isComplete = false
        /// Whose leaves follow; `nil` after damage, in which a mark may have been.
        private var current: UInt64?
        /// The first node since the last damage or mark.
        private var unsettled = 0

        mutating func add(_ page: PageView, _ chunk: ChunkReference) {
            nodes.append(Node(chunk: chunk, level: page.level, owner: page.level == 0 ? current : nil))
            guard page.level > 0 else { return }
            for index in 0..<page.count {
                if let child = try? page.childChunk(index) { children.insert(child.offset) }
            }
        }

        mutating func noteDamage() {
            current = nil
            unsettled = nodes.count
        }

        /// Adds the list of trees or a mark.
        mutating func add(_ payload: ByteView, at chunk: ChunkReference) {
            // The list has no chunk before it.
            guard let content = try? OperationChunk.list(in: payload),
                let isList = try? OperationChunk.previous(in: payload, at: chunk) == nil
            else { return }
            for operation in content.making {
                if case .create(let id, _, _) = operation { making[id] = operation }
            }
            guard !isList else {
                if filled.isEmpty { filled = content.filled }
                return
            }
            guard let former = content.filled.first else { return }
            hasMarks = true
            for index in unsettled..<nodes.count where nodes[index].level == 0 && nodes[index].owner == nil {
                nodes[index].owner = former
            }
            unsettled = nodes.count
            current = content.filled.dropFirst().first
            isComplete = current == nil
        }
    }

    init(_ salvage: Salvage, hasRoots: Bool) {
        self.salvage = salvage
        self.hasRoots = hasRoots
        first = salvage.source.regions.first ?? SalvageSource.Region(start: 0, end: 0, kind: .gap)
    }

    private var file: DataFile { salvage.file }

    func run() throws(StoreError) {
        let directory = try salvage.source.directory(in: 0)?.0
        let findings = try scan(excluding: try nodesBelow(directory))
        if !hasRoots {
            for case .create(let id, let name, let reduction)? in findings.making.keys.sorted().map({
                findings.making[$0]
            }) {
                try salvage.target.create(id, name: name, reduction: reduction)
            }
        }
        let makesTree = !hasRoots || directory != nil
        if findings.hasMarks {
            for node in findings.nodes where node.level == 0 {
                try copy(node.chunk, 0, to: node.owner, makesTree: makesTree)
            }
            return
        }
        let tops = findings.nodes.filter { !findings.children.contains($0.chunk.offset) }
        let owners = hasRoots ? [] : findings.filled.filter { salvage.target.name($0) != nil }
        for (index, top) in tops.enumerated() {
            let owner = owners.count == tops.count ? owners[index] : nil
            try copy(top.chunk, top.level, to: owner, makesTree: makesTree)
        }
    }

    private func scan(excluding reachable: Set<UInt64>) throws(StoreError) -> Findings {
        var findings = Findings()
        var scan = ChunkScan(file: file, from: first.start, to: first.end)
        while !findings.isComplete, let item = try scan.next() {
            switch item {
            case .chunk(let chunk, .node):
                guard !reachable.contains(chunk.offset), chunk.length <= DataFile.maximumNodeLength,
                    let bytes = try? file.payload(.node, chunk)
                else { continue }
                bytes.withView { bytes in
                    if let page = PageView(bytes) { findings.add(page, chunk) }
                }
            case .chunk(let chunk, .operations):
                guard let bytes = try? file.payload(.operations, chunk) else {
                    findings.noteDamage()
                    continue
                }
                bytes.withView { findings.add($0, at: chunk) }
            case .chunk: continue
            case .damage: findings.noteDamage()
            }
        }
        return findings
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
    /// - Parameter known: the tree that it belongs to, if that is known.
    private func copy(
        _ top: ChunkReference, _ level: UInt8, to known: UInt64?, makesTree: Bool
    ) throws(StoreError) {
        let stray = UInt64(1) << 63 | top.offset
        var walk = makeWalk { (page, chunk, _) throws(StoreError) in
            guard page.count > 0 else { return }
            if let known, salvage.target.name(known) != nil {
                let parts = hasRoots ? missing(of: page, in: known) : [KeySpan()]
                if !parts.isEmpty { _ = try salvage.copy(page, chunk, parts, to: known) }
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
        let candidates = salvage.lost.keys.compactMap { tree -> (UInt64, [KeySpan])? in
            let parts = missing(of: page, in: tree)
            return parts.isEmpty ? nil : (tree, parts)
        }
        return candidates.count == 1 ? candidates.first : nil
    }

    /// What a tree misses between the leaf's first and last keys.
    private func missing(of page: PageView, in tree: UInt64) -> [KeySpan] {
        let span = KeySpan(lower: page.key(0), upper: page.key(page.count - 1) + [0])
        return salvage.lost[tree]?.intersections(span).map(\.span) ?? []
    }
}

// MARK: - SharingRepair

/// Gives every value that entries share exactly one owner again, after some of the entries were lost.
struct SharingRepair {
    private let store: Store
    private let state: StoreState

    /// See ``SalvageTarget``.
    private static let ownersName = "\u{1}owners of values"

    /// What is known of a value, in a tree by where the value stands.
    private enum Known {
        static let owned: [UInt8] = [1]
        /// The identifier and the key of an entry that borrows it follow.
        static let borrowed: UInt8 = 2
    }

    init(_ store: Store) {
        self.store = store
        state = store.state
    }

    func run() throws(StoreError) {
        let transaction = try store.beginWriting()
        defer { transaction.rollback() }
        let owners = try transaction.tree(SharingRepair.ownersName)
        for version in state.trees {
            let tree = Tree(id: version.id, name: version.name)
            try forEachShared(version) { (key, entry) throws(StoreError) in
                try note(key, entry, tree, owners, transaction)
            }
        }
        try adopt(owners, transaction)
        try transaction.drop(owners)
        try transaction.commit()
    }

    private func forEachShared(
        _ version: TreeVersion, _ body: ([UInt8], Entry) throws(StoreError) -> Void
    ) throws(StoreError) {
        let reader = TreeReader(file: state.file, root: version.root, reduction: nil)
        let image = LeafImage()
        var target: LeafTarget? = .first
        while let place = try target.map({ (target) throws(StoreError) in
            try reader.locate(target, into: image)
        }) {
            let page = image.page
            for index in 0..<page.count {
                let entry = try state.file.reading(.nowhere) {
                    () throws(MalformedBytes) in try page.entry(index)
                }
                if entry.kind == .shared || entry.kind == .borrowed { try body(page.key(index), entry) }
            }
            target = place.upper.map { .key($0) }
        }
    }

    private func note(
        _ key: [UInt8], _ entry: Entry, _ tree: Tree, _ owners: Tree, _ transaction: StoreTransaction
    ) throws(StoreError) {
        let place = Key(entry.chunk.offset)
        let known = try transaction[owners, place]
        guard entry.kind == .shared else {
            if known == nil {
                try transaction.put(place, [Known.borrowed] + Key(tree.id).bytes + key, in: owners)
            }
            return
        }
        if known == Known.owned {
            try key.withView { (key) throws(StoreError) in
                try transaction.put(
                    key, inline: entry.inline, value: ValueReference(chunk: entry.chunk), owns: false,
                    in: tree)
            }
        } else {
            try transaction.put(place, Known.owned, in: owners)
        }
    }

    /// Makes an entry that borrows a value without owner its owner.
    private func adopt(_ owners: Tree, _ transaction: StoreTransaction) throws(StoreError) {
        let cursor = try transaction[owners].cursor()
        while try cursor.next() {
            let known = try cursor.value()
            guard known.first == Known.borrowed, let id = Key(Array(known[1..<9])).number,
                let version = state.trees[id]
            else { continue }
            let tree = Tree(id: id, name: version.name)
            let inline = try known[9...].map { $0 }.withView { (key) throws(StoreError) in
                try transaction.withEntry(key, in: tree) { inline, value in (inline.array, value) }
            }
            guard let (bytes, value) = inline, let value else { continue }
            try Array(known[9...]).withView { (key) throws(StoreError) in
                try bytes.withView { (inline) throws(StoreError) in
                    try transaction.put(key, inline: inline, value: value, owns: true, in: tree)
                }
            }
        }
    }
}

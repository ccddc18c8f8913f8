import RoostBytes

/// Rescues what is readable of a damaged file.
///
/// 1. The newest roots that can be read are copied, as far as their nodes can be.
/// 2. For the parts of trees that are missing then, older checkpoints are asked, newest first, and after a compaction
///    also nodes that nothing leads to.
/// 3. The operations of all commits that the copied parts don't contain yet are applied, oldest first.
///
/// What comes of it is the newest readable version of every key.
final class Salvage {
    let source: SalvageSource
    let target: SalvageTarget
    let meter: ProgressMeter
    var report = SalvageReport()
    /// Parts of trees for which nothing was found yet.
    var lost: [UInt64: KeySpans] = [:]
    /// Parts that came from older states than the rest.
    private var older: [UInt64: KeySpans] = [:]
    /// The rest of all trees contains everything up to this record.
    private var since: UInt64 = 0
    /// Trees with lower identifiers have been made, and perhaps dropped, in the state that the roots are of.
    private var nextTree: UInt64 = 0

    var file: DataFile { source.file }
    private var end: UInt64 { source.regions.last?.end ?? 0 }

    init(_ source: SalvageSource, to target: SalvageTarget, meter: ProgressMeter) {
        self.source = source
        self.target = target
        self.meter = meter
        report.commit = source.newest
    }

    func run() throws(StoreError) {
        let first = try copyNewest()
        // Without any root directory the end of some commit at least is lost, whatever was found.
        if first == nil, let last = source.regions.last { report.add(damaged: last.start..<last.end) }
        if let first { try copyOlder(than: first) }
        if file.header.generation > 0, first == nil || !lost.isEmpty {
            try OrphanSearch(self, hasRoots: first != nil).run()
        }
        for (tree, spans) in lost {
            for span in spans.spans { older[tree, default: KeySpans()].add(span, since: 0) }
        }
        var log = SalvageLog(self, older: older, since: since, hasRoots: first != nil, nextTree: nextTree)
        try log.run()
    }

    /// Copies the trees of the newest directory that can be read; says in which region it is.
    private func copyNewest() throws(StoreError) -> Int? {
        for index in source.regions.indices.reversed() {
            guard let (directory, since) = try source.directory(in: index) else {
                try noteMissingDirectory(index)
                continue
            }
            self.since = since
            nextTree = directory.nextTreeID
            for tree in directory.trees {
                try target.create(tree.id, name: tree.name, reduction: tree.reduction)
                lost[tree.id] = try copy(tree, wanted: nil, since: nil)
            }
            lost = lost.filter { !$0.value.isEmpty }
            return index
        }
        return nil
    }

    private func noteMissingDirectory(_ index: Int) throws(StoreError) {
        let region = source.regions[index]
        guard region.kind == .checkpoint, let place = try source.record(of: region)?.directory else { return }
        report.add(damaged: place.offset..<place.end)
    }

    /// Looks into older checkpoints for what is still missing.
    private func copyOlder(than newest: Int) throws(StoreError) {
        for index in source.regions[..<newest].indices.reversed() {
            guard !lost.isEmpty else { return }
            guard let (directory, since) = try source.directory(in: index) else { continue }
            for tree in directory.trees {
                guard let wanted = lost[tree.id] else { continue }
                let left = try copy(tree, wanted: wanted, since: since)
                lost[tree.id] = left.isEmpty ? nil : left
            }
        }
    }

    /// Copies what can be read of a tree, or of the wanted parts of it.
    ///
    /// - Parameter since: where operations must be applied from, when that is not what holds for the rest.
    /// - Returns: what could not be read.
    private func copy(
        _ tree: RootDirectory.Tree, wanted: KeySpans?, since: UInt64?
    ) throws(StoreError) -> KeySpans {
        var left = KeySpans()
        var walk = SalvageWalk(
            file: file, end: end, meter: meter, wanted: wanted,
            leaf: { [self] (page, chunk, parts) throws(StoreError) in
                let missing = try copy(page, chunk, parts, to: tree.id)
                for span in missing.map({ KeySpan(lower: $0, upper: $0 + [0]) }) { left.add(span) }
                guard let since else { return }
                for part in parts.flatMap({ $0.without(missing) }) {
                    older[tree.id, default: KeySpans()].add(part, since: since)
                }
            },
            loss: { [self] (child, parts) throws(StoreError) in
                for part in parts {
                    left.add(part)
                    if since == nil { note(part, tree.name, child.chunk, entries: child.summary.count) }
                }
            })
        try walk.walk(tree.root)
        // A tree that was empty then has nothing to give, which is an answer too.
        if case .empty = tree.root, let wanted, let since {
            for span in wanted.spans { older[tree.id, default: KeySpans()].add(span, since: since) }
        }
        return left
    }

    private func note(_ span: KeySpan, _ tree: String, _ chunk: ChunkReference, entries: UInt64) {
        report.add(SalvageReport.Loss(tree: tree, keys: span.range, offset: chunk.offset, entries: entries))
        report.add(damaged: chunk.offset..<chunk.end)
    }

    /// Copies the entries of a leaf that are in `parts`; returns the keys whose values can't be read.
    func copy(
        _ page: PageView, _ chunk: ChunkReference, _ parts: [KeySpan], to tree: UInt64
    ) throws(StoreError) -> [[UInt8]] {
        var missing: [[UInt8]] = []
        for index in 0..<page.count {
            let key = page.key(index)
            guard parts.contains(where: { $0.contains(key) }), let entry = try? page.entry(index) else {
                continue
            }
            let isThere = try key.withView { (key) throws(StoreError) in try target.put(tree, key, entry) }
            if entry.kind != .none { try meter.advance(UInt64(entry.chunk.length)) }
            guard !isThere else { continue }
            missing.append(key)
            noteValue(key, entry.chunk, tree)
        }
        return missing
    }

    /// Notes that the value of a key can't be read.
    func noteValue(_ key: [UInt8], _ chunk: ChunkReference, _ tree: UInt64) {
        report.lostValues += 1
        note(KeySpan(lower: key, upper: key + [0]), target.name(tree) ?? "", chunk, entries: 1)
    }
}

extension KeySpan {
    /// What is left of the span without some keys in it, which are sorted.
    fileprivate func without(_ keys: [[UInt8]]) -> [KeySpan] {
        var rest: [KeySpan] = []
        var lower = lower
        for key in keys where contains(key) {
            if lower.lexicographicallyPrecedes(key) { rest.append(KeySpan(lower: lower, upper: key)) }
            lower = key + [0]
        }
        if upper.map({ lower.lexicographicallyPrecedes($0) }) ?? true {
            rest.append(KeySpan(lower: lower, upper: upper))
        }
        return rest
    }
}

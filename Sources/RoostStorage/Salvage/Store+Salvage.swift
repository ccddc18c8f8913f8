import RoostBytes
import RoostFile

extension Store {
    /// Rescues what is readable in the damaged file at `path` into a new store at `destination`, which must not exist
    /// yet. Never writes to the damaged file and takes no lock; nobody should be writing to it.
    ///
    /// The new store holds the newest readable version of every key: from the newest nodes, and where these can't be
    /// read from older nodes and the log. A deleted key may come back where what said so is lost. The header or its
    /// copy must be readable, because the salt in it is what tells chunks from other bytes.
    ///
    /// Memory: 24 bytes for each commit of the file, what the new store's options allow, and the largest value.
    ///
    /// - Parameters:
    ///   - path: the damaged store's file.
    ///   - destination: the new store's file.
    ///   - options: how to open and to make the stores: the key, and the reductions, without which trees come over
    ///     without theirs.
    ///   - progress: returns `false` to stop; then there is no new store.
    /// - Throws: ``StoreError/Code/alreadyExists``, ``StoreError/Code/damaged`` when both headers are lost,
    ///   ``StoreError/Code/notAStore``, ``StoreError/Code/wrongKey``, ``StoreError/Code/noSpace``.
    public static func salvage(
        _ path: String, to destination: String, options: StoreOptions = StoreOptions(),
        progress: ProgressHandler? = nil
    ) throws(StoreError) -> SalvageReport {
        try salvage(path, to: destination, options: options, environment: .system, progress: progress)
    }

    /// As ``salvage(_:to:options:progress:)``, on a medium of the caller's choice.
    package static func salvage(
        _ path: String, to destination: String, options: StoreOptions, environment: Environment,
        progress: ProgressHandler? = nil
    ) throws(StoreError) -> SalvageReport {
        let medium = environment.medium
        let part = destination + ".part"
        try fileCall { () throws(FileError) in
            if try medium.status(of: destination) != nil {
                throw FileError(.alreadyExists, operation: "salvage", path: destination)
            }
        }
        try LeftoverFile(part, medium).remove()
        let (store, report) = try salvage(path, into: part, options, environment, progress)
        // As long as the store is open nobody else takes its temporary name for a leftover.
        let file = store.state.file.file
        do throws(StoreError) {
            try store.sync()
            guard try file.isNamed(part, in: medium) else {
                throw StoreError(
                    .locked, "\(part) was replaced by another process. Salvage to another place.")
            }
            try fileCall { () throws(FileError) in
                try medium.rename(part, to: destination)
                try medium.syncDirectory(of: destination)
            }
        } catch {
            file.removeName(part, in: medium)
            throw error
        }
        try store.close()
        return report
    }

    /// The new store, still open and not synced, under its temporary name.
    private static func salvage(
        _ path: String, into part: String, _ options: StoreOptions, _ environment: Environment,
        _ progress: ProgressHandler?
    ) throws(StoreError) -> (Store, SalvageReport) {
        let opener = StoreOpener(path: path, options: options, environment: environment)
        let file = try opener.openFile(.readOnly)
        file.writtenEnd.store(StoreOpener.replayedStart, ordering: .releasing)
        let source = try SalvageSource(file)
        var making = options
        making.isReadOnly = false
        making.createsIfMissing = true
        making.compactsAutomatically = false
        making.durability = .relaxed(interval: 3600)
        making.writers = .one
        var maker = StoreOpener(path: part, options: making, environment: environment)
        maker.access = try fileCall { () throws(FileError) in try file.file.access() }
        maker.previous = file.codec.transform
        let store = try maker.openForWriting()
        do throws(StoreError) {
            let target = try SalvageTarget(store, source: file)
            let meter = ProgressMeter(total: source.regions.last?.end ?? 0, progress)
            let salvage = Salvage(source, to: target, meter: meter)
            do throws(StoreError) {
                try salvage.run()
                try meter.tell()
            } catch {
                target.abandon()
                throw error
            }
            var report = salvage.report
            (report.trees, report.entries) = try target.finish()
            return (store, report)
        } catch {
            store.state.file.file.removeName(part, in: environment.medium)
            throw error
        }
    }
}

// MARK: - SalvageReport

/// What a salvage found and what it could not.
public struct SalvageReport: Sendable {
    /// A part of a tree of which at least the newest state could not be read.
    public struct Loss: Hashable, Sendable {
        /// The tree's name.
        public let tree: String
        /// The keys that are concerned; one key alone where only its value is lost.
        public let keys: KeyRange
        /// Where in the damaged file the bytes are.
        public let offset: UInt64
        /// How many entries were there by the count of the nodes above, 0 where that is not known.
        public let entries: UInt64
    }

    /// What was lost or replaced by something older, in the order of finding; at most ``maximumLosses``.
    public internal(set) var losses: [Loss] = []
    /// Losses beyond the maximum.
    public internal(set) var furtherLosses = 0
    /// Entries concerned by all losses, by the counts of the nodes above. Many of them may be in the new store all the
    /// same: from older nodes and from the log.
    public internal(set) var concernedEntries: UInt64 = 0
    /// Entries whose value could not be read.
    public internal(set) var lostValues = 0
    /// Stretches of the file that should be chunks of a commit and are not, as far as the salvage came by them.
    public internal(set) var damagedRanges: [Range<UInt64>] = []
    /// Entries in the new store.
    public internal(set) var entries: UInt64 = 0
    /// Trees in the new store.
    public internal(set) var trees = 0
    /// Trees that hold nodes of which nobody knows whose they are; named "salvaged-" and the node's offset.
    public internal(set) var strayTrees: [String] = []
    /// The number of the newest commit of which anything was found.
    public internal(set) var commit: UInt64 = 0

    /// Losses and damaged ranges that are listed one by one.
    public static let maximumLosses = 1000

    /// Whether nothing was lost: the new store holds what the newest commit held.
    public var isComplete: Bool { losses.isEmpty && damagedRanges.isEmpty && lostValues == 0 }

    mutating func add(_ loss: Loss) {
        concernedEntries &+= loss.entries
        if losses.count < SalvageReport.maximumLosses { losses.append(loss) } else { furtherLosses += 1 }
    }

    mutating func add(damaged range: Range<UInt64>) {
        guard !damagedRanges.contains(range), damagedRanges.count < SalvageReport.maximumLosses else {
            return
        }
        damagedRanges.append(range)
    }
}

// MARK: - Salvage

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

import RoostBytes
import RoostFile

/// What of a damaged file can be told apart without trusting any of it: commits whose records are whole, and the
/// stretches between them.
struct SalvageSource {
    let file: DataFile
    /// Oldest first. 24 bytes for each commit of the file.
    let regions: [Region]
    let newest: UInt64

    /// A commit, or bytes between commits that must once have been some.
    struct Region {
        var start: UInt64
        /// Where the commit's record stands, or where the gap ends.
        var end: UInt64
        var kind: Kind
    }

    enum Kind: UInt8 {
        case commit
        case checkpoint
        case gap
    }

    init(_ file: DataFile) throws(StoreError) {
        self.file = file
        let size = try fileCall { () throws(FileError) in try file.file.size() }
        var regions: [Region] = []
        var end = size
        var newest: UInt64 = 0
        var oldest: CommitRecord?
        while let record = try LogScanner(file: file).nearestRecord(before: end), record.end <= end {
            newest = max(newest, record.number)
            file.noteHistory(of: record)
            oldest = record
            if record.end < end { regions.append(Region(start: record.end, end: end, kind: .gap)) }
            regions.append(
                Region(
                    start: record.start, end: record.offset,
                    kind: record.kind == .checkpoint ? .checkpoint : .commit))
            end = record.start
        }
        if end > Format.firstCommit {
            regions.append(Region(start: Format.firstCommit, end: end, kind: .gap))
            if file.codec.isTransformed { try SalvageSource.findHistory(of: file, upTo: end, oldest) }
        }
        self.regions = regions.reversed()
        self.newest = newest
    }

    /// Learns what the chunks up to `end` are bound to, whose records are lost. The maker of a file binds them to its salt; in
    /// files of earlier versions the next record tells, as far as it is of the same writer. Root directories know for certain.
    private static func findHistory(
        of file: DataFile, upTo end: UInt64, _ oldest: CommitRecord?
    ) throws(StoreError) {
        let start = Format.firstCommit
        file.codec.history.note([WritingHistory.Entry(start: start, number: file.header.salt)])
        guard let oldest else { return }
        var scan = ChunkScan(file: file, from: start, to: end)
        while let item = try scan.next() {
            guard case .chunk(let chunk, let kind) = item else { continue }
            if (try? file.payload(kind, chunk)) == nil {
                file.codec.history.note([WritingHistory.Entry(start: start, number: oldest.history)])
            }
            return
        }
    }

    func record(of region: Region) throws(StoreError) -> CommitRecord? {
        region.kind == .gap ? nil : try LogScanner(file: file).record(at: region.end)
    }

    /// The roots that region `index` holds, and the record after which operations must be applied to their trees.
    func directory(in index: Int) throws(StoreError) -> (RootDirectory, since: UInt64)? {
        guard index < regions.count else { return nil }
        let region = regions[index]
        if region.kind == .commit { return nil }
        if let record = try record(of: region), let place = record.directory {
            return read(place).map { ($0, record.replayAfter) }
        }
        guard region.kind == .gap else { return nil }
        // Without its record nobody knows what a checkpoint contains completely: all that the one before did.
        var found: RootDirectory?
        var scan = ChunkScan(file: file, from: region.start, to: region.end)
        while let item = try scan.next() {
            if case .chunk(let chunk, .directory) = item { found = read(chunk) ?? found }
        }
        guard let found else { return nil }
        let before = regions[..<index].last { $0.kind == .checkpoint }
        let record = try before.map { (region) throws(StoreError) in try self.record(of: region) } ?? nil
        return (found, record?.replayAfter ?? 0)
    }

    private func read(_ place: ChunkReference) -> RootDirectory? {
        guard let payload = try? file.payload(.directory, place) else { return nil }
        let directory = payload.withView { try? RootDirectory(decoding: $0, at: place) }
        file.codec.history.note((directory?.history ?? []).filter { $0.start < place.offset })
        return directory
    }

    /// The chunks of operations in a region, first to last, and what is no chunk.
    func operations(in region: Region) throws(StoreError) -> (
        chunks: [ChunkReference], damage: [Range<UInt64>]
    ) {
        if let record = try record(of: region) {
            let replayer = Replayer(file: file, reductions: [], nodeSize: 0)
            do throws(StoreError) {
                return (try replayer.chunks(of: record), [])
            } catch {
                // The chain within the commit is broken.
            }
        }
        var chunks: [ChunkReference] = []
        var damage: [Range<UInt64>] = []
        var scan = ChunkScan(file: file, from: region.start, to: region.end)
        while let item = try scan.next() {
            switch item {
            case .chunk(let chunk, .operations): chunks.append(chunk)
            case .chunk: break
            case .damage(let range): damage.append(range)
            }
        }
        // Between commits there was a commit, the record of which is lost at least.
        if region.kind == .gap, region.end != regions.last?.end || regions.count == 1,
            scan.position < region.end
        {
            damage.append(scan.position..<region.end)
        }
        return (chunks, damage)
    }
}

// MARK: - SalvageTarget

/// The new store of a salvage, filled in transactions of bounded size.
///
/// Which value went where is kept in a tree of its own while it is needed, so that values shared in the damaged file
/// are shared again, however many there are.
final class SalvageTarget {
    private let store: Store
    private let source: DataFile
    private var transaction: StoreTransaction
    /// By the identifier in the damaged file.
    private var trees: [UInt64: Tree] = [:]
    private var values: Tree
    private var bytes = 0
    /// Whether there are values that several entries lead to, of which the owner may be missing.
    private var sharesValues = false

    /// Names that no tree of a user's can have been given, because names hold no such byte in practice.
    private static let valuesName = "\u{1}salvaged values"
    private static let batch = 4 << 20

    init(_ store: Store, source: DataFile) throws(StoreError) {
        self.store = store
        self.source = source
        transaction = try store.beginWriting()
        values = try transaction.tree(SalvageTarget.valuesName)
    }

    /// Makes the tree that stands for `id` of the damaged file. A name that is taken gets a number.
    func create(_ id: UInt64, name: String, reduction: String) throws(StoreError) {
        guard trees[id] == nil else { return }
        var unique = name
        while transaction.trees.trees.tree(unique) != nil { unique += "-\(id)" }
        trees[id] = try transaction.tree(unique, reductionName: reduction)
    }

    func drop(_ id: UInt64) throws(StoreError) {
        guard let tree = trees.removeValue(forKey: id) else { return }
        try transaction.drop(tree)
    }

    func name(_ id: UInt64) -> String? { trees[id]?.name }

    /// Puts an entry of the damaged file; `false` when its value can't be read.
    func put(_ id: UInt64, _ key: ByteView, _ entry: Entry) throws(StoreError) -> Bool {
        guard let tree = trees[id], key.count <= Format.maximumKeyLength else { return false }
        var copy = entry
        if entry.kind != .none {
            guard let chunk = try value(entry) else { return false }
            copy.chunk = chunk
        }
        try transaction.change(tree) { (editor) throws(StoreError) in try editor.put(key, copy) }
        try count(key.count + entry.inline.count + 16)
        return true
    }

    /// Where the entry's value is in the new store, copied when it is not there yet.
    private func value(_ entry: Entry) throws(StoreError) -> ChunkReference? {
        let isShared = entry.kind != .owned
        if isShared { sharesValues = true }
        let key = Key(entry.chunk.offset)
        if isShared, let known = try transaction[values, key] {
            return known.withView {
                ChunkReference(offset: $0.load(at: 0), length: $0.load(at: 8))
            }
        }
        guard let payload = try? source.payload(.value, entry.chunk) else { return nil }
        let chunk = try payload.withView { (bytes) throws(StoreError) in
            try transaction.append(value: bytes).chunk
        }
        if isShared {
            let place = ByteBuffer()
            place.append(integer: chunk.offset)
            place.append(integer: chunk.length)
            let copy = place.view.array
            try transaction.put(key, copy, in: values)
        }
        try count(payload.count)
        return chunk
    }

    func delete(_ id: UInt64, _ key: [UInt8]) throws(StoreError) {
        guard let tree = trees[id] else { return }
        try transaction.delete(Key(key), in: tree)
        try count(key.count + 16)
    }

    func delete(_ id: UInt64, _ span: KeySpan) throws(StoreError) {
        guard let tree = trees[id] else { return }
        try transaction.delete(span.range, in: tree)
        try count(64)
    }

    /// Commits when enough has come together, never between an entry and its value.
    private func count(_ count: Int) throws(StoreError) {
        bytes += count
        guard bytes > SalvageTarget.batch else { return }
        bytes = 0
        try transaction.commit()
        transaction = try store.beginWriting()
    }

    /// Gives the transaction up; the file is about to go.
    func abandon() { transaction.rollback() }

    /// Completes the new store. Values that lost their owners get new ones.
    func finish() throws(StoreError) -> (trees: Int, entries: UInt64) {
        try transaction.drop(values)
        try transaction.commit()
        if sharesValues { try SharingRepair(store).run() }
        let state = store.state
        return (state.trees.count, state.trees.weight.summary.count)
    }
}

// MARK: - SalvageWalk

/// Walks a stored tree that may be damaged anywhere: gives what can be read and says what can't.
struct SalvageWalk {
    let file: DataFile
    let meter: ProgressMeter
    /// The parts of the tree that are wanted; `nil` for all.
    let wanted: KeySpans?
    /// Called with each readable leaf, and the part of its span that is wanted.
    let leaf: (PageView, ChunkReference, [KeySpan]) throws(StoreError) -> Void
    /// Called where a node can't be read, with the part of its span that is wanted.
    let loss: (StoredChild, [KeySpan]) throws(StoreError) -> Void
    /// Where the nodes that were read stand, if that is asked for.
    var visited: Set<UInt64>?
    /// No tree's nodes take more than the file.
    private var bytesLeft: UInt64

    init(
        file: DataFile, end: UInt64, meter: ProgressMeter, wanted: KeySpans?,
        leaf: @escaping (PageView, ChunkReference, [KeySpan]) throws(StoreError) -> Void,
        loss: @escaping (StoredChild, [KeySpan]) throws(StoreError) -> Void
    ) {
        self.file = file
        self.meter = meter
        self.wanted = wanted
        self.leaf = leaf
        self.loss = loss
        bytesLeft = end
    }

    mutating func walk(_ root: Root) throws(StoreError) {
        guard case .stored(let child, let level) = root else { return }
        try walk(child, level, KeySpan(), before: .max)
    }

    mutating func walk(
        _ child: StoredChild, _ level: UInt8, _ span: KeySpan, before limit: UInt64
    ) throws(StoreError) {
        let parts = wanted.map { $0.intersections(span).map(\.span) } ?? [span]
        guard !parts.isEmpty else { return }
        let memory = ByteBuffer()
        defer { extendLifetime(memory) }
        guard let page = read(child.chunk, before: limit, into: memory) else { return try loss(child, parts) }
        visited?.insert(child.chunk.offset)
        try meter.advance(UInt64(child.chunk.length))
        guard page.level == level,
            PageCheck(page: page, lower: span.lower, upper: span.upper).fault() == nil
        else { return try loss(child, parts) }
        if level == 0 { return try leaf(page, child.chunk, parts) }
        for index in 0..<page.count {
            guard let next = try? page.child(index) else { continue }
            let lower = index == 0 ? span.lower : page.key(index)
            let upper = index + 1 < page.count ? page.key(index + 1) : span.upper
            try walk(next, level - 1, KeySpan(lower: lower, upper: upper), before: child.chunk.offset)
        }
    }

    private mutating func read(
        _ chunk: ChunkReference, before limit: UInt64, into memory: ByteBuffer
    ) -> PageView? {
        guard chunk.offset < limit, chunk.length <= DataFile.maximumNodeLength,
            UInt64(chunk.length) <= bytesLeft
        else { return nil }
        bytesLeft -= UInt64(chunk.length)
        return try? file.load(chunk, into: memory).page
    }
}

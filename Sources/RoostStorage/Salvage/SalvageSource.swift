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

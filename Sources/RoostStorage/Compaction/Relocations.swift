import RoostFile

/// Where the values went that several entries may lead to, in bounded memory.
///
/// They are kept in the order of their old offsets: in memory up to a limit, in runs of which each is longer than the next, the
/// rest in a scratch file, as runs that are merged as in an LSM tree, so that there are few. The scratch file has no
/// name any more once it is open, so nothing of it can be left behind.
final class Relocations {
    private let limit: Int
    private let files: CompactionFiles
    private let access: FileAccess
    /// Those that were added one at a time and are in no run yet.
    private var single: [UInt64: ChunkReference] = [:]
    /// Those in memory, the longest run first.
    private var sorted: [SortedRelocations] = []
    /// How many ``sorted`` has.
    private var sortedCount = 0
    private var runs: [RelocationRun] = []
    private var file: (any File)?
    /// Bytes of runs in the scratch file so far; its first block says whose it is.
    private(set) var scratchEnd: UInt64 = 0

    /// So many runs of one level are merged into one of the next.
    private static let fanIn = 8
    private static let mostSingle = 1 << 15
    private static let firstRun = UInt64(Format.blockSize)

    /// - Parameters:
    ///   - access: who may do what with the scratch file.
    ///   - memory: bytes to use; a third of them is for merging.
    init(files: CompactionFiles, access: FileAccess, memory: Int) {
        self.files = files
        self.access = access
        limit = max(memory / 3 * 2 / Relocation.size, 64)
    }

    /// Notes that the value at `old` is at `new`.
    func add(_ old: UInt64, _ new: ChunkReference) throws(StoreError) {
        single[old] = new
        guard single.count >= min(Relocations.mostSingle, limit / 8) else { return }
        let added = single.map { Relocation($0.key, $0.value) }.sorted { $0.old < $1.old }
        single.removeAll(keepingCapacity: true)
        try add(added)
    }

    /// Notes where many values went, in the order of their old offsets.
    func add(_ added: [Relocation]) throws(StoreError) {
        var run = SortedRelocations(added)
        while let shortest = sorted.last, shortest.count <= run.count {
            run = shortest.merged(with: run)
            sorted.removeLast()
        }
        sorted.append(run)
        sortedCount += added.count
        if sortedCount >= limit { try spill() }
    }

    /// Where the value at `old` went; `nil` for one that was not copied. Fast where offsets grow from call to call.
    func find(_ old: UInt64) throws(StoreError) -> ChunkReference? {
        if !single.isEmpty, let found = single[old] { return found }
        for index in sorted.indices {
            if let found = sorted[index].find(old) { return found }
        }
        for run in runs {
            if let found = try run.find(old) { return found }
        }
        return nil
    }

    // MARK: Runs

    private func spill() throws(StoreError) {
        let output = try RunWriter(file: scratchFile(), start: Self.firstRun + scratchEnd)
        let all = sorted.reversed().reduce(SortedRelocations()) { $1.merged(with: $0) }
        sorted = []
        sortedCount = 0
        for relocation in all.items { try output.append(relocation) }
        try keep(output, level: 0)
        while let last = runs.last,
            runs.suffix(Relocations.fanIn).count(where: { $0.level == last.level })
                == Relocations.fanIn
        { try merge(above: last.level) }
    }

    /// Joins the newest runs into one, so that each relocation is written again only a logarithmic number of times.
    private func merge(above level: Int) throws(StoreError) {
        let output = try RunWriter(file: scratchFile(), start: Self.firstRun + scratchEnd)
        var merge = RunMerge(runs.suffix(Relocations.fanIn))
        while let next = try merge.next() { try output.append(next) }
        runs.removeLast(Relocations.fanIn)
        try keep(output, level: level + 1)
    }

    private func keep(_ output: RunWriter, level: Int) throws(StoreError) {
        runs.append(try output.finish(level: level))
        scratchEnd += output.bytesWritten
    }

    private func scratchFile() throws(StoreError) -> any File {
        if let file { return file }
        let made = try NewFile(files.scratch, files.medium, access)
        made.discard()
        file = made.file
        return made.file
    }
}

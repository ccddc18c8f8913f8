import RoostFile

/// Where the values went that several entries may lead to, in bounded memory.
///
/// The newest are in a small hash table, older ones sorted in memory up to a limit, the rest in a scratch file as sorted
/// runs, which are merged as in an LSM tree, so that they stay few. The scratch file has no name any more once it is
/// open, so nothing of it can be left behind.
final class Relocations {
    private let limit: Int
    private let files: CompactionFiles
    private let access: FileAccess
    private var recent: [UInt64: ChunkReference] = [:]
    private var settled: [Relocation] = []
    private var runs: [RelocationRun] = []
    private var file: (any File)?
    /// Bytes of runs in the scratch file so far; its first block says whose it is.
    private(set) var scratchEnd: UInt64 = 0

    /// So many runs of one level are merged into one of the next.
    private static let fanIn = 8
    private static let mostRecent = 1 << 15
    private static let firstRun = UInt64(Format.blockSize)

    /// - Parameters:
    ///   - access: who may do what with the scratch file.
    ///   - memory: bytes to use; a third of them is for sorting.
    init(files: CompactionFiles, access: FileAccess, memory: Int) {
        self.files = files
        self.access = access
        limit = max(memory / 3 * 2 / Relocation.size, 64)
    }

    /// Notes that the value at `old` is at `new`.
    func add(_ old: UInt64, _ new: ChunkReference) throws(StoreError) {
        recent[old] = new
        guard recent.count >= min(Relocations.mostRecent, limit / 8) else { return }
        settle()
        if settled.count >= limit { try spill() }
    }

    /// Where the value at `old` went; `nil` for one that was not copied. Fast where offsets grow from call to call.
    func find(_ old: UInt64) throws(StoreError) -> ChunkReference? {
        if let found = recent[old] { return found }
        let index = settled.firstIndex(notBefore: old)
        if index < settled.count, settled[index].old == old { return settled[index].new }
        for run in runs {
            if let found = try run.find(old) { return found }
        }
        return nil
    }

    /// Sorts everything that is in memory. The sort takes the sorted part as it is, so it is linear in that.
    private func settle() {
        let start = settled.count
        for (old, new) in recent { settled.append(Relocation(old, new)) }
        recent.removeAll(keepingCapacity: true)
        settled[start...].sort { $0.old < $1.old }
        settled.sort { $0.old < $1.old }
    }

    // MARK: Runs

    private func spill() throws(StoreError) {
        let output = try RunWriter(file: scratchFile(), start: Self.firstRun + scratchEnd)
        for relocation in settled { try output.append(relocation) }
        try keep(output, level: 0)
        settled = []
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
        try fileCall { () throws(FileError) in try files.medium.remove(files.scratch) }
        file = made.file
        return made.file
    }
}

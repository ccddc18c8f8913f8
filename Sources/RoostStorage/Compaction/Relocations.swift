import RoostFile

/// Where the values went that several entries may lead to, in bounded memory.
///
/// Sorted in memory up to a limit, then written to a scratch file as sorted runs, which are merged as in an LSM
/// tree, so that they stay few. The scratch file has no name any more once it is open, so nothing of it can be left behind.
final class Relocations {
    private let limit: Int
    private let files: CompactionFiles
    /// Sorted.
    private var settled: [Relocation] = []
    /// Added since, in any order.
    private var fresh: [Relocation] = []
    private var isFreshSorted = true
    private var runs: [RelocationRun] = []
    private var file: (any File)?
    /// Bytes written to the scratch file so far.
    private(set) var scratchEnd: UInt64 = 0

    /// So many runs of one level are merged into one of the next.
    private static let fanIn = 8

    /// - Parameter memory: bytes to use; a third of them is for sorting.
    init(files: CompactionFiles, memory: Int) {
        self.files = files
        limit = max(memory / 3 * 2 / Relocation.size, 64)
    }

    /// Notes that the value at `old` is at `new`. Each old offset is noted once.
    func add(_ old: UInt64, _ new: ChunkReference) throws(StoreError) {
        fresh.append(Relocation(old, new))
        isFreshSorted = false
        if fresh.count + settled.count >= limit {
            settle()
            try spill()
        }
    }

    /// Where the value at `old` went; `nil` for one that was not copied. Fast where offsets grow from call to call.
    func find(_ old: UInt64) throws(StoreError) -> ChunkReference? {
        if !isFreshSorted { sortFresh() }
        for list in [fresh, settled] {
            let index = list.firstIndex(notBefore: old)
            if index < list.count, list[index].old == old { return list[index].new }
        }
        for run in runs {
            if let found = try run.find(old) { return found }
        }
        return nil
    }

    private func sortFresh() {
        if fresh.count > settled.count / 8 { return settle() }
        fresh.sort { $0.old < $1.old }
        isFreshSorted = true
    }

    /// Sorts everything that is in memory.
    private func settle() {
        if settled.isEmpty { swap(&settled, &fresh) } else { settled += fresh }
        fresh.removeAll(keepingCapacity: true)
        settled.sort { $0.old < $1.old }
        isFreshSorted = true
    }

    // MARK: Runs

    private func spill() throws(StoreError) {
        let output = try RunWriter(file: scratchFile(), start: scratchEnd)
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
        let output = try RunWriter(file: scratchFile(), start: scratchEnd)
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
        let made = try fileCall { () throws(FileError) in
            let file = try files.medium.open(files.scratch, .createNew)
            try files.medium.remove(files.scratch)
            return file
        }
        file = made
        return made
    }
}

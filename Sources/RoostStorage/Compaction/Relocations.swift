import RoostBytes
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

// MARK: - Relocation

/// Where a value went: its offset in the old file, and what leads to it in the new one. 16 bytes.
struct Relocation {
    /// The old offset (48 bits), then the high half of the new length.
    private let first: UInt64
    /// The new offset (48 bits), then the low half of the new length.
    private let second: UInt64

    static let size = 16

    init(_ old: UInt64, _ new: ChunkReference) {
        first = old << 16 | UInt64(new.length >> 16)
        second = new.offset << 16 | UInt64(new.length & 0xffff)
    }

    var old: UInt64 { first >> 16 }

    var new: ChunkReference {
        ChunkReference(offset: second >> 16, length: UInt32(first & 0xffff) << 16 | UInt32(second & 0xffff))
    }
}

// MARK: - RelocationRun

/// Relocations in the order of their old offsets, in a scratch file. Look-ups that go upwards read each part once.
final class RelocationRun {
    private let file: any File
    /// Where in the file the run starts.
    let start: UInt64
    let count: Int
    /// How often its relocations were merged.
    let level: Int
    /// The relocations in memory, and the index of the first of them.
    private var window = SortedRelocations()
    private var windowStart = 0

    /// How many relocations are read at a time.
    private static let windowCount = 4096

    init(file: any File, start: UInt64, count: Int, level: Int) {
        self.file = file
        self.start = start
        self.count = count
        self.level = level
    }

    /// Where the value at `old` went; `nil` when it is not in this run. O(log n).
    func find(_ old: UInt64) throws(StoreError) -> ChunkReference? {
        try slide(to: old)
        return window.find(old)
    }

    /// Makes ``window`` the part in which `old` would be.
    private func slide(to old: UInt64) throws(StoreError) {
        if let first = window.first, let last = window.last, first.old <= old {
            if old <= last.old { return }
            if windowStart + window.count == count { return }
            try load(windowStart + window.count)
            if let last = window.last, old <= last.old { return }
        }
        var low = 0
        var high = (count + RelocationRun.windowCount - 1) / RelocationRun.windowCount - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if try read(middle * RelocationRun.windowCount, 1)[0].old <= old {
                low = middle
            } else {
                high = middle - 1
            }
        }
        try load(low * RelocationRun.windowCount)
    }

    private func load(_ index: Int) throws(StoreError) {
        window = SortedRelocations(try read(index, min(RelocationRun.windowCount, count - index)))
        windowStart = index
    }

    /// `length` relocations from `index` on.
    func read(_ index: Int, _ length: Int) throws(StoreError) -> [Relocation] {
        let offset = start + UInt64(index * Relocation.size)
        var result: Result<Void, StoreError> = .success(())
        let read = unsafe [Relocation](unsafeUninitializedCapacity: length) { memory, initialized in
            let bytes = UnsafeMutableRawBufferPointer(memory)
            result = Result { () throws(StoreError) in
                let count = try fileCall { () throws(FileError) in
                    unsafe try file.readFully(into: bytes, at: offset)
                }
                guard count == bytes.count else {
                    throw StoreError(.inputOutput, "\(file.path) lost bytes that were just written.")
                }
                initialized = length
            }
        }
        try result.get()
        return read
    }
}

// MARK: - RunWriter

/// Writes a run of relocations to a scratch file.
final class RunWriter {
    private let file: any File
    private let start: UInt64
    private var count = 0
    private var waiting: [Relocation] = []
    private static let part = 16_384

    init(file: any File, start: UInt64) {
        self.file = file
        self.start = start
        waiting.reserveCapacity(RunWriter.part)
    }

    var bytesWritten: UInt64 { UInt64(count * Relocation.size) }

    func append(_ relocation: Relocation) throws(StoreError) {
        waiting.append(relocation)
        if waiting.count == RunWriter.part { try flush() }
    }

    func finish(level: Int) throws(StoreError) -> RelocationRun {
        try flush()
        return RelocationRun(file: file, start: start, count: count, level: level)
    }

    private func flush() throws(StoreError) {
        let offset = start + bytesWritten
        let result: Result<Void, StoreError> = unsafe waiting.withUnsafeBytes { bytes in
            Result { () throws(StoreError) in
                try fileCall { () throws(FileError) in unsafe try file.writeFully(bytes, at: offset) }
            }
        }
        try result.get()
        count += waiting.count
        waiting.removeAll(keepingCapacity: true)
    }
}

/// Several runs as one sequence in order.
struct RunMerge {
    private var inputs: [Input]

    private struct Input {
        let run: RelocationRun
        var next = 0
        var part: [Relocation] = []
        var index = 0
    }

    private static let part = 4096

    init(_ runs: some Sequence<RelocationRun>) { inputs = runs.map { Input(run: $0) } }

    /// The relocation with the least old offset that is left.
    mutating func next() throws(StoreError) -> Relocation? {
        var least: (input: Int, relocation: Relocation)?
        for index in inputs.indices {
            guard let head = try head(index) else { continue }
            if let current = least, current.relocation.old <= head.old { continue }
            least = (index, head)
        }
        guard let least else { return nil }
        inputs[least.input].index += 1
        return least.relocation
    }

    private mutating func head(_ index: Int) throws(StoreError) -> Relocation? {
        if inputs[index].index == inputs[index].part.count {
            let input = inputs[index]
            let length = min(RunMerge.part, input.run.count - input.next)
            guard length > 0 else { return nil }
            inputs[index].part = try input.run.read(input.next, length)
            inputs[index].next += length
            inputs[index].index = 0
        }
        return inputs[index].part[inputs[index].index]
    }
}

// MARK: - SortedRelocations

/// Relocations in the order of their old offsets. A look-up begins where the last one ended, so that those that go upwards are fast.
struct SortedRelocations {
    private(set) var items: [Relocation]
    /// Where the last look-up ended.
    private var cursor = 0

    /// - Precondition: the old offsets of `items` never decrease.
    init(_ items: [Relocation] = []) { self.items = items }

    var count: Int { items.count }
    var first: Relocation? { items.first }
    var last: Relocation? { items.last }

    /// Where the value at `old` went; `nil` when it is not here. O(log d) where d is how far it lies above the last one that was
    /// looked for, O(log n) below that.
    mutating func find(_ old: UInt64) -> ChunkReference? {
        seek(old)
        return cursor < items.count && items[cursor].old == old ? items[cursor].new : nil
    }

    /// Moves the cursor to the first relocation whose old offset is not less than `old`.
    private mutating func seek(_ old: UInt64) {
        var low = 0
        var high = cursor
        if cursor < items.count, items[cursor].old <= old {
            low = cursor
            var step = 1
            while high < items.count, items[high].old < old {
                low = high + 1
                high += step
                step *= 2
            }
            high = min(high, items.count)
        }
        while low < high {
            let middle = (low &+ high) &>> 1
            if items[middle].old < old { low = middle &+ 1 } else { high = middle }
        }
        cursor = low
    }

    /// These and `others` in order. O(n).
    func merged(with others: SortedRelocations) -> SortedRelocations {
        var merged: [Relocation] = []
        merged.reserveCapacity(count + others.count)
        var (left, right) = (0, 0)
        while left < count, right < others.count {
            let isRight = others.items[right].old < items[left].old
            merged.append(isRight ? others.items[right] : items[left])
            if isRight { right += 1 } else { left += 1 }
        }
        merged += items[left...]
        merged += others.items[right...]
        return SortedRelocations(merged)
    }
}

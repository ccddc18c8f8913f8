import RoostBytes
import Synchronization

/// Which random number the chunks at each place of an encrypted file are bound to.
///
/// Everybody who opens a file for writing draws a number, and draws another one when what was written is given up.
/// So two copies of a file that were written on separately have other numbers from where they part, and a chunk of the one
/// does not open in the other. A file has as many entries as it was written by openings since the last compaction.
/// Any thread may use it. Each chunk that is read asks for its number, and waits for nobody.
@safe final class WritingHistory: Sendable {
    /// From `start` on, up to the next entry's, chunks are bound to `number`.
    struct Entry: Equatable, Sendable, BitwiseCopyable {
        var start: UInt64
        var number: UInt64
    }

    /// What readers look into, the last of ``runs``.
    private let current: Atomic<Unmanaged<HistoryRun>>
    /// The present entries, and before them those of earlier times, in which readers may still be. Locked by whoever changes
    /// something.
    private let runs: Mutex<[HistoryRun]>

    init() {
        let run = HistoryRun([])
        unsafe current = Atomic(.passUnretained(run))
        runs = Mutex([run])
    }

    var entries: [Entry] { reading { $0.entries } }

    /// The number for a chunk at `offset`; 0 for nodes that are in memory only. O(log n).
    @inline(__always)
    func number(at offset: UInt64) -> UInt64 {
        guard offset < StoreOpener.replayedStart else { return 0 }
        return reading { $0.number(at: offset) }
    }

    /// Learns the numbers of what begins at some places, in whatever order.
    func note(_ new: [Entry]) {
        guard new.contains(where: { number(at: $0.start) != $0.number }) else { return }
        change { entries in
            for entry in new { WritingHistory.insert(entry, into: &entries) }
        }
    }

    private static func insert(_ entry: Entry, into entries: inout [Entry]) {
        var index = entries.partitioningIndex { $0.start > entry.start }
        if index > 0, entries[index - 1].number == entry.number { return }
        if index > 0, entries[index - 1].start == entry.start {
            index -= 1
            entries[index] = entry
        } else {
            entries.insert(entry, at: index)
        }
        if index + 1 < entries.count, entries[index + 1].number == entry.number {
            entries.remove(at: index + 1)
        }
    }

    /// Begins what a writer appends at `start`; nothing behind that place counts any more.
    func begin(at start: UInt64, _ number: UInt64) {
        change { entries in
            entries.removeSubrange(entries.partitioningIndex { $0.start >= start }...)
            entries.append(Entry(start: start, number: number))
        }
    }

    /// Binds what is written from `start` on to another number than what was written there, or behind it, and given up: each
    /// number is one more than the last, whatever place that was for.
    func renew(at start: UInt64) { begin(at: start, (entries.last?.number ?? 0) &+ 1) }

    @inline(__always)
    private func reading<R>(_ body: (HistoryRun) -> R) -> R {
        unsafe current.load(ordering: .acquiring)._withUnsafeGuaranteedRef(body)
    }

    private func change(_ body: (inout [Entry]) -> Void) {
        runs.withLock { runs in
            let run = runs[runs.count - 1]
            let before = run.entries
            var entries = before
            body(&entries)
            guard entries != before, !run.extend(to: entries) else { return }
            let next = HistoryRun(entries)
            runs.append(next)
            unsafe current.store(.passUnretained(next), ordering: .releasing)
        }
    }
}

/// Entries of a ``WritingHistory`` in memory that never moves. One thread at a time may append some while others read.
@safe private final class HistoryRun: Sendable {
    private nonisolated(unsafe) let start: UnsafeMutablePointer<WritingHistory.Entry>
    private let capacity: Int
    /// How many there are. Those after them are nobody's but the writer's.
    private let count: Atomic<Int>

    init(_ entries: [WritingHistory.Entry]) {
        capacity = max(2 * entries.count, 4)
        unsafe start = .allocate(capacity: capacity)
        for (index, entry) in entries.enumerated() { unsafe (start + index).initialize(to: entry) }
        count = Atomic(entries.count)
    }

    deinit { unsafe start.deallocate() }

    var entries: [WritingHistory.Entry] { unsafe Array(buffer) }

    func number(at offset: UInt64) -> UInt64 {
        let entries = unsafe buffer
        let index = unsafe entries.partitioningIndex { $0.start > offset }
        return index == 0 ? 0 : unsafe entries[index - 1].number
    }

    /// Appends what `entries` has more than this run; `false` where that is not all that differs, or there is no room.
    func extend(to entries: [WritingHistory.Entry]) -> Bool {
        let present = unsafe buffer
        guard entries.count <= capacity, unsafe entries.starts(with: present) else { return false }
        for index in present.count..<entries.count { unsafe (start + index).initialize(to: entries[index]) }
        count.store(entries.count, ordering: .releasing)
        return true
    }

    private var buffer: UnsafeBufferPointer<WritingHistory.Entry> {
        unsafe UnsafeBufferPointer(start: start, count: count.load(ordering: .acquiring))
    }
}

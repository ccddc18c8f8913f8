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
    struct Entry: Equatable, Sendable {
        var start: UInt64
        var number: UInt64
    }

    /// What readers look into, the last of ``runs``.
    private let current: Atomic<Unmanaged<HistoryRun>>
    /// The present entries come last. Before them stand those that were moved to other memory, in which readers may still be:
    /// where one was learned out of order, or there was no more room, which each time becomes twice as much. Locked by whoever
    /// changes something.
    private let runs: Mutex<[HistoryRun]>

    init() {
        let run = HistoryRun([])
        unsafe current = Atomic(.passUnretained(run))
        runs = Mutex([run])
    }

    var entries: [Entry] { reading { $0.entries } }
    /// How often the entries had to move to other memory.
    var moves: Int { runs.withLock { $0.count - 1 } }

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
            let before = entries
            for entry in new { WritingHistory.insert(entry, into: &entries) }
            // The last one may get another number. Others must stay where they are.
            return entries.count >= before.count
                && zip(before.dropLast(), entries).allSatisfy { $0 == $1 }
                && before.last.map { entries[before.count - 1].start == $0.start } ?? true
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
            return true
        }
    }

    /// Binds what is written from `start` on to another number than what was written there, or behind it, and given up: each
    /// number is one more than the last, whatever place that was for.
    func renew(at start: UInt64) { begin(at: start, (entries.last?.number ?? 0) &+ 1) }

    @inline(__always)
    private func reading<R>(_ body: (HistoryRun) -> R) -> R {
        unsafe current.load(ordering: .acquiring)._withUnsafeGuaranteedRef(body)
    }

    /// - Parameter body: changes the entries, and says whether those who look for a chunk that counts find its number also while
    ///   entries are written over those that stood in their places.
    private func change(_ body: (inout [Entry]) -> Bool) {
        runs.withLock { runs in
            let run = runs[runs.count - 1]
            var entries = run.entries
            if body(&entries), run.write(entries) { return }
            let next = HistoryRun(entries)
            runs.append(next)
            unsafe current.store(.passUnretained(next), ordering: .releasing)
        }
    }
}

/// Entries of a ``WritingHistory`` in memory that never moves. One thread at a time may write some while others read.
@safe private final class HistoryRun: Sendable {
    private nonisolated(unsafe) let slots: UnsafeMutablePointer<Slot>
    private let capacity: Int
    /// How many there are.
    private let count: Atomic<Int>

    private struct Slot: ~Copyable {
        let start: Atomic<UInt64>
        let number: Atomic<UInt64>

        init(_ entry: WritingHistory.Entry) {
            start = Atomic(entry.start)
            number = Atomic(entry.number)
        }
    }

    init(_ entries: [WritingHistory.Entry]) {
        capacity = max(2 * entries.count, 4)
        unsafe slots = .allocate(capacity: capacity)
        let none = WritingHistory.Entry(start: 0, number: 0)
        for index in 0..<capacity {
            unsafe (slots + index).initialize(to: Slot(index < entries.count ? entries[index] : none))
        }
        count = Atomic(entries.count)
    }

    deinit {
        unsafe slots.deinitialize(count: capacity)
        unsafe slots.deallocate()
    }

    var entries: [WritingHistory.Entry] {
        (0..<count.load(ordering: .acquiring)).map { index in
            unsafe WritingHistory.Entry(
                start: slots[index].start.load(ordering: .relaxed),
                number: slots[index].number.load(ordering: .relaxed))
        }
    }

    func number(at offset: UInt64) -> UInt64 {
        let index = (0..<count.load(ordering: .acquiring)).partitioningIndex {
            unsafe slots[$0].start.load(ordering: .relaxed) > offset
        }
        return index == 0 ? 0 : unsafe slots[index - 1].number.load(ordering: .relaxed)
    }

    /// Puts `entries` in the place of those that are here; `false` where there is no room.
    func write(_ entries: [WritingHistory.Entry]) -> Bool {
        guard entries.count <= capacity else { return false }
        for (index, entry) in entries.enumerated() {
            unsafe slots[index].start.store(entry.start, ordering: .relaxed)
            unsafe slots[index].number.store(entry.number, ordering: .relaxed)
        }
        count.store(entries.count, ordering: .releasing)
        return true
    }
}

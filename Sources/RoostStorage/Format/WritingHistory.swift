import RoostBytes
import Synchronization

/// Which random number the chunks at each place of an encrypted file are bound to.
///
/// Everybody who opens a file for writing draws a number, and draws another one when what was written is given up.
/// So two copies of a file that were written on separately have other numbers from where they part, and a chunk of the one
/// does not open in the other. A file has as many entries as it was written by openings since the last compaction.
/// Any thread may use it.
final class WritingHistory: Sendable {
    /// From `start` on, up to the next entry's, chunks are bound to `number`.
    struct Entry: Equatable, Sendable {
        var start: UInt64
        var number: UInt64
    }

    /// Sorted by their starts, all of which differ; neighbours have different numbers.
    private let shared = Mutex<[Entry]>([])

    var entries: [Entry] { shared.withLock { $0 } }

    /// The number for a chunk at `offset`; 0 for nodes that are in memory only.
    func number(at offset: UInt64) -> UInt64 {
        guard offset < StoreOpener.replayedStart else { return 0 }
        return shared.withLock { entries in
            let index = WritingHistory.index(after: offset, in: entries)
            return index == 0 ? 0 : entries[index - 1].number
        }
    }

    /// Learns the number of what begins at `start`, in whatever order.
    func note(_ entry: Entry) {
        shared.withLock { entries in
            var index = WritingHistory.index(after: entry.start, in: entries)
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
    }

    /// Begins what a writer appends at `start`; nothing behind that place counts any more.
    func begin(at start: UInt64, _ number: UInt64) {
        shared.withLock { entries in
            entries.removeSubrange(WritingHistory.index(after: start, in: entries)...)
            if entries.last?.start == start { entries.removeLast() }
            entries.append(Entry(start: start, number: number))
        }
    }

    /// Binds what is written from `start` on to another number than what was written there, or behind it, and given up: each
    /// number is one more than the last, whatever place that was for.
    func renew(at start: UInt64) { begin(at: start, (entries.last?.number ?? 0) &+ 1) }

    /// The first entry that begins after `offset`. O(log n).
    private static func index(after offset: UInt64, in entries: [Entry]) -> Int {
        entries.partitioningIndex { $0.start > offset }
    }
}

import Roost
import RoostBytes

/// The newest entries of all channels of a database, in memory, so that a thousand who wait for them don't each look for them in the
/// file.
struct RecentEntries {
    /// So many documents are remembered.
    private static let mostDocuments = 4_096

    /// A document that is here: when it changed last, and its entries by their channels.
    private struct Known {
        let sequence: UInt64
        var entries: [String: UInt64] = [:]
    }

    /// All entries with greater sequences are here.
    private(set) var start: UInt64
    /// In the order of their sequences.
    private var channels: [String: [ChannelEntry]] = [:]
    private var documents: [ByteKey: Known] = [:]
    /// The documents as they changed; those that changed again stand here again.
    private var order: [(sequence: UInt64, id: String)] = []
    private var orderStart = 0

    init(start: UInt64) { self.start = start }

    /// Notes where a document stands, and stood, that has changed at `sequence`, after all others.
    mutating func add(_ id: String, _ sequence: UInt64, _ record: RoutedDocument?) {
        remove(id)
        var known = Known(sequence: sequence)
        for (channel, place) in record?.places ?? [:] where place.sequence > start {
            let entry = ChannelEntry(id: id, place: place)
            let index = Self.index(after: place.sequence, in: channels[channel] ?? [])
            channels[channel, default: []].insert(entry, at: index)
            known.entries[channel] = place.sequence
        }
        documents[ByteKey(id)] = known
        order.append((sequence, id))
        while documents.count > Self.mostDocuments || order.count - orderStart > 2 * Self.mostDocuments {
            forgetOldest()
        }
    }

    private mutating func forgetOldest() {
        let oldest = order[orderStart]
        orderStart += 1
        if orderStart > Self.mostDocuments {
            order.removeSubrange(..<orderStart)
            orderStart = 0
        }
        guard documents[ByteKey(oldest.id)]?.sequence == oldest.sequence else { return }
        remove(oldest.id)
        start = oldest.sequence
    }

    private mutating func remove(_ id: String) {
        guard let known = documents.removeValue(forKey: ByteKey(id)) else { return }
        for (channel, sequence) in known.entries {
            guard var entries = channels.removeValue(forKey: channel) else { continue }
            let index = Self.index(after: sequence, in: entries) - 1
            if index >= 0, entries[index].sequence == sequence { entries.remove(at: index) }
            if !entries.isEmpty { channels[channel] = entries }
        }
    }

    /// The first entries of a channel after a sequence, up to another one.
    func entries(of channel: String, after sequence: UInt64, upTo last: UInt64, limit: Int) -> ArraySlice<
        ChannelEntry
    > {
        guard let entries = channels[channel] else { return [] }
        return entries[Self.index(after: sequence, in: entries)...].prefix(limit).prefix {
            $0.sequence <= last
        }
    }

    /// Where the entries begin whose sequences are greater. O(log n).
    private static func index(after sequence: UInt64, in entries: [ChannelEntry]) -> Int {
        entries.partitioningIndex { $0.sequence > sequence }
    }
}

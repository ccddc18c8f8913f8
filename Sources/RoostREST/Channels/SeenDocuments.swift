import Roost

/// The documents of a range that somebody sees, who does not see all, in the order of their IDs.
///
/// Where their channels hold few of the database's documents, these are looked up; otherwise all documents of the range are looked at.
/// So it costs about what the channels hold.
struct SeenDocuments {
    /// Of the documents that are looked up, the IDs that are left, the next one last.
    private var ids: [String]
    /// Of the documents that are looked at.
    private let cursor: DocumentCursor?
    private let sight: Sight
    /// Looked up together, the next one last.
    private var found: [Document] = []

    private static let batchSize = 100
    /// So many entries of channels are gone through at most, and so many parts of the database's documents they may be.
    private static let mostEntries = 100_000
    private static let leastShare = 4

    init(_ range: DocumentSelection, _ access: ChannelAccess, _ sight: Sight) throws {
        self.sight = sight
        let snapshot = sight.snapshot
        let count = try access.channels.reduce(0) {
            try $0 + snapshot.annotationCount(under: ChannelKey.channel($1))
        }
        if let from = range.from, let to = range.to, range.includesEnd, from.utf8.elementsEqual(to.utf8) {
            ids = range.contains(from) ? [from] : []
            cursor = nil
            return
        }
        // By the whole database, not by the range: how long it takes must not tell how many others are in it.
        let total = try snapshot.count + snapshot.deletedCount
        if count <= min(Self.mostEntries, total / Self.leastShare) {
            let ids = try Self.ids(in: access.channels, range, snapshot)
            self.ids = (range.descending ? ids.sorted() : ids.sorted(by: >)).map(\.text)
            cursor = nil
        } else {
            ids = []
            cursor = try snapshot.cursor(range)
        }
    }

    /// The next document; `nil` after the last.
    mutating func next() throws -> Document? {
        while let change = try cursor?.nextChange() {
            if try sight.sees(change.id, change.revision) { return try sight.snapshot.get(change.id) }
        }
        while found.isEmpty, !ids.isEmpty {
            let batch = Array(ids.suffix(Self.batchSize).reversed())
            ids.removeLast(batch.count)
            found = try batch.compactMap { try sight.live($0) }.reversed()
        }
        return found.popLast()
    }

    /// The documents that stand in some channels.
    private static func ids(
        in channels: Set<String>, _ range: DocumentSelection, _ snapshot: CollectionSnapshot
    ) throws -> Set<ByteKey> {
        var ids: Set<ByteKey> = []
        for channel in channels {
            var last: UInt64 = 0
            while true {
                let records = try snapshot.annotations(
                    under: ChannelKey.channel(channel), after: ChannelKey.sequence(last), limit: 1_000)
                let entries = try records.compactMap { try ChannelEntry(record: $0) }
                ids.formUnion(
                    entries.lazy.filter { $0.place.left == nil && range.contains($0.id) }.map {
                        ByteKey($0.id)
                    })
                guard let end = entries.last?.sequence else { break }
                last = end
            }
        }
        return ids
    }
}

import Roost

/// The documents of a range that somebody sees, who does not see all, in the order of their IDs.
///
/// They are found in the lists of the user's channels. So it costs what is read of these, however many other documents there are.
struct SeenDocuments {
    /// A channel's list of documents, read a page at a time.
    private struct List {
        let prefix: [UInt8]
        /// What is left of it.
        var rest: DocumentSelection
        /// What was read ahead, in the list's order.
        var read: ArraySlice<ByteKey> = []
        var hasEnded = false

        mutating func fill(_ snapshot: CollectionSnapshot, _ count: Int) throws {
            guard read.isEmpty, !hasEnded else { return }
            let keys = try snapshot.annotationKeys(under: prefix, in: rest, limit: count)
            read = keys.map { ByteKey(String(decoding: $0, as: UTF8.self)) }[...]
            hasEnded = keys.count < count
            guard let last = read.last?.text else { return }
            if rest.isDescending {
                rest.to = last
                rest.includesEnd = false
            } else {
                rest.from = last + "\u{0}"
            }
        }
    }

    private let sight: Sight
    private let isDescending: Bool
    private var lists: [List] = []
    /// The IDs that were read of all lists up to a place, the next one last.
    private var ids: [ByteKey] = []
    /// For who was given all documents: the collection's, of which those are passed over that the function was not asked about or has
    /// refused.
    private let cursor: DocumentCursor?

    /// So many IDs are read ahead of a list, and of all together where these are not more.
    private static let pageSize = 100
    private static let mostAhead = 10_000
    private static let leastPage = 10

    init(_ range: DocumentSelection, _ access: ChannelAccess, _ sight: Sight) throws {
        self.sight = sight
        isDescending = range.isDescending
        if let from = range.from, let to = range.to, range.includesEnd, from.utf8.elementsEqual(to.utf8) {
            ids = range.contains(from) ? [ByteKey(from)] : []
            cursor = nil
        } else if access.channels.contains(SyncDecision.allChannels) {
            cursor = try sight.snapshot.cursor(range)
        } else {
            lists = access.channels.map { List(prefix: ChannelKey.list($0), rest: range) }
            cursor = nil
        }
    }

    /// The next document; `nil` after the last.
    mutating func next() throws -> Document? {
        while let change = try cursor?.nextChange() {
            if try sight.sees(change.id, change.revision) { return try sight.snapshot.document(change.id) }
        }
        repeat {
            while let id = ids.popLast() {
                if let document = try sight.live(id.text) { return document }
            }
        } while try readOn()
        return nil
    }

    /// Reads the IDs that come next, of all lists as far as that one which was read least far; answers `false` when there are none.
    private mutating func readOn() throws -> Bool {
        let count = max(Self.leastPage, min(Self.pageSize, Self.mostAhead / max(1, lists.count)))
        for index in lists.indices { try lists[index].fill(sight.snapshot, count) }
        lists.removeAll { $0.read.isEmpty }
        let ends = lists.lazy.filter { !$0.hasEnded }.compactMap(\.read.last)
        let end = isDescending ? ends.max() : ends.min()
        var found: Set<ByteKey> = []
        for index in lists.indices {
            let ahead = lists[index].read
            let next =
                end.map { end in
                    ahead.firstIndex { isDescending ? $0 < end : end < $0 } ?? ahead.endIndex
                } ?? ahead.endIndex
            found.formUnion(ahead[..<next])
            lists[index].read = ahead[next...]
        }
        ids = isDescending ? found.sorted() : found.sorted(by: >)
        return !ids.isEmpty
    }
}

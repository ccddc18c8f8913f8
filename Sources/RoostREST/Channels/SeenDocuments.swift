import Roost
import RoostQuery

/// The documents of a range that a limited user sees, in the order of their IDs.
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

    private let visibility: Visibility
    private let isDescending: Bool
    private var lists: [List] = []
    /// The IDs that were read of all lists up to a place, the next one last.
    private var ids: [ByteKey] = []
    /// For who was given all documents: the collection's, of which those are passed over that the function was not asked about or has
    /// refused.
    private let cursor: DocumentCursor?

    /// The number of IDs that are read ahead of a list, and of all lists together.
    private static let pageSize = 100
    private static let mostAhead = 10_000
    private static let leastPage = 10

    init(_ range: DocumentSelection, _ access: ChannelAccess, _ visibility: Visibility) throws {
        self.visibility = visibility
        isDescending = range.isDescending
        if let from = range.from, let to = range.to, range.includesEnd, from.utf8.elementsEqual(to.utf8) {
            ids = range.contains(from) ? [ByteKey(from)] : []
            cursor = nil
        } else if access.channels.contains(SyncDecision.allChannels) {
            cursor = try visibility.snapshot.cursor(range)
        } else {
            lists = access.channels.map { List(prefix: ChannelKey.list($0), rest: range) }
            cursor = nil
        }
    }

    /// The next document; `nil` after the last.
    mutating func next() throws -> Document? {
        while let change = try cursor?.nextChange() {
            if try visibility.sees(change.id, change.revision) {
                return try visibility.snapshot.document(change.id)
            }
        }
        repeat {
            while let id = ids.popLast() {
                if let document = try visibility.live(id.text) { return document }
            }
        } while try readOn()
        return nil
    }

    /// Reads the IDs that come next, of all lists as far as that one which was read least far; answers `false` when there are none.
    private mutating func readOn() throws -> Bool {
        let count = max(Self.leastPage, min(Self.pageSize, Self.mostAhead / max(1, lists.count)))
        for index in lists.indices { try lists[index].fill(visibility.snapshot, count) }
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

/// The documents that a user of channels sees, for a query.
final class SeenByQuery: VisibleDocuments {
    let collection: DocumentCollection
    private let visibility: Visibility
    private let access: ChannelAccess

    /// - Returns: `nil` where everything is seen.
    init?(_ collection: DocumentCollection, _ visibility: Visibility) {
        guard let access = visibility.access else { return nil }
        self.collection = collection
        self.visibility = visibility
        self.access = access
    }

    func documents(in selection: DocumentSelection) throws -> () throws -> Document? {
        var documents = try SeenDocuments(selection, access, visibility)
        return { try documents.next() }
    }

    func document(_ id: String) throws -> Document? { try visibility.live(id) }
}

/// `skip` and `limit`, counted among what a user sees.
struct SeenPage: Sendable {
    /// How many are still to be passed over, and to be answered.
    private(set) var skip: Int
    private(set) var limit: Int

    init(skip: Int, limit: Int) {
        self.skip = skip
        self.limit = limit
    }

    /// Whether nothing more is wanted.
    var isFull: Bool { limit == 0 }

    /// Counts one that is seen, while more are wanted; returns whether it belongs to the answer.
    mutating func takes() -> Bool {
        guard skip == 0 else {
            skip -= 1
            return false
        }
        limit -= 1
        return true
    }
}

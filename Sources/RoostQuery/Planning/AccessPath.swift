import Roost
import RoostIndex
import RoostStorage

/// How the rows of a source are found, where that is not by reading documents in the order of their IDs.
enum AccessPath: Sendable {
    case index(IndexRanges)
    /// Rows that one of several conditions holds of, each by an index of its own.
    case union([Branch])
    /// Rows that are in both; the first is read for the IDs, of which there are fewer.
    case both(IndexRanges, IndexRanges)
    /// Documents that may have what patterns look for, by an index of trigrams: their IDs, sorted.
    case trigrams(GramSearch, [[UInt8]])
    /// Documents that a full-text index finds; with a number, only so many of the highest ranks, in their order.
    case search(TextSearch, best: Int?)

    /// One of the conditions that OR joins.
    struct Branch: Sendable {
        let condition: Evaluation
        let ranges: IndexRanges
    }

    /// The indexes of values that are read, in order.
    var indexes: [IndexRanges] {
        switch self {
        case .index(let ranges): [ranges]
        case .both(let first, let second): [first, second]
        case .union(let branches): branches.map(\.ranges)
        case .trigrams, .search: []
        }
    }

    /// Whether rows of an index have all that is asked for, so that no document is read.
    var isCovering: Bool { if case .index(let ranges) = self { ranges.access.covering != nil } else { false } }

    /// The name of the first index that is read.
    var indexName: String? {
        switch self {
        case .search(let search, _): search.index.description.name
        case .trigrams(let search, _): search.name
        case .index, .union, .both: indexes.first?.name
        }
    }

    /// What is read, and what it answers.
    var text: String {
        switch self {
        case .index(let ranges): ranges.text
        case .union(let branches): branches.map(\.ranges.text).joined(separator: " OR ")
        case .both(let first, let second): "\(first.text) AND \(second.text)"
        case .trigrams(let search, _): "\(search.name) (\(search.text))"
        case .search(let search, let best):
            search.description + (best.map { ", the best \(Explanation.grouped($0))" } ?? "")
        }
    }
}

/// What of an index is read.
struct IndexRanges: Sendable {
    let access: IndexAccess
    let reader: IndexReader
    /// In order and apart from each other.
    let ranges: [KeyRange]
    /// How many rows these ranges have.
    let count: Int

    var name: String { access.index.description.name }

    /// What it is called, what it answers, and how.
    var text: String {
        let keys = access.keys
        let answered = keys.isNarrowed ? " (\(keys.conditions.joined(separator: " AND ")))" : ""
        let skipping = keys.skipped > 0 ? " SKIPPING through \(keys.columns[0].text)" : ""
        return name + answered + skipping + (access.covering == nil ? "" : " COVERING")
    }
}

/// A way to find the rows of a source, with what it takes.
struct AccessCandidate: Sendable {
    let path: AccessPath
    /// How many rows of indexes are read at most.
    let count: Int
    /// See ``Cost``.
    let cost: Double
    /// Whether rows come in the order asked for.
    let isOrdered: Bool

    /// Whether rows come group by group, as the query groups them.
    var isGrouped: Bool { if case .index(let ranges) = path { ranges.access.isGrouped } else { false } }

    /// Whether the rows of the index are all that is asked for.
    var isExact: Bool { if case .index(let ranges) = path { ranges.access.keys.isExact } else { false } }
}

/// The choice among the ways to find the rows of a source.
struct AccessChoice: Sendable {
    /// An index that could be used and is not, why, and how many of its rows would be read, where that is known.
    typealias Rejection = (name: String, reason: String, count: Int?)

    /// `nil` when reading all documents takes least.
    private(set) var chosen: AccessCandidate?
    /// What takes more.
    private var others: [AccessCandidate] = []
    /// Indexes that can't be used now.
    private var unusable: [Rejection] = []
    /// How many documents there are.
    private let total: Int

    init(ofDocuments total: Int) { self.total = total }

    /// Takes a candidate if it costs less than what was considered before. Of several that cost the same, one in the required order
    /// is taken, and of these the first one, as those with the fewest columns come first.
    mutating func consider(_ candidate: AccessCandidate) {
        guard let chosen else {
            self.chosen = candidate
            return
        }
        if (candidate.cost, candidate.isOrdered ? 0 : 1, candidate.count)
            < (chosen.cost, chosen.isOrdered ? 0 : 1, chosen.count)
        {
            others.append(chosen)
            self.chosen = candidate
        } else {
            others.append(candidate)
        }
    }

    /// Rejects what was chosen if reading all documents takes no more.
    mutating func considerScan(_ cost: Double) {
        guard let chosen, chosen.cost >= cost else { return }
        others.append(chosen)
        self.chosen = nil
    }

    mutating func reject(_ name: String, _ reason: String, _ count: Int? = nil) {
        unusable.append((name, reason, count))
    }

    /// Indexes that could be used and are not.
    var rejected: [Rejection] {
        let used = chosen?.path.indexes.map(\.name) ?? []
        return unusable
            + others.compactMap { candidate -> Rejection? in
                switch candidate.path {
                case .index(let ranges) where !used.contains(ranges.name):
                    (ranges.name, reason(candidate), candidate.count)
                case .trigrams(let search, _) where chosen?.path.indexName != search.name:
                    (search.name, reason(candidate), candidate.count)
                default: nil
                }
            }
    }

    private func reason(_ candidate: AccessCandidate) -> String {
        let rows = "it would read \(Explanation.grouped(candidate.count)) of its rows"
        guard let chosen else { return "\(rows), and all \(Explanation.grouped(total)) documents take less" }
        return chosen.count < candidate.count
            ? "\(rows), not \(Explanation.grouped(chosen.count))" : "\(rows), and takes more for each"
    }
}

import Roost
import RoostIndex
import RoostOrder
import RoostStorage

/// How the rows of a source are found, where that is not by reading documents in the order of their IDs.
enum AccessPath: Sendable {
    case index(IndexRanges)
    /// Rows that one of several conditions holds of, each by an index of its own.
    case union([Branch])
    /// Rows that are in both; the first is read for the IDs, of which there are fewer.
    case both(IndexRanges, IndexRanges)
    /// Documents that may have what patterns look for, by an index of trigrams: their IDs, sorted.
    case trigrams(TrigramSearch, [[UInt8]])
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

    /// Whether rows of an index have all that is requested, so that no document is read.
    var isCovering: Bool {
        if case .index(let ranges) = self { ranges.access.covering != nil } else { false }
    }

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
    /// Whether rows come in the required order.
    let isOrdered: Bool

    /// Whether rows come group by group, as the query groups them.
    var isGrouped: Bool { if case .index(let ranges) = path { ranges.access.isGrouped } else { false } }

    /// Whether the rows of the index are all that is requested.
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

// MARK: - Index access

/// What the conditions on a source say of the columns of an index, from the first on: the ranges of its rows that documents which meet
/// them have. The documents themselves are an index of their IDs.
struct KeyConditions: Sendable {
    let columns: [CompiledIndex.Column]
    /// How many columns no condition speaks of, each of whose values is looked at: 0, or 1 for a skip scan.
    var skipped = 0
    /// Values that the columns after these are equal to.
    var equalities: [Equality] = []
    /// Bounds of the column after these.
    var lower: Bound?
    var upper: Bound?
    /// What texts begin with in that column, instead of bounds.
    var prefix: String?
    /// The conditions that the ranges answer, as they are written.
    var conditions: [String] = []
    /// Whether the ranges answer all that is asked of the source, so that their rows need only be counted.
    var isExact = false
    /// Whether rows in the index's order are in the order that the query asks for; backwards where `isReversed`.
    var isOrdered = false
    var isReversed = false
    /// Whether the values depend on rows of other sources.
    var dependsOnRows = false

    init(_ columns: [CompiledIndex.Column]) { self.columns = columns }

    /// What a column is equal to.
    enum Equality: Sendable {
        case value(Evaluation)
        /// One of the elements of an array.
        case oneOf(Evaluation)
        /// Values that are null, or not there.
        case test(ValueTest)

        /// Whether it is one value.
        var isSingle: Bool { if case .oneOf = self { false } else { true } }
    }

    /// An end of a range of values.
    struct Bound: Sendable {
        let value: Evaluation
        let isIncluded: Bool
        /// Whether null is compared as a value, the least of all, as in CouchDB. In SQL nothing is less or greater than null.
        let countsNull: Bool
    }

    /// Whether it reads less than all of the index.
    var isNarrowed: Bool { !equalities.isEmpty || lower != nil || upper != nil || prefix != nil }

    /// How many columns in front are the same in all rows.
    var constantColumns: Int { skipped > 0 ? 0 : equalities.prefix { $0.isSingle }.count }
}

/// How an index finds rows of a source.
struct IndexAccess: Sendable {
    let index: CompiledIndex
    let keys: KeyConditions
    /// Whether rows in the index's order come group by group, as the query groups them.
    var isGrouped = false
    /// The values of rows that stand for those of documents, of which nothing else is asked; `nil` where documents have to be
    /// read.
    var covering: [CoveredPath]?

    /// A value of the index's rows that the program has a path to in documents.
    struct CoveredPath: Sendable {
        let place: Int
        let path: Int
    }

    // MARK: Ranges

    /// The ranges of keys to read, in order and apart from each other; `nil` when a value is too long for exact ranges, or
    /// there are too many ranges.
    func ranges(_ frame: Frame, _ reader: IndexReader) throws(DatabaseError) -> [KeyRange]? {
        var prefixes: [[UInt8]] = [[]]
        if keys.skipped > 0 {
            guard let leading = try leadingValues(reader) else { return nil }
            prefixes = leading
        }
        for (number, equality) in keys.equalities.enumerated() {
            let column = index.columns[keys.skipped + number]
            let encoder = frame.encoder(column.collation)
            let found: [[UInt8]]
            switch equality {
            case .value(let value):
                let value = value(frame)
                // Nothing equals null.
                guard value.isValued else { return [] }
                found = [Self.key(value, column, encoder)]
            case .oneOf(let list):
                let values = list(frame).arrayElements.map { $0.filter(\.isValued) } ?? []
                found = Set(values.map { Self.key($0, column, encoder) }).sorted {
                    $0.lexicographicallyPrecedes($1)
                }
            case .test(.missing): found = [Self.key(.missing, column, encoder)]
            case .test: found = [Self.key(.null, column, encoder)]
            }
            guard prefixes.count * found.count <= Self.mostRanges else { return nil }
            prefixes =
                number == 0 && keys.skipped == 0
                ? found : prefixes.flatMap { prefix in found.map { prefix + $0 } }
        }
        let longest = prefixes.reduce(0) { max($0, $1.count) }
        guard longest <= Self.longestKey else { return nil }
        if let prefix = keys.prefix { return beginning(prefixes, with: prefix) }
        guard keys.lower != nil || keys.upper != nil else {
            return prefixes.map { KeyRange(prefix: Key($0)) }
        }
        return bounded(prefixes, longest, frame)
    }

    private static let mostRanges = 1000
    /// So many values of a column may be skipped through.
    private static let mostSkipped = 100
    /// Rows are told apart by no more of their keys, which are cut off some bytes later.
    static let longestKey = 1_400

    /// The keys of the different values of the first column; `nil` when there are many. O(log n) for each.
    private func leadingValues(_ reader: IndexReader) throws(DatabaseError) -> [[UInt8]]? {
        var values: [[UInt8]] = []
        var rest = KeyRange.all
        do {
            while let first = try reader.first(in: rest) {
                defer { extendLifetime(first) }
                guard values.count < Self.mostSkipped,
                    let value = try RowReader.prefix(1, of: first.row, index)
                else { return nil }
                values.append(value)
                rest = KeyRange(lower: Key(Self.after(value)), upper: nil)
            }
        } catch {
            throw DatabaseError(derived: error)
        }
        return values
    }

    private static func key(
        _ value: Value, _ column: CompiledIndex.Column, _ encoder: KeyEncoder
    ) -> [UInt8] {
        encoder.reset()
        encoder.append(value)
        if column.isDescending { encoder.complement(from: 0) }
        return encoder.key
    }

    /// The ranges of keys that begin with one of some keys and that of a text.
    private func beginning(_ prefixes: [[UInt8]], with text: String) -> [KeyRange]? {
        let column = index.columns[keys.skipped + keys.equalities.count]
        guard let key = column.collation.keyPrefix(ofTextsWith: text),
            prefixes.allSatisfy({ $0.count + key.count <= Self.longestKey })
        else { return nil }
        let part = column.isDescending ? key.map { ~$0 } : key
        return prefixes.map { KeyRange(prefix: Key($0 + part)) }
    }

    /// - Parameter longest: the length of the longest of `prefixes`.
    private func bounded(_ prefixes: [[UInt8]], _ longest: Int, _ frame: Frame) -> [KeyRange]? {
        let column = index.columns[keys.skipped + keys.equalities.count]
        var low: [UInt8]?
        var high: [UInt8]?
        for (bound, isLower) in [(keys.lower, true), (keys.upper, false)] {
            guard let bound else { continue }
            let value = bound.value(frame)
            guard value.isValued || bound.countsNull && value.isNull else { return [] }
            let key = Self.key(value, column, frame.encoder(column.collation))
            guard longest + key.count <= Self.longestKey else { return nil }
            // A column that goes down has the bounds the other way round.
            if isLower != column.isDescending {
                low = bound.isIncluded ? key : Self.after(key)
            } else {
                high = bound.isIncluded ? Self.after(key) : key
            }
        }
        // What is less than a value is not missing, and null only where that counts.
        let least = keys.upper?.countsNull == true ? Self.least(column, .null) : Self.leastValued(column)
        if column.isDescending { high = high ?? least } else { low = low ?? least }
        return prefixes.map { prefix in
            let end = high.map { Key(prefix + $0) } ?? (prefix.isEmpty ? nil : Key(Self.after(prefix)))
            return KeyRange(lower: Key(prefix + (low ?? [])), upper: end)
        }
    }

    /// Where the values of a column begin that are neither null nor missing; where they end in one that goes down.
    static func leastValued(_ column: CompiledIndex.Column) -> [UInt8] {
        least(column, .bool(false))
    }

    /// Where the values of a column begin from `value` on; where they end in one that goes down.
    private static func least(_ column: CompiledIndex.Column, _ value: Value) -> [UInt8] {
        let least = key(value, column, KeyEncoder(column.collation))
        return column.isDescending ? after(least) : least
    }

    /// The least key that is greater than all that begin with `key`.
    static func after(_ key: [UInt8]) -> [UInt8] {
        var key = key
        while let last = key.last {
            key.removeLast()
            if last < 0xFF { return key + [last + 1] }
        }
        return [0xFF, 0xFF, 0xFF, 0xFF]
    }
}

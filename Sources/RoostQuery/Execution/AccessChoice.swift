import Roost
import RoostIndex
import RoostStorage

/// An index that was chosen, and what of it is read.
final class IndexChoice {
    let access: IndexAccess
    let reader: IndexReader
    let ranges: [KeyRange]
    /// How many rows these ranges have.
    let count: Int
    /// A cursor over the only range, which was counted by it.
    private var opened: IndexCursor?

    init(_ access: IndexAccess, _ reader: IndexReader, _ ranges: [KeyRange]) throws(DatabaseError) {
        self.access = access
        self.reader = reader
        self.ranges = ranges
        // Most questions lead to a few rows, which are counted where they are read.
        if ranges.count == 1 {
            let cursor = reader.cursor(ranges[0], descending: access.keys.isReversed)
            if let count = try cursor.counted() {
                self.count = count
                opened = cursor
                return
            }
        }
        count = try reader.count(in: ranges)
    }

    /// A cursor over one of the ranges, in the order in which they are read.
    func cursor(_ range: KeyRange) -> IndexCursor {
        guard let cursor = opened else { return reader.cursor(range, descending: access.keys.isReversed) }
        opened = nil
        return cursor
    }

    /// What it is called, and what it answers.
    var text: String {
        let name = access.index.description.name
        guard access.keys.isNarrowed else { return name }
        return "\(name) (\(access.keys.conditions.joined(separator: " AND ")))"
    }
}

/// How the rows of a source are found, where that is not by reading all documents. Never changes once it is made.
final class AccessChoice {
    enum Way {
        case index(IndexChoice)
        /// Rows that one of several conditions holds of, each by an index of its own.
        case union([Branch])
        /// Rows that are in both; the first is gone through for the IDs, of which there are fewer.
        case both(IndexChoice, IndexChoice)
        /// Documents that may have what patterns look for, by an index of trigrams: their IDs, sorted.
        case grams(GramSearch, [[UInt8]])
        /// Documents that a full-text index finds; with a number, only so many of the highest ranks, in their order.
        case search(TextSearch, best: Int?)
    }

    /// One of the conditions that OR joins.
    struct Branch {
        let condition: Evaluation
        let choice: IndexChoice
    }

    let way: Way
    /// How many rows of indexes are read at most.
    let count: Int
    /// In millionths of a second, about.
    let cost: Double
    /// Whether rows come in the order asked for.
    let isOrdered: Bool

    init(way: Way, count: Int, cost: Double, isOrdered: Bool) {
        self.way = way
        self.count = count
        self.cost = cost
        self.isOrdered = isOrdered
    }

    /// The indexes of values that are read, in order.
    var indexes: [IndexChoice] {
        switch way {
        case .index(let choice): [choice]
        case .both(let first, let second): [first, second]
        case .union(let branches): branches.map(\.choice)
        case .grams, .search: []
        }
    }

    /// The name of the first index that is read.
    var indexName: String? {
        switch way {
        case .search(let search, _): search.index.description.name
        case .grams(let search, _): search.name
        case .index, .union, .both: indexes.first?.access.index.description.name
        }
    }

    /// Whether rows come group by group, as the query groups them.
    var isGrouped: Bool { if case .index(let choice) = way { choice.access.isGrouped } else { false } }

    /// The index whose rows are all that is asked for, if there is one.
    var exact: IndexChoice? {
        if case .index(let choice) = way, choice.access.keys.isExact { choice } else { nil }
    }
}

/// What is wanted of the rows of a source.
struct RowWish {
    /// Whether rows have to be sorted that do not come in the order asked for.
    var isSorted = false
    /// Whether they come so when all documents are read.
    var isScanSorted = false
    /// Whether the order asked for is that of the ranks of what is searched for.
    var isRanked = false
    /// Whether rows are put into groups.
    var isGrouped = false
    /// How many rows are needed at most.
    var most = Int.max

    /// What a row costs that does not come in the order wanted, in millionths of a second, about.
    var arranging: Double { isSorted ? 0.5 : isGrouped ? 0.3 : 0 }
}

extension Execution {
    /// What things cost, in millionths of a second: measured on one machine, and only their proportions matter.
    enum Cost {
        static let scanned = 0.4
        static let entry = 0.15
        static let lookedUp = 1.5
        /// Kept in a table, or found there.
        static let kept = 0.5
    }

    /// How the rows of a source are found fastest.
    ///
    /// How many rows of an index there are is known exactly, without reading them.
    ///
    /// - Parameter forTable: whether rows are found once for all rows of other sources.
    func decide(
        _ source: SourcePlan, _ wish: RowWish = RowWish(), forTable: Bool = false
    ) throws(DatabaseError) -> AccessDecision {
        let indexes = forTable ? source.tableIndexes : source.indexes
        let unions = forTable ? [] : source.unions
        var decision = AccessDecision()
        guard visible == nil,
            !indexes.isEmpty || !unions.isEmpty || source.search != nil
                || !source.grams.isEmpty,
            case .documents(let collection, let access) = source.origin,
            // Nothing finds documents faster than their IDs.
            access.ids == nil || source.search != nil
        else { return decision }
        let documents = try self.documents(of: collection)
        let total = documents.count
        decision.total = total
        if let search = source.search {
            let found = try self.search(search, wish)
            if found.isOrdered {
                decision.choice = found
                return decision
            }
            decision.consider(found)
        }
        var narrowed: [IndexChoice] = []
        var matching = total
        for access in indexes {
            guard let choice = try choice(access, collection, documents) else {
                decision.unusable.append(
                    (
                        access.index.description.name,
                        "it would be read in too many pieces, or a value is too long for its keys", nil
                    ))
                continue
            }
            decision.consider(candidate(choice, wish))
            guard access.keys.isNarrowed else { continue }
            matching = min(matching, choice.count)
            if indexes.count > 1 { narrowed.append(choice) }
        }
        if narrowed.count > 1, let both = both(narrowed, total, wish) { decision.consider(both) }
        for union in unions {
            if let choice = try self.union(union, collection, documents, wish) { decision.consider(choice) }
        }
        for search in source.grams {
            let found = try grams(search)
            guard let ids = found.ids else {
                decision.unusable.append((search.name, reason(found.count, total), found.count))
                continue
            }
            decision.consider(
                AccessChoice(
                    way: .grams(search, ids), count: ids.count,
                    cost: Double(ids.count) * (Cost.lookedUp + wish.arranging), isOrdered: false))
        }
        // What a search finds is known by then, so that reading all documents never takes less.
        let passed = scanned(total, source, wish, matching: matching)
        let arranging = wish.isScanSorted ? 0 : wish.arranging
        let isScanned = source.search == nil && !source.prefersIndexes
        let scan = isScanned ? Double(passed) * (Cost.scanned + arranging) : .infinity
        if let choice = decision.choice, choice.cost >= scan {
            decision.others.append(choice)
            decision.choice = nil
        }
        return decision
    }

    /// How many documents are read until there are enough; conditions may leave out many.
    ///
    /// - Parameter matching: how many may meet the conditions at most, as far as indexes know.
    private func scanned(_ total: Int, _ source: SourcePlan, _ wish: RowWish, matching: Int) -> Int {
        guard !wish.isSorted || wish.isScanSorted, wish.most < total else { return total }
        guard !source.filters.isEmpty else { return wish.most }
        let evenly = Double(wish.most) * Double(total) / Double(max(matching, 1))
        return max(total / 4, Int(min(evenly, Double(total))))
    }

    /// Why an index of trigrams leads to no documents to look up.
    private func reason(_ count: Int?, _ total: Int) -> String {
        guard let count else { return "the patterns name no two characters in a row that texts must have" }
        return
            "it would lead to \(Explanation.grouped(count)) documents, and all \(Explanation.grouped(total)) take less"
    }

    // MARK: Ways

    private func search(_ search: TextSearch, _ wish: RowWish) throws(DatabaseError) -> AccessChoice {
        if wish.isRanked, wish.most < .max {
            return AccessChoice(
                way: .search(search, best: wish.most), count: wish.most,
                cost: Double(wish.most) * Cost.lookedUp,
                isOrdered: true)
        }
        let count = try matches(of: search).count
        return AccessChoice(
            way: .search(search, best: nil), count: count,
            cost: Double(count) * (Cost.lookedUp + wish.arranging), isOrdered: false)
    }

    private func candidate(_ choice: IndexChoice, _ wish: RowWish) -> AccessChoice {
        let access = choice.access
        var rows = Double(choice.count)
        // Rows that come in order are read until there are enough; conditions that the index does not answer may leave out
        // many.
        if access.keys.isOrdered || !wish.isSorted, wish.most < choice.count {
            rows = access.keys.isExact ? Double(wish.most) : max(Double(wish.most), rows / 4)
        }
        var cost = rows * (access.covering == nil ? Cost.lookedUp : Cost.entry)
        if !access.keys.isOrdered, !access.isGrouped { cost += rows * wish.arranging }
        return AccessChoice(
            way: .index(choice), count: choice.count, cost: cost + Double(choice.ranges.count),
            isOrdered: access.keys.isOrdered)
    }

    /// The two indexes of fewest rows together, where the second one saves most documents that the first one leads to.
    private func both(_ narrowed: [IndexChoice], _ total: Int, _ wish: RowWish) -> AccessChoice? {
        let sorted = narrowed.sorted { $0.count < $1.count }
        guard let first = sorted.first, first.access.covering == nil, first.count <= Self.mostIntersected,
            let second = sorted.dropFirst().first(where: {
                $0.access.index !== first.access.index
                    && !$0.access.keys.conditions.allSatisfy(first.access.keys.conditions.contains)
            })
        else { return nil }
        // As if the one condition told nothing of the other.
        let rows = Double(first.count) * Double(second.count) / Double(max(total, 1))
        var cost = Double(first.count + second.count) * Cost.entry + rows * Cost.lookedUp
        if !second.access.keys.isOrdered { cost += rows * wish.arranging }
        return AccessChoice(
            way: .both(first, second), count: first.count + second.count, cost: cost,
            isOrdered: second.access.keys.isOrdered)
    }

    /// So many IDs are kept in memory for an intersection.
    private static let mostIntersected = 100_000

    private func union(
        _ union: UnionAccess, _ collection: DocumentCollection, _ documents: QueryMoment.Documents,
        _ wish: RowWish
    ) throws(DatabaseError) -> AccessChoice? {
        var branches: [AccessChoice.Branch] = []
        var (count, cost) = (0, 0.0)
        for branch in union.branches {
            var best: AccessChoice?
            for access in branch.accesses {
                guard let choice = try choice(access, collection, documents) else { continue }
                let candidate = candidate(choice, RowWish())
                if best.map({ candidate.cost < $0.cost }) ?? true { best = candidate }
            }
            guard let best, case .index(let choice) = best.way else { return nil }
            branches.append(AccessChoice.Branch(condition: branch.condition, choice: choice))
            count += best.count
            cost += best.cost
        }
        cost += Double(count) * wish.arranging
        return AccessChoice(way: .union(branches), count: count, cost: cost, isOrdered: false)
    }

    func choice(
        _ access: IndexAccess, _ collection: DocumentCollection, _ documents: QueryMoment.Documents
    ) throws(DatabaseError) -> IndexChoice? {
        let reader = try moment.reader(of: access.index, collection, documents.snapshot)
        guard let ranges = try access.ranges(frame, reader) else { return nil }
        return try IndexChoice(access, reader, ranges)
    }

    // MARK: Rows

    /// The rows that a choice leads to.
    ///
    /// - Parameter skipping: how many to pass over, where the index is exact: O(log n).
    func rows(
        _ choice: AccessChoice, _ documents: QueryMoment.Documents, _ source: SourcePlan, skipping: Int = 0
    ) throws(DatabaseError) -> RowSource {
        guard case .documents(_, let access) = source.origin else {
            preconditionFailure("an index is of a collection")
        }
        let lookup = DocumentLookup(frame, source.number, documents, access.metadata)
        switch choice.way {
        case .index(let index):
            let entries = IndexEntries(index, self)
            try entries.skip(skipping)
            return IndexedRows(frame, source.number, lookup, entries, counter)
        case .both(let first, let second):
            return IntersectedRows(
                frame, source.number, lookup, IndexEntries(first, self),
                IndexEntries(second, self), counter, budget)
        case .union(let branches):
            return UnitedRows(
                frame,
                branches.map { branch in
                    let entries = IndexEntries(branch.choice, self)
                    return (IndexedRows(frame, source.number, lookup, entries, counter), branch.condition)
                })
        case .grams(_, let ids):
            return LookedUpRows(
                frame, source.number, documents, access, ids, counter)
        case .search(let search, let best): return try searched(search, best: best)
        }
    }
}

extension IndexReader {
    /// How many rows there are in some ranges.
    func count(in ranges: [KeyRange]) throws(DatabaseError) -> Int {
        do throws(StoreError) {
            var count: UInt64 = 0
            for range in ranges { count += try self.count(in: range) }
            return Int(clamping: count)
        } catch {
            throw DatabaseError(derived: error)
        }
    }
}

import Roost
import RoostIndex
import RoostOrder
import RoostStorage

extension Execution {
    /// How the rows of a source take least to find, by what conditions say now.
    ///
    /// How many rows of an index there are is known exactly, without reading them.
    ///
    /// - Parameter forTable: whether rows are found once for all rows of other sources.
    func access(
        _ source: SourcePlan, _ required: RequiredOrdering = RequiredOrdering(), forTable: Bool = false
    ) throws(DatabaseError) -> AccessChoice {
        guard case .documents(let collection, let access) = source.origin, visible == nil else {
            return AccessChoice(ofDocuments: 0)
        }
        let documents = try self.documents(of: collection)
        let total = documents.count
        var choice = AccessChoice(ofDocuments: total)
        let indexes = forTable ? source.tableIndexes : source.indexes
        let unions = forTable ? [] : source.unions
        guard !indexes.isEmpty || !unions.isEmpty || source.search != nil || !source.grams.isEmpty,
            // Nothing finds documents faster than their IDs.
            access.ids == nil || source.search != nil
        else { return choice }
        if let search = source.search {
            let found = try candidate(search, required)
            choice.consider(found)
            if found.isOrdered { return choice }
        }
        var narrowed: [IndexRanges] = []
        var matching = total
        for access in indexes {
            guard let ranges = try ranges(access, collection, documents) else {
                choice.reject(
                    access.index.description.name,
                    "it would be read in too many pieces, or a value is too long for its keys")
                continue
            }
            choice.consider(candidate(ranges, required))
            guard access.keys.isNarrowed else { continue }
            matching = min(matching, ranges.count)
            if indexes.count > 1 { narrowed.append(ranges) }
        }
        if narrowed.count > 1, let both = both(narrowed, total, required) { choice.consider(both) }
        for union in unions {
            if let candidate = try candidate(union, collection, documents, required) {
                choice.consider(candidate)
            }
        }
        for search in source.grams {
            let found = try grams(search)
            guard let ids = found.ids else {
                choice.reject(search.name, reason(found.count, total), found.count)
                continue
            }
            choice.consider(
                AccessCandidate(
                    path: .trigrams(search, ids), count: ids.count, cost: Cost.lookups(ids.count, required),
                    isOrdered: false))
        }
        // What a search finds is known by then, so that reading all documents never takes less.
        if source.search == nil, !source.prefersIndexes {
            choice.considerScan(
                Cost.scan(of: total, matching: matching, isFiltered: !source.filters.isEmpty, required))
        }
        return choice
    }

    /// Why an index of trigrams leads to no documents to look up.
    private func reason(_ count: Int?, _ total: Int) -> String {
        guard let count else { return "the patterns name no two characters in a row that texts must have" }
        return
            "it would lead to \(Explanation.grouped(count)) documents, and all \(Explanation.grouped(total)) take less"
    }

    // MARK: Candidates

    private func candidate(
        _ search: TextSearch, _ required: RequiredOrdering
    ) throws(DatabaseError) -> AccessCandidate {
        if required.isRanked, required.most < .max {
            return AccessCandidate(
                path: .search(search, best: required.most), count: required.most,
                cost: Cost.lookups(required.most, RequiredOrdering()), isOrdered: true)
        }
        let count = try matches(of: search).count
        return AccessCandidate(
            path: .search(search, best: nil), count: count, cost: Cost.lookups(count, required),
            isOrdered: false)
    }

    private func candidate(_ ranges: IndexRanges, _ required: RequiredOrdering) -> AccessCandidate {
        let access = ranges.access
        let cost = Cost.index(
            ranges.count, ranges: ranges.ranges.count, isCovering: access.covering != nil,
            answersAll: access.keys.isExact, isOrdered: access.keys.isOrdered, isGrouped: access.isGrouped,
            required)
        return AccessCandidate(
            path: .index(ranges), count: ranges.count, cost: cost, isOrdered: access.keys.isOrdered)
    }

    /// The two indexes of fewest rows together, where the second one saves most documents that the first one leads to.
    private func both(
        _ narrowed: [IndexRanges], _ total: Int, _ required: RequiredOrdering
    ) -> AccessCandidate? {
        let sorted = narrowed.sorted { $0.count < $1.count }
        guard let first = sorted.first, first.access.covering == nil, first.count <= Cost.mostIntersected,
            let second = sorted.dropFirst().first(where: {
                $0.access.index !== first.access.index
                    && !$0.access.keys.conditions.allSatisfy(first.access.keys.conditions.contains)
            })
        else { return nil }
        let isOrdered = second.access.keys.isOrdered
        return AccessCandidate(
            path: .both(first, second), count: first.count + second.count,
            cost: Cost.intersection(first.count, second.count, of: total, isOrdered: isOrdered, required),
            isOrdered: isOrdered)
    }

    private func candidate(
        _ union: UnionAccess, _ collection: DocumentCollection, _ documents: QueryMoment.Documents,
        _ required: RequiredOrdering
    ) throws(DatabaseError) -> AccessCandidate? {
        var branches: [AccessPath.Branch] = []
        var (count, cost) = (0, 0.0)
        for branch in union.branches {
            var best: (ranges: IndexRanges, cost: Double)?
            for access in branch.accesses {
                guard let ranges = try ranges(access, collection, documents) else { continue }
                let cost = candidate(ranges, RequiredOrdering()).cost
                if best.map({ cost < $0.cost }) ?? true { best = (ranges, cost) }
            }
            guard let best else { return nil }
            branches.append(AccessPath.Branch(condition: branch.condition, ranges: best.ranges))
            count += best.ranges.count
            cost += best.cost
        }
        cost += Double(count) * required.arranging
        return AccessCandidate(path: .union(branches), count: count, cost: cost, isOrdered: false)
    }

    /// What of an index is read now; `nil` where the values that there are do not fit it.
    func ranges(
        _ access: IndexAccess, _ collection: DocumentCollection, _ documents: QueryMoment.Documents
    ) throws(DatabaseError) -> IndexRanges? {
        let reader = try moment.reader(of: access.index, collection, documents.snapshot)
        guard let ranges = try access.ranges(frame, reader) else { return nil }
        // Most questions lead to a few rows, which are counted where they are read.
        if ranges.count == 1 {
            let cursor = reader.cursor(ranges[0], isDescending: access.keys.isReversed)
            if let count = try cursor.counted() {
                if counted.count >= Self.mostCounted { counted.removeFirst() }
                counted.append((access.index, ranges[0], access.keys.isReversed, cursor))
                return IndexRanges(access: access, reader: reader, ranges: ranges, count: count)
            }
        }
        return IndexRanges(
            access: access, reader: reader, ranges: ranges, count: try reader.count(in: ranges))
    }

    /// So many cursors are kept by which ranges were counted.
    private static let mostCounted = 8

    /// A cursor over a range: the one by which it was counted, if that is kept.
    func cursor(_ ranges: IndexRanges, _ range: KeyRange) -> IndexCursor {
        let (index, isReversed) = (ranges.access.index, ranges.access.keys.isReversed)
        let place = counted.firstIndex {
            $0.index === index && $0.range == range && $0.isReversed == isReversed
        }
        if let place { return counted.remove(at: place).cursor }
        return ranges.reader.cursor(range, isDescending: isReversed)
    }

    // MARK: The order of sources

    /// The order of the sources of a query that takes least.
    func cheapestOrder(of plan: QueryPlan) throws(DatabaseError) -> [SourcePlan] {
        guard plan.orders.count > 1 else { return plan.sources }
        var (best, least) = (plan.sources, try cost(of: plan.sources) * Cost.worthwhile)
        for other in plan.orders.dropFirst() {
            let cost = try cost(of: other)
            if cost < least { (best, least) = (other, cost) }
        }
        return best
    }

    /// What reading the rows of all sources takes.
    private func cost(of sources: [SourcePlan]) throws(DatabaseError) -> Double {
        var (rows, cost) = (1.0, 0.0)
        for (number, source) in sources.enumerated() {
            guard case .documents(let collection, let access) = source.origin else { continue }
            let total = Double(try documents(of: collection).count)
            var found = total
            if access.ids != nil {
                found = 1
                cost += rows * Cost.lookedUp
            } else if number == 0 {
                let chosen = try self.access(source).chosen
                if let chosen { found = Double(chosen.count) }
                cost += chosen?.cost ?? total * Cost.scanned
            } else {
                // How many rows of an index have a value that isn't known yet is a guess.
                let isNarrowed = source.indexes.contains(where: \.keys.isNarrowed)
                if isNarrowed || source.hash != nil { found = min(total, Cost.usualMatches) }
                let probing = isNarrowed ? rows * (1 + found * Cost.lookedUp) : rows * total * Cost.scanned
                let table = source.hash == nil ? .infinity : try tableCost(source) + rows * Cost.kept
                cost += min(probing, table)
            }
            rows *= found
            // As many as meet one more condition.
            if source.filters.count > 0 { rows = max(1, rows / 4) }
        }
        return cost
    }

    /// What it takes to make a table of a source's rows.
    func tableCost(_ source: SourcePlan) throws(DatabaseError) -> Double {
        guard case .documents(let collection, _) = source.origin else { return .infinity }
        let chosen = try access(source, forTable: true).chosen
        let total = try documents(of: collection).count
        return Cost.table(chosen?.count ?? total, reading: chosen?.cost)
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

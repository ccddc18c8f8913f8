import RoostOrder

/// The rule for indexes whose rows come group by group, and those that answer all that is asked of the groups.
struct Totals {
    private let groups: BoundGroups

    /// `nil` for a query without groups.
    init?(_ query: BoundQuery) {
        guard let groups = query.groups else { return nil }
        self.groups = groups
    }

    /// Whether the rows that an index leads to come group by group.
    func isGrouped(by access: IndexAccess, _ source: Int) -> Bool {
        access.index.array == nil && groupColumns(access, source).map { $0.count > 0 } ?? false
    }

    /// How an index answers all that is asked of groups of the rows of the only source; `nil` where it does not.
    func access(_ access: IndexAccess, _ source: Int) -> TotalsAccess? {
        guard access.keys.isExact, access.index.array == nil,
            let (places, grouped) = groupColumns(access, source)
        else { return nil }
        let columns = access.index.columns
        let next = access.keys.constantColumns + grouped
        var parts: [TotalsAccess.Part] = []
        for measure in groups.measures {
            guard let part = part(measure, access, next < columns.count ? columns[next] : nil, source)
            else { return nil }
            parts.append(part)
        }
        return TotalsAccess(access: access, groupColumns: grouped, keyPlaces: places, parts: parts)
    }

    /// The places of the values of GROUP BY among those of a row, and how many columns have them, after those that are the same
    /// in all rows; `nil` where rows of a group don't stand together.
    private func groupColumns(_ access: IndexAccess, _ source: Int) -> (places: [Int], count: Int)? {
        let columns = access.index.columns
        let constant = access.keys.constantColumns
        var places: [Int] = []
        for key in groups.keys {
            let own = key.expression.value.relative(to: source)
            guard
                let place = columns.firstIndex(where: {
                    $0.expression == own && $0.collation == key.expression.collation
                })
            else { return nil }
            places.append(place)
        }
        // All columns from those that are the same in all rows up to the last one that is grouped by.
        let grouped = Set(places.filter { $0 >= constant })
        guard grouped == Set(constant..<constant + grouped.count),
            places.isEmpty || access.keys.skipped == 0 && access.keys.equalities.count == constant
        else { return nil }
        return (places, grouped.count)
    }

    private func part(
        _ measure: BoundGroups.Measure, _ access: IndexAccess, _ next: CompiledIndex.Column?,
        _ source: Int
    ) -> TotalsAccess.Part? {
        guard case .aggregate(let aggregate, isDistinct: false) = measure.accumulator.kind else {
            return nil
        }
        guard let expression = measure.value else { return .rows }
        guard let own = expression.relative(to: source) else { return nil }
        if aggregate == .count, own == .meta(.id, source: 0) { return .rows }
        if let next, next.expression == own, access.keys.skipped == 0,
            access.keys.equalities.count == access.keys.constantColumns
        {
            switch aggregate {
            case .count: return .valuedRows
            case .min where next.collation == measure.accumulator.collation: return .least
            case .max where next.collation == measure.accumulator.collation: return .greatest
            default: break
            }
        }
        let index = access.index
        guard let number = index.summed.firstIndex(where: { index.included[$0] == own }),
            [.count, .sum, .avg, .min, .max].contains(aggregate)
        else { return nil }
        return .total(aggregate, number)
    }
}

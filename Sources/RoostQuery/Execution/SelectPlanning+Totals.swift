import RoostOrder

/// How an index answers all that is asked of groups without reading their rows: by counting them, from totals that it keeps,
/// and by looking at the ends of ranges.
struct TotalsAccess: Sendable {
    let access: IndexAccess
    /// How many columns after those that are the same in all rows have the values by which rows are grouped.
    let groupColumns: Int
    /// The places of the values of GROUP BY among those of a row.
    let keyPlaces: [Int]
    /// What is asked, in the order of the grouping's accumulators.
    let parts: [Part]

    enum Part: Sendable {
        /// How many rows there are.
        case rows
        /// How many have a value in the column after those of the group.
        case valuedRows
        /// The least, or the greatest, of these.
        case least, greatest
        /// An aggregate of what is summed up, by its number.
        case total(Aggregate, Int)
    }

    /// The columns that are the same in all rows of a group.
    var prefixColumns: Int { access.constantColumns + groupColumns }
}

extension SelectPlanning {
    /// Finds the indexes whose rows come group by group, and those that answer all that is asked of the groups.
    func planTotals() {
        guard let grouping = plan.grouping, let source = plan.sources.first?.number else { return }
        for access in plan.sources[0].indexes where access.index.array == nil {
            guard let columns = groupColumns(access, grouping, source), columns.count > 0 else { continue }
            access.isGrouped = true
        }
        guard plan.sources.count == 1 else { return }
        plan.totals = plan.sources[0].indexes.compactMap { access in
            access.isExact && access.index.array == nil ? totals(access, grouping, source) : nil
        }
    }

    private func totals(_ access: IndexAccess, _ grouping: Grouping, _ source: Int) -> TotalsAccess? {
        guard let (places, grouped) = groupColumns(access, grouping, source) else { return nil }
        let columns = access.index.columns
        var parts: [TotalsAccess.Part] = []
        let next = access.constantColumns + grouped
        for accumulator in grouping.accumulators {
            guard let part = part(accumulator, access, next < columns.count ? columns[next] : nil, source)
            else {
                return nil
            }
            parts.append(part)
        }
        return TotalsAccess(access: access, groupColumns: grouped, keyPlaces: places, parts: parts)
    }

    /// The places of the values of GROUP BY among those of a row, and how many columns have them, after those that are the same
    /// in all rows; `nil` where rows of a group don't stand together.
    private func groupColumns(
        _ access: IndexAccess, _ grouping: Grouping, _ source: Int
    ) -> (places: [Int], count: Int)? {
        let columns = access.index.columns
        let constant = access.constantColumns
        var places: [Int] = []
        for key in grouping.keys {
            let own = compiler.relative(key.expression.uncollated, to: source)
            guard
                let place = columns.firstIndex(where: {
                    $0.expression == own && $0.collation == key.collation
                })
            else { return nil }
            places.append(place)
        }
        // All columns from those that are the same in all rows up to the last one that is grouped by.
        let grouped = Set(places.filter { $0 >= constant })
        guard grouped == Set(constant..<constant + grouped.count),
            places.isEmpty || access.skipped == 0 && access.equalities.count == constant
        else { return nil }
        return (places, grouped.count)
    }

    private func part(
        _ accumulator: Grouping.Accumulator, _ access: IndexAccess, _ next: CompiledIndex.Column?,
        _ source: Int
    ) -> TotalsAccess.Part? {
        guard case .aggregate(let aggregate, isDistinct: false) = accumulator.gathering.kind else {
            return nil
        }
        guard let expression = accumulator.expression else { return .rows }
        guard let own = compiler.relative(expression.uncollated, to: source) else { return nil }
        if aggregate == .count, case .meta(.id, _, _) = own { return .rows }
        if let next, next.expression == own, access.skipped == 0,
            access.equalities.count == access.constantColumns
        {
            switch aggregate {
            case .count: return .valuedRows
            case .min where next.collation == accumulator.gathering.collation: return .least
            case .max where next.collation == accumulator.gathering.collation: return .greatest
            default: break
            }
        }
        let index = access.index
        guard let number = index.summed.firstIndex(where: { index.included[$0] == own }),
            aggregate != .arrayAggregate
        else { return nil }
        return .total(aggregate, number)
    }
}

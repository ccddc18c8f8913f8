import Roost
import RoostOrder

extension SelectPlanning {
    /// Finds what rows of a source can be looked up by, so that not every one is compared with every row of the sources before,
    /// or, in a query within another one, with every row of that.
    func planTable(_ index: Int) {
        let source = plan.sources[index]
        guard source.search == nil else { return }
        switch source.origin {
        case .elements: return
        case .select(let inner): guard !inner.isCorrelated else { return }
        // What is looked up by its ID needs no table.
        case .documents(_, let access): guard !access.dependsOnRows, access.ids == nil else { return }
        }
        for condition in joinConditions(of: index) {
            guard case .comparison(.equal, let left, let right) = condition else { continue }
            for (own, other) in [(left, right), (right, left)] {
                guard let inner = compiled(own), let outer = compiled(other),
                    inner.sources == [source.number], !outer.sources.isEmpty,
                    outer.sources.allSatisfy({ $0 < source.number }),
                    let collation = try? compiler.collation(ofOperands: left, right)
                else { continue }
                plan.sources[index].hash = HashJoin(
                    outer: outer.value, inner: inner.value, collation: collation, text: own.sqlText)
                return
            }
        }
    }

    /// The conditions that all rows of a source meet which are joined to others.
    private func joinConditions(of index: Int) -> [Expression] {
        let on = select.sources.isEmpty ? [] : select.sources[index].condition?.conjuncts ?? []
        return plan.sources[index].join == .left ? on : on + conditions
    }

    // MARK: Other orders

    /// So many collections are put in other orders at most.
    private static let mostReordered = 5

    /// The query with its collections in other orders, which yield the same rows: each of them first once, and after it those
    /// that are joined to what comes before by an equality.
    var otherOrders: [Select] {
        let joined = select.sources.prefix { source in
            guard case .collection = source.origin else { return false }
            return source.join != .left
        }
        guard joined.count > 1, joined.count <= Self.mostReordered, !select.columns.isEmpty,
            // A name that means something outside, too, would mean that in a condition which comes early.
            !joined.contains(where: { compiler.scope.meaning(of: $0.alias) != nil })
        else { return [] }
        let conditions = joined.flatMap { $0.condition?.conjuncts ?? [] } + conditions
        guard !conditions.contains(where: \.hasMatch) else { return [] }
        let links = conditions.compactMap { condition -> Set<String>? in
            guard case .comparison(.equal, let left, let right) = condition else { return nil }
            return left.sourceNames.union(right.sourceNames)
        }
        return joined.indices.dropFirst().map { first in
            var order = [joined[first]]
            var rest = Array(joined)
            rest.remove(at: first)
            while !rest.isEmpty {
                let known = Set(order.map { $0.alias.lowercased() })
                let next = rest.firstIndex { source in
                    let name = source.alias.lowercased()
                    return links.contains { $0.contains(name) && $0.subtracting([name]).isSubset(of: known) }
                }
                order.append(rest.remove(at: next ?? 0))
            }
            return reordered(order, conditions)
        }
    }

    private func reordered(_ order: [Select.Source], _ conditions: [Expression]) -> Select {
        var select = select
        select.columns = select.columns.flatMap { column in
            guard case .path(let steps, let place) = column.value, steps.isEmpty, column.alias == nil else {
                return [column]
            }
            // All of a row: in the order that was written.
            return self.select.sources.map { Select.Column(value: .path([.key($0.alias)], place)) }
        }
        for (index, source) in order.enumerated() {
            select.sources[index] = source
            select.sources[index].join = index == 0 ? .first : .inner
            select.sources[index].condition = nil
        }
        select.condition = conditions.isEmpty ? nil : .all(conditions)
        return select
    }
}

extension Expression {
    /// What the paths in it begin with, and whose META() is asked, in small letters.
    fileprivate var sourceNames: Set<String> {
        switch self {
        case .path(let steps, _): if case .key(let name)? = steps.first { [name.lowercased()] } else { [] }
        case .meta(_, let alias, _): alias.map { [$0.lowercased()] } ?? []
        default: children.reduce(into: []) { $0.formUnion($1.sourceNames) }
        }
    }
}

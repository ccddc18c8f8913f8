/// The rule for the orders in which the sources of a query may be read, all of which yield the same rows: that of FROM, and for
/// collections that are joined each of them first once, and after it those that are joined to what comes before by an equality.
struct JoinOrders {
    /// The places of the query's sources in each order; that of FROM is the first.
    private(set) var all: [[Int]]

    /// So many collections are put in other orders at most.
    private static let mostReordered = 5

    init(_ query: BoundQuery) {
        let places = Array(query.sources.indices)
        all = [places]
        let joined = places.prefix { place in
            if case .collection = query.sources[place].origin {
                query.sources[place].join != .left
            } else {
                false
            }
        }
        guard joined.count > 1, joined.count <= Self.mostReordered else { return }
        let conditions = (query.sources.flatMap(\.conditions) + query.conditions).map(\.value)
        guard !conditions.contains(where: \.hasMatch) else { return }
        let own = Set(joined.map { query.sources[$0].number })
        let links = conditions.compactMap { condition -> Set<Int>? in
            guard case .comparison(.equal, let left, let right, _) = condition else { return nil }
            return left.sources.union(right.sources).intersection(own)
        }
        for first in joined.dropFirst() {
            var order = [first]
            var rest = joined.filter { $0 != first }
            while !rest.isEmpty {
                let known = Set(order.map { query.sources[$0].number })
                let next = rest.firstIndex { place in
                    let number = query.sources[place].number
                    return links.contains {
                        $0.contains(number) && $0.subtracting([number]).isSubset(of: known)
                    }
                }
                order.append(rest.remove(at: next ?? 0))
            }
            all.append(order + places.dropFirst(joined.count))
        }
    }
}

extension BoundExpression {
    fileprivate var hasMatch: Bool { contains { if case .match = $0 { true } else { false } } }
}

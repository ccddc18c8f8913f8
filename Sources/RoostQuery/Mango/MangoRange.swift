import Fleece
import Roost
import RoostOrder

/// Between which values a field is, as far as conditions say that an index can look for.
struct MangoRange {
    private(set) var lower: Bound?
    private(set) var upper: Bound?

    /// An end of the range.
    struct Bound {
        let value: DocumentValue
        let isIncluded: Bool
    }

    /// Adds a condition.
    mutating func narrow(_ comparison: Comparison, _ value: DocumentValue) {
        let bound = Bound(value: value, isIncluded: ![.greater, .less].contains(comparison))
        switch comparison {
        case .equal:
            raise(to: bound)
            reduce(to: bound)
        case .greater, .greaterOrEqual: raise(to: bound)
        case .less, .lessOrEqual: reduce(to: bound)
        case .unequal: break
        }
    }

    private mutating func raise(to bound: Bound) {
        guard let lower, case let order = Self.order(lower.value, bound.value),
            order > 0 || order == 0 && !lower.isIncluded
        else { return self.lower = bound }
    }

    private mutating func reduce(to bound: Bound) {
        guard let upper, case let order = Self.order(upper.value, bound.value),
            order < 0 || order == 0 && !upper.isIncluded
        else { return self.upper = bound }
    }

    /// Whether no value is in it.
    var isEmpty: Bool {
        guard let lower, let upper else { return false }
        let order = Self.order(lower.value, upper.value)
        return order > 0 || order == 0 && !(lower.isIncluded && upper.isIncluded)
    }

    /// As CouchDB orders them; what can't be compared counts as equal.
    private static func order(_ a: DocumentValue, _ b: DocumentValue) -> Int {
        guard let a = try? a.fleeceBytes(), let b = try? b.fleeceBytes() else { return 0 }
        return Collation.couchDB.compare(FleeceDocument(trusting: a).root, FleeceDocument(trusting: b).root)
    }
}

extension MangoFields {
    /// Greater than all values, as CouchDB writes it.
    private static let greatest: DocumentValue = "<MAX>"

    /// The keys of an index, or of that of all documents, from which to which the documents are that match: of as many of the first
    /// fields as have an end there. Null where no document can match.
    func keys(of index: MangoIndex?) -> (start: DocumentValue, end: DocumentValue) {
        guard !ranges.values.contains(where: \.isEmpty) else { return (.null, .null) }
        guard let index else {
            let range = ranges[.documentID]
            return (range?.lower?.value ?? .null, range?.upper?.value ?? Self.greatest)
        }
        let looked = index.paths.map { ranges[$0] }
        func values(_ bounds: [MangoRange.Bound?]) -> [DocumentValue] {
            bounds.prefix { $0 != nil }.compactMap { $0?.value }
        }
        return (
            .array(values(looked.map { $0?.lower })),
            .array(values(looked.map { $0?.upper }) + [Self.greatest])
        )
    }
}

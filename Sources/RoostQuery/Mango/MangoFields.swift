import Fleece
import Roost
import RoostOrder

/// What a selector says of fields, as far as it matters to CouchDB for the choice of an index.
struct MangoFields {
    /// Those that it speaks of.
    private var mentioned: Set<[Step]> = []
    /// Those that every document that matches has.
    private var required: Set<[Step]> = []
    /// Those that are equal to one value.
    private var equal: Set<[Step]> = []
    /// Those of which it says, for every document that matches, what an index can look for.
    private var indexable: Set<[Step]> = []
    /// Between which values they are.
    private(set) var ranges: [[Step]: MangoRange] = [:]
    /// Whether words are looked for.
    private(set) var hasText = false

    init(_ selector: MangoSelector) {
        if let condition = selector.condition { note(condition) }
    }

    private init(_ condition: MangoSelector.Condition) { note(condition) }

    /// `indexable` and the others, as selectors name them.
    var hints: (indexable: [String], others: [String]) {
        func names(_ paths: Set<[Step]>) -> [String] { paths.map(MangoSelector.name).sorted() }
        return (names(indexable), names(mentioned.subtracting(indexable)))
    }

    // MARK: Reading a selector

    private mutating func note(_ condition: MangoSelector.Condition) {
        switch condition {
        case .all(let parts): for part in parts { note(part) }
        case .any(let parts): noteAny(parts)
        // Of elements only.
        case .not: break
        case .text: hasText = true
        case .field(let path, let test): note(test, path)
        }
    }

    private mutating func note(_ test: MangoSelector.Test, _ path: [Step]) {
        switch test {
        case .comparison(let comparison, let value): note(comparison, value, path)
        case .exists(let exists): note(exists ? .range : .absence, path)
        case .operation(.beginsWith, let value, isNegated: false):
            note(.greaterOrEqual, value, path)
            note(.lessOrEqual, .string((value.string ?? "") + "\u{FFFF}"), path)
        case .among, .operation, .elements: note(.presence, path)
        }
    }

    private mutating func note(_ comparison: Comparison, _ value: DocumentValue, _ path: [Step]) {
        switch comparison {
        case .equal: note(.equal, path)
        case .unequal: note(.presence, path)
        case .less, .lessOrEqual, .greater, .greaterOrEqual: note(.range, path)
        }
        if !path.isEmpty { ranges[path, default: MangoRange()].narrow(comparison, value) }
    }

    /// Notes what each of some conditions says, of which one holds.
    private mutating func noteAny(_ parts: [MangoSelector.Condition]) {
        let alternatives = parts.map { MangoFields($0) }
        for part in alternatives {
            mentioned.formUnion(part.mentioned)
            hasText = hasText || part.hasText
        }
        guard let first = alternatives.first else { return }
        required.formUnion(alternatives.reduce(first.required) { $0.intersection($1.required) })
    }

    private enum Kind { case equal, range, presence, absence }

    private mutating func note(_ kind: Kind, _ path: [Step]) {
        guard !path.isEmpty else { return }
        mentioned.insert(path)
        if kind == .equal { equal.insert(path) }
        if kind != .presence { indexable.insert(path) }
        if kind != .absence { required.insert(path) }
    }

    // MARK: Indexes

    /// The fields by which an index goes on to order documents that match, where it has them in an order already; `nil` where it has
    /// not.
    func further(_ index: MangoIndex, after order: [[Step]]) -> [[Step]]? {
        var rest = index.paths[...]
        for field in order {
            // What is the same in all documents is in any order.
            while let other = rest.first, other != field, equal.contains(other) { rest.removeFirst() }
            if rest.first == field {
                rest.removeFirst()
            } else if !equal.contains(field) {
                return nil
            }
        }
        return Array(rest)
    }

    /// Whether an index has all documents that match.
    ///
    /// - Parameter order: Fields that count as what every document has.
    func isUsable(_ index: MangoIndex, sortedBy order: [[Step]] = []) -> Bool {
        missing(index).allSatisfy(order.contains)
    }

    /// The fields of an index that not every document that matches has.
    func missing(_ index: MangoIndex) -> [[Step]] {
        index.paths.filter { !required.contains($0) && $0 != .documentID && $0 != .revision }
    }

    /// How many of the first fields of an index the selector looks for.
    func overlap(_ index: MangoIndex) -> Int { index.paths.prefix { indexable.contains($0) }.count }

    /// Indexes, the one first that CouchDB would take: of which the most of the first fields are looked for, then the one of the fewest
    /// fields, then the first by name.
    func ranked(_ indexes: [MangoIndex]) -> [MangoIndex] {
        indexes.map { (index: $0, overlap: overlap($0)) }.sorted {
            (-$0.overlap, $0.index.fields.count, $0.index.design, $0.index.name)
                < (-$1.overlap, $1.index.fields.count, $1.index.design, $1.index.name)
        }.map(\.index)
    }

    /// The indexes that have all documents that match, ranked.
    func usable(_ indexes: [MangoIndex], sortedBy order: [[Step]] = []) -> [MangoIndex] {
        ranked(indexes.filter { isUsable($0, sortedBy: order) })
    }
}

// MARK: - Mango range

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

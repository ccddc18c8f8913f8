import Roost
import RoostOrder

/// The rule for patterns: the indexes of trigrams that lead to the documents which may meet some of the conditions on a source.
struct Trigrams {
    private let planner: Planner
    private let source: Int
    private let collection: DocumentCollection

    init(_ planner: Planner, _ source: Int, _ collection: DocumentCollection) {
        self.planner = planner
        self.source = source
        self.collection = collection
    }

    func searches(_ conditions: [QueryConditions.Condition]) throws(QueryError) -> [TrigramSearch] {
        guard conditions.contains(where: { $0.value.hasPattern }) else { return [] }
        var searches: [TrigramSearch] = []
        for description in try planner.schema.textIndexes(of: collection).indexes.values
        where description.kind == .trigrams {
            // One that a newer Roost has made may have expressions that are not known here.
            guard let index = try? CompiledTextIndex(description) else { continue }
            var (parts, texts): ([TrigramSearch.Condition], [String]) = ([], [])
            for condition in conditions {
                guard let part = try self.condition(condition.value, index) else { continue }
                parts.append(part)
                texts.append(condition.text)
            }
            guard !parts.isEmpty else { continue }
            searches.append(
                TrigramSearch(
                    collection: collection, index: index, condition: .all(parts),
                    text: texts.joined(separator: " AND ")))
        }
        return searches
    }

    private func condition(
        _ condition: BoundExpression, _ index: CompiledTextIndex
    ) throws(QueryError) -> TrigramSearch.Condition? {
        switch condition {
        case .like(let value, let pattern, let collation, isNegated: false):
            return try constant(pattern, for: value, index).map { .like($0, isCaseless: collation.isUnicode) }
        case .call(.contains, let operands, let collation) where operands.count == 2:
            return try constant(operands[1], for: operands[0], index).map {
                .part($0, isCaseless: collation.isUnicode)
            }
        case .call(let function, let operands, _)
        where operands.count == 2 && [.regexpContains, .regexpLike, .matches].contains(function):
            return try constant(operands[1], for: operands[0], index).map { .expression($0) }
        case .all(let parts):
            let known = try self.conditions(parts, index)
            return known.isEmpty ? nil : .all(known)
        case .any(let parts):
            let known = try self.conditions(parts, index)
            return known.count == parts.count ? .any(known) : nil
        default: return nil
        }
    }

    private func conditions(
        _ parts: [BoundExpression], _ index: CompiledTextIndex
    ) throws(QueryError) -> [TrigramSearch.Condition] {
        var known: [TrigramSearch.Condition] = []
        for part in parts { if let condition = try condition(part, index) { known.append(condition) } }
        return known
    }

    /// A pattern that is the same for all rows, if what is compared with it is a column of the index.
    private func constant(
        _ pattern: BoundExpression, for value: BoundExpression, _ index: CompiledTextIndex
    ) throws(QueryError) -> Evaluation? {
        guard pattern.isGiven, let own = value.relative(to: source), index.columns.contains(own) else {
            return nil
        }
        return try planner.compiler.compile(pattern)
    }
}

extension Collation {
    fileprivate var isUnicode: Bool { if case .unicode = texts { true } else { false } }
}

extension BoundExpression {
    /// Whether a pattern is looked for in it.
    fileprivate var hasPattern: Bool {
        contains {
            switch $0 {
            case .like, .call(.contains, _, _), .call(.regexpContains, _, _), .call(.regexpLike, _, _),
                .call(.matches, _, _):
                true
            default: false
            }
        }
    }
}

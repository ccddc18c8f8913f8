import Roost
import RoostIndex
import RoostOrder

/// Conditions with patterns that an index of trigrams can answer in part: it leads to the documents that may meet them.
final class GramSearch: Sendable {
    let collection: DocumentCollection
    let index: CompiledTextIndex
    let condition: Condition
    /// The conditions as they were written.
    let text: String

    /// What has to be in a document, by the values of parameters.
    indirect enum Condition: Sendable {
        case like(Evaluation, isCaseless: Bool)
        case part(Evaluation, isCaseless: Bool)
        case expression(Evaluation)
        case all([Condition])
        case any([Condition])

        func grams(_ frame: Frame) -> GramCondition {
            switch self {
            case .like(let pattern, let isCaseless):
                pattern(frame).string.map { GramCondition(like: $0, isCaseless: isCaseless) } ?? .anything
            case .part(let part, let isCaseless):
                part(frame).string.map { GramCondition(part: $0, isCaseless: isCaseless) } ?? .anything
            case .expression(let pattern):
                pattern(frame).string.map { GramCondition(expression: $0) } ?? .anything
            case .all(let parts): .all(of: parts.map { $0.grams(frame) })
            case .any(let parts): .any(of: parts.map { $0.grams(frame) })
            }
        }
    }

    init(collection: DocumentCollection, index: CompiledTextIndex, condition: Condition, text: String) {
        self.collection = collection
        self.index = index
        self.condition = condition
        self.text = text
    }

    var name: String { index.description.name }
}

/// What an index of trigrams leads to.
struct GramMatches {
    /// How many documents; `nil` where the patterns tell nothing.
    var count: Int?
    /// Their IDs, sorted; `nil` where they are too many to be looked up one by one.
    var ids: [[UInt8]]?
}

extension SelectPlanning {
    /// The indexes of trigrams that can answer some of the conditions on a source.
    func gramSearches(
        _ conditions: [Expression], _ source: Int, _ collection: DocumentCollection
    ) throws(QueryError) -> [GramSearch] {
        guard conditions.contains(where: \.hasPattern) else { return [] }
        var searches: [GramSearch] = []
        for description in try planner.textIndexes(of: collection).indexes.values
        where description.kind == .trigrams {
            // One that a newer Roost has made may have expressions that are not known here.
            guard let index = try? CompiledTextIndex(description) else { continue }
            var (parts, texts): ([GramSearch.Condition], [String]) = ([], [])
            for condition in conditions {
                guard let part = gramCondition(condition, source, index) else { continue }
                parts.append(part)
                texts.append(condition.sqlText)
            }
            guard !parts.isEmpty else { continue }
            searches.append(
                GramSearch(
                    collection: collection, index: index, condition: .all(parts),
                    text: texts.joined(separator: " AND ")))
        }
        return searches
    }

    private func gramCondition(
        _ condition: Expression, _ source: Int, _ index: CompiledTextIndex
    ) -> GramSearch.Condition? {
        switch condition {
        case .collate(let options, let inner):
            return try? compiler.collating(options) { () throws(QueryError) in
                gramCondition(inner, source, index)
            }
        case .like(let value, let pattern, isNegated: false):
            guard let collation = try? compiler.collation(ofOperands: value, pattern),
                let pattern = constant(pattern, for: value, source, index)
            else { return nil }
            return .like(pattern, isCaseless: collation.isUnicode)
        case .call(.contains, let operands) where operands.count == 2:
            let isCaseless = compiler.collation.isUnicode
            return constant(operands[1], for: operands[0], source, index).map {
                .part($0, isCaseless: isCaseless)
            }
        case .call(let function, let operands)
        where operands.count == 2 && [.regexpContains, .regexpLike, .matches].contains(function):
            return constant(operands[1], for: operands[0], source, index).map { .expression($0) }
        case .all(let parts):
            let known = parts.compactMap { gramCondition($0, source, index) }
            return known.isEmpty ? nil : .all(known)
        case .any(let parts):
            let known = parts.compactMap { gramCondition($0, source, index) }
            return known.count == parts.count ? .any(known) : nil
        default: return nil
        }
    }

    /// A pattern that is the same for all rows, if what is compared with it is a column of the index.
    private func constant(
        _ pattern: Expression, for value: Expression, _ source: Int, _ index: CompiledTextIndex
    ) -> Evaluation? {
        guard pattern.isGiven, let own = compiler.relative(value.uncollated, to: source),
            index.columns.contains(own)
        else { return nil }
        return compiled(pattern)?.value
    }
}

extension Collation {
    fileprivate var isUnicode: Bool { if case .unicode = texts { true } else { false } }
}

extension Expression {
    /// Whether a pattern is looked for in it.
    fileprivate var hasPattern: Bool {
        switch self {
        case .like, .call(.contains, _), .call(.regexpContains, _), .call(.regexpLike, _), .call(.matches, _):
            true
        default: children.contains(where: \.hasPattern)
        }
    }

    /// Whether it is known before there are rows: constants, parameters, and these put together.
    fileprivate var isGiven: Bool {
        switch self {
        case .literal, .parameter: true
        case .concatenation(let parts): parts.allSatisfy(\.isGiven)
        case .collate(_, let inner): inner.isGiven
        default: false
        }
    }
}

extension Execution {
    /// What an index of trigrams leads to.
    func grams(_ search: GramSearch) throws(DatabaseError) -> GramMatches {
        if let known = gramMatches[ObjectIdentifier(search)] { return known }
        var found = GramMatches()
        if let query = search.condition.grams(frame).query {
            do {
                let documents = try self.documents(of: search.collection).snapshot
                found = try search.collection.indexes(at: documents).readKept(
                    search.index.definition, of: search.collection, at: documents
                ) { kept in
                    let reader = try TextReader(kept, search.index)
                    let numbers = try reader.matches(query, weights: nil).map(\.number)
                    guard numbers.count * 2 <= reader.documentCount else {
                        return GramMatches(count: numbers.count)
                    }
                    let ids = try numbers.map { Array(try reader.id($0).utf8) }
                    return GramMatches(
                        count: numbers.count, ids: ids.sorted { $0.lexicographicallyPrecedes($1) })
                }
            } catch {
                throw DatabaseError(derived: error)
            }
            try budget.take((found.ids ?? []).reduce(0) { $0 + $1.count + 32 })
        }
        gramMatches[ObjectIdentifier(search)] = found
        return found
    }
}

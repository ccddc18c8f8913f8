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

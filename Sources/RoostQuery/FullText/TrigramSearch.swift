import Roost
import RoostIndex
import RoostOrder
import RoostText

/// Conditions with patterns that an index of trigrams can answer in part: it leads to the documents that may meet them.
final class TrigramSearch: Sendable {
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

        func trigrams(_ frame: Frame) -> TrigramCondition {
            switch self {
            case .like(let pattern, let isCaseless):
                pattern(frame).string.map { TrigramCondition(like: $0, isCaseless: isCaseless) } ?? .anything
            case .part(let part, let isCaseless):
                part(frame).string.map { TrigramCondition(part: $0, isCaseless: isCaseless) } ?? .anything
            case .expression(let pattern):
                pattern(frame).string.map { TrigramCondition(expression: $0) } ?? .anything
            case .all(let parts): .all(of: parts.map { $0.trigrams(frame) })
            case .any(let parts): .any(of: parts.map { $0.trigrams(frame) })
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
struct TrigramMatches {
    /// How many documents; `nil` where the patterns tell nothing.
    var count: Int?
    /// Their IDs, sorted; `nil` where they are too many to be looked up one by one.
    var ids: [[UInt8]]?
}

extension Execution {
    /// What an index of trigrams leads to.
    func trigrams(_ search: TrigramSearch) throws(DatabaseError) -> TrigramMatches {
        if let known = trigramMatches[ObjectIdentifier(search)] { return known }
        var found = TrigramMatches()
        if let query = search.condition.trigrams(frame).query {
            do {
                let documents = try self.documents(of: search.collection).snapshot
                found = try search.collection.indexes(at: documents).readStored(
                    search.index.definition, of: search.collection, at: documents
                ) { kept in
                    let reader = try TextReader(kept, search.index)
                    let numbers = try reader.matches(query, weights: nil).map(\.number)
                    guard numbers.count * 2 <= reader.documentCount else {
                        return TrigramMatches(count: numbers.count)
                    }
                    let ids = try numbers.map { Array(try reader.id($0).utf8) }
                    return TrigramMatches(
                        count: numbers.count, ids: ids.sorted { $0.lexicographicallyPrecedes($1) })
                }
            } catch {
                throw DatabaseError(derived: error)
            }
            try budget.take((found.ids ?? []).reduce(0) { $0 + $1.count + 32 })
        }
        trigramMatches[ObjectIdentifier(search)] = found
        return found
    }
}

// MARK: - Gram condition

/// What a text has in it if a pattern matches it, as far as runs of characters can tell.
indirect enum TrigramCondition: Equatable {
    /// Characters side by side, as ``TrigramTokenizer`` compares them: two at least.
    case text([UInt32])
    case all([TrigramCondition])
    case any([TrigramCondition])
    /// Nothing is known.
    case anything

    private init(characters: [Unicode.Scalar]) {
        let text = TrigramTokenizer.characters(of: characters)
        self = text.count >= TrigramTokenizer.length - 1 ? .text(text) : .anything
    }

    /// All of some conditions.
    static func all(of parts: [TrigramCondition]) -> TrigramCondition {
        let known = parts.filter { $0 != .anything }
        return known.isEmpty ? .anything : known.count == 1 ? known[0] : .all(known)
    }

    /// Any of some conditions.
    static func any(of parts: [TrigramCondition]) -> TrigramCondition {
        parts.contains(.anything) || parts.isEmpty ? .anything : parts.count == 1 ? parts[0] : .any(parts)
    }

    // MARK: Patterns

    /// What texts have that contain a part.
    init(part: String, isCaseless: Bool) {
        self.init(runs: [Array(part.unicodeScalars)], isCaseless)
    }

    /// What texts have that are LIKE a pattern.
    init(like pattern: String, isCaseless: Bool) {
        var runs: [[Unicode.Scalar]] = [[]]
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                runs[runs.count - 1].append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "%" || scalar == "_" {
                runs.append([])
            } else {
                runs[runs.count - 1].append(scalar)
            }
        }
        self.init(runs: runs, isCaseless)
    }

    /// What texts have that a regular expression matches somewhere; anything for one that is malformed.
    init(expression: String) {
        var parser = PatternParser(expression)
        guard let node = try? parser.parse() else {
            self = .anything
            return
        }
        self.init(node, parser.isCaseless)
    }

    private init(_ node: PatternNode, _ isCaseless: Bool) {
        var parts: [TrigramCondition] = []
        var run: [Unicode.Scalar] = []
        func end() {
            parts.append(TrigramCondition(runs: [run], isCaseless))
            run = []
        }
        func add(_ node: PatternNode) {
            switch node {
            case .instruction(.scalar(let scalar)): run.append(scalar)
            // These take no characters.
            case .empty, .look, .instruction(.lineStart), .instruction(.lineEnd), .instruction(.wordBoundary):
                break
            case .instruction: end()
            case .sequence(let nodes): for node in nodes { add(node) }
            case .group(let inner, _): add(inner)
            case .alternatives(let nodes):
                end()
                parts.append(.any(of: nodes.map { TrigramCondition($0, isCaseless) }))
            case .repetition(let inner, let least, _, _, _):
                end()
                if least > 0 { parts.append(TrigramCondition(inner, isCaseless)) }
            }
        }
        add(node)
        end()
        self = .all(of: parts)
    }

    /// - Parameter isCaseless: whether the system's tables decide what letters are the same, which may be newer than those of the
    ///   index: then only letters count that have been settled for long.
    private init(runs: [[Unicode.Scalar]], _ isCaseless: Bool) {
        let settled =
            isCaseless
            ? runs.flatMap { run in
                run.split(omittingEmptySubsequences: true) { !Self.isSettled($0) }.map(Array.init)
            } : runs
        self = .all(of: settled.map { TrigramCondition(characters: $0) })
    }

    private static func isSettled(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x19B: false
        case ..<0x250, 0x370..<0x530, 0x5D0..<0x600, 0x620..<0x650, 0xE00..<0xE80, 0x1E00..<0x2000,
            0x3040..<0xA000, 0xAC00..<0xD7B0:
            true
        default: false
        }
    }

    // MARK: Searching

    /// How many runs of three characters of a text are looked up at most.
    private static let mostTerms = 64
    /// How many are looked up for a pattern at most.
    private static let mostLeaves = 1_000

    /// The search for it in an index of trigrams; `nil` for anything, and for what would take too many look-ups.
    var query: CompiledTextQuery? {
        var leaves: [TextLeaf] = []
        guard let tree = tree(&leaves), leaves.count <= Self.mostLeaves else { return nil }
        return CompiledTextQuery(tree, leaves)
    }

    private func tree(_ leaves: inout [TextLeaf]) -> TextTree? {
        switch self {
        case .anything: return nil
        case .all(let parts): return .all(parts.compactMap { $0.tree(&leaves) })
        case .any(let parts): return .any(parts.compactMap { $0.tree(&leaves) })
        case .text(let text):
            let length = TrigramTokenizer.length
            guard text.count >= length else { return Self.leaf(.prefix(Self.term(text[...])), &leaves) }
            var terms: Set<[UInt8]> = []
            for start in 0...min(text.count - length, Self.mostTerms - 1) {
                terms.insert(Self.term(text[start..<start + length]))
            }
            return .all(
                terms.sorted { $0.lexicographicallyPrecedes($1) }.map { Self.leaf(.root($0), &leaves) })
        }
    }

    private static func term(_ scalars: ArraySlice<UInt32>) -> [UInt8] {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars.compactMap(Unicode.Scalar.init))
        return TextTerm.term(String(text))
    }

    private static func leaf(_ terms: TextLeaf.Terms, _ leaves: inout [TextLeaf]) -> TextTree {
        leaves.append(
            TextLeaf(
                slots: [TextLeaf.Slot(terms: terms, offset: 0)], columns: nil, isAnchored: false, boost: 1))
        return .leaf(leaves.count - 1)
    }
}

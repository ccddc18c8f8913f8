import Roost
import RoostOrder

/// The rule for what an index answers: it compares what conditions say of the rows of a source with the columns of the index. A
/// condition and a column match where they are the same expression and order texts alike.
///
/// The documents of a collection are an index of one column, their IDs.
struct IndexMatching {
    private let source: Int
    private let use: SourceUse
    private let compiler: Compiler
    /// The sources whose rows are known before this one's.
    private let known: Set<Int>
    /// The conditions that an index has to answer so that nothing else is asked of its rows; `nil` where rows are asked more.
    private let exact: Set<Int>?
    /// What the conditions say of values that an index may have.
    private var terms: [Term] = []
    /// The conditions as an index's own are bound.
    private var relative: [BoundExpression: Int] = [:]

    /// The IDs of documents, by which these are stored.
    static let documentColumn = CompiledIndex.Column(
        expression: .meta(.id, source: 0), collation: .binary, isDescending: false, text: "_id")

    /// What a condition says of a value.
    private struct Term {
        let expression: BoundExpression
        /// How the condition compares; only an index in the same order answers it.
        let collation: Collation
        let relation: Relation
        /// The array of which the value is an element, or part of one; the value is of a variable then.
        var array: BoundExpression?
        let text: String
        /// The condition that it comes from, and whether that says nothing else.
        let condition: Int
        var isWhole = true
        var dependsOnRows = false
    }

    private enum Relation {
        case equality(KeyConditions.Equality)
        case lower(KeyConditions.Bound)
        case upper(KeyConditions.Bound)
        /// Texts that begin so, byte by byte.
        case prefix(String)
    }

    init(
        _ conditions: [(value: BoundExpression, text: String)], exact: Set<Int>?, _ source: Int,
        known: Set<Int>, _ use: SourceUse?, _ compiler: Compiler
    ) throws(QueryError) {
        self.source = source
        self.use = use ?? SourceUse()
        self.compiler = compiler
        self.known = known
        self.exact = exact
        for (number, condition) in conditions.enumerated() {
            if let own = condition.value.relative(to: source) { relative[own] = number }
            try add(condition.value, number, condition.text)
        }
    }

    // MARK: Terms

    private mutating func add(_ condition: BoundExpression, _ number: Int, _ text: String) throws(QueryError)
    {
        switch condition {
        case .comparison(let comparison, let left, let right, let collation):
            try add(comparison, left, right, collation, number, text)
            try add(comparison.mirrored, right, left, collation, number, text)
        case .couchComparison(let comparison, let left, .literal(let literal), let collation):
            if literal.isNull, comparison == .equal {
                add(left, .equality(.test(.null)), collation, number, text)
            } else {
                try add(comparison, left, .literal(literal), collation, number, text, countsNull: true)
            }
        case .membership(let value, let list, let collation, isNegated: false):
            guard let list = try given(list) else { return }
            add(value, .equality(.oneOf(list.value)), collation, number, text, list.dependsOnRows)
        // Of an array, an element may be among those that are given; an ID is none.
        case .call(.isAmong, let operands, let collation) where operands[0] == .meta(.id, source: source):
            guard let list = try given(operands[1]) else { return }
            add(operands[0], .equality(.oneOf(list.value)), collation, number, text, list.dependsOnRows)
        case .test(let value, let test, isNegated: false) where test != .valued:
            add(value, .equality(.test(test)), .binary, number, text)
        case .like(let value, .literal(.string(let pattern)), .binary, isNegated: false):
            guard let prefix = Self.literalPrefix(pattern) else { return }
            add(value, .prefix(prefix), .binary, number, text, isWhole: false)
        case .call(.beginsWith, let operands, _):
            guard case .literal(.string(let prefix)) = operands[1], !prefix.isEmpty else { return }
            add(operands[0], .prefix(prefix), .binary, number, text, isWhole: false)
        case .call(.arrayContains, let operands, let collation):
            guard let array = operands[0].relative(to: source), let value = try given(operands[1]) else {
                return
            }
            terms.append(
                Term(
                    expression: .variable(0, []), collation: collation,
                    relation: .equality(.value(value.value)), array: array, text: text, condition: number,
                    isWhole: false, dependsOnRows: value.dependsOnRows))
        case .quantified(.any, let collection, let inner):
            guard let array = collection.relative(to: source) else { return }
            for part in inner.conjuncts { try addElement(part, array, number, text) }
        default: break
        }
    }

    private mutating func add(
        _ value: BoundExpression, _ relation: Relation, _ collation: Collation, _ number: Int, _ text: String,
        _ dependsOnRows: Bool = false, isWhole: Bool = true
    ) {
        guard let own = value.relative(to: source) else { return }
        terms.append(
            Term(
                expression: own, collation: collation, relation: relation, text: text, condition: number,
                isWhole: isWhole, dependsOnRows: dependsOnRows))
    }

    private mutating func add(
        _ comparison: Comparison, _ left: BoundExpression, _ right: BoundExpression, _ collation: Collation,
        _ number: Int, _ text: String, countsNull: Bool = false
    ) throws(QueryError) {
        guard let own = left.relative(to: source), let value = try given(right),
            let relation = Self.relation(comparison, value.value, countsNull: countsNull)
        else { return }
        terms.append(
            Term(
                expression: own, collation: collation, relation: relation, text: text, condition: number,
                dependsOnRows: value.dependsOnRows))
    }

    private static func relation(
        _ comparison: Comparison, _ value: @escaping Evaluation, countsNull: Bool
    ) -> Relation? {
        func bound(isIncluded: Bool) -> KeyConditions.Bound {
            KeyConditions.Bound(value: value, isIncluded: isIncluded, countsNull: countsNull)
        }
        return switch comparison {
        case .equal: .equality(.value(value))
        case .unequal: nil
        case .greater, .greaterOrEqual: .lower(bound(isIncluded: comparison == .greaterOrEqual))
        case .less, .lessOrEqual: .upper(bound(isIncluded: comparison == .lessOrEqual))
        }
    }

    /// What is said of an element of an array, which is the innermost variable.
    private mutating func addElement(
        _ condition: BoundExpression, _ array: BoundExpression, _ number: Int, _ text: String
    ) throws(QueryError) {
        let (comparison, element, other, collation): (Comparison, BoundExpression, BoundExpression, Collation)
        switch condition {
        case .comparison(let own, let left, let right, let order):
            (comparison, element, other, collation) = (own, left, right, order)
        case .couchComparison(let own, let left, .literal(let value), let order)
        where !value.isNull && own != .less && own != .lessOrEqual:
            (comparison, element, other, collation) = (own, left, .literal(value), order)
        default: return
        }
        guard case .variable(0, _) = element, !other.hasVariable, let value = try given(other),
            let relation = Self.relation(comparison, value.value, countsNull: false)
        else { return }
        terms.append(
            Term(
                expression: element, collation: collation, relation: relation, array: array, text: text,
                condition: number, isWhole: false, dependsOnRows: value.dependsOnRows))
    }

    /// The value of an expression that is known before the source has a row; `nil` for others.
    private func given(
        _ expression: BoundExpression
    ) throws(QueryError) -> (value: Evaluation, dependsOnRows: Bool)? {
        let sources = expression.sources
        guard sources.isSubset(of: known) else { return nil }
        return (try compiler.compile(expression), !sources.isEmpty)
    }

    /// What texts begin with that are like a pattern; `nil` when it can be anything.
    private static func literalPrefix(_ pattern: String) -> String? {
        var prefix = ""
        var characters = pattern.unicodeScalars.makeIterator()
        while let character = characters.next(), character != "%", character != "_" {
            if character == "\\", let escaped = characters.next() {
                prefix.unicodeScalars.append(escaped)
            } else {
                prefix.unicodeScalars.append(character)
            }
        }
        return prefix.isEmpty ? nil : prefix
    }

    // MARK: Indexes

    /// What the conditions say of the IDs of documents.
    func documentKeys(order: [WantedOrder]) -> KeyConditions {
        let terms = terms.filter { term in
            if case .equality(.test) = term.relation { false } else { term.array == nil }
        }
        return keys([Self.documentColumn], terms, order).keys
    }

    /// How an index can answer the conditions; why not, where it can't.
    ///
    /// - Parameter order: what rows are to be ordered by; empty where another order does.
    func access(_ index: CompiledIndex, order: [WantedOrder]) -> Result<IndexAccess, NotUsed> {
        let implication = Implication(conditions: Array(relative.keys))
        for condition in index.conditions where !implication.implies(condition.value) {
            return .failure(
                NotUsed("its condition, \(condition.text), does not follow from those of the query"))
        }
        guard let array = index.array else { return access(index, terms.filter { $0.array == nil }, order) }
        let candidates = terms.filter { $0.array == array }
        for condition in Set(candidates.map(\.condition)).sorted() {
            let found = access(index, candidates.filter { $0.condition == condition }, [])
            if case .success(let access) = found, access.keys.isNarrowed { return found }
        }
        return .failure(NotUsed("no condition says of one of the elements what it is"))
    }

    private func access(
        _ index: CompiledIndex, _ terms: [Term], _ order: [WantedOrder]
    ) -> Result<IndexAccess, NotUsed> {
        var (keys, answered) = keys(index.columns, terms, order, mayHaveSeveralRows: index.array != nil)
        answered.formUnion(index.conditions.compactMap { relative[$0.value] })
        keys.isExact = index.array == nil && exact.map(answered.isSuperset) ?? false
        let access = IndexAccess(index: index, keys: keys, covering: covering(index))
        guard keys.isNarrowed || keys.isOrdered || !index.conditions.isEmpty || access.covering != nil
        else { return .failure(NotUsed("no condition says what \(index.columns[0].text) is")) }
        return .success(access)
    }

    /// What terms say of columns, from the first on, and the conditions that these answer whole.
    private func keys(
        _ columns: [CompiledIndex.Column], _ terms: [Term], _ order: [WantedOrder],
        mayHaveSeveralRows: Bool = false
    ) -> (keys: KeyConditions, answered: Set<Int>) {
        var keys = KeyConditions(columns)
        func matching(_ column: CompiledIndex.Column) -> [Term] {
            terms.filter { term in
                guard term.expression == column.expression else { return false }
                switch term.relation {
                case .equality(.test): return true
                case .prefix(let text): return column.collation.keyPrefix(ofTextsWith: text) != nil
                case .equality, .lower, .upper: return term.collation == column.collation
                }
            }
        }
        var answered: Set<Int> = []
        func take(_ term: Term) {
            if !keys.conditions.contains(term.text) { keys.conditions.append(term.text) }
            if term.isWhole { answered.insert(term.condition) }
            if term.dependsOnRows { keys.dependsOnRows = true }
        }
        // Where nothing is said of the first column, its values may be few, and each of them is gone to.
        if columns.count > 1, !mayHaveSeveralRows, matching(columns[0]).isEmpty, !matching(columns[1]).isEmpty
        {
            keys.skipped = 1
        }
        var number = keys.skipped
        while number < columns.count {
            let found = matching(columns[number]).lazy.compactMap {
                term -> (Term, KeyConditions.Equality)? in
                if case .equality(let equality) = term.relation { return (term, equality) }
                return nil
            }.first
            guard let (term, equality) = found else { break }
            keys.equalities.append(equality)
            take(term)
            number += 1
        }
        if number < columns.count {
            for term in matching(columns[number]) {
                // Other bounds say little where there is a prefix.
                guard keys.prefix == nil else { break }
                switch term.relation {
                case .lower(let bound) where keys.lower == nil: keys.lower = bound
                case .upper(let bound) where keys.upper == nil: keys.upper = bound
                case .prefix(let text) where keys.lower == nil && keys.upper == nil: keys.prefix = text
                default: continue
                }
                take(term)
            }
        }
        noteOrder(&keys, order)
        return (keys, answered)
    }

    /// Notes whether an index has rows in the required order.
    private func noteOrder(_ keys: inout KeyConditions, _ order: [WantedOrder]) {
        guard !order.isEmpty, keys.equalities.allSatisfy(\.isSingle) else { return }
        let columns = keys.columns
        // What is the same in all rows is in any order.
        let constant = keys.skipped..<keys.skipped + keys.equalities.count
        var number = 0
        var isReversed: Bool?
        for part in order where !isConstant(part, in: keys) {
            while constant.contains(number) { number += 1 }
            guard number < columns.count else {
                // Rows of equal keys come in the order of their documents' IDs, of which no two are the same.
                guard part.expression == .meta(.id, source: 0), part.collation == .binary,
                    isReversed == nil || isReversed == part.isDescending
                else { return }
                isReversed = part.isDescending
                break
            }
            let column = columns[number]
            guard column.expression == part.expression, column.collation == part.collation else { return }
            let turned = column.isDescending != part.isDescending
            guard isReversed == nil || isReversed == turned else { return }
            isReversed = turned
            number += 1
        }
        keys.isOrdered = true
        keys.isReversed = isReversed ?? false
    }

    /// Whether all rows are the same in what they are to be ordered by. What is equal in one order may differ in another, but for bytes.
    private func isConstant(_ part: WantedOrder, in keys: KeyConditions) -> Bool {
        zip(keys.columns.dropFirst(keys.skipped), keys.equalities).contains { column, equality in
            guard column.expression == part.expression else { return false }
            if case .test = equality { return true }
            return column.collation == part.collation || column.collation == .binary
        }
    }

    /// The values that the index has of all that is asked of the source's rows; `nil` when something is asked that it has not.
    private func covering(_ index: CompiledIndex) -> [IndexAccess.CoveredPath]? {
        guard index.array == nil, !use.isWhole else { return nil }
        var outputs: [[Step]: Int] = [:]
        for (place, output) in index.outputs.enumerated() {
            guard case .path(_, let steps) = output, !steps.isEmpty, outputs[steps] == nil else { continue }
            outputs[steps] = place
        }
        var needed: [[Step]: Int] = [:]
        for path in use.paths {
            // The value itself, or else that of the path which it is within.
            guard
                let length = (1...path.count).reversed().first(where: {
                    outputs[Array(path.prefix($0))] != nil
                })
            else { return nil }
            let steps = Array(path.prefix(length))
            needed[steps] = outputs[steps]
        }
        return needed.map { steps, place in
            IndexAccess.CoveredPath(place: place, path: compiler.program.path(source, steps))
        }
    }
}

extension BoundExpression {
    /// Whether a variable is in it, or a query that may have one.
    fileprivate var hasVariable: Bool {
        contains {
            switch $0 {
            case .variable, .exists, .rows: true
            default: false
            }
        }
    }
}

/// One of the things that the rows of a source are to be ordered by.
struct WantedOrder {
    let expression: BoundExpression
    let collation: Collation
    let isDescending: Bool
}

/// Why an index does not serve a query.
struct NotUsed: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

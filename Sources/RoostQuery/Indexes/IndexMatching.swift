import Roost
import RoostOrder

/// Finds out what conditions an index can answer.
struct IndexMatching {
    private let compiler: Compiler
    private let source: Int
    /// Whether values are compared with constants and parameters only, and not with what other sources have.
    private let ofConstants: Bool
    private let conditionCount: Int
    /// What the conditions say of values that an index may have.
    private var terms: [Term] = []
    /// The conditions as an index's own would be written.
    private var relative: [Expression: Int] = [:]

    /// What a condition says of a value.
    private struct Term {
        let expression: Expression
        /// How the condition compares; only an index in the same order answers it.
        let collation: Collation
        let relation: Relation
        /// The array of which the value is an element, or part of one; which of the conditions about it this comes from.
        var array: Expression?
        var group = 0
        let text: String
        /// The condition that it comes from, and whether that says nothing else.
        let condition: Int
        var isWhole = true
    }

    private enum Relation {
        case equality(IndexAccess.Equality)
        case lower(IndexAccess.Bound)
        case upper(IndexAccess.Bound)
        /// Texts that begin so, byte by byte.
        case prefix(String)
    }

    init(
        _ conditions: [Expression], _ source: Int, _ compiler: Compiler, ofConstants: Bool = false
    ) {
        self.compiler = compiler
        self.ofConstants = ofConstants
        self.source = source
        conditionCount = conditions.count
        for (number, condition) in conditions.enumerated() {
            if let own = compiler.relative(condition, to: source) { relative[own] = number }
            add(condition, number, text: condition.sqlText)
        }
    }

    // MARK: Terms

    private mutating func add(_ condition: Expression, _ number: Int, text: String) {
        switch condition {
        case .collate(let options, let inner):
            var copy = self
            try? compiler.collating(options) { () throws(QueryError) in copy.add(inner, number, text: text) }
            terms = copy.terms
        case .comparison(let comparison, let left, let right):
            guard let collation = try? compiler.collation(ofOperands: left, right) else { return }
            add(comparison, left, right, collation, number, text)
            add(comparison.mirrored, right, left, collation, number, text)
        case .collation(let comparison, let left, let right):
            guard case .literal(let literal) = right, let own = own(left),
                let collation = try? compiler.collation(ofOperands: left, right)
            else { return }
            guard !literal.isNull || comparison != .equal else {
                terms.append(
                    Term(
                        expression: own, collation: collation, relation: .equality(.test(.null)), text: text,
                        condition: number))
                return
            }
            guard let value = independent(right) else { return }
            append(comparison, own, value, collation, number, text, countsNull: true)
        case .membership(let value, let list, isNegated: false):
            guard let values = independent(list), let own = own(value),
                let collation = try? compiler.collation(ofOperands: value, list)
            else { return }
            terms.append(
                Term(
                    expression: own, collation: collation, relation: .equality(.oneOf(values)), text: text,
                    condition: number))
        case .test(let value, let test, isNegated: false) where test != .valued:
            guard let own = own(value) else { return }
            terms.append(
                Term(
                    expression: own, collation: compiler.collation, relation: .equality(.test(test)),
                    text: text,
                    condition: number))
        case .like(let value, let operand, isNegated: false):
            guard case .literal(.string(let pattern)) = operand,
                let prefix = SelectPlanning.literalPrefix(pattern),
                (try? compiler.collation(ofOperands: value, operand)) == .binary
            else { return }
            addPrefix(prefix, value, number, text)
        case .call(.beginsWith, let arguments):
            guard case .literal(.string(let prefix)) = arguments[1], !prefix.isEmpty else { return }
            addPrefix(prefix, arguments[0], number, text)
        case .call(.arrayContains, let arguments):
            guard let array = own(arguments[0]), let value = independent(arguments[1]) else { return }
            terms.append(
                Term(
                    expression: .path([], .unknown), collation: compiler.collation,
                    relation: .equality(.value(value)),
                    array: array, group: number, text: text, condition: number, isWhole: false))
        case .quantified(.any, let variable, let collection, let inner):
            guard let array = own(collection) else { return }
            for part in inner.conjuncts { addElement(part, variable, array, number, text) }
        default: break
        }
    }

    private mutating func add(
        _ comparison: Comparison, _ left: Expression, _ right: Expression, _ collation: Collation,
        _ number: Int,
        _ text: String
    ) {
        guard let own = own(left), let value = independent(right) else { return }
        append(comparison, own, value, collation, number, text)
    }

    private mutating func append(
        _ comparison: Comparison, _ own: Expression, _ value: @escaping Evaluation, _ collation: Collation,
        _ number: Int, _ text: String, array: Expression? = nil, countsNull: Bool = false
    ) {
        let relation: Relation
        func bound(isIncluded: Bool) -> IndexAccess.Bound {
            IndexAccess.Bound(value: value, isIncluded: isIncluded, countsNull: countsNull)
        }
        switch comparison {
        case .equal: relation = .equality(.value(value))
        case .unequal: return
        case .greater, .greaterOrEqual:
            relation = .lower(bound(isIncluded: comparison == .greaterOrEqual))
        case .less, .lessOrEqual:
            relation = .upper(bound(isIncluded: comparison == .lessOrEqual))
        }
        terms.append(
            Term(
                expression: own, collation: collation, relation: relation, array: array, group: number,
                text: text,
                condition: number, isWhole: array == nil))
    }

    /// What is said of an element of an array.
    private mutating func addElement(
        _ condition: Expression, _ variable: String, _ array: Expression, _ number: Int, _ text: String
    ) {
        let parts: (Comparison, Expression, Expression)
        switch condition {
        case .comparison(let comparison, let left, let right): parts = (comparison, left, right)
        case .collation(let comparison, let left, .literal(let value))
        where !value.isNull && comparison != .less && comparison != .lessOrEqual:
            parts = (comparison, left, .literal(value))
        default: return
        }
        guard let steps = steps(parts.1, from: variable), let value = independent(parts.2),
            let collation = try? compiler.collation(ofOperands: parts.1, parts.2)
        else { return }
        append(parts.0, .path(steps, .unknown), value, collation, number, text, array: array)
    }

    private func steps(_ expression: Expression, from variable: String) -> [Step]? {
        switch expression {
        case .variable(variable, let steps, _): steps
        case .path(let steps, _) where steps.first == .key(variable): Array(steps.dropFirst())
        default: nil
        }
    }

    private mutating func addPrefix(_ prefix: String, _ value: Expression, _ number: Int, _ text: String) {
        guard let own = own(value) else { return }
        terms.append(
            Term(
                expression: own, collation: .binary, relation: .prefix(prefix), text: text, condition: number,
                isWhole: false))
    }

    private func own(_ expression: Expression) -> Expression? {
        compiler.relative(expression.uncollated, to: source)
    }

    private func independent(_ expression: Expression) -> Evaluation? {
        let compiled = try? compiler.tracking { () throws(QueryError) in try compiler.compile(expression) }
        guard let compiled, compiled.sources.allSatisfy({ $0 < source && !ofConstants }) else {
            return nil
        }
        return compiled.result
    }

    // MARK: Indexes

    /// How an index can answer the conditions; why not, where it can't.
    ///
    /// - Parameter order: what rows are to be ordered by; empty where another order does.
    func access(
        _ index: CompiledIndex, order: [WantedOrder]
    ) -> Result<IndexAccess, NotUsed> {
        let implication = Implication(conditions: Array(relative.keys), compiler: compiler)
        for condition in index.conditions where !implication.implies(condition) {
            return .failure(
                NotUsed("its condition, \(condition.sqlText), does not follow from those of the query"))
        }
        guard let array = index.array else { return access(index, terms.filter { $0.array == nil }, order) }
        let own = compiler.relative(array, to: source) ?? array
        let candidates = terms.filter { $0.array == own }
        for group in Set(candidates.map(\.group)).sorted() {
            let found = access(index, candidates.filter { $0.group == group }, [])
            if case .success(let access) = found, access.isNarrowed { return found }
        }
        return .failure(NotUsed("no condition says of one of the elements what it is"))
    }

    private func access(
        _ index: CompiledIndex, _ terms: [Term], _ order: [WantedOrder]
    ) -> Result<IndexAccess, NotUsed> {
        let access = IndexAccess(index)
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
        // Where nothing is said of the first column, its values may be few, and each of them is gone to.
        if index.columns.count > 1, index.array == nil, matching(index.columns[0]).isEmpty,
            !matching(index.columns[1]).isEmpty
        {
            access.skipped = 1
        }
        var answered: Set<Int> = []
        // Set as a whole, as the lists of plans are.
        var equalities: [IndexAccess.Equality] = []
        var number = access.skipped
        while number < index.columns.count {
            let found = matching(index.columns[number]).lazy.compactMap {
                term -> (Term, IndexAccess.Equality)? in
                if case .equality(let equality) = term.relation { return (term, equality) }
                return nil
            }.first
            guard let (term, equality) = found else { break }
            equalities.append(equality)
            access.conditions.append(term.text)
            if term.isWhole { answered.insert(term.condition) }
            number += 1
        }
        access.equalities = equalities
        if number < index.columns.count {
            for term in matching(index.columns[number]) {
                // Other bounds say little where there is a prefix.
                guard access.prefix == nil else { break }
                switch term.relation {
                case .lower(let bound) where access.lower == nil: access.lower = bound
                case .upper(let bound) where access.upper == nil: access.upper = bound
                case .prefix(let text) where access.lower == nil && access.upper == nil: access.prefix = text
                default: continue
                }
                if !access.conditions.contains(term.text) { access.conditions.append(term.text) }
                if term.isWhole { answered.insert(term.condition) }
            }
        }
        answered.formUnion(index.conditions.compactMap { relative[$0] })
        access.isExact = index.array == nil && answered.count == conditionCount
        noteOrder(access, order)
        access.covering = covering(index)
        guard access.isNarrowed || access.isOrdered || !index.conditions.isEmpty || access.covering != nil
        else {
            let column = index.columns[0].expression
            return .failure(NotUsed("no condition says what \(column.sqlText) is"))
        }
        return .success(access)
    }

    /// Notes whether the index has rows in the order asked for.
    private func noteOrder(_ access: IndexAccess, _ order: [WantedOrder]) {
        guard !order.isEmpty, access.equalities.allSatisfy(\.isSingle) else { return }
        let columns = access.index.columns
        // What is the same in all rows is in any order.
        let constant = access.skipped..<access.skipped + access.equalities.count
        var number = 0
        var isReversed: Bool?
        for part in order where !isConstant(part, in: access) {
            while constant.contains(number) { number += 1 }
            guard number < columns.count else {
                // Rows of equal keys come in the order of their documents' IDs, of which no two are the same.
                guard case .meta(.id, _, _) = part.expression, part.collation == .binary,
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
        access.isOrdered = true
        access.isReversed = isReversed ?? false
    }

    /// Whether all rows are the same in what they are to be ordered by. What is equal in one order may differ in another, but for bytes.
    private func isConstant(_ part: WantedOrder, in access: IndexAccess) -> Bool {
        zip(access.index.columns.dropFirst(access.skipped), access.equalities).contains { column, equality in
            guard column.expression == part.expression else { return false }
            if case .test = equality { return true }
            return column.collation == part.collation || column.collation == .binary
        }
    }

    /// The values that the index has of all that is asked of the source's rows; `nil` when something is asked that it has not.
    private func covering(_ index: CompiledIndex) -> [IndexAccess.CoveredPath]? {
        guard index.array == nil, let use = compiler.uses[source], !use.isWhole else { return nil }
        var covered: [IndexAccess.CoveredPath] = []
        for (place, output) in index.outputs.enumerated() {
            guard case .path(let steps, _) = output, !steps.isEmpty else { continue }
            covered.append(IndexAccess.CoveredPath(place: place, path: compiler.program.path(source, steps)))
        }
        var needed: Set<Int> = []
        for path in use.paths {
            var ancestor = path
            while ancestor >= 0, !covered.contains(where: { $0.path == ancestor }) {
                ancestor = compiler.program.paths[ancestor].parent
            }
            guard ancestor >= 0 else { return nil }
            needed.insert(ancestor)
        }
        var seen: Set<Int> = []
        return covered.filter { needed.contains($0.path) && seen.insert($0.path).inserted }
    }
}

/// One of the things that the rows of a source are to be ordered by.
struct WantedOrder {
    let expression: Expression
    let collation: Collation
    let isDescending: Bool
}

/// Why an index does not serve a query.
struct NotUsed: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

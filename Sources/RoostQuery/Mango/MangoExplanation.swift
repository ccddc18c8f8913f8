import Roost

/// How a Mango request is answered, in the terms of CouchDB's `_explain`.
package struct MangoExplanation {
    /// What is done.
    package let plan: Explanation
    /// The selector in its normal form.
    package let selector: DocumentValue
    /// The index that is read, the first of several; `nil` for none of design documents.
    package let index: MangoIndex?
    /// The indexes that are not read, the best first.
    package let candidates: [Candidate]
    /// The fields of the selector that an index can look for, and the others.
    package let fields: (indexable: [String], others: [String])
    /// The keys of the index from which to which documents are looked for.
    package let keys: (start: DocumentValue, end: DocumentValue)
    /// Whether the index has all that is asked for, so that no document is read.
    package let isCovering: Bool
    /// Whether documents come in falling order.
    package let isDescending: Bool
    /// The index that was asked for: its design document, and its name where that was given.
    package let hint: [String]

    /// An index that is not read.
    package struct Candidate {
        /// `nil` for that of all documents.
        package let index: MangoIndex?
        package let isUsable: Bool
        /// The code of why it is not.
        package let reason: String
        /// How far it is from being chosen; the same for those that are equally far.
        package let ranking: Int
    }

    init(_ request: MangoRequest, _ indexes: [MangoIndex], _ plan: Explanation) {
        self.plan = plan
        selector = request.selector.json
        let read = Set(plan.steps.flatMap(\.indexes).map { ByteKey($0) })
        let (used, others) = Self.divided(indexes) { index in
            index.valueIndex.map { read.contains(ByteKey($0.name)) } ?? false
        }
        let first = plan.steps.lazy.compactMap(\.index).first.map { ByteKey($0) }
        index = used.first { $0.valueIndex.map { ByteKey($0.name) } == first } ?? used.first
        isCovering = plan.steps.contains(where: \.isCovering)
        fields = request.known.hints
        keys = request.selector.isEmptyList ? (.null, .null) : request.known.keys(of: index)
        isDescending = request.select.order.first?.isDescending ?? false
        hint = request.hint?.names ?? []
        candidates = Self.candidates(request, others, read: index)
    }

    private static func divided(
        _ indexes: [MangoIndex], _ condition: (MangoIndex) -> Bool
    ) -> ([MangoIndex], [MangoIndex]) {
        (indexes.filter(condition), indexes.filter { !condition($0) })
    }

    /// What CouchDB passes over at each of its steps, the last one's first: those that others are better than, the one of all
    /// documents, those that were not asked for, those that can't serve the request, and those of some documents.
    private static func candidates(
        _ request: MangoRequest, _ indexes: [MangoIndex], read winner: MangoIndex?
    ) -> [Candidate] {
        let isAskedFor = { (index: MangoIndex) in request.hint?.names(index) ?? false }
        let (partial, global) = divided(indexes) { $0.filter.exists && !isAskedFor($0) }
        let (fitting, unfit) = divided(global) { unfitness(of: $0, request) == nil }
        let hasChosen = (fitting + [winner].compactMap(\.self)).contains(where: isAskedFor)
        let (filtered, excluded) = divided(fitting) { !hasChosen || isAskedFor($0) }
        var candidates: [Candidate] = []
        for (rank, index) in request.known.ranked(filtered).enumerated() {
            let reason = reason(index, request, read: winner)
            candidates.append(Candidate(index: index, isUsable: true, reason: reason, ranking: rank + 1))
        }
        func add(_ indexes: [MangoIndex?], isUsable: Bool, _ reason: (MangoIndex?) -> String) {
            let rank = (candidates.last?.ranking ?? 0) + 1
            for index in indexes {
                candidates.append(
                    Candidate(index: index, isUsable: isUsable, reason: reason(index), ranking: rank))
            }
        }
        let all: [MangoIndex?] = winner == nil ? [] : [nil]
        if !hasChosen { add(all, isUsable: true) { _ in "unfavored_type" } }
        add((hasChosen ? all : []) + excluded, isUsable: true) { _ in "excluded_by_user" }
        add(unfit, isUsable: false) { $0.flatMap { unfitness(of: $0, request) } ?? "" }
        add(partial, isUsable: false) { _ in "is_partial" }
        return candidates
    }

    /// Why an index can't serve a request; `nil` where it can.
    private static func unfitness(of index: MangoIndex, _ request: MangoRequest) -> String? {
        if request.known.hasText { return "needs_text_search" }
        if !request.known.isUsable(index, sortedBy: request.order) { return "field_mismatch" }
        return request.isInOrder(index) ? nil : "sort_order_mismatch"
    }

    /// Why another index is read: CouchDB takes the better one by its definition, and Roost the one that takes less.
    private static func reason(_ index: MangoIndex, _ request: MangoRequest, read winner: MangoIndex?)
        -> String
    {
        guard let winner, request.known.ranked([index, winner]).first?.place == winner.place else {
            return "takes_more"
        }
        if request.known.overlap(index) < request.known.overlap(winner) { return "less_overlap" }
        return index.fields.count > winner.fields.count ? "too_many_fields" : "alphabetically_comes_after"
    }
}

extension MangoIndex {
    /// Where its definition stands.
    fileprivate var place: [String] { [design, name] }
}

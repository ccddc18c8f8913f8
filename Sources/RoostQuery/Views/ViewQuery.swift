import Fleece

/// Which rows of a view to read, and how: the parameters of CouchDB's views.
///
/// With `descending` everything goes backwards: ``start`` is the greatest key then.
public struct ViewQuery: Sendable {
    /// The first key; `nil` for the first there is. `startkey`.
    public var start: FleeceValue?
    /// Among rows of the key ``start``, or of each of ``keys``, the first document. `startkey_docid`.
    public var startID: String?
    /// The last key; `nil` for the last there is. `endkey`.
    public var end: FleeceValue?
    /// Among rows of the key ``end``, or of each of ``keys``, the last document. `endkey_docid`.
    public var endID: String?
    /// Whether rows of the key ``end``, or of ``keys``, belong to the range; with ``endID`` only its document's do not. Default: true.
    /// `inclusive_end`.
    public var includesEnd = true
    /// Only rows of these keys, in the order of this list, or the opposite one with ``descending``; groups come in the order of the list
    /// either way. A key that is in the list twice gives its rows twice. `keys`, or `key`.
    public var keys: [FleeceValue]?
    /// Whether to go from the greatest key to the least. Default: false.
    public var isDescending = false
    /// How many rows, or groups, to pass over. O(log n) for rows.
    public var skip = 0
    /// How many rows, or groups, to read at most.
    public var limit = Int.max
    /// Whether to read each row's document too, or the one that its value names as `{"_id": …}`. `include_docs`.
    public var includesDocuments = false
    /// Whether to tell, of each document that is read, which revisions are in conflict with it. `conflicts`; without
    /// ``includesDocuments`` it means nothing.
    public var includesConflicts = false
    /// Whether the place of the rows in the view matters. With `false`, ``ViewRows/totalRows`` and ``ViewRows/offset`` are 0
    /// and not looked for, and CouchDB's replies leave them out; rows are in order all the same. Default: true. `sorted`.
    public var isSorted = true
    /// Whether to reduce. Default: `nil`, if the view has a reduction. `reduce`.
    public var reduces: Bool?
    /// What is reduced together. Default: all rows. `group`, `group_level`.
    public var grouping = Grouping.all
    /// Which moment to show. Default: the present. `update`, `stale`.
    public var update = Update.now

    /// What is reduced together.
    public enum Grouping: Sendable, Hashable {
        /// All rows of the range.
        case all
        /// Rows of equal keys. `group=true`.
        case exact
        /// Rows of keys whose first so many elements are equal, where keys are arrays; rows of equal keys otherwise.
        /// `group_level`.
        case level(Int)
    }

    /// Which moment a view shows.
    public enum Update: Sendable, Hashable {
        /// The present: what has changed is brought up first. `update=true`.
        case now
        /// As it was brought up last, without waiting; no rows if it never was. What changed since is shown where it is little, so
        /// that nobody sees less than before. `update=false`, `stale=ok`.
        case never
        /// As with ``never``, and it is brought up afterwards. `update=lazy`, `stale=update_after`.
        case later
    }

    /// All rows, or all of them reduced.
    public init() {}

    /// Whether a view that has a reduction, or none, is to be reduced.
    func isReduced(_ hasReduction: Bool) throws(ViewError) -> Bool {
        let isReduced = reduces ?? hasReduction
        guard !isReduced || hasReduction else {
            throw ViewError(
                .invalidParameters, "The view has no reduction. Ask for its rows, with reduce=false.")
        }
        return isReduced
    }

    /// - Throws: ``ViewError/Code/invalidParameters`` for parameters that don't go together.
    func check(hasReduction: Bool) throws(ViewError) {
        let isReduced = try isReduced(hasReduction)
        guard skip >= 0, limit >= 0 else {
            throw ViewError(.invalidParameters, "skip and limit are 0 or more.")
        }
        if case .level(let level) = grouping, level < 0 {
            throw ViewError(.invalidParameters, "group_level is 0 or more.")
        }
        guard isReduced || grouping == .all || grouping == .level(0) else {
            throw ViewError(
                .invalidParameters, "Only a reduced view has groups. Leave group and group_level out.")
        }
        guard !isReduced || !includesDocuments else {
            throw ViewError(.invalidParameters, "A reduced view has no documents. Leave include_docs out.")
        }
        guard let keys else { return }
        guard start == nil, end == nil else {
            throw ViewError(.invalidParameters, "keys can't be combined with startkey and endkey.")
        }
        guard !isReduced || grouping == .exact || keys.count == 1 else {
            throw ViewError(.invalidParameters, "Several keys are reduced only with group=true.")
        }
    }
}

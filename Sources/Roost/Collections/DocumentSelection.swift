import RoostStorage

/// Which documents to read, by their IDs, and in which order.
///
/// IDs order by their UTF-8 bytes.
public struct DocumentSelection: Sendable, Hashable {
    /// Only IDs that begin so.
    public var prefix: String?
    /// Only IDs from this one on.
    public var from: String?
    /// Only IDs before this one, or up to and with it: see ``includesEnd``.
    public var to: String?
    /// Whether ``to`` itself belongs to the selection. Default: true.
    public var includesEnd = true
    /// How many to pass over at first; takes time in proportion.
    public var skip = 0
    /// How many to read at most.
    public var limit = Int.max
    /// From the last to the first.
    public var isDescending = false
    /// Also those that are deleted, as tombstones.
    public var includesDeleted = false

    /// All documents that are not deleted, in ascending order, but for what is given.
    public init(
        prefix: String? = nil, from: String? = nil, to: String? = nil, limit: Int = .max,
        isDescending: Bool = false
    ) {
        self.prefix = prefix
        self.from = from
        self.to = to
        self.limit = limit
        self.isDescending = isDescending
    }

    /// The keys that are selected.
    var range: KeyRange {
        var lower = from.map { Key($0) }
        var upper = to.map { Key(includesEnd ? Array($0.utf8) + [0] : Array($0.utf8)) }
        if let prefix {
            let range = KeyRange(prefix: Key(prefix))
            lower = max(lower ?? [], range.lower ?? [])
            if let end = range.upper { upper = min(upper ?? end, end) }
        }
        return KeyRange(lower: lower, upper: upper)
    }
}

import Synchronization

/// What became of a batch: told to the drafts that were saved in it, so that they forget a revision that never was.
final class BatchOutcome: Sendable {
    private let state = Mutex((isCommitted: false, isUndone: false))

    /// Whether the batch was undone.
    var isUndone: Bool { state.withLock { $0.isUndone } }

    func commit() { state.withLock { $0.isCommitted = true } }

    /// Does nothing after ``commit()``.
    func undo() { state.withLock { $0.isUndone = !$0.isCommitted } }
}

/// The revision of a draft or a typed value: the one that it was saved at last, unless the batch was undone.
struct DraftRevision: Sendable {
    /// The revision before the batch in which it was saved last.
    private var base: RevisionID?
    private var saved: (revision: RevisionID, outcome: BatchOutcome)?

    init(_ base: RevisionID? = nil) { self.base = base }

    /// `nil` before the first save.
    var current: RevisionID? {
        guard let saved, !saved.outcome.isUndone else { return base }
        return saved.revision
    }

    /// Notes that it was saved as `revision`, provided that the batch is committed.
    mutating func note(_ revision: RevisionID, in outcome: BatchOutcome) {
        if saved?.outcome !== outcome { base = current }
        saved = (revision, outcome)
    }
}

extension DraftRevision: Hashable {
    static func == (left: Self, right: Self) -> Bool { left.current == right.current }

    func hash(into hasher: inout Hasher) { hasher.combine(current) }
}

/// Follows the old file's commits, repeating them in the new one.
final class LogFollower {
    private let catchUp: CatchUp
    private let source: DataFile
    private let target: CompactedStore
    private let pace: CompactionPace
    /// The last commit that was repeated.
    private var position: CommitRecord

    init(
        _ catchUp: CatchUp, from position: CommitRecord, in source: DataFile, target: CompactedStore,
        pace: CompactionPace
    ) {
        self.catchUp = catchUp
        self.position = position
        self.source = source
        self.target = target
        self.pace = pace
    }

    /// Bytes of log up to `goal`.
    ///
    /// - Throws: ``StoreError`` with `damaged` where the log ends before what was repeated, as after another process could not
    ///   sync that.
    func distance(to goal: CommitRecord) throws(StoreError) -> UInt64 {
        guard goal.end >= position.end else {
            throw source.missing("a commit that was whole a moment ago", at: position.offset)
        }
        return goal.end - position.end
    }

    /// Repeats the commits up to `goal`, or up to the first after `limit` bytes of log, as one commit.
    func advance(to goal: CommitRecord, limit: UInt64 = .max) throws(StoreError) {
        guard goal.offset > position.offset else { return }
        var stream = CommitStream(file: source, after: position)
        var last = position
        try target.repeating({ last }) { (transaction) throws(StoreError) in
            while last.offset < goal.offset, last.end - position.end < limit {
                guard let record = try stream.next() else {
                    throw source.missing("a commit that was whole a moment ago", at: last.end)
                }
                source.noteHistory(of: record)
                try catchUp.replay(record, in: transaction)
                last = record
                try pace.check()
            }
        }
        position = last
        // A commit without operations, as closing and checkpoints make, leaves nothing to repeat but its number.
        guard position.offset == goal.offset, target.state.record.number < goal.number else { return }
        try target.repeating({ goal }, .always) { _ in }
    }
}

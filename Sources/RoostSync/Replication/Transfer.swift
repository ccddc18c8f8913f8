import Roost
import RoostCrypto

/// Carries revisions from one peer to the other.
///
/// A batch of changes is read, compared with the target, and what the target lacks is carried; while it is written, the next
/// changes are read. The position is recorded in checkpoints on both sides only when everything before it is in the target,
/// durably, or refused by it.
struct Transfer: Sendable {
    let source: any ReplicationPeer
    let target: any ReplicationPeer
    let options: ReplicationOptions
    /// Told what was done, and what was refused.
    let report: @Sendable (ReplicationCounts, [ReplicationProblem], Checkpoint) -> Void
    /// Called with the documents whose revisions the target has just got.
    let arrived: @Sendable ([String]) async throws -> Void

    /// How many revisions are read at once, so that memory stays bounded whatever their size.
    private static let readSize = 100
    /// How many such parts are under way at a time.
    private static let parallelParts = 4
    /// Checkpoints are saved after so many batches, and whenever there is nothing left.
    private static let checkpointInterval = 10

    /// Carries everything that there is; then, if `waits`, what comes, without end.
    func run(whenIdle: @Sendable () -> Void) async throws {
        let id = ReplicationID.make(
            source: try await source.identity(), target: try await target.identity(), options)
        var checkpoint = try await commonCheckpoint(id)
        var position = checkpoint.position ?? options.since.map { SourcePosition(json: $0) }
        var counts = ReplicationCounts()
        counts.recorded = checkpoint.position
        var batches = 0
        var readAhead: ChangeBatch?
        while true {
            try Task.checkCancellation()
            let batch = if let readAhead { readAhead } else { try await changes(after: position) }
            guard batch.isLast || batch.position != position else { throw StandstillError() }
            async let following = batch.isLast ? nil : changes(after: batch.position)
            counts.checked += batch.documents.count
            counts.pending = batch.pending
            let problems = try await carry(batch.documents, &counts)
            position = batch.position
            counts.position = position
            report(counts, problems, checkpoint)
            batches += 1
            if position != counts.recorded, batch.isLast || batches % Self.checkpointInterval == 0 {
                checkpoint.record(session(at: batch.position, counts))
                if options.usesCheckpoints {
                    try await source.save(checkpoint, as: id)
                    try await target.save(checkpoint, as: id)
                }
                counts.recorded = position
                report(counts, [], checkpoint)
            }
            readAhead = try await following
            guard batch.isLast else { continue }
            guard options.isContinuous else { return }
            whenIdle()
            try await source.untilChanged(after: position)
        }
    }

    private func changes(after position: SourcePosition?) async throws -> ChangeBatch {
        try await source.changes(after: position, limit: options.batchSizeInRange, options.selection)
    }

    /// What both sides remember up to the newest session that both know of.
    private func commonCheckpoint(_ id: String) async throws -> Checkpoint {
        guard options.usesCheckpoints else { return Checkpoint() }
        let (here, there) = (try await source.checkpoint(id), try await target.checkpoint(id))
        return Checkpoint.common(here, there)
    }

    private func session(at position: SourcePosition, _ counts: ReplicationCounts) -> Checkpoint.Session {
        var session = Checkpoint.Session(id: RandomText.hexadecimal(bytes: 16), position: position)
        session.missingChecked = counts.checked
        session.missingFound = counts.missing
        session.docsRead = counts.written + counts.failed
        session.docsWritten = counts.written
        session.docWriteFailures = counts.failed
        return session
    }

    /// Carries what the target lacks of some documents.
    private func carry(
        _ documents: [ChangedDocument], _ counts: inout ReplicationCounts
    ) async throws -> [ReplicationProblem] {
        guard !documents.isEmpty else { return [] }
        let wanted = try await target.missing(documents)
        let parts = stride(from: 0, to: wanted.count, by: Self.readSize).map {
            Array(wanted[$0..<min($0 + Self.readSize, wanted.count)])
        }
        // In any order: what they come to is recorded only when all are done.
        let results = try await concurrently(parts, limit: Self.parallelParts) { try await carry($0) }
        let problems = results.flatMap(\.problems)
        counts.missing += wanted.reduce(0) { $0 + $1.revisions.count }
        counts.written += results.reduce(0) { $0 + $1.written }
        counts.failed += problems.count
        return problems
    }

    private func carry(_ part: [WantedRevisions]) async throws -> (
        written: Int, problems: [ReplicationProblem]
    ) {
        var problems: [ReplicationProblem] = []
        var carried: [CarriedRevision] = []
        for result in try await source.read(part, options.selection) {
            switch result {
            case .success(let revision): carried.append(revision)
            case .failure(let problem): problems.append(problem)
            }
        }
        guard !carried.isEmpty else { return (0, problems) }
        let refused = try await target.write(carried)
        try await arrived(carried.map(\.id))
        return (carried.count - refused.count, problems + refused)
    }
}

/// A source that promises changes and does not come to them.
struct StandstillError: Error, CustomStringConvertible {
    let description = "The source says that there are more changes, and gives the same ones again."
}

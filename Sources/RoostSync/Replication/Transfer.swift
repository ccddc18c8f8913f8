import Roost

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
    let report: @Sendable (ReplicationCounts, [ReplicationProblem]) -> Void
    /// Called with the documents whose revisions the target has just got.
    let arrived: @Sendable ([String]) async throws -> Void

    /// How many revisions are read at once, so that memory stays bounded whatever their size.
    private static let readSize = 100
    /// Checkpoints are saved after so many batches, and whenever there is nothing left.
    private static let checkpointInterval = 10

    /// Carries everything that there is; then, if `waits`, what comes, without end.
    func run(whenIdle: @Sendable () -> Void) async throws {
        let id = ReplicationID.make(
            source: try await source.identity(), target: try await target.identity(), options.selection)
        var (here, there) = (try await source.checkpoint(id), try await target.checkpoint(id))
        var position = Checkpoint.common(here, there)
        var checkpoint = Checkpoint.common(here, there) == nil ? Checkpoint() : there ?? Checkpoint()
        (here, there) = (nil, nil)
        var recorded = position
        var counts = ReplicationCounts()
        var batches = 0
        while true {
            try Task.checkCancellation()
            let batch = try await source.changes(
                after: position, limit: options.batchSizeInRange, options.selection)
            counts.checked += batch.documents.count
            counts.pending = batch.pending
            let problems = try await carry(batch.documents, &counts)
            position = batch.position
            batches += 1
            if position != recorded, batch.isLast || batches % Self.checkpointInterval == 0 {
                checkpoint.record(session(at: batch.position, counts))
                try await source.save(checkpoint, as: id)
                try await target.save(checkpoint, as: id)
                recorded = position
            }
            report(counts, problems)
            guard batch.isLast else { continue }
            guard options.isContinuous else { return }
            whenIdle()
            try await source.untilChanged(after: position)
        }
    }

    private func session(at position: SourcePosition, _ counts: ReplicationCounts) -> Checkpoint.Session {
        var session = Checkpoint.Session(id: SessionID.make(), position: position)
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
        var problems: [ReplicationProblem] = []
        let wanted = try await target.missing(documents)
        for start in stride(from: 0, to: wanted.count, by: Self.readSize) {
            let part = Array(wanted[start..<min(start + Self.readSize, wanted.count)])
            counts.missing += part.reduce(0) { $0 + $1.revisions.count }
            var carried: [CarriedRevision] = []
            for result in try await source.read(part, options.selection) {
                switch result {
                case .success(let revision): carried.append(revision)
                case .failure(let problem): problems.append(problem)
                }
            }
            guard !carried.isEmpty else { continue }
            let refused = try await target.write(carried)
            problems += refused
            counts.written += carried.count - refused.count
            try await arrived(carried.map(\.id))
        }
        counts.failed += problems.count
        return problems
    }
}

/// Names a part of a replication's work: 32 random hexadecimal digits.
private enum SessionID {
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(UInt32.random(in: .min ... .max, using: &generator), radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }
}

import Roost
import RoostCrypto
import RoostWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Carries revisions from one peer to the other.
///
/// A batch of changes is read, compared with the target, and what the target lacks is carried; while it is written, the next
/// changes are read. The position is recorded in checkpoints on both sides only when everything before it is in the target,
/// durably, or is recorded with it as not carried, to be tried again by the next run.
struct Transfer: Sendable {
    let source: any ReplicationPeer
    let target: any ReplicationPeer
    let options: ReplicationOptions
    /// Told what was done, and what is not carried.
    let report: @Sendable (ReplicationCounts, FailureList, Checkpoint) -> Void
    /// Called with the documents whose revisions the target has just got.
    let arrived: @Sendable ([String]) async throws -> Void

    /// How many parts of a batch, of the size that the source reads at once, are under way at a time.
    static let parallelParts = 4
    /// Checkpoints are saved after so many batches, and whenever there is nothing left.
    private static let checkpointInterval = 10

    /// Carries everything that there is; then, if it is continuous, what comes, without end. Another version of the source's filter
    /// begins again.
    func run(whenIdle: @Sendable () -> Void) async throws {
        repeat {
            let code = try await source.filterCode(options.selection)
            try await run(by: code, whenIdle: whenIdle)
        } while options.isContinuous
    }

    /// - Parameter code: That of the source's filter. The run ends when the filter has another.
    private func run(by code: String?, whenIdle: @Sendable () -> Void) async throws {
        let id = ReplicationID.make(
            source: try await source.identity(), target: try await target.identity(), options,
            filterCode: code)
        var store = CheckpointStore(id, source: source, target: target)
        var checkpoint = options.usesCheckpoints ? try await store.load() : Checkpoint()
        var position = checkpoint.position ?? options.since.map { SourcePosition(json: $0) }
        let (startTime, startPosition) = (Self.time, position)
        var counts = ReplicationCounts()
        counts.recorded = checkpoint.position
        var failures = FailureList()
        failures.add(try await retry(checkpoint.failures, &counts))
        report(counts, failures, checkpoint)
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
            for document in batch.documents { failures.forget(document.id) }
            failures.add(problems)
            position = batch.position
            counts.position = position
            report(counts, failures, checkpoint)
            batches += 1
            // With more failures than are remembered, the position stays where all of them are found again.
            if let failed = failures.remembered, position != counts.recorded || failed != checkpoint.failures,
                batch.isLast || batches % Self.checkpointInterval == 0
            {
                var session = Checkpoint.Session(
                    id: RandomText.hexadecimal(bytes: 16), position: batch.position, counts)
                (session.startTime, session.endTime, session.start) = (startTime, Self.time, startPosition)
                checkpoint.record(session, failures: failed)
                if options.usesCheckpoints { try await store.save(checkpoint) }
                counts.recorded = position
                report(counts, failures, checkpoint)
            }
            readAhead = try await following
            guard batch.isLast else { continue }
            guard options.isContinuous else { return }
            whenIdle()
            try await source.untilChanged(after: position)
            guard try await source.filterCode(options.selection) == code else { return }
        }
    }

    private static var time: String {
        HTTPDate.text(secondsSince1970: Int(Date().timeIntervalSince1970))
    }

    private func changes(after position: SourcePosition?) async throws -> ChangeBatch {
        try await source.changes(after: position, limit: options.batchSizeInRange, options.selection)
    }
}

extension Checkpoint.Session {
    init(id: String, position: SourcePosition, _ counts: ReplicationCounts) {
        self.init(id: id, position: position)
        missingChecked = counts.checked
        missingFound = counts.missing
        docsRead = counts.written + counts.failed
        docsWritten = counts.written
        docWriteFailures = counts.failed
    }
}

/// A source that promises changes and does not come to them.
struct StandstillError: Error, CustomStringConvertible {
    let description = "The source says that there are more changes, and gives the same ones again."
}

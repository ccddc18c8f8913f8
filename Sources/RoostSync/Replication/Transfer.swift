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
    /// Called with the counts, and with what is not carried.
    let report: @Sendable (ReplicationCounts, FailureList, Checkpoint) -> Void
    /// Called with the documents whose revisions the target has just got.
    let arrived: @Sendable ([String]) async throws -> Void

    /// How many parts of a batch, of the size that the source reads at once, are under way at a time.
    static let parallelParts = 4
    /// Checkpoints are saved after this number of batches, and when all changes are carried.
    private static let checkpointInterval = 10

    /// Carries all changes; then, if it is continuous, further ones, without end. Starts over when the source's filter has another
    /// version.
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

// MARK: - Carrying

extension Transfer {
    /// Carries what the target lacks of some documents, and returns what could not be carried.
    func carry(
        _ documents: [ChangedDocument], _ counts: inout ReplicationCounts
    ) async throws -> [ReplicationProblem] {
        var problems = documents.flatMap(\.problems)
        defer { counts.failed += problems.count }
        let offered = documents.filter { !$0.leaves.isEmpty }
        // A target that knows winners alone may want others than those that have changed here.
        let wanted =
            offered.isEmpty && target.keepsConflicts ? [] : try await target.missing(offered)
        try await source.choose(wanted)
        let size = min(source.readSize, max(wanted.count, 1))
        let parts = stride(from: 0, to: wanted.count, by: size).map {
            Array(wanted[$0..<min($0 + size, wanted.count)])
        }
        // In any order: what they come to is recorded only when all are done.
        let results = try await concurrently(parts, limit: Self.parallelParts) { try await carry($0) }
        problems += results.flatMap(\.problems)
        counts.missing += wanted.reduce(0) { $0 + $1.revisions.count }
        counts.written += results.reduce(0) { $0 + $1.written }
        return problems
    }

    /// Retries what an earlier run could not carry, and returns what still can't be carried.
    ///
    /// Skips a revision that is no longer a leaf at the source: its successor is among the changes.
    func retry(
        _ failures: [Checkpoint.Failure], _ counts: inout ReplicationCounts
    ) async throws -> [ReplicationProblem] {
        guard !failures.isEmpty else { return [] }
        var revisions: NamedValues<Set<String>> = [:]
        var problems: [ReplicationProblem] = []
        for failure in failures {
            if let revision = failure.revision {
                revisions[failure.document] = (revisions[failure.document] ?? []).union([revision])
            } else {
                let cause = DatabaseError(.corruptRevisionData, "An earlier run could not read its changes.")
                problems.append(ReplicationProblem(failure.document, nil, cause))
            }
        }
        counts.failed += problems.count
        let documents = try await source.leaves(of: revisions.keys).map { document in
            let failed = revisions[document.id] ?? []
            return ChangedDocument(
                id: document.id, leaves: document.leaves.filter { failed.contains("\($0)") },
                problems: document.problems.filter { failed.contains($0.revisionText ?? "") })
        }
        return try await problems + carry(documents, &counts)
    }

    private func carry(_ part: [WantedRevisions]) async throws -> (
        written: Int, problems: [ReplicationProblem]
    ) {
        var (written, problems) = (0, [ReplicationProblem]())
        var remaining = part
        while !remaining.isEmpty {
            let (carried, unread, rest) = try await read(remaining)
            problems += unread
            remaining = rest
            guard !carried.isEmpty else { continue }
            let refused = try await target.write(carried)
            answer(carried, refused)
            try await arrived(carried.map(\.id))
            written += carried.count - refused.count
            problems += refused
        }
        return (written, problems)
    }

    /// Tells a source that waits for it which revisions are stored.
    private func answer(_ carried: [CarriedRevision], _ refused: [ReplicationProblem]) {
        for revision in carried {
            guard let answer = revision.answer else { continue }
            answer(
                refused.first { $0.document.isIdentical(to: revision.id) && $0.revision == revision.revision }
            )
        }
    }

    /// Reads revisions, and requests once more those that the source did not return, such as a cluster whose node lags behind or whose worker
    /// died. Nothing that the source still has is passed over.
    private func read(_ part: [WantedRevisions]) async throws -> (
        carried: [CarriedRevision], problems: [ReplicationProblem], remaining: [WantedRevisions]
    ) {
        var read = try await source.read(part, options.selection)
        guard !read.withheld.isEmpty else { return (read.carried, read.problems, read.remaining) }
        let again = read.withheld.map(\.wanted)
        read.withheld = []
        read += try await source.read(again, options.selection)
        var leaves: NamedValues<[RevisionID]> = [:]
        for withheld in read.withheld where withheld.isMissing { leaves[withheld.wanted.id] = [] }
        if !leaves.isEmpty {
            for document in try await source.leaves(of: leaves.keys) { leaves[document.id] = document.leaves }
        }
        // What was edited or removed since comes with the next changes.
        read.problems += read.withheld.filter { withheld in
            !withheld.isMissing
                || leaves[withheld.wanted.id]?.contains(withheld.wanted.revisions[0]) == true
        }.map(\.problem)
        return (read.carried, read.problems, read.remaining)
    }
}

/// The results of `work` for each of `elements`, in their order, with at most `limit` of them running.
///
/// - Throws: The first error of `work`; what is under way then is cancelled.
func concurrently<Element: Sendable, Made: Sendable>(
    _ elements: [Element], limit: Int, _ work: @escaping @Sendable (Element) async throws -> Made
) async throws -> [Made] {
    try await withThrowingTaskGroup(of: (Int, Made).self) { group in
        var made: [Made?] = Array(repeating: nil, count: elements.count)
        for (index, element) in elements.enumerated() {
            if index >= limit, let (place, result) = try await group.next() { made[place] = result }
            group.addTask { (index, try await work(element)) }
        }
        for try await (place, result) in group { made[place] = result }
        return made.compactMap(\.self)
    }
}

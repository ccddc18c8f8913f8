import Roost
import RoostWire

extension Transfer {
    /// Carries what the target lacks of some documents; answers what could not be carried.
    func carry(
        _ documents: [ChangedDocument], _ counts: inout ReplicationCounts
    ) async throws -> [ReplicationProblem] {
        var problems = documents.flatMap(\.problems)
        defer { counts.failed += problems.count }
        let offered = documents.filter { !$0.leaves.isEmpty }
        let wanted = offered.isEmpty ? [] : try await target.missing(offered)
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

    /// Tries again what an earlier run could not carry; answers what can't be carried now, either.
    ///
    /// A revision that the source has no longer as a leaf is passed over: what took its place is among the changes.
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

    /// Reads revisions; asks once more for those that the source did not give, such as a cluster whose node lags behind or whose worker
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

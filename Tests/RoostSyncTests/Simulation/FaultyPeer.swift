import Roost
import RoostWire

@testable import RoostSync

/// A source with a fault that a simulation must notice.
struct FaultyPeer: ReplicationPeer {
    enum Fault: CaseIterable {
        /// It says that it is further than it has told.
        case positionTooFar
        /// It leaves out revisions that it was asked for.
        case droppedRevision
        /// It sends a stub's text for the content of an attachment.
        case stubForContent
        /// It tells of the winning leaves only.
        case hiddenConflicts
    }

    let peer: DatabasePeer
    let fault: Fault

    func identity() -> String { peer.identity() }

    func filterCode(_ selection: ReplicationSelection) -> String? { nil }

    func leaves(of ids: [String]) async throws -> [ChangedDocument] { try await peer.leaves(of: ids) }

    func changes(
        after position: SourcePosition?, limit: Int, _ selection: ReplicationSelection
    ) async throws -> ChangeBatch {
        var selection = selection
        if fault == .hiddenConflicts { selection.winnersOnly = true }
        let batch = try await peer.changes(after: position, limit: limit, selection)
        guard fault == .positionTooFar else { return batch }
        return ChangeBatch(
            documents: batch.documents.dropLast(), position: batch.position, pending: batch.pending,
            isLast: batch.isLast)
    }

    func untilChanged(after position: SourcePosition?) async throws {
        try await peer.untilChanged(after: position)
    }

    func missing(_ offered: [ChangedDocument]) async throws -> [WantedRevisions] {
        try await peer.missing(offered)
    }

    func read(
        _ wanted: [WantedRevisions], _ selection: ReplicationSelection
    ) async throws -> ReadRevisions {
        var found = try await peer.read(wanted, selection)
        switch fault {
        case .positionTooFar, .hiddenConflicts: break
        case .droppedRevision: _ = found.carried.popLast()
        case .stubForContent:
            found.carried = found.carried.map { revision in
                CarriedRevision(
                    id: revision.id, revision: revision.revision,
                    knownGeneration: revision.knownGeneration,
                    content: revision.content
                ) { _ in BytesBody(Array(#"{"stub":true}"#.utf8)) }
            }
        }
        return found
    }

    func write(_ revisions: [CarriedRevision]) async throws -> [ReplicationProblem] {
        try await peer.write(revisions)
    }

    func checkpoint(_ id: String) async throws -> Checkpoint? { try await peer.checkpoint(id) }

    func save(_ checkpoint: Checkpoint, as id: String) async throws {
        try await peer.save(checkpoint, as: id)
    }
}

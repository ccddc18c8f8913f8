import Roost

/// The checkpoints of one replication in its source and its target.
struct CheckpointStore {
    let id: String
    let source: any ReplicationPeer
    let target: any ReplicationPeer
    /// Whether the source takes checkpoints: one that may only be read does not, and the target's alone count then.
    private var sourceTakesThem = true

    init(_ id: String, source: any ReplicationPeer, target: any ReplicationPeer) {
        (self.id, self.source, self.target) = (id, source, target)
    }

    /// What both sides remember up to the newest session that both know of.
    mutating func load() async throws -> Checkpoint {
        let there = try await target.checkpoint(id)
        do {
            if let here = try await source.checkpoint(id) { return Checkpoint.common(here, there) }
            guard there?.position != nil else { return Checkpoint() }
            // The source was created again, or restored, and everything is compared; unless it could not keep any.
            try await source.save(Checkpoint(), as: id)
            return Checkpoint()
        } catch {
            guard error.refusesCheckpoints else { throw error }
            sourceTakesThem = false
            return there ?? Checkpoint()
        }
    }

    /// Saves it in the source first, so that the target never knows of a session that the source does not.
    mutating func save(_ checkpoint: Checkpoint) async throws {
        if sourceTakesThem {
            do {
                try await source.save(checkpoint, as: id)
            } catch {
                guard error.refusesCheckpoints else { throw error }
                sourceTakesThem = false
            }
        }
        try await target.save(checkpoint, as: id)
    }
}

extension Error {
    /// Whether a source says that it may not be written to.
    fileprivate var refusesCheckpoints: Bool {
        switch self {
        case let error as RemoteError: error.refusesWriting
        case let error as DatabaseError: error.code == .readOnly
        default: false
        }
    }
}

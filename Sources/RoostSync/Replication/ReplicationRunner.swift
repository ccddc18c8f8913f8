import Roost

/// Runs the transfers of a replication, and again after failures.
struct ReplicationRunner: Sendable {
    let here: any ReplicationPeer
    let there: any ReplicationPeer
    /// The collection whose conflicts are settled.
    let local: DocumentCollection?
    let options: ReplicationOptions
    let board: StatusBoard
    let gate: Gate

    func run() async {
        var failures = 0
        while true {
            if gate.isClosed { board.update { $0.phase = .paused } }
            await gate.pass()
            board.update { $0.phase = .active }
            do {
                try await transferAll()
                return board.update { $0.phase = .finished }
            } catch {
                if Task.isCancelled { return board.update { $0.phase = .finished } }
                // Whatever was carried since shows that waiting longer is not called for.
                failures = board.status.lastError == nil ? 1 : failures + 1
                guard failures < options.attempts, error.isWorthTryingAgain else {
                    return board.update { $0.phase = .failed(error) }
                }
                let delay = options.retry.delay(after: failures)
                board.update { status in
                    status.lastError = error
                    status.phase = .waiting(seconds: delay)
                }
                await gate.wait(seconds: delay)
            }
        }
    }

    private func transferAll() async throws {
        let sides = options.direction == .both ? [.pull, .push] : [options.direction]
        board.update { $0.idle = [] }
        guard options.isContinuous else {
            // One after the other, so that what came is not looked at again on its way back.
            for side in sides { try await transfer(side) }
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for side in sides { group.addTask { try await transfer(side) } }
            // The first failure ends the other, too, which may wait for changes without end.
            while try await group.next() != nil {}
        }
    }

    private func transfer(_ side: ReplicationOptions.Direction) async throws {
        let transfer = Transfer(
            source: side == .push ? here : there, target: side == .push ? there : here, options: options
        ) { counts, failures, checkpoint in
            board.update { status in
                // Only what came of this try shows that it was worth it.
                let before = side == .push ? status.pushed.recorded : status.pulled.recorded
                if counts.written > 0 || counts.recorded != before { status.lastError = nil }
                if side == .push {
                    (status.pushed, status.pushFailures, status.checkpoint) = (counts, failures, checkpoint)
                } else {
                    (status.pulled, status.pullFailures) = (counts, failures)
                }
                status.idle.remove(side)
                status.phase = .active
            }
        } arrived: { ids in
            await gate.pass()
            if side == .pull { try await resolve(ids) }
        }
        try await transfer.run {
            board.update { status in
                status.lastError = nil
                status.idle.insert(side)
                if status.idle.count == (options.direction == .both ? 2 : 1) { status.phase = .idle }
            }
        }
    }

    /// Settles conflicts of documents that came.
    private func resolve(_ ids: [String]) async throws {
        guard let resolver = options.resolver, let local else { return }
        for id in Set(ids.map { ByteKey($0) }).map(\.text) {
            board.update { $0.unresolved.forget(id) }
            let leaves = try await local.database.perform {
                let snapshot = try local.snapshot()
                let conflicts = try snapshot.conflicts(of: id)
                guard !conflicts.isEmpty, let winner = try snapshot.document(id) else { return [Document]() }
                return [winner] + conflicts
            }
            guard !leaves.isEmpty else { continue }
            do {
                switch try resolver.outcome(leaves) {
                case .keepAll: break
                case .keep(let revision): try await settle(id, in: local, keeping: revision, json: nil)
                case .merge(let revision, let json):
                    try await settle(id, in: local, keeping: revision, json: json)
                }
            } catch {
                guard error.isOfOneDocument else { throw error }
                // It was edited meanwhile, or the resolver failed: the conflict stays for the next time.
                board.update { $0.unresolved.add([ReplicationProblem(id, nil, error)]) }
            }
        }
    }

    private func settle(
        _ id: String, in local: DocumentCollection, keeping revision: RevisionID, json: String?
    ) async throws {
        try await local.database.write { batch in
            _ = try batch.resolve(id, keeping: revision, json: json, in: local)
        }
    }
}

extension ReplicationOptions.Retry {
    /// Seconds to wait after so many failures in a row: doubling, of which a random half, so that peers that failed
    /// together don't come back together.
    func delay(after failures: Int) -> Double {
        let whole = min(first * Double(1 << min(failures - 1, 30)), longest)
        return whole / 2 + Double.random(in: 0...max(whole / 2, 0))
    }
}

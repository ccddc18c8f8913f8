import Roost
import Synchronization

/// A replication under way. It runs until it has carried everything, or, when it is continuous, until it is stopped or
/// no reference to this remains. Can be used from any thread.
///
/// ```swift
/// let replication = try notes.replicate(with: others)
/// let status = try await replication.finished
/// print(status.pulled.written, "came")
/// ```
public final class Replication: Sendable {
    private let board: StatusBoard
    private let gate: Gate
    private let task: Task<Void, Never>

    /// - Parameter local: The collection that `here` is, whose conflicts can be resolved; `nil` for one elsewhere.
    init(
        _ here: any ReplicationPeer, _ there: any ReplicationPeer, resolvingIn local: DocumentCollection?,
        _ options: ReplicationOptions
    ) {
        let (board, gate) = (StatusBoard(), Gate())
        var options = options
        if !here.keepsConflicts || !there.keepsConflicts { options.selection.winnersOnly = true }
        self.board = board
        self.gate = gate
        let runner = ReplicationRunner(
            here: here, there: there, local: local, options: options, board: board, gate: gate)
        task = Task { await runner.run() }
    }

    convenience init(local: DocumentCollection, remote: any ReplicationPeer, _ options: ReplicationOptions) {
        self.init(
            DatabasePeer(local, longestAttachment: options.longestAttachment), remote, resolvingIn: local,
            options)
    }

    deinit { task.cancel() }

    /// The current status.
    public var status: ReplicationStatus { board.status }

    /// The status, now and whenever it changes. A slow consumer gets only the newest. The stream ends with the replication.
    public var updates: AsyncStream<ReplicationStatus> { board.updates() }

    /// Waits for the end.
    ///
    /// - Returns: How it stood then. What single documents were refused for is in ``ReplicationStatus/problems``.
    /// - Throws: What ended it, unless all was carried or it was stopped.
    public var finished: ReplicationStatus {
        get async throws {
            await task.value
            let status = board.status
            if case .failed(let error) = status.phase { throw error }
            return status
        }
    }

    /// Ends it after what is being written. Waits for the end.
    public func stop() async {
        task.cancel()
        gate.open()
        await task.value
    }

    /// Holds it before its next step, until ``resume()``.
    public func pause() { gate.close() }

    /// Goes on after ``pause()``, and at once where it waits after a failure, as when the network is there again.
    public func resume() { gate.open() }
}

/// Runs the transfers of a replication, and again after failures.
struct ReplicationRunner: Sendable {
    let here: any ReplicationPeer
    let there: any ReplicationPeer
    /// The collection whose conflicts are resolved.
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
                await rest()
                return board.update { $0.phase = .finished }
            } catch {
                await rest()
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

    private func rest() async {
        await here.rest()
        await there.rest()
    }

    /// How often the two sides are compared where the other one may refuse what is in conflict with it.
    private static let mostRounds = 3

    private func transferAll() async throws {
        let sides = options.direction == .both ? [.pull, .push] : [options.direction]
        board.update { $0.idle = [] }
        guard options.isContinuous else {
            for round in 1...Self.mostRounds {
                let before = board.status
                // One after the other, so that what came is not looked at again on its way back.
                for side in sides {
                    let counts = side == .push ? before.pushed : before.pulled
                    try await transfer(side, after: round == 1 ? ReplicationCounts() : counts)
                }
                // What was refused because the other side has changed meanwhile may go once that has come.
                guard sides.count == 2, !there.keepsConflicts, options.usesCheckpoints,
                    round < Self.mostRounds,
                    board.status.pushFailures.all.contains(where: {
                        ($0.cause as? RemoteError)?.status == 409
                    })
                else { return }
            }
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for side in sides { group.addTask { try await transfer(side) } }
            // The first failure ends the other, too, which may wait for changes without end.
            while try await group.next() != nil {}
        }
    }

    /// - Parameter before: The counts of what this try has done in that direction.
    private func transfer(
        _ side: ReplicationOptions.Direction, after before: ReplicationCounts = ReplicationCounts()
    ) async throws {
        let transfer = Transfer(
            source: side == .push ? here : there, target: side == .push ? there : here, options: options
        ) { counts, failures, checkpoint in
            let counts = counts.adding(before)
            board.update { status in
                // Only what came of this try shows that it was worth it.
                let recorded = side == .push ? status.pushed.recorded : status.pulled.recorded
                if counts.written > before.written || counts.recorded != recorded { status.lastError = nil }
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

    /// Resolves conflicts of documents that have arrived.
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

/// The status of a replication, and its listeners.
final class StatusBoard: Sendable {
    private struct State {
        var status = ReplicationStatus()
        var listeners: [Int: AsyncStream<ReplicationStatus>.Continuation] = [:]
        var nextKey = 0
    }

    private let state = Mutex(State())

    var status: ReplicationStatus { state.withLock(\.status) }

    func update(_ change: (inout ReplicationStatus) -> Void) {
        let finished = state.withLock { state in
            change(&state.status)
            for listener in state.listeners.values { listener.yield(state.status) }
            guard state.status.isEnded else { return [AsyncStream<ReplicationStatus>.Continuation]() }
            defer { state.listeners.removeAll() }
            return Array(state.listeners.values)
        }
        // Outside the lock, which a listener that ends takes.
        for listener in finished { listener.finish() }
    }

    func updates() -> AsyncStream<ReplicationStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let key = state.withLock { state in
                continuation.yield(state.status)
                if state.status.isEnded { continuation.finish() }
                state.nextKey += 1
                state.listeners[state.nextKey] = continuation
                return state.nextKey
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.listeners.removeValue(forKey: key) }
            }
        }
    }
}

/// Holds tasks while it is closed.
final class Gate: Sendable {
    private struct State {
        var isClosed = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextKey = 0
    }

    private let state = Mutex(State())

    func close() { state.withLock { $0.isClosed = true } }

    /// Lets all tasks through, also those that wait for some time.
    func open() {
        let waiting = state.withLock { state in
            state.isClosed = false
            defer { state.waiting.removeAll() }
            return state.waiting.values.map { $0 }
        }
        for continuation in waiting { continuation.resume() }
    }

    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Waits while the gate is closed, or until the task is cancelled.
    func pass() async { await wait { $0.isClosed } }

    /// Waits `seconds`, or until the gate is opened or the task is cancelled.
    func wait(seconds: Double) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait { _ in true } }
            group.addTask { try? await Task.sleep(for: .seconds(seconds)) }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait(_ mustWait: @Sendable (State) -> Bool) async {
        let key = state.withLock { state in
            state.nextKey += 1
            return state.nextKey
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard mustWait(state), !Task.isCancelled else { return false }
                    state.waiting[key] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: key) }?.resume()
        }
    }
}

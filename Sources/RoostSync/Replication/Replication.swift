import Roost
import Synchronization

/// A replication under way. It runs until it has carried everything, or, when it is continuous, until it is stopped or
/// nobody holds this any more. Can be used from any thread.
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

    /// - Parameter local: The collection that `here` is, the conflicts of which can be settled; `nil` for one elsewhere.
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

    /// How it stands.
    public var status: ReplicationStatus { board.status }

    /// How it stands, now and whenever that changes; who is slow gets the newest only. Ends with the replication.
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

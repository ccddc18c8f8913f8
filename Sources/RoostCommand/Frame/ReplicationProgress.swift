import Dispatch
import Foundation
import RoostSync

/// Shows how a replication goes, and stops it when the program is interrupted.
struct ReplicationProgress {
    private let replication: Replication

    init(_ replication: Replication) { self.replication = replication }

    /// Waits for the end.
    ///
    /// - Throws: What ended it, unless all was carried or it was interrupted.
    func wait() throws -> ReplicationStatus {
        let replication = replication
        let bar = ProgressBar("Replicating")
        defer { bar.finish() }
        let interruption = Waiting.Interruption { Task { await replication.stop() } }
        defer { withExtendedLifetime(interruption) {} }
        let ended = DispatchSemaphore(value: 0)
        Task {
            _ = try? await replication.finished
            ended.signal()
        }
        var complaint = ""
        while ended.wait(timeout: .now() + 0.2) == .timedOut {
            let status = replication.status
            show(status, bar)
            // Where no bar says so: a continuous replication may wait for long.
            let newest = status.lastError.map { "\($0)" } ?? ""
            if newest != complaint, !newest.isEmpty { Console.complain("\(newest) It is tried again.") }
            complaint = newest
        }
        let status = replication.status
        if case .failed(let error) = status.phase { throw error }
        return status
    }

    private func show(_ status: ReplicationStatus, _ bar: ProgressBar) {
        let done = UInt64(status.pushed.checked + status.pulled.checked)
        let left = UInt64((status.pushed.pending ?? 0) + (status.pulled.pending ?? 0))
        let state =
            switch status.phase {
            case .idle: ", up to date"
            case .waiting: ", waiting"
            case .paused: ", paused"
            case .active, .finished, .failed: ""
            }
        bar.show(done, of: done + left, "\(status.pushed.written + status.pulled.written) written\(state)")
    }
}

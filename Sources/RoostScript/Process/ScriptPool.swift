import Dispatch
import Synchronization

/// Where scripts are run: a few child processes, or this one.
final class ScriptPool: Sendable {
    /// A session on its way from one thread to another; only one has it at a time.
    private struct Lent: @unchecked Sendable {
        let session: ScriptSession
    }

    /// The program's path and its arguments; none where scripts are run in this process.
    private let command: [String]
    private let limits: ScriptLimits
    private let idle = Mutex<[Lent]>([])
    /// As many as may run at a time.
    private let turns: DispatchSemaphore

    init(_ command: [String], _ limits: ScriptLimits, processes: Int) {
        self.command = command
        self.limits = limits
        // In this process the limit of memory is everybody's, so scripts go one after another.
        turns = DispatchSemaphore(value: command.isEmpty ? 1 : processes)
    }

    /// Asks a function of a design document, and waits for the answer: blocks the calling thread.
    func call(_ function: ScriptFunction, _ request: [UInt8]) throws(ScriptError) -> [UInt8] {
        turns.wait()
        defer { turns.signal() }
        let lent: Lent
        if let known = idle.withLock({ $0.popLast() }) {
            lent = known
        } else {
            lent = Lent(session: ScriptSession(try peer(), limits))
        }
        defer { if lent.session.isUsable { idle.withLock { $0.append(lent) } } }
        return try lent.session.call(function, request)
    }

    private func peer() throws(ScriptError) -> any ScriptPeer {
        command.isEmpty ? LocalScripts(limits) : try ScriptProcess(command, limits)
    }
}

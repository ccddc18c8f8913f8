import Dispatch
import Foundation
import Synchronization

/// The tool's main thread, which waits for tasks: no task runs on it.
enum Waiting {
    /// What a task comes to.
    static func result<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
        let ended = DispatchSemaphore(value: 0)
        let result = Mutex<Result<R, any Error>?>(nil)
        Task {
            let made: Result<R, any Error>
            do { made = .success(try await body()) } catch { made = .failure(error) }
            result.withLock { $0 = made }
            ended.signal()
        }
        ended.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    /// Calls a function when the program is interrupted or asked to end, or gets other signals, instead of ending, until the
    /// value goes.
    final class Interruption {
        private let sources: [any DispatchSourceSignal]

        /// Returns when the signals are watched: one that came before that would be lost.
        init(_ signals: [Int32] = [SIGINT, SIGTERM], _ call: @escaping @Sendable () -> Void) {
            let queue = DispatchQueue(label: "roost.signals")
            let registered = DispatchGroup()
            sources = signals.map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                source.setEventHandler(handler: call)
                registered.enter()
                source.setRegistrationHandler { registered.leave() }
                source.activate()
                return source
            }
            registered.wait()
        }

        deinit { for source in sources { source.cancel() } }
    }
}

import Dispatch
import Synchronization

/// What a medium is to do, left to a thread of the system's pool while this one goes on.
///
/// Should the pool have no thread to spare by the time this one has nothing else to do, it does it itself, so nobody ever
/// waits for a thread that the pool hasn't got.
final class BackgroundWork<Failure: Error>: Sendable {
    typealias Body = @Sendable () throws(Failure) -> Void

    /// Taken by the one that does it.
    private let body: Mutex<Body?>
    private let failure = Mutex<Failure?>(nil)
    private let end = DispatchSemaphore(value: 0)

    private init(_ body: @escaping Body) {
        self.body = Mutex(body)
        guard canStartThread() else { return }
        DispatchQueue.global().async { [self] in
            if doIt() { end.signal() }
        }
    }

    /// Does `body` and, beside it, `other`, which is always done.
    static func run(_ body: @escaping Body, beside other: () -> Void) throws(Failure) {
        let work = BackgroundWork(body)
        other()
        if !work.doIt() { work.end.wait() }
        if let failure = work.failure.withLock({ $0 }) { throw failure }
    }

    /// `false` when another thread does it or did.
    private func doIt() -> Bool {
        guard let body = body.withLock({ $0.take() }) else { return false }
        do throws(Failure) {
            try body()
        } catch {
            failure.withLock { $0 = error }
        }
        return true
    }
}

import Foundation
import Synchronization

/// Makes Ctrl-C end what is being done, and not the program, while the value lives. A program has one at most.
final class Interruption: Sendable {
    /// Set by the signal's handler itself: once a command has ended that the terminal interrupted along with the program, the
    /// program knows of it.
    private static let hasCome = Atomic(false)

    init() {
        lower()
        // Whoever started the program may have had it blocked.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        signal(SIGINT) { _ in Interruption.hasCome.store(true, ordering: .relaxed) }
    }

    deinit { signal(SIGINT, SIG_DFL) }

    /// Whether Ctrl-C came since ``lower()``.
    var isRaised: Bool { Self.hasCome.load(ordering: .relaxed) }

    /// Forgets that Ctrl-C came.
    func lower() { Self.hasCome.store(false, ordering: .relaxed) }
}

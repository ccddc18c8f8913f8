import Dispatch
import Foundation
import Synchronization

/// Makes Ctrl-C end what is being done, and not the program, while the value lives.
final class Interruption {
    /// Whether Ctrl-C came.
    final class Flag: Sendable {
        private let value = Atomic(false)

        var isRaised: Bool { value.load(ordering: .relaxed) }
        func raise() { value.store(true, ordering: .relaxed) }
        func lower() { value.store(false, ordering: .relaxed) }
    }

    let flag = Flag()
    private let source: any DispatchSourceSignal

    init() {
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler { [flag] in flag.raise() }
        source.resume()
    }

    deinit {
        source.cancel()
        signal(SIGINT, SIG_DFL)
    }
}

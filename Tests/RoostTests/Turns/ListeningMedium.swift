import RoostFile
import RoostSimulation
import Synchronization

/// A medium on which something else may happen just before a directory is listed.
final class ListeningMedium: ForwardingMedium {
    let base: any Medium
    private let listener = Mutex<(@Sendable (String) -> Void)?>(nil)

    init(_ base: any Medium) { self.base = base }

    /// Has `body` called, once, with the path of the next directory that is listed and ends in `name`.
    func whenListing(_ name: String, _ body: @escaping @Sendable () -> Void) {
        listener.withLock { listener in
            listener = { [weak self] path in
                guard path.hasSuffix("/" + name) else { return }
                self?.listener.withLock { $0 = nil }
                body()
            }
        }
    }

    func list(_ path: String) throws(FileError) -> [String] {
        listener.withLock { $0 }?(path)
        return try base.list(path)
    }
}

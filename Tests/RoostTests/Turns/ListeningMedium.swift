import RoostFile
import RoostSimulation
import Synchronization

/// A medium on which something else may happen just before a directory is listed or a name is looked up.
final class ListeningMedium: ForwardingMedium {
    enum Call { case list, status }

    let base: any Medium
    private let listener = Mutex<(@Sendable (Call, String) -> Void)?>(nil)

    init(_ base: any Medium) { self.base = base }

    /// Has `body` called, once, before the next `call` with a path that ends in `name`.
    func before(_ call: Call, of name: String, _ body: @escaping @Sendable () -> Void) {
        listener.withLock { listener in
            listener = { [weak self] called, path in
                guard called == call, path.hasSuffix("/" + name) else { return }
                self?.listener.withLock { $0 = nil }
                body()
            }
        }
    }

    func list(_ path: String) throws(FileError) -> [String] {
        listener.withLock { $0 }?(.list, path)
        return try base.list(path)
    }

    func status(of path: String) throws(FileError) -> FileStatus? {
        listener.withLock { $0 }?(.status, path)
        return try base.status(of: path)
    }
}

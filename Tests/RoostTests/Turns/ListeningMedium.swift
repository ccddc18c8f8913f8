import RoostFile
import Synchronization

/// A medium on which something else may happen just before a directory is listed.
final class ListeningMedium: Medium {
    private let base: any Medium
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

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File { try base.open(path, mode) }
    func rename(_ source: String, to destination: String) throws(FileError) {
        try base.rename(source, to: destination)
    }
    func remove(_ path: String) throws(FileError) { try base.remove(path) }
    func syncDirectory(of path: String) throws(FileError) { try base.syncDirectory(of: path) }
    func createDirectory(_ path: String, _ access: FileAccess?) throws(FileError) {
        try base.createDirectory(path, access)
    }
    func status(of path: String) throws(FileError) -> FileStatus? { try base.status(of: path) }
    func statusFollowingLinks(of path: String) throws(FileError) -> FileStatus? {
        try base.statusFollowingLinks(of: path)
    }
}

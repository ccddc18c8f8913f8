import RoostFile

/// A medium that hands every call on to another one, for tests that step in at some of them.
package protocol ForwardingMedium: Medium {
    /// Where calls go that the type does not answer itself.
    var base: any Medium { get }
}

extension ForwardingMedium {
    package func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        try base.open(path, mode)
    }
    package func rename(_ source: String, to destination: String) throws(FileError) {
        try base.rename(source, to: destination)
    }
    package func remove(_ path: String) throws(FileError) { try base.remove(path) }
    package func syncDirectory(of path: String) throws(FileError) { try base.syncDirectory(of: path) }
    package func createDirectory(_ path: String, _ access: FileAccess?) throws(FileError) {
        try base.createDirectory(path, access)
    }
    package func list(_ path: String) throws(FileError) -> [String] { try base.list(path) }
    package func status(of path: String) throws(FileError) -> FileStatus? { try base.status(of: path) }
    package func statusFollowingLinks(of path: String) throws(FileError) -> FileStatus? {
        try base.statusFollowingLinks(of: path)
    }
}

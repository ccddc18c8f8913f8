import RoostFile

/// A file that hands every call on to another one, for tests that step in at some of them.
package protocol ForwardingFile: File {
    /// Where calls go that the type does not answer itself.
    var base: any File { get }
}

extension ForwardingFile {
    package var path: String { base.path }
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileError) -> Int {
        unsafe try base.read(into: buffer, at: offset)
    }
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        unsafe try base.write(bytes, at: offset)
    }
    package func sync() throws(FileError) { try base.sync() }
    package func size() throws(FileError) -> UInt64 { try base.size() }
    package func truncate(to size: UInt64) throws(FileError) { try base.truncate(to: size) }
    package func identity() throws(FileError) -> FileIdentity { try base.identity() }
    package func access() throws(FileError) -> FileAccess { try base.access() }
    package func lock() throws(FileError) -> any FileLock { try base.lock() }
    package func handle(named path: String) throws(FileError) -> any File { try base.handle(named: path) }
}

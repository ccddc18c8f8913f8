import Synchronization

/// A file or directory in memory, apart from its names.
final class MemoryFileNode: Sendable {
    let identity: FileIdentity
    let isDirectory: Bool
    private let state = Mutex((contents: MemoryContents(), isLocked: false))

    init(_ identity: FileIdentity, isDirectory: Bool) {
        self.identity = identity
        self.isDirectory = isDirectory
    }

    var status: FileStatus {
        FileStatus(
            size: size, identity: identity, kind: isDirectory ? .directory : .file, access: Self.access)
    }

    /// Who may do what: this process.
    static let access = FileAccess(permissions: 0o600, owner: 0, group: 0)

    var size: UInt64 { state.withLock { $0.contents.size } }

    /// Runs `body` on the contents, which nobody else uses meanwhile.
    func withContents<R: Sendable>(_ body: (inout MemoryContents) -> R) -> R {
        state.withLock { body(&$0.contents) }
    }

    /// Takes the lock; `false` when somebody has it.
    func lock() -> Bool {
        state.withLock { state in
            defer { state.isLocked = true }
            return !state.isLocked
        }
    }

    func unlock() { state.withLock { $0.isLocked = false } }
}

/// A handle on a file in memory.
final class MemoryFile: File {
    let path: String
    private let node: MemoryFileNode
    private let isWritable: Bool

    init(_ node: MemoryFileNode, _ path: String, isWritable: Bool) {
        self.node = node
        self.path = path
        self.isWritable = isWritable
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        node.withContents { unsafe $0.read(into: buffer, at: offset) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        try checkWritable("write")
        guard node.withContents({ unsafe $0.write(bytes, at: offset) }) else {
            throw FileError(.noSpace, operation: "write", path: path)
        }
        return bytes.count
    }

    /// What is in memory is as durable as it gets.
    func sync() throws(FileError) {}

    func size() throws(FileError) -> UInt64 { node.size }

    func truncate(to size: UInt64) throws(FileError) {
        try checkWritable("truncate")
        guard node.withContents({ $0.truncate(to: size) }) else {
            throw FileError(.noSpace, operation: "truncate", path: path)
        }
    }

    func identity() throws(FileError) -> FileIdentity { node.identity }

    func access() throws(FileError) -> FileAccess { MemoryFileNode.access }

    func lock() throws(FileError) -> any FileLock {
        guard node.lock() else {
            throw FileError(.locked(holder: "this process"), operation: "lock", path: path)
        }
        return MemoryLock(node)
    }

    func handle(named path: String) throws(FileError) -> any File {
        MemoryFile(node, path, isWritable: isWritable)
    }

    private func checkWritable(_ operation: String) throws(FileError) {
        if !isWritable { throw FileError(.other, operation: operation, path: path) }
    }
}

/// A held lock of a file in memory.
private final class MemoryLock: FileLock {
    private let node: MemoryFileNode
    private let isReleased = Atomic<Bool>(false)

    init(_ node: MemoryFileNode) { self.node = node }

    deinit { release() }

    func release() {
        if !isReleased.exchange(true, ordering: .acquiringAndReleasing) { node.unlock() }
    }
}

import Synchronization

/// A directory in memory, for files that need not outlive the process.
///
/// It is at ``root``, a path that no file system has. All other paths are those of the medium below, so that a database in
/// memory can be backed up to a disk. Nothing moves between the two.
package final class MemoryMedium: Medium {
    /// The path of the directory, which exists from the beginning.
    package let root: String
    private let below: any Medium
    private let state: Mutex<State>

    private struct State {
        /// What there is, by its path without the root: "" is the root itself, "/a/b" a file in a directory.
        var nodes: [String: MemoryFileNode]
        var lastInode: UInt64 = 1

        mutating func add(_ name: String, isDirectory: Bool) -> MemoryFileNode {
            lastInode += 1
            let node = MemoryFileNode(
                FileIdentity(device: .max, inode: lastInode), isDirectory: isDirectory)
            nodes[name] = node
            return node
        }
    }

    /// - Parameters:
    ///   - root: A path that the medium below does not have.
    ///   - below: Where all other paths are.
    package init(root: String, over below: any Medium) {
        self.root = root
        self.below = below
        let directory = MemoryFileNode(FileIdentity(device: .max, inode: 1), isDirectory: true)
        state = Mutex(State(nodes: ["": directory]))
    }

    /// The path below the root; `nil` for a path elsewhere.
    private func name(_ path: String) -> String? {
        guard path.utf8.starts(with: root.utf8) else { return nil }
        let rest = path.utf8.dropFirst(root.utf8.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
        return rest.split(separator: UInt8(ascii: "/")).map { "/" + String(Substring($0)) }.joined()
    }

    /// The name of the directory that a name is in; `nil` for the root.
    private static func parent(of name: String) -> String? {
        name.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(name[..<$0]) }
    }

    private static func error(_ code: FileError.Code, _ operation: String, _ path: String) -> FileError {
        FileError(code, operation: operation, path: path)
    }

    /// Runs `body` on what there is, which nobody else uses meanwhile.
    private func call<R: Sendable>(_ body: (inout State) throws(FileError) -> R) throws(FileError) -> R {
        try state.withLock { (state) throws(FileError) in try body(&state) }
    }

    // MARK: Medium

    package func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        guard let name = name(path) else { return try below.open(path, mode) }
        return try call { (state) throws(FileError) in
            switch mode {
            case .readOnly, .readWrite:
                guard let node = state.nodes[name] else { throw Self.error(.notFound, "open", path) }
                guard !node.isDirectory else { throw Self.error(.notAFile(.directory), "open", path) }
                if case .readOnly = mode { return MemoryFile(node, path, isWritable: false) }
                return MemoryFile(node, path, isWritable: true)
            case .createNew, .createWith:
                try Self.checkFree(name, in: state, "open", path)
                return MemoryFile(state.add(name, isDirectory: false), path, isWritable: true)
            }
        }
    }

    package func rename(_ source: String, to destination: String) throws(FileError) {
        guard let old = name(source), let new = name(destination) else {
            guard name(source) == nil, name(destination) == nil else {
                throw Self.error(.other, "rename", source)
            }
            return try below.rename(source, to: destination)
        }
        try call { (state) throws(FileError) in
            guard let node = state.nodes[old], !old.isEmpty else {
                throw Self.error(.notFound, "rename", source)
            }
            try Self.checkParent(new, in: state, "rename", destination)
            if let present = state.nodes[new] {
                if present === node { return }
                guard present.isDirectory == node.isDirectory, !Self.hasEntries(new, in: state) else {
                    throw Self.error(.other, "rename", destination)
                }
            }
            guard !new.utf8.starts(with: (old + "/").utf8) else {
                throw Self.error(.other, "rename", destination)
            }
            state.nodes[old] = nil
            state.nodes[new] = node
            for (name, inner) in state.nodes where name.utf8.starts(with: (old + "/").utf8) {
                state.nodes[name] = nil
                state.nodes[new + String(Substring(name.utf8.dropFirst(old.utf8.count)))] = inner
            }
        }
    }

    package func remove(_ path: String) throws(FileError) {
        guard let name = name(path) else { return try below.remove(path) }
        try call { (state) throws(FileError) in
            guard let node = state.nodes[name] else { throw Self.error(.notFound, "remove", path) }
            guard !name.isEmpty, !node.isDirectory || !Self.hasEntries(name, in: state) else {
                throw Self.error(.other, "remove", path)
            }
            state.nodes[name] = nil
        }
    }

    package func syncDirectory(of path: String) throws(FileError) {
        guard let name = name(path) else { return try below.syncDirectory(of: path) }
        try call { (state) throws(FileError) in
            try Self.checkParent(name, in: state, "sync directory", path)
        }
    }

    package func createDirectory(_ path: String, _ access: FileAccess?) throws(FileError) {
        guard let name = name(path) else { return try below.createDirectory(path, access) }
        try call { (state) throws(FileError) in
            try Self.checkFree(name, in: state, "create directory", path)
            _ = state.add(name, isDirectory: true)
        }
    }

    package func list(_ path: String) throws(FileError) -> [String] {
        guard let name = name(path) else { return try below.list(path) }
        return try call { (state) throws(FileError) in
            guard state.nodes[name]?.isDirectory == true else { throw Self.error(.notFound, "list", path) }
            return state.nodes.keys.filter { Self.parent(of: $0) == name }
                .map { String($0.dropFirst(name.count + 1)) }
        }
    }

    package func status(of path: String) throws(FileError) -> FileStatus? {
        guard let name = name(path) else { return try below.status(of: path) }
        return try call { (state) throws(FileError) in state.nodes[name]?.status }
    }

    package func statusFollowingLinks(of path: String) throws(FileError) -> FileStatus? {
        guard name(path) == nil else { return try status(of: path) }
        return try below.statusFollowingLinks(of: path)
    }

    // MARK: Checks

    private static func hasEntries(_ name: String, in state: State) -> Bool {
        state.nodes.keys.contains { parent(of: $0) == name }
    }

    private static func checkParent(
        _ name: String, in state: State, _ operation: String, _ path: String
    ) throws(FileError) {
        guard let parent = parent(of: name) else { return }
        guard state.nodes[parent]?.isDirectory == true else { throw error(.notFound, operation, path) }
    }

    private static func checkFree(
        _ name: String, in state: State, _ operation: String, _ path: String
    ) throws(FileError) {
        try checkParent(name, in: state, operation, path)
        guard state.nodes[name] == nil else { throw error(.alreadyExists, operation, path) }
    }
}

// MARK: - MemoryContents

/// The bytes of a file in memory, in pages, so that a file that grows is not copied. Pages that were never written are zeros
/// and take no memory.
struct MemoryContents {
    private static let pageSize = 64 << 10
    /// More can't be had in one process.
    private static let largestSize: UInt64 = 1 << 44

    private var pages: [[UInt8]] = []
    private(set) var size: UInt64 = 0

    /// Copies what there is at `offset`; returns how many bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        guard offset < size else { return 0 }
        let count = min(buffer.count, Int(size - offset))
        var done = 0
        while done < count {
            let (page, start) = Self.place(offset + UInt64(done))
            let length = min(Self.pageSize - start, count - done)
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + length])
            if page < pages.count, !pages[page].isEmpty {
                unsafe pages[page].withUnsafeBytes {
                    unsafe target.copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: $0[start..<start + length]))
                }
            } else {
                unsafe target.initializeMemory(as: UInt8.self, repeating: 0)
            }
            done += length
        }
        return count
    }

    /// Writes all of `bytes` at `offset`; `false` where no file could be so large.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
        let (end, overflows) = offset.addingReportingOverflow(UInt64(bytes.count))
        guard !overflows, end <= Self.largestSize else { return false }
        var done = 0
        while done < bytes.count {
            let (page, start) = Self.place(offset + UInt64(done))
            let length = min(Self.pageSize - start, bytes.count - done)
            let source = unsafe UnsafeRawBufferPointer(rebasing: bytes[done..<done + length])
            while pages.count <= page { pages.append([]) }
            if pages[page].isEmpty { pages[page] = [UInt8](repeating: 0, count: Self.pageSize) }
            unsafe pages[page].withUnsafeMutableBytes {
                unsafe UnsafeMutableRawBufferPointer(rebasing: $0[start..<start + length]).copyMemory(
                    from: source)
            }
            done += length
        }
        if bytes.count > 0 { size = max(size, end) }
        return true
    }

    /// Cuts the file, or extends it with zeros; `false` where no file could be so large.
    mutating func truncate(to newSize: UInt64) -> Bool {
        guard newSize <= Self.largestSize else { return false }
        if newSize < size {
            let (page, start) = Self.place(newSize)
            let kept = start == 0 ? page : page + 1
            if kept < pages.count { pages.removeLast(pages.count - kept) }
            if start > 0, page < pages.count, !pages[page].isEmpty {
                for index in start..<Self.pageSize { pages[page][index] = 0 }
            }
        }
        size = newSize
        return true
    }

    private static func place(_ offset: UInt64) -> (page: Int, start: Int) {
        (Int(offset / UInt64(pageSize)), Int(offset % UInt64(pageSize)))
    }
}

// MARK: - MemoryFile

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

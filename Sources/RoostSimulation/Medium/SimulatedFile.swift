import RoostFile

/// A handle on a simulated file. After a crash it belongs to the old disk, on which every call fails.
final class SimulatedFile: File {
    let path: String
    private let medium: SimulatedMedium
    private let node: NodeID
    private let isWritable: Bool

    init(_ medium: SimulatedMedium, _ node: NodeID, _ path: String, isWritable: Bool) {
        self.medium = medium
        self.node = node
        self.path = path
        self.isWritable = isWritable
    }

    deinit {
        medium.withState { disk in
            disk.nodes[node]?.openHandles -= 1
            disk.endUse()
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        medium.interludes.value?.pause(.read)
        return try medium.call { disk throws(FileError) in
            unsafe try disk.read(node, path, into: buffer, at: offset)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        try checkWritable(.write)
        return try medium.change(.write) { disk throws(FileError) in
            unsafe try disk.write(node, path, bytes, at: offset)
        }
    }

    func sync() throws(FileError) {
        try medium.change(.sync) { disk throws(FileError) in try disk.sync(node, path) }
    }

    func size() throws(FileError) -> UInt64 {
        try medium.call { disk throws(FileError) in
            try disk.beginQuery(.size, path, file: node)
            return disk.node(node).current.size
        }
    }

    func truncate(to size: UInt64) throws(FileError) {
        try checkWritable(.truncate)
        try medium.change(.truncate) { disk throws(FileError) in try disk.truncate(node, path, to: size) }
    }

    func identity() throws(FileError) -> FileIdentity {
        try medium.call { disk throws(FileError) in
            try disk.beginQuery(.identity, path, file: node)
            return disk.identity(of: node)
        }
    }

    func access() throws(FileError) -> FileAccess {
        try medium.call { disk throws(FileError) in
            try disk.beginQuery(.identity, path, file: node)
            return DiskState.access
        }
    }

    func lock() throws(FileError) -> any FileLock {
        let token = try medium.call { disk throws(FileError) in try disk.lock(node, path) }
        return SimulatedLock(medium, node, token)
    }

    func handle(named newPath: String) throws(FileError) -> any File {
        try medium.call { disk throws(FileError) in
            try disk.beginQuery(.open, path, file: node)
            disk.nodes[node]?.openHandles += 1
        }
        return SimulatedFile(medium, node, newPath, isWritable: isWritable)
    }

    /// Never done where the disk has no interludes.
    func offer(_ work: @escaping @Sendable () -> Void) { medium.interludes.value?.offer(work) }

    /// Both by this thread: the work first, where the disk has no interludes.
    func perform<Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Void, beside other: () -> Void
    ) throws(Failure) {
        if let interludes = medium.interludes.value {
            return try interludes.perform(work, beside: other)
        }
        defer { other() }
        try work()
    }

    private func checkWritable(_ kind: CallKind) throws(FileError) {
        if !isWritable { throw DiskState.error(.other, kind, path) }
    }
}

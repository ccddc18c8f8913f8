import RoostFile
import RoostSimulation

/// The disk as one of several processes sees it: others may run before each of its calls.
struct TurnsMedium: ForwardingMedium {
    let base: any Medium
    let baton: Baton
    let process: Int

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        baton.offer(from: process)
        return TurnsFile(base: try base.open(path, mode), medium: self)
    }

    func rename(_ source: String, to destination: String) throws(FileError) {
        baton.offer(from: process)
        try base.rename(source, to: destination)
    }

    func remove(_ path: String) throws(FileError) {
        baton.offer(from: process)
        try base.remove(path)
    }

    func syncDirectory(of path: String) throws(FileError) {
        baton.offer(from: process)
        try base.syncDirectory(of: path)
    }

    func status(of path: String) throws(FileError) -> FileStatus? {
        baton.offer(from: process)
        return try base.status(of: path)
    }
}

/// A file as one of several processes sees it.
final class TurnsFile: ForwardingFile {
    let base: any File
    private let medium: TurnsMedium

    init(base: any File, medium: TurnsMedium) {
        self.base = base
        self.medium = medium
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        medium.baton.offer(from: medium.process)
        return unsafe try base.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        medium.baton.offer(from: medium.process)
        return unsafe try base.write(bytes, at: offset)
    }

    func sync() throws(FileError) {
        medium.baton.offer(from: medium.process)
        try base.sync()
    }

    func lock() throws(FileError) -> any FileLock {
        medium.baton.offer(from: medium.process)
        return try base.lock()
    }

    /// Waits as flock does: others run until the lock is free. Where none is left who could give it back, this process waits for
    /// itself.
    func lockInTurn() throws(FileError) -> any FileLock {
        for _ in 0..<Self.patience {
            do throws(FileError) {
                return try base.lock()
            } catch {
                guard case .locked = error.code else { throw error }
                guard medium.baton.pass(from: medium.process) else { break }
            }
        }
        throw FileError(.other, operation: "get the lock that nobody gives back of", path: path)
    }

    func handle(named path: String) throws(FileError) -> any File {
        TurnsFile(base: try base.handle(named: path), medium: medium)
    }

    /// Never done: the process is one thread.
    func offer(_ work: @escaping @Sendable () -> Void) {}

    func perform<Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Void, beside other: () -> Void
    ) throws(Failure) {
        defer { other() }
        try work()
    }

    /// How often others may run while this process waits.
    private static let patience = 20_000
}

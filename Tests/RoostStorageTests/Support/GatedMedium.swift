import Dispatch
import RoostFile
import RoostSimulation
import Synchronization

/// A simulated medium on which one call waits while its gate is closed, and may fail then.
final class GatedMedium: ForwardingMedium {
    enum Call { case sync, write, status }

    let base: any Medium
    private let gate = Mutex<Call?>(nil)
    private let failure = Mutex<FileError?>(nil)
    private let visited = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)

    init(_ base: SimulatedMedium) { self.base = base }

    /// Makes the next call of this kind wait.
    func close(before call: Call = .sync) { gate.withLock { $0 = call } }

    /// Returns once a call waits.
    func waitForVisitor() { visited.wait() }

    /// Lets the call that waits, or the next one, go on, or fail.
    func open(failing error: FileError? = nil) {
        failure.withLock { $0 = error }
        opened.signal()
    }

    fileprivate func pass(_ call: Call) throws(FileError) {
        let isClosed = gate.withLock { gate in
            defer { if gate == call { gate = nil } }
            return gate == call
        }
        guard isClosed else { return }
        visited.signal()
        opened.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        GatedFile(try base.open(path, mode), self)
    }

    /// Answers what there was before it waits.
    func status(of path: String) throws(FileError) -> FileStatus? {
        let status = try base.status(of: path)
        try pass(.status)
        return status
    }
}

/// A file on a ``GatedMedium``. Unlike the simulated file below it, it lets parts be written behind.
private final class GatedFile: ForwardingFile {
    let base: any File
    private let medium: GatedMedium

    init(_ base: any File, _ medium: GatedMedium) {
        self.base = base
        self.medium = medium
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        try medium.pass(.write)
        return unsafe try base.write(bytes, at: offset)
    }
    func sync() throws(FileError) {
        try medium.pass(.sync)
        try base.sync()
    }
    func handle(named path: String) throws(FileError) -> any File {
        GatedFile(try base.handle(named: path), medium)
    }
}

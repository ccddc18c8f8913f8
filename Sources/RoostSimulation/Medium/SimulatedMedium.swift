import RoostFile
import Synchronization

/// A disk in memory that keeps exactly the promises of a real one, and none besides.
///
/// Reads show every change at once, as the system's cache does. A change is durable only after a sync: of the file for
/// its contents and size, of the directory for its name. ``afterCrash(_:)`` decides from the seed what became of
/// every other change, each for itself, and gives the disk after the reboot. ``faults`` makes calls fail.
///
/// Paths are split at "/" and start at the root whether they begin with one or not; the root exists, other directories
/// must be created. There are no links, and everything belongs to one user. Without a plan of faults it is a plain medium
/// in memory.
///
/// Safe for any number of threads. A single thread's run depends on nothing but the seed and its calls; see
/// ``traceHash``. A call costs a lock and a copy of the bytes; a file may have gigabytes of holes, and copying a
/// disk (each crash does) is linear in the number of its pages, not their bytes.
package final class SimulatedMedium: Medium {
    private let state: Mutex<DiskState>
    /// Tells the thread sanitizer, which does not see a contended mutex on Linux, what the mutex orders.
    private let fence = Atomic<Bool>(false)
    let interludes = InterludesSlot()

    package convenience init(seed: UInt64 = 0, tearing: Tearing = .sectors) {
        self.init(DiskState(generator: SeededGenerator(seed: seed), tearing: tearing))
    }

    init(_ disk: DiskState) {
        state = Mutex(disk)
    }

    package func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        let node = try call { disk throws(FileError) in
            switch mode {
            case .readOnly, .readWrite: try disk.open(path)
            case .createNew, .createWith: try disk.create(path)
            }
        }
        if case .readOnly = mode { return SimulatedFile(self, node, path, isWritable: false) }
        return SimulatedFile(self, node, path, isWritable: true)
    }

    package func rename(_ source: String, to destination: String) throws(FileError) {
        try change(.rename) { disk throws(FileError) in try disk.rename(source, to: destination) }
    }

    package func remove(_ path: String) throws(FileError) {
        try change(.remove) { disk throws(FileError) in try disk.remove(path) }
    }

    package func syncDirectory(of path: String) throws(FileError) {
        try change(.syncDirectory) { disk throws(FileError) in try disk.syncDirectory(of: path) }
    }

    package func createDirectory(_ path: String, _ access: FileAccess?) throws(FileError) {
        try call { disk throws(FileError) in try disk.createDirectory(path) }
    }

    package func list(_ path: String) throws(FileError) -> [String] {
        try call { disk throws(FileError) in try disk.list(path) }
    }

    package func status(of path: String) throws(FileError) -> FileStatus? {
        try call { disk throws(FileError) in try disk.status(of: path) }
    }

    /// There are no links here.
    package func statusFollowingLinks(of path: String) throws(FileError) -> FileStatus? {
        try status(of: path)
    }

    /// Runs `body` on the disk, which nobody else uses meanwhile.
    func withState<Answer: Sendable, Failure: Error>(
        _ body: (inout DiskState) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try state.withLock { disk throws(Failure) in
            _ = fence.load(ordering: .acquiring)
            defer { fence.store(true, ordering: .releasing) }
            return try body(&disk)
        }
    }

    /// A call that changes the disk: before it and after it there may be an interlude.
    func change<Answer: Sendable>(
        _ kind: CallKind, _ body: (inout DiskState) throws(FileError) -> Answer
    ) throws(FileError) -> Answer {
        guard let interludes = interludes.value else { return try call(body) }
        interludes.pause(kind)
        defer { interludes.pause(kind) }
        return try call(body)
    }

    func call<Answer: Sendable>(
        _ body: (inout DiskState) throws(FileError) -> Answer
    ) throws(FileError) -> Answer {
        try withState { disk throws(FileError) in try body(&disk) }
    }
}

import Dispatch
import RoostCampaign
import RoostFile
import RoostSimulation
import Synchronization
import Testing

@testable import RoostStorage

/// A large transaction that is written ahead in parts while the commit before it is still on its way to the medium.
@Suite struct WritingAheadTests {
    @Test func theCommitBeforeLeavesWhatIsWrittenAheadAlone() throws {
        let disk = SimulatedMedium()
        let gate = GatedMedium(disk)
        let store = try Store.open(
            "store", options: StoreOptions(), environment: Simulation.environment(of: gate))
        let tree = try store.tree("tree")
        try store.write { try $0.put("first", [1], in: tree) }
        gate.close()
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            try? store.write { try $0.put("second", [1], in: tree) }
        }
        gate.waitForVisitor()
        // The fourth small commit takes zeros along, which prepare space for those after it.
        let fourth = try store.beginWriting()
        try fourth.put("small", [1], in: tree)
        let small = Handed(fourth)
        DispatchQueue.global().async(group: group) { _ = try? small.transaction.commit() }
        let large = [UInt8](repeating: 7, count: 3 << 20)
        let transaction = try store.beginWriting()
        for number in 10..<14 as Range<UInt64> { try transaction.put(Key(number), large, in: tree) }
        gate.open()
        group.wait()
        try transaction.commit()
        let environment = Simulation.environment(of: disk.afterCrash(.losesAll))
        let view = try Store.open("store", options: StoreOptions(), environment: environment).snapshot()[tree]
        #expect(try view.value("small") == [1])
        for number in 10..<14 as Range<UInt64> { #expect(try view.value(Key(number)) == large) }
    }
}

/// A transaction that another thread goes on with.
private struct Handed: @unchecked Sendable {  // the thread that made it does not use it any more
    let transaction: WriteTransaction
    init(_ transaction: WriteTransaction) { self.transaction = transaction }
}

/// A medium on which one sync waits while it is closed.
private final class GatedMedium: Medium {
    private let base: SimulatedMedium
    private let isClosed = Mutex(false)
    private let visited = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)

    init(_ base: SimulatedMedium) { self.base = base }

    func close() { isClosed.withLock { $0 = true } }
    func waitForVisitor() { visited.wait() }

    func open() { opened.signal() }

    fileprivate func pass() {
        guard
            isClosed.withLock({ isClosed in
                defer { isClosed = false }; return isClosed
            })
        else { return }
        visited.signal()
        opened.wait()
    }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        GatedFile(try base.open(path, mode), self)
    }

    func rename(_ source: String, to destination: String) throws(FileError) {
        try base.rename(source, to: destination)
    }
    func remove(_ path: String) throws(FileError) { try base.remove(path) }
    func syncDirectory(of path: String) throws(FileError) { try base.syncDirectory(of: path) }
    func createDirectory(_ path: String) throws(FileError) { try base.createDirectory(path) }
    func list(_ path: String) throws(FileError) -> [String] { try base.list(path) }
    func status(of path: String) throws(FileError) -> FileStatus? { try base.status(of: path) }
    func lock(_ path: String, holder: String) throws(FileError) -> any FileLock {
        try base.lock(path, holder: holder)
    }
}

private final class GatedFile: File {
    private let base: any File
    private let medium: GatedMedium

    init(_ base: any File, _ medium: GatedMedium) {
        self.base = base
        self.medium = medium
    }

    var path: String { base.path }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        unsafe try base.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        unsafe try base.write(bytes, at: offset)
    }
    func sync() throws(FileError) {
        medium.pass()
        try base.sync()
    }
    func size() throws(FileError) -> UInt64 { try base.size() }
    func truncate(to size: UInt64) throws(FileError) { try base.truncate(to: size) }
    func identity() throws(FileError) -> FileIdentity { try base.identity() }
}

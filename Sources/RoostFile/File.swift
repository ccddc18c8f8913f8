import Dispatch
import RoostBytes
import Synchronization

/// An open file. Closed when the last reference goes. Any thread may call any member at any time.
///
/// `read` and `write` are single system calls: they may transfer less than asked and may be interrupted.
/// The engine uses ``readFully(into:at:)`` and ``writeFully(_:at:)``, which go on until all is done.
package protocol File: AnyObject, Sendable {
    var path: String { get }
    /// Whether it was opened by the process that this one was forked from. Nothing can be changed by such a handle.
    var isInherited: Bool { get }
    /// Offers `work`, which may be done at any time from now on, on any thread, once or never: nobody may wait for it to begin.
    func offer(_ work: @escaping @Sendable () -> Void)
    /// Does `work`, which may go to another thread, and `other` on this one. Returns, or throws what `work` does, once both are done.
    func perform<Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Void, beside other: () -> Void
    ) throws(Failure)
    /// Reads up to `buffer.count` bytes at `offset`; 0 only at or after the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int
    /// Writes up to `bytes.count` bytes at `offset`, at least one unless `bytes` is empty.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) -> Int
    /// Lets the medium begin with bytes that were written and that a sync is going to follow, where the system can.
    func startWriteback(of length: Int, at offset: UInt64)
    /// Returns once all bytes written before, and the file's size, are on the medium (fdatasync; F_FULLFSYNC on
    /// Apple systems).
    func sync() throws(FileError)
    func size() throws(FileError) -> UInt64
    func truncate(to size: UInt64) throws(FileError)
    func identity() throws(FileError) -> FileIdentity
    /// Whether any name still leads to the file. One without a name is gone once its last handle is.
    var hasName: Bool { get }
    func access() throws(FileError) -> FileAccess
    /// Takes the advisory lock of the file, whatever names it has, without waiting. Handles in one process exclude each
    /// other too.
    ///
    /// - Throws: ``FileError/Code/locked(holder:)`` when another handle has it.
    func lock() throws(FileError) -> any FileLock
    /// Takes the lock once nobody has it. Those who wait come before whoever had it last and wants it again, so that two
    /// which write all the time take turns. A medium that cannot wait does as ``lock()``.
    func lockInTurn() throws(FileError) -> any FileLock
    /// Another handle of the open file, for the time after it was renamed to `path`. A lock belongs to both.
    func handle(named path: String) throws(FileError) -> any File
    /// Maps `length` bytes from `offset`, a multiple of 64 KiB, which may reach beyond the end; `nil` where the medium
    /// has no mappings. What cannot be read there is added to `lostPages`.
    func map(_ length: Int, at offset: UInt64, counting lostPages: LostPages) throws(FileError)
        -> FileMapping?
}

extension File {
    package var isInherited: Bool { false }

    package func offer(_ work: @escaping @Sendable () -> Void) {
        guard canStartThread() else { return }
        DispatchQueue.global().async(execute: work)
    }

    package func perform<Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Void, beside other: () -> Void
    ) throws(Failure) {
        try BackgroundWork.run(work, beside: other)
    }

    package var hasName: Bool { true }

    package func lockInTurn() throws(FileError) -> any FileLock { try lock() }

    package func startWriteback(of length: Int, at offset: UInt64) {}

    package func map(
        _ length: Int, at offset: UInt64, counting lostPages: LostPages
    ) throws(FileError) -> FileMapping? { nil }

    /// Reads until `buffer` is full or the file ends; returns how many bytes were read.
    package func readFully(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            do {
                let count = unsafe try read(into: rest, at: offset + UInt64(done))
                if count == 0 { break }
                done += count
            } catch  where error.code == .interrupted {
                continue
            }
        }
        return done
    }

    /// Writes all of `bytes` at `offset`. After an error any part of them may have been written.
    package func writeFully(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            do {
                done += unsafe try write(rest, at: offset + UInt64(done))
            } catch  where error.code == .interrupted {
                continue
            }
        }
    }
}

// MARK: - FileMapping

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A part of a file as memory, read-only and shared with the system's cache; unmapped when the last reference goes.
///
/// It may reach beyond the end of the file and shows what is written there later. What is not in the file when it is
/// touched, or what the device cannot read, is zeros from then on, and counted in its ``LostPages``. Any thread may use it.
@safe package final class FileMapping: Sendable {
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let length: Int
    /// The guard counts there as long as there is the mapping.
    private let lostPages: LostPages
    /// What is mapped, which stays open.
    private let file: OpenFile

    /// Takes over the mapping of `length` bytes at `base`; `nil` where unreadable pages of it would end the process.
    init?(base: UnsafeMutableRawPointer, length: Int, counting lostPages: LostPages, of file: OpenFile) {
        guard unsafe MappingGuard.protect(base, length, lostPages.counter) else {
            unsafe munmap(base, length)
            return nil
        }
        unsafe self.base = base
        self.length = length
        self.lostPages = lostPages
        self.file = file
        // Without this the first touch of a page reads up to megabytes around it.
        unsafe madvise(base, length, MADV_RANDOM)
    }

    /// Has the system read `range`, counted from the mapping's start, in the background, unless both its ends are in memory.
    package func prefetch(_ range: Range<Int>) {
        let start = FileMapping.pageStart(range.lowerBound)
        let end = min(range.upperBound, length)
        guard start < end, !(isResident(start) && isResident(end - 1)) else { return }
        unsafe madvise(base + start, end - start, MADV_WILLNEED)
    }

    /// Where the page at `offset` begins.
    private static func pageStart(_ offset: Int) -> Int { offset & ~(MappingGuard.pageSize - 1) }

    /// Whether the page at `offset` is in memory, as far as the system tells.
    private func isResident(_ offset: Int) -> Bool {
        #if canImport(Darwin)
            var state: CChar = 0
        #else
            var state: UInt8 = 0
        #endif
        let answer = unsafe mincore(base + FileMapping.pageStart(offset), MappingGuard.pageSize, &state)
        return answer == 0 && state & 1 == 1
    }

    deinit {
        unsafe MappingGuard.release(base)
        unsafe munmap(base, length)
    }

    /// All of it.
    package var view: ByteView { unsafe ByteView(UnsafeRawPointer(base), count: length) }
}

/// Counts the pages of some mappings that could not be read. When the count is the same before and after bytes were used,
/// they were those of the file. Any thread may use it.
@safe package final class LostPages: Sendable {
    /// Lives as long as this object; written by the handler of a signal.
    nonisolated(unsafe) let counter: UnsafeMutablePointer<Atomic<Int>>

    package init() {
        unsafe counter = .allocate(capacity: 1)
        unsafe counter.initialize(to: Atomic(0))
    }

    deinit {
        unsafe counter.deinitialize(count: 1)
        unsafe counter.deallocate()
    }

    package var count: Count { unsafe Count(counter) }

    /// Reads the count, as long as the object is kept, without counting a reference to it.
    @safe package struct Count: Sendable {
        private nonisolated(unsafe) let counter: UnsafeMutablePointer<Atomic<Int>>

        fileprivate init(_ counter: UnsafeMutablePointer<Atomic<Int>>) { unsafe self.counter = counter }

        package var value: Int { unsafe counter.pointee.load(ordering: .acquiring) }
    }
}

// MARK: - BackgroundWork

/// What a medium is to do, left to a thread of the system's pool while this one goes on.
///
/// Should the pool have no thread to spare by the time this one has nothing else to do, it does it itself, so nobody ever
/// waits for a thread that the pool hasn't got.
final class BackgroundWork<Failure: Error>: Sendable {
    typealias Body = @Sendable () throws(Failure) -> Void

    /// Taken by the one that does it.
    private let body: Mutex<Body?>
    private let failure = Mutex<Failure?>(nil)
    private let end = DispatchSemaphore(value: 0)

    private init(_ body: @escaping Body) {
        self.body = Mutex(body)
        guard canStartThread() else { return }
        DispatchQueue.global().async { [self] in
            if doIt() { end.signal() }
        }
    }

    /// Does `body` and, beside it, `other`, which is always done.
    static func run(_ body: @escaping Body, beside other: () -> Void) throws(Failure) {
        let work = BackgroundWork(body)
        other()
        if !work.doIt() { work.end.wait() }
        if let failure = work.failure.withLock({ $0 }) { throw failure }
    }

    /// `false` when another thread does it or did.
    private func doIt() -> Bool {
        guard let body = body.withLock({ $0.take() }) else { return false }
        do throws(Failure) {
            try body()
        } catch {
            failure.withLock { $0 = error }
        }
        return true
    }
}

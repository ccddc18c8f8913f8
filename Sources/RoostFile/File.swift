import Dispatch

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

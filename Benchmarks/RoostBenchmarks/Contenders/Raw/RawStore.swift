import Foundation
import Glibc
import Synchronization

/// The limit: a program that appends the same bytes with one write and one fdatasync per commit, and reads them
/// back where it knows they are. It keeps no index, answers no question, and detects no damage.
final class RawStore: Contender {
    let layout: RawLayout
    let reading: RawReading
    private let descriptor: Int32
    /// Where the next commit goes.
    private let end: Atomic<Int>
    private let request: OpenRequest

    init(_ request: OpenRequest, reading: RawReading, zeroesAhead: Bool) throws {
        self.request = request
        self.reading = reading
        layout = RawLayout(valueSize: request.valueSize)
        descriptor = unsafe open(Self.path(request), O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw RawStore.error("open") }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        end = Atomic(size)
        if zeroesAhead { try zeroAhead(from: size) }
    }

    func makeWriter() throws -> any ContenderWriter {
        RawWriter(store: self, descriptor: descriptor)
    }

    func makeReader() throws -> any ContenderReader {
        switch reading {
        case .pread: RawReader(descriptor: descriptor, layout: layout, count: request.count)
        case .mapping: try RawMappedReader(descriptor: descriptor, layout: layout, count: request.count)
        }
    }

    /// Takes `count` bytes at the end of the file for the caller to write.
    func reserve(_ count: Int) -> Int {
        end.add(count, ordering: .relaxed).oldValue
    }

    func settle() throws {}

    /// Copies as many records as there are live documents.
    func compactAndClose() throws {
        let copyPath = Self.path(request) + ".copy"
        let copy = unsafe open(copyPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard copy >= 0 else { throw RawStore.error("open") }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        let size = request.count * layout.recordSize
        var done = 0
        while done < size {
            let count = unsafe pread(descriptor, buffer.baseAddress, min(size - done, buffer.count), done)
            guard count > 0, unsafe Glibc.write(copy, buffer.baseAddress, count) == count else {
                throw RawStore.error("copy")
            }
            done += count
        }
        guard fdatasync(copy) == 0, Glibc.close(copy) == 0, unsafe rename(copyPath, Self.path(request)) == 0
        else {
            throw RawStore.error("sync")
        }
        try RawStore.syncDirectory(request.directory)
        try close()
    }

    func close() throws {
        Glibc.close(descriptor)
    }

    /// Writes zeros where the next commits will go, so that they need no change of the file's extents.
    private func zeroAhead(from start: Int) throws {
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        for block in 0..<256
        where unsafe pwrite(descriptor, zeros, zeros.count, start + block << 20) != zeros.count {
            throw RawStore.error("pwrite")
        }
        guard fdatasync(descriptor) == 0 else { throw RawStore.error("fdatasync") }
    }

    /// Makes a rename inside `directory` durable.
    static func syncDirectory(_ directory: String) throws {
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, fsync(descriptor) == 0, Glibc.close(descriptor) == 0 else {
            throw RawStore.error("fsync of the directory")
        }
    }

    static func error(_ call: String) -> BenchmarkError {
        BenchmarkError(unsafe "raw: \(call): \(String(cString: strerror(errno)))")
    }

    private static func path(_ request: OpenRequest) -> String {
        request.directory + "/documents"
    }
}

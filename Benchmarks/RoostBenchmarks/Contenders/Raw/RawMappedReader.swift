import Glibc

/// Reads from a mapping of the whole file.
@safe final class RawMappedReader: ContenderReader {
    private let layout: RawLayout
    private let count: Int
    private let file: UnsafeMutableRawBufferPointer

    init(descriptor: Int32, layout: RawLayout, count: Int) throws {
        self.layout = layout
        self.count = count
        let size = count * layout.recordSize
        guard let start = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0),
            unsafe start != MAP_FAILED
        else {
            throw RawStore.error("mmap")
        }
        unsafe file = unsafe UnsafeMutableRawBufferPointer(start: start, count: size)
    }

    deinit {
        unsafe munmap(file.baseAddress!, file.count)
    }

    func takeSnapshot() throws {}

    func read(_ key: DocumentKey, into sink: inout Sink) throws {
        unsafe sink.accept(record(key.position) + RawLayout.headerSize + DocumentID.size, layout.valueSize)
    }

    func scanByID(into sink: inout Sink) throws {
        unsafe layout.deliver(record(0), count: count, into: &sink)
    }

    func scanBySequence(into sink: inout Sink) throws {
        try scanByID(into: &sink)
    }

    func scanRange(from key: DocumentKey, count: Int, into sink: inout Sink) throws {
        unsafe layout.deliver(record(key.position), count: min(count, self.count - key.position), into: &sink)
    }

    @inline(__always)
    private func record(_ position: Int) -> UnsafeRawPointer {
        unsafe UnsafeRawPointer(file.baseAddress! + position * layout.recordSize)
    }
}

import Glibc

/// Reads with pread: one call for each document or range, chunks of 1 MB for a scan.
@safe final class RawReader: ContenderReader {
    private let descriptor: Int32
    private let layout: RawLayout
    private let count: Int
    private let chunk: Int
    private let buffer: UnsafeMutableRawBufferPointer

    init(descriptor: Int32, layout: RawLayout, count: Int) {
        self.descriptor = descriptor
        self.layout = layout
        self.count = count
        chunk = max(1, (1 << 20) / layout.recordSize)
        unsafe buffer = .allocate(byteCount: chunk * layout.recordSize, alignment: 4096)
    }

    deinit {
        unsafe buffer.deallocate()
    }

    func takeSnapshot() throws {}

    func read(_ key: DocumentKey, into sink: inout Sink) throws {
        try fill(from: key.position, count: 1)
        unsafe sink.accept(buffer.baseAddress! + RawLayout.headerSize + DocumentID.size, layout.valueSize)
    }

    func scanByID(into sink: inout Sink) throws {
        for start in stride(from: 0, to: count, by: chunk) {
            let number = min(chunk, count - start)
            try fill(from: start, count: number)
            unsafe layout.deliver(buffer.baseAddress!, count: number, into: &sink)
        }
    }

    func scanBySequence(into sink: inout Sink) throws {
        try scanByID(into: &sink)
    }

    func scanRange(from key: DocumentKey, count: Int, into sink: inout Sink) throws {
        let number = min(count, self.count - key.position)
        try fill(from: key.position, count: number)
        unsafe layout.deliver(buffer.baseAddress!, count: number, into: &sink)
    }

    @inline(__always)
    private func fill(from position: Int, count: Int) throws {
        let size = count * layout.recordSize
        guard unsafe pread(descriptor, buffer.baseAddress, size, position * layout.recordSize) == size else {
            throw RawStore.error("pread")
        }
    }
}

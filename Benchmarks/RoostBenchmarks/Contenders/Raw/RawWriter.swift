import Glibc

/// Appends for the raw limit.
@safe final class RawWriter: ContenderWriter {
    private let store: RawStore
    private let descriptor: Int32
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 0, alignment: 16)
    private var sequence = 0

    init(store: RawStore, descriptor: Int32) {
        self.store = store
        self.descriptor = descriptor
    }

    deinit {
        unsafe buffer.deallocate()
    }

    func commit(_ batch: Batch, _ kind: CommitKind) throws {
        let recordSize = store.layout.recordSize
        let size = batch.count * recordSize
        if unsafe buffer.count < size {
            unsafe buffer.deallocate()
            unsafe buffer = .allocate(byteCount: size, alignment: 4096)
        }
        for index in 0..<batch.count {
            sequence += 1
            unsafe store.layout.store(
                batch.id(index), batch.value(index), sequence: sequence,
                at: buffer.baseAddress! + index * recordSize)
        }
        guard unsafe pwrite(descriptor, buffer.baseAddress, size, store.reserve(size)) == size else {
            throw RawStore.error("pwrite")
        }
        guard fdatasync(descriptor) == 0 else { throw RawStore.error("fdatasync") }
    }
}

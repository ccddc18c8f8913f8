/// The documents of one commit, in buffers that are used again for the next. Belongs to one thread.
@safe final class Batch {
    let valueSize: Int
    private(set) var count = 0
    private let ids: UnsafeMutableBufferPointer<DocumentID>
    private let values: UnsafeMutableBufferPointer<UnsafeRawPointer>

    init(capacity: Int, valueSize: Int) {
        self.valueSize = valueSize
        unsafe ids = .allocate(capacity: capacity)
        unsafe values = .allocate(capacity: capacity)
    }

    deinit {
        unsafe ids.deallocate()
        unsafe values.deallocate()
    }

    /// Forgets the last commit's documents.
    func removeAll() {
        count = 0
    }

    @inline(__always)
    func append(_ id: DocumentID, _ value: UnsafeRawBufferPointer) {
        unsafe ids.initializeElement(at: count, to: id)
        unsafe values.initializeElement(at: count, to: value.baseAddress!)
        count += 1
    }

    /// The ID of document `index` in the batch, ``DocumentID/size`` bytes.
    @inline(__always)
    func id(_ index: Int) -> UnsafeRawPointer {
        unsafe UnsafeRawPointer(ids.baseAddress! + index)
    }

    /// The value of document `index` in the batch, ``valueSize`` bytes.
    @inline(__always)
    func value(_ index: Int) -> UnsafeRawPointer {
        unsafe values[index]
    }
}

import Synchronization

/// Takes what a reader delivers. One word of every cache line is read, so that nobody is paid for handing out
/// pointers to bytes that were never fetched; the sum of the words proves that the right documents came.
struct Sink {
    private static let total = Atomic<UInt64>(0)

    private(set) var documents = 0
    private(set) var digest: UInt64 = 0

    /// Makes the sum an observable result, so that the optimizer keeps the reads that went into it.
    @inline(never)
    func finish() {
        Self.total.store(digest, ordering: .relaxed)
    }

    /// Takes a document's value.
    @inline(__always)
    mutating func accept(_ value: UnsafeRawPointer, _ count: Int) {
        var sum: UInt64 = 0
        var offset = 0
        while offset &+ 8 <= count {
            sum &+= unsafe (value + offset).loadUnaligned(as: UInt64.self)
            offset &+= 64
        }
        digest &+= sum &+ UInt64(truncatingIfNeeded: count)
        documents &+= 1
    }

    /// Takes a document's ID and value.
    @inline(__always)
    mutating func accept(id: UnsafeRawPointer, _ value: UnsafeRawPointer, _ count: Int) {
        unsafe accept(value, count)
        digest &+= unsafe id.loadUnaligned(as: UInt64.self)
    }

    /// Takes a value that is held as a buffer.
    @inline(__always)
    mutating func accept(_ value: UnsafeRawBufferPointer) {
        unsafe accept(value.baseAddress!, value.count)
    }

    /// Takes `id` as ``accept(id:_:_:)`` does, for working out what a scan must deliver.
    mutating func expect(_ id: DocumentID, _ value: UnsafeRawBufferPointer) {
        unsafe accept(value)
        digest &+= id.first
    }
}

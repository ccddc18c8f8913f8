/// A block of memory for secrets, aligned to a cache line and overwritten with zeros before it is given back.
///
/// Has one owner. What it holds is written while its owner is being initialised and only read afterwards, which is
/// what makes it safe to share between threads.
@safe struct SecretMemory: ~Copyable, Sendable {
    /// The only access to the bytes. Whoever writes through it must not have shared the memory yet.
    nonisolated(unsafe) let start: UnsafeMutableRawPointer
    let byteCount: Int

    /// Allocates `byteCount` zero bytes.
    init(byteCount: Int) {
        self.byteCount = byteCount
        unsafe start = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: 64)
        unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    deinit {
        unsafe wipe(UnsafeMutableRawBufferPointer(start: start, count: byteCount))
        unsafe start.deallocate()
    }
}

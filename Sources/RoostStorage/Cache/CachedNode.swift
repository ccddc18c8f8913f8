import RoostBytes

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A node in memory of its own: a small header, then the bytes. Freed through the cache's reclaimer.
///
/// ```
/// offset in the file (8) | size of this block (8) | where the page starts (8) | its length (8) | bytes
/// ```
@safe struct CachedNode {
    static let headerLength = 32

    let memory: UnsafeMutableRawPointer

    /// Room for `length` bytes read at `offset`; the page is set by ``setPage(start:length:)``.
    init(offset: UInt64, length: Int) {
        let size = CachedNode.headerLength + length
        guard let memory = unsafe malloc(size) else { fatalError("out of memory") }
        unsafe self.memory = memory
        unsafe memory.storeBytes(of: offset, as: UInt64.self)
        unsafe memory.storeBytes(of: size, toByteOffset: 8, as: Int.self)
        setPage(start: 0, length: length)
    }

    init?(address: UInt) {
        guard let memory = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return nil }
        unsafe self.memory = memory
    }

    var address: UInt { unsafe UInt(bitPattern: memory) }
    var offset: UInt64 { unsafe memory.load(as: UInt64.self) }
    var size: Int { unsafe memory.load(fromByteOffset: 8, as: Int.self) }

    /// How many bytes follow the header.
    var byteCount: Int { size - CachedNode.headerLength }

    /// All bytes after the header.
    var bytes: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(
            start: memory + CachedNode.headerLength, count: byteCount)
    }

    /// The node's page.
    var page: ByteView {
        let start = unsafe memory.load(fromByteOffset: 16, as: Int.self)
        let length = unsafe memory.load(fromByteOffset: 24, as: Int.self)
        return unsafe ByteView(UnsafeRawPointer(memory) + CachedNode.headerLength + start, count: length)
    }

    /// Says which of the bytes are the page.
    func setPage(start: Int, length: Int) {
        unsafe memory.storeBytes(of: start, toByteOffset: 16, as: Int.self)
        unsafe memory.storeBytes(of: length, toByteOffset: 24, as: Int.self)
    }

    /// Gives the memory back; only for a node that was never in a cache.
    func discard() { unsafe free(memory) }
}

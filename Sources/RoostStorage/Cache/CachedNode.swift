import RoostBytes
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A node in memory of a cache, or in memory of its own where the cache has none to give.
///
/// ```
/// offset in the file (8) | length of the page (4) | state (1) | used (1) | 0 (2) | the page
/// ```
@safe struct CachedNode: Sendable {
    static let headerLength = 16

    /// Who looks after the memory.
    enum State: UInt8 {
        /// A segment of the arena, which holds the node as long as readers may find it.
        case inArena = 0
        /// The same, but the segment was given up before the node went into the cache.
        case givenUp = 1
        /// The node alone: memory from malloc.
        case standalone = 2
    }

    nonisolated(unsafe) let memory: UnsafeMutableRawPointer

    /// A node at `memory`, with room for a page of `length` bytes.
    init(at memory: UnsafeMutableRawPointer, offset: UInt64, length: Int, state: State) {
        unsafe self.memory = memory
        unsafe memory.storeBytes(of: offset, as: UInt64.self)
        unsafe memory.storeBytes(of: UInt32(length), toByteOffset: 8, as: UInt32.self)
        self.state = state
        unsafe used.initialize(to: Atomic(false))
    }

    /// A node in memory of its own.
    init(offset: UInt64, length: Int) {
        guard let memory = unsafe malloc(CachedNode.headerLength + length) else {
            fatalError("out of memory")
        }
        unsafe self.init(at: memory, offset: offset, length: length, state: .standalone)
    }

    /// The node that is at `memory` already.
    @inline(__always)
    init(at memory: UnsafeMutableRawPointer) { unsafe self.memory = memory }

    /// The bytes that a node with a page of `length` bytes takes in an arena, where each begins at a multiple of 16.
    static func stride(_ length: Int) -> Int { (headerLength + length + 15) & ~15 }

    @inline(__always)
    var offset: UInt64 { unsafe memory.load(as: UInt64.self) }

    @inline(__always)
    var length: Int { unsafe Int(memory.load(fromByteOffset: 8, as: UInt32.self)) }

    /// Changed under the arena's lock only.
    var state: State {
        get { unsafe State(rawValue: memory.load(fromByteOffset: 12, as: UInt8.self)) ?? .standalone }
        nonmutating set { unsafe memory.storeBytes(of: newValue.rawValue, toByteOffset: 12, as: UInt8.self) }
    }

    private var used: UnsafeMutablePointer<Atomic<Bool>> {
        unsafe (memory + 13).assumingMemoryBound(to: Atomic<Bool>.self)
    }

    /// Notes that somebody found the node. Writes only what changes, so that readers share the cache line.
    @inline(__always)
    func markUsed() {
        if unsafe !used.pointee.load(ordering: .relaxed) {
            unsafe used.pointee.store(true, ordering: .relaxed)
        }
    }

    /// Whether somebody found the node since this was asked last.
    func takeUsed() -> Bool { unsafe used.pointee.exchange(false, ordering: .relaxed) }

    /// The page's bytes, to be written before the node goes into a cache.
    var bytes: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: memory + CachedNode.headerLength, count: length)
    }

    /// The node's page.
    @inline(__always)
    var page: ByteView {
        unsafe ByteView(UnsafeRawPointer(memory) + CachedNode.headerLength, count: length)
    }
}

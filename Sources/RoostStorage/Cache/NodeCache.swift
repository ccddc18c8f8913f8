import RoostBytes
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The nodes of one file that are held in memory: verified, decrypted, decompressed, unpacked, never changing.
///
/// Set-associative, like a processor's cache: a node's offset decides which eight places it can be in, so looking
/// up takes no lock and inserting disturbs one place. Memory is bounded by a ``NodeArena``: once it is full, the oldest
/// nodes leave, but those that were used since they came move on, as with a clock's hand.
@safe final class NodeCache: Sendable {
    private static let ways = 8
    /// The bytes of memory for each place. There are more than twice as many places as nodes, to leave room for filters too, so
    /// that sets seldom overflow.
    private static let bytesForPlace = 1024
    /// Half of what a place's 32 bits can tell apart.
    private static let largestLimit = 32 << 30

    let reclaimer = EpochReclaimer()
    private let mask: Int
    private let hand = Atomic<Int>(0)
    /// Nodes go in and out while this is held; finding one takes no lock. `nil` for a cache that holds nothing.
    private let arena: Mutex<NodeArena?>
    /// Where the arena begins.
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let table: ZeroedPages
    /// The eight places of a set are one cache line. Each holds a node's distance from ``base`` in units of 16 bytes, plus
    /// one, and above it half of the hash of its offset; 0 for none. Changed under the arena's lock.
    private nonisolated(unsafe) let places: UnsafeMutablePointer<Atomic<UInt64>>

    /// - Parameters:
    ///   - limit: bytes of memory, apart from the table itself (0.8 % of it); 0 for a cache that holds nothing.
    ///   - segmentSize: see ``NodeArena``.
    init(limit: Int, segmentSize: Int? = nil) {
        let limit = min(limit, NodeCache.largestLimit)
        let sets = max(4, limit / NodeCache.bytesForPlace / NodeCache.ways)
        let count = (1 << (Int.bitWidth - (sets - 1).leadingZeroBitCount)) * NodeCache.ways
        mask = count / NodeCache.ways - 1
        // A place of zero bytes is an empty one.
        guard let table = ZeroedPages(length: count * MemoryLayout<Atomic<UInt64>>.stride) else {
            fatalError("out of memory")
        }
        unsafe places = table.base.bindMemory(to: Atomic<UInt64>.self, capacity: count)
        if let made = NodeCache.makeArena(limit, segmentSize) {
            unsafe base = made.base
            arena = Mutex(made)
        } else {
            unsafe base = table.base
            arena = Mutex(nil)
        }
        self.table = table
    }

    /// An arena of `limit` bytes, or of as many as the system has address space for.
    private static func makeArena(_ limit: Int, _ segmentSize: Int?) -> NodeArena? {
        var limit = limit
        while limit > 0 {
            let size = segmentSize ?? NodeArena.segmentSize(limit)
            if let arena = NodeArena(limit: limit, segmentSize: size) { return arena }
            limit /= 2
        }
        return nil
    }

    @inline(__always)
    private func hash(_ offset: UInt64) -> UInt64 { (offset ^ offset >> 21) &* 0x9E37_79B9_7F4A_7C15 }

    @inline(__always)
    private func firstPlace(_ hash: UInt64) -> Int {
        (Int(truncatingIfNeeded: hash >> 20) & mask) &* NodeCache.ways
    }

    /// The node that `place` leads to, if it is one of an offset with this hash.
    @inline(__always)
    private func node(_ place: UInt64, _ hash: UInt64) -> CachedNode? {
        guard (place ^ hash) >> 32 == 0, place != 0 else { return nil }
        return node(place)
    }

    @inline(__always)
    private func node(_ place: UInt64) -> CachedNode? {
        let distance = Int(UInt32(truncatingIfNeeded: place)) &- 1
        return distance < 0 ? nil : unsafe CachedNode(at: base + distance &* 16)
    }

    private func place(_ node: CachedNode) -> UInt64 {
        let distance = unsafe node.memory - base
        return hash(node.offset) & (.max << 32) | UInt64(distance / 16 + 1)
    }

    /// The node at `offset`, if it is here; valid while `pin` exists.
    @inline(__always)
    func find(_ offset: UInt64, _ pin: borrowing EpochReclaimer.Pin) -> PageView? {
        guard let bytes = bytes(offset, pin) else { return nil }
        return PageView(bytes)
    }

    /// What is at `offset`, if it is here; valid while `pin` exists.
    @inline(__always)
    func bytes(_ offset: UInt64, _ pin: borrowing EpochReclaimer.Pin) -> ByteView? {
        let hash = hash(offset)
        let first = firstPlace(hash)
        for index in first..<first &+ NodeCache.ways {
            let place = unsafe places[index].load(ordering: .sequentiallyConsistent)
            guard let node = node(place, hash), node.offset == offset else { continue }
            node.markUsed()
            return node.page
        }
        return nil
    }

    // MARK: Inserting

    /// Memory for a page of `length` bytes, whose chunk is at `offset`: to be filled and then handed to ``insert(_:)``, or
    /// to ``discard(_:)``. The caller holds a pin from before until it has done with the node.
    func makeNode(offset: UInt64, length: Int) -> CachedNode {
        let node = arena.withLock { arena in NodeCache.take(&arena, self, offset, length) }
        return node ?? CachedNode(offset: offset, length: length)
    }

    /// Takes `node` over. It may be gone again at once, but stays valid for those who are pinned now.
    func insert(_ node: CachedNode) {
        let isInArena = arena.withLock { _ in
            guard node.state == .inArena else { return node.state != .standalone }
            link(node)
            return true
        }
        if !isInArena { unsafe reclaimer.retire(node.memory) }
    }

    /// Gives back a node that did not go into the cache.
    func discard(_ node: CachedNode) {
        let isStandalone = arena.withLock { _ in node.state == .standalone }
        if isStandalone { unsafe free(node.memory) }
    }

    /// Takes a copy of a node that was just appended to the file at `offset`.
    func insert(copyOf page: ByteView, at offset: UInt64) {
        arena.withLock { arena in
            guard let node = NodeCache.take(&arena, self, offset, page.count) else { return }
            unsafe node.bytes.copyMemory(from: page.buffer)
            link(node)
        }
    }

    /// Room in the arena; `nil` where there is none, as while readers are long in leaving the oldest segment.
    private static func take(
        _ arena: inout NodeArena?, _ cache: NodeCache, _ offset: UInt64, _ length: Int
    ) -> CachedNode? {
        if let node = arena?.take(offset: offset, length: length) { return node }
        guard arena?.segmentSize ?? 0 >= CachedNode.stride(length),
            arena?.openNext(cache.reclaimer) == true
        else { return nil }
        if arena?.isNextInUse == true {
            var room = (arena?.segmentSize ?? 0) / 2
            arena?.emptyNext(cache.reclaimer) { arena, node in cache.unlink(node, &arena, &room) }
        }
        return arena?.take(offset: offset, length: length)
    }

    /// Removes `node`, or moves it on if it was used and `room` is left for such nodes.
    private func unlink(_ node: CachedNode, _ arena: inout NodeArena, _ room: inout Int) {
        let place = place(node)
        let first = firstPlace(hash(node.offset))
        for index in first..<first + NodeCache.ways
        where unsafe places[index].load(ordering: .relaxed) == place {
            let stride = CachedNode.stride(node.length)
            guard node.takeUsed(), stride <= room,
                let copy = arena.take(offset: node.offset, length: node.length)
            else { return unsafe places[index].store(0, ordering: .sequentiallyConsistent) }
            room -= stride
            unsafe copy.bytes.copyMemory(from: node.page.buffer)
            return unsafe places[index].store(self.place(copy), ordering: .sequentiallyConsistent)
        }
    }

    /// Puts `node` into a place. Called under the lock.
    private func link(_ node: CachedNode) {
        let index = victim(node.offset)
        unsafe places[index].store(place(node), ordering: .sequentiallyConsistent)
    }

    /// The place for a node: that of another copy of it, an empty one, or one that was not used lately.
    private func victim(_ offset: UInt64) -> Int {
        let first = firstPlace(hash(offset))
        var empty: Int?
        for index in first..<first + NodeCache.ways {
            guard let node = unsafe node(places[index].load(ordering: .relaxed)) else {
                empty = index
                continue
            }
            if node.offset == offset { return index }
        }
        if let empty { return empty }
        let start = hand.add(1, ordering: .relaxed).newValue
        for step in 0..<NodeCache.ways {
            let index = first + (start + step) & (NodeCache.ways - 1)
            if let node = unsafe node(places[index].load(ordering: .relaxed)), !node.takeUsed() {
                return index
            }
        }
        return first + start & (NodeCache.ways - 1)
    }

    /// Drops every node at or after `offset`: bytes that a failed transaction wrote there and the next will replace.
    func removeAll(from offset: UInt64) {
        arena.withLock { arena in
            // A place that was never used is not touched, which would take memory.
            guard arena?.isUntouched == false else { return }
            for index in 0..<(mask + 1) * NodeCache.ways {
                guard let node = unsafe node(places[index].load(ordering: .relaxed)),
                    node.offset & ~NodeCache.filterBit >= offset
                else { continue }
                unsafe places[index].store(0, ordering: .sequentiallyConsistent)
            }
        }
    }
}

// MARK: - CachedNode

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

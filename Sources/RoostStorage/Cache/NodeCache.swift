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
    /// What a node takes on average, for choosing the number of places.
    private static let typicalNode = 4096

    let reclaimer = EpochReclaimer()
    private let mask: Int
    private let hand = Atomic<Int>(0)
    /// Nodes go in and out while this is held; finding one takes no lock. `nil` for a cache that holds nothing.
    private let arena: Mutex<NodeArena?>
    private nonisolated(unsafe) let places: UnsafeMutablePointer<Place>

    /// Offset and node are written apart, so a reader may see one of them as it was before. The offset only saves looking
    /// at the node, which knows its own.
    private struct Place: ~Copyable {
        let offset = Atomic<UInt64>(0)
        /// The address of a `CachedNode`, 0 for none.
        let node = Atomic<UInt>(0)
        let used = Atomic<Bool>(false)
    }

    /// - Parameters:
    ///   - limit: bytes of memory, apart from the table itself (0.6 % of it); 0 for a cache that holds nothing.
    ///   - segmentSize: see ``NodeArena``.
    init(limit: Int, segmentSize: Int? = nil) {
        let sets = max(4, limit / NodeCache.typicalNode / NodeCache.ways)
        let count = (1 << (Int.bitWidth - (sets - 1).leadingZeroBitCount)) * NodeCache.ways
        mask = count / NodeCache.ways - 1
        let size = segmentSize ?? NodeArena.segmentSize(limit)
        arena = Mutex(limit > 0 ? NodeArena(limit: limit, segmentSize: size) : nil)
        // A place of zero bytes is an empty one, so the system's zeroed pages serve, and only those that are used.
        guard let memory = unsafe calloc(count, MemoryLayout<Place>.stride) else {
            fatalError("out of memory")
        }
        unsafe places = memory.bindMemory(to: Place.self, capacity: count)
    }

    deinit { unsafe free(places) }

    private func firstPlace(_ offset: UInt64) -> Int {
        let hash = (offset ^ offset >> 21) &* 0x9E37_79B9_7F4A_7C15
        return (Int(truncatingIfNeeded: hash >> 32) & mask) * NodeCache.ways
    }

    /// The node at `offset`, if it is here; valid while `pin` exists.
    @inline(__always)
    func find(_ offset: UInt64, _ pin: borrowing EpochReclaimer.Pin) -> PageView? {
        let first = firstPlace(offset)
        for index in first..<first &+ NodeCache.ways {
            guard unsafe places[index].offset.load(ordering: .relaxed) == offset else { continue }
            let address = unsafe places[index].node.load(ordering: .sequentiallyConsistent)
            guard let node = CachedNode(address: address), node.offset == offset else { continue }
            if unsafe !places[index].used.load(ordering: .relaxed) {
                unsafe places[index].used.store(true, ordering: .relaxed)
            }
            return PageView(node.page)
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
        let first = firstPlace(node.offset)
        for index in first..<first + NodeCache.ways
        where unsafe places[index].node.load(ordering: .relaxed) == node.address {
            let wasUsed = unsafe places[index].used.exchange(false, ordering: .relaxed)
            let stride = CachedNode.stride(node.length)
            guard wasUsed, stride <= room, let copy = arena.take(offset: node.offset, length: node.length)
            else { return unsafe places[index].node.store(0, ordering: .sequentiallyConsistent) }
            room -= stride
            unsafe copy.bytes.copyMemory(from: node.page.buffer)
            return unsafe places[index].node.store(copy.address, ordering: .sequentiallyConsistent)
        }
    }

    /// Puts `node` into a place. Called under the lock.
    private func link(_ node: CachedNode) {
        let index = victim(firstPlace(node.offset), node.offset)
        unsafe places[index].offset.store(node.offset, ordering: .relaxed)
        unsafe places[index].node.store(node.address, ordering: .sequentiallyConsistent)
        unsafe places[index].used.store(false, ordering: .relaxed)
    }

    /// The place for a node: that of another copy of it, an empty one, or one that was not used lately.
    private func victim(_ first: Int, _ offset: UInt64) -> Int {
        for index in first..<first + NodeCache.ways
        where unsafe places[index].offset.load(ordering: .relaxed) == offset {
            return index
        }
        for index in first..<first + NodeCache.ways
        where unsafe places[index].node.load(ordering: .relaxed) == 0 {
            return index
        }
        let start = hand.add(1, ordering: .relaxed).newValue
        for step in 0..<NodeCache.ways {
            let index = first + (start + step) & (NodeCache.ways - 1)
            if unsafe !places[index].used.exchange(false, ordering: .relaxed) { return index }
        }
        return first + start & (NodeCache.ways - 1)
    }

    /// Drops every node at or after `offset`: bytes that a failed transaction wrote there and the next will replace.
    func removeAll(from offset: UInt64) {
        arena.withLock { arena in
            // A place that was never used is not touched, which would take memory.
            guard arena?.isUntouched == false else { return }
            for index in 0..<(mask + 1) * NodeCache.ways
            where unsafe places[index].node.load(ordering: .relaxed) != 0
                && places[index].offset.load(ordering: .relaxed) >= offset
            {
                unsafe places[index].node.store(0, ordering: .sequentiallyConsistent)
            }
        }
    }
}

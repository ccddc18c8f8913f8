import RoostBytes
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The nodes of one file that are held in memory: verified, decrypted, decompressed, never changing.
///
/// Set-associative, like a processor's cache: a node's offset decides which eight places it can be in, so looking
/// up takes no lock, inserting disturbs one place, and memory is bounded. Nodes leave by a clock hand in each set.
@safe final class NodeCache: Sendable {
    private static let ways = 8
    /// What a node takes on average, for choosing the number of places.
    private static let typicalNode = 4096

    let reclaimer = EpochReclaimer()
    private let limit: Int
    private let mask: Int
    private let bytes = Atomic<Int>(0)
    private let hand = Atomic<Int>(0)
    private nonisolated(unsafe) let places: UnsafeMutablePointer<Place>

    /// Offset and node are written apart, so that while two threads replace one place it may hold the node of one and
    /// the offset of the other. The offset only saves looking at the node, which knows its own.
    private struct Place: ~Copyable {
        let offset = Atomic<UInt64>(0)
        /// The address of a `CachedNode`, 0 for none.
        let node = Atomic<UInt>(0)
        let used = Atomic<Bool>(false)
    }

    /// - Parameter limit: bytes of memory to stay below, apart from the table itself (0.6 % of it).
    init(limit: Int) {
        self.limit = limit
        let sets = max(4, limit / NodeCache.typicalNode / NodeCache.ways)
        let count = (1 << (Int.bitWidth - (sets - 1).leadingZeroBitCount)) * NodeCache.ways
        mask = count / NodeCache.ways - 1
        // A place of zero bytes is an empty one, so the system's zeroed pages serve, and only those that are used.
        guard let memory = unsafe calloc(count, MemoryLayout<Place>.stride) else {
            fatalError("out of memory")
        }
        unsafe places = memory.bindMemory(to: Place.self, capacity: count)
    }

    deinit {
        if bytes.load(ordering: .relaxed) > 0 {
            for index in 0..<(mask + 1) * NodeCache.ways {
                unsafe free(UnsafeMutableRawPointer(bitPattern: places[index].node.load(ordering: .relaxed)))
            }
        }
        unsafe free(places)
    }

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

    /// Takes `node` over. It may be gone again at once, but stays valid for those who are pinned now.
    func insert(_ node: CachedNode) {
        let first = firstPlace(node.offset)
        let index = victim(first)
        replace(index, by: node)
        while bytes.load(ordering: .relaxed) > limit { evictOne() }
    }

    /// Takes a copy of a node that was just appended to the file at `offset`.
    func insert(copyOf page: ByteView, at offset: UInt64) {
        let node = CachedNode(offset: offset, length: page.count)
        unsafe node.bytes.copyMemory(from: page.buffer)
        insert(node)
    }

    private func replace(_ index: Int, by node: CachedNode?) {
        let address = node?.address ?? 0
        unsafe places[index].offset.store(node?.offset ?? 0, ordering: .relaxed)
        let old = unsafe places[index].node.exchange(address, ordering: .sequentiallyConsistent)
        unsafe places[index].used.store(false, ordering: .relaxed)
        var change = node?.size ?? 0
        if let old = CachedNode(address: old) {
            change -= old.size
            unsafe reclaimer.retire(old.memory)
        }
        bytes.add(change, ordering: .relaxed)
    }

    private func victim(_ first: Int) -> Int {
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

    /// Drops one node that was not used since the hand last came by.
    private func evictOne() {
        let count = (mask + 1) * NodeCache.ways
        for _ in 0..<2 * count {
            let index = hand.add(1, ordering: .relaxed).newValue & (count - 1)
            guard unsafe places[index].node.load(ordering: .relaxed) != 0 else { continue }
            if unsafe places[index].used.exchange(false, ordering: .relaxed) { continue }
            replace(index, by: nil)
            return
        }
    }

    /// Drops every node at or after `offset`: bytes that a failed transaction wrote there and the next will replace.
    func removeAll(from offset: UInt64) {
        guard bytes.load(ordering: .relaxed) > 0 else { return }
        let pin = reclaimer.readers.pin()
        for index in 0..<(mask + 1) * NodeCache.ways {
            let address = unsafe places[index].node.load(ordering: .sequentiallyConsistent)
            if let node = CachedNode(address: address), node.offset >= offset { replace(index, by: nil) }
        }
        _ = consume pin
    }
}

/// The memory of a node cache: segments in a ring, filled one after another and emptied in the same order.
///
/// Nodes are never freed one by one: what is dropped waits for its segment's turn. So memory neither fragments nor grows
/// beyond the limit, a new node costs an addition, and the system can back the segments with large pages: nodes are spread
/// over more memory than a processor has small pages' addresses at hand for, and with pages of 2 MiB random reads are a
/// tenth faster here and pages touched for the first time cost a third. (A log-structured cache, as in Rumble, Kejriwal
/// and Ousterhout, "Log-structured Memory for DRAM-based Storage", 2014.)
///
/// Not thread-safe: it belongs to whoever holds the cache's lock.
@safe struct NodeArena: ~Copyable {
    private let memory: ZeroedPages
    /// The first segment, at a multiple of the segments' size.
    let base: UnsafeMutableRawPointer
    let segmentSize: Int
    private var segments: [Segment]
    private var current = 0

    private struct Segment {
        /// Bytes taken by nodes.
        var used = 0
        /// The epoch in which the segment was emptied: readers of that epoch may still be in it.
        var emptied: UInt64 = 0
    }

    /// Segments are large enough for the largest node and small beside the whole.
    private static let sizes = 128 << 10...2 << 20
    /// There is the one being filled, the one that readers are leaving, and those that hold nodes.
    private static let fewest = 4
    /// So much of the memory is left in small pages, in which a small store touches only what it needs.
    private static let smallPages = 4 << 20

    /// The size of segments that suits a limit of so many bytes.
    static func segmentSize(_ limit: Int) -> Int {
        let wanted = max(limit / 16, 1)
        let power = 1 << (Int.bitWidth - 1 - wanted.leadingZeroBitCount)
        return min(max(power, sizes.lowerBound), sizes.upperBound)
    }

    /// - Parameter limit: how many bytes to take at most, but for small caches four segments. Address space is taken at
    ///   once, memory as it is first used. `nil` where the system has not so much address space.
    init?(limit: Int, segmentSize: Int) {
        let count = max(limit / segmentSize, NodeArena.fewest)
        guard let memory = ZeroedPages(length: (count + 1) * segmentSize) else { return nil }
        self.segmentSize = segmentSize
        segments = Array(repeating: Segment(), count: count)
        let address = unsafe UInt(bitPattern: memory.base)
        let aligned = (address + UInt(segmentSize) - 1) / UInt(segmentSize) * UInt(segmentSize)
        unsafe base = memory.base + Int(aligned - address)
        if segmentSize == NodeArena.sizes.upperBound, count * segmentSize > NodeArena.smallPages {
            unsafe memory.allowLargePages(
                base + NodeArena.smallPages, count * segmentSize - NodeArena.smallPages)
        }
        self.memory = memory
    }

    /// Room for a page of `length` bytes in the segment that is being filled; `nil` where it has not so much left.
    mutating func take(offset: UInt64, length: Int) -> CachedNode? {
        let stride = CachedNode.stride(length)
        guard stride <= segmentSize - segments[current].used else { return nil }
        let memory = unsafe base + current * segmentSize + segments[current].used
        segments[current].used += stride
        return unsafe CachedNode(at: memory, offset: offset, length: length, state: .inArena)
    }

    /// Goes on in the next segment, unless readers may still be in what it held; says whether it did.
    mutating func openNext(_ reclaimer: EpochReclaimer) -> Bool {
        let next = following
        guard segments[next].used == 0, reclaimer.hasPassed(segments[next].emptied) else { return false }
        current = next
        return true
    }

    /// Whether no node was ever taken.
    var isUntouched: Bool { current == 0 && segments[0].used == 0 }

    /// Whether the segment after the one being filled holds nodes.
    var isNextInUse: Bool { segments[following].used > 0 }

    /// Gives up the nodes of the segment after the one being filled, the oldest there are.
    ///
    /// - Parameter unlink: called with each, sees to it that no new reader finds it.
    mutating func emptyNext(_ reclaimer: EpochReclaimer, _ unlink: (inout NodeArena, CachedNode) -> Void) {
        let oldest = following
        var position = 0
        while position < segments[oldest].used {
            let node = unsafe CachedNode(at: base + oldest * segmentSize + position)
            position += CachedNode.stride(node.length)
            unlink(&self, node)
            node.state = .givenUp
        }
        segments[oldest].used = 0
        segments[oldest].emptied = reclaimer.advance()
    }

    private var following: Int { current + 1 == segments.count ? 0 : current + 1 }
}

// MARK: - ZeroedPages

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Memory straight from the system, all zeros: address space is taken at once, memory as its pages are first used.
///
/// An allocator may hand out memory that was used before, which it has to clear: every page of it is touched then.
@safe struct ZeroedPages: ~Copyable, Sendable {
    /// At a multiple of the system's page size.
    nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let length: Int

    /// - Parameter length: how many bytes, at least 1. `nil` where the system has not so much address space.
    init?(length: Int) {
        guard
            let memory = unsafe mmap(
                nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0),
            unsafe memory != MAP_FAILED
        else { return nil }
        unsafe base = memory
        self.length = length
    }

    deinit { unsafe munmap(base, length) }

    /// Lets the system back the `count` bytes from `start` on with large pages, where it can be told so.
    func allowLargePages(_ start: UnsafeMutableRawPointer, _ count: Int) {
        #if os(Linux)
            unsafe madvise(start, count, MADV_HUGEPAGE)
        #endif
    }
}

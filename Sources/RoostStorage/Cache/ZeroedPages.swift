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

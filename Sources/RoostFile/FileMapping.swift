import RoostBytes
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A part of a file as memory, read-only and shared with the system's cache; unmapped when the last reference goes.
///
/// It may reach beyond the end of the file and shows what is written there later. What is not in the file when it is
/// touched, or what the device cannot read, is zeros from then on, and counted in its ``LostPages``. Any thread may use it.
@safe package final class FileMapping: Sendable {
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let length: Int
    /// The guard counts there as long as there is the mapping.
    private let lostPages: LostPages
    /// What is mapped, which stays open.
    private let file: OpenFile

    /// Takes over the mapping of `length` bytes at `base`; `nil` where unreadable pages of it would end the process.
    init?(base: UnsafeMutableRawPointer, length: Int, counting lostPages: LostPages, of file: OpenFile) {
        guard unsafe MappingGuard.protect(base, length, lostPages.counter) else {
            unsafe munmap(base, length)
            return nil
        }
        unsafe self.base = base
        self.length = length
        self.lostPages = lostPages
        self.file = file
        // Without this the first touch of a page reads up to megabytes around it.
        unsafe madvise(base, length, MADV_RANDOM)
    }

    /// Has the system read `range`, counted from the mapping's start, in the background, unless both its ends are in memory.
    package func prefetch(_ range: Range<Int>) {
        let start = FileMapping.pageStart(range.lowerBound)
        let end = min(range.upperBound, length)
        guard start < end, !(isResident(start) && isResident(end - 1)) else { return }
        unsafe madvise(base + start, end - start, MADV_WILLNEED)
    }

    /// Where the page at `offset` begins.
    private static func pageStart(_ offset: Int) -> Int { offset & ~(MappingGuard.pageSize - 1) }

    /// Whether the page at `offset` is in memory, as far as the system tells.
    private func isResident(_ offset: Int) -> Bool {
        #if canImport(Darwin)
            var state: CChar = 0
        #else
            var state: UInt8 = 0
        #endif
        let answer = unsafe mincore(base + FileMapping.pageStart(offset), MappingGuard.pageSize, &state)
        return answer == 0 && state & 1 == 1
    }

    deinit {
        unsafe MappingGuard.release(base)
        unsafe munmap(base, length)
    }

    /// All of it.
    package var view: ByteView { unsafe ByteView(UnsafeRawPointer(base), count: length) }
}

/// Counts the pages of some mappings that could not be read. When the count is the same before and after bytes were used,
/// they were those of the file. Any thread may use it.
@safe package final class LostPages: Sendable {
    /// Lives as long as this object; written by the handler of a signal.
    nonisolated(unsafe) let counter: UnsafeMutablePointer<Atomic<Int>>

    package init() {
        unsafe counter = .allocate(capacity: 1)
        unsafe counter.initialize(to: Atomic(0))
    }

    deinit {
        unsafe counter.deinitialize(count: 1)
        unsafe counter.deallocate()
    }

    package var count: Count { unsafe Count(counter) }

    /// Reads the count, as long as the object is kept, without counting a reference to it.
    @safe package struct Count: Sendable {
        private nonisolated(unsafe) let counter: UnsafeMutablePointer<Atomic<Int>>

        fileprivate init(_ counter: UnsafeMutablePointer<Atomic<Int>>) { unsafe self.counter = counter }

        package var value: Int { unsafe counter.pointee.load(ordering: .acquiring) }
    }
}

import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Frees memory that readers without locks may still be looking at, once none of them can be.
///
/// A reader announces itself by writing the current epoch into a place of its own (``pin()``) and withdraws when it
/// is done; memory that was unlinked in epoch *e* is freed when every announced epoch is later than *e*. So reading
/// costs two writes to a cache line that no other reader uses, and no reference count is shared (Fraser, "Practical
/// lock-freedom", 2004, section 5.2.3).
@safe final class EpochReclaimer: Sendable {
    /// Readers that can be inside at one time; more wait for a place.
    private static let places = 128
    /// Places are this many words apart, so that no two share a cache line.
    private static let spacing = 8
    /// How many unlinked blocks may wait before freeing is tried.
    private static let batch = 32

    private let epoch = Atomic<UInt64>(1)
    /// The epoch of the reader in each place, 0 where there is none. Lives as long as this object.
    private nonisolated(unsafe) let announced: UnsafeMutablePointer<Atomic<UInt64>>
    private let waiting = Mutex<[Retired]>([])

    /// Memory that belongs to nobody any more, and the epoch in which it was unlinked.
    @safe private struct Retired: Sendable {
        nonisolated(unsafe) let memory: UnsafeMutableRawPointer
        let epoch: UInt64
    }

    init() {
        let count = EpochReclaimer.places * EpochReclaimer.spacing
        unsafe announced = .allocate(capacity: count)
        for index in 0..<count { unsafe (announced + index).initialize(to: Atomic(0)) }
    }

    deinit {
        waiting.withLock { list in
            for retired in list { unsafe free(retired.memory) }
        }
        unsafe announced.deinitialize(count: EpochReclaimer.places * EpochReclaimer.spacing)
        unsafe announced.deallocate()
    }

    /// While it exists, nothing is freed that its holder could have found.
    @safe struct Pin: ~Copyable {
        fileprivate let place: UnsafeMutablePointer<Atomic<UInt64>>

        deinit { unsafe place.pointee.store(0, ordering: .releasing) }
    }

    /// Announces a reader. Lock-free; a few nanoseconds where threads keep to different places.
    @inline(__always)
    func pin() -> Pin {
        var index = EpochReclaimer.hint()
        while true {
            let place = unsafe announced + (index & (EpochReclaimer.places - 1)) * EpochReclaimer.spacing
            if unsafe place.pointee.load(ordering: .relaxed) == 0 {
                let now = epoch.load(ordering: .acquiring)
                let (taken, _) = unsafe place.pointee.compareExchange(
                    expected: 0, desired: now, ordering: .sequentiallyConsistent)
                if taken { return unsafe Pin(place: place) }
            }
            index &+= 1
        }
    }

    /// A number that differs between threads: where their stacks are.
    @inline(__always)
    private static func hint() -> Int {
        #if canImport(Darwin)
            let thread = unsafe UInt(bitPattern: pthread_self())
        #else
            let thread = UInt(pthread_self())
        #endif
        return Int(truncatingIfNeeded: (thread >> 12) &* 0x9E37_79B1 >> 16)
    }

    /// Hands over memory from malloc that has just been made unreachable for new readers.
    func retire(_ memory: UnsafeMutableRawPointer) {
        waiting.withLock { list in
            unsafe list.append(Retired(memory: memory, epoch: epoch.load(ordering: .sequentiallyConsistent)))
            if list.count >= EpochReclaimer.batch { reclaim(&list) }
        }
    }

    private func reclaim(_ list: inout [Retired]) {
        epoch.add(1, ordering: .sequentiallyConsistent)
        var oldest = UInt64.max
        for index in 0..<EpochReclaimer.places {
            let place = unsafe announced + index * EpochReclaimer.spacing
            let value = unsafe place.pointee.load(ordering: .sequentiallyConsistent)
            if value != 0 { oldest = min(oldest, value) }
        }
        list.removeAll { retired in
            guard retired.epoch < oldest else { return false }
            unsafe free(retired.memory)
            return true
        }
    }
}

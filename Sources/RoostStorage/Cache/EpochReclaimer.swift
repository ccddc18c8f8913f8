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

    let readers = Readers()
    private let waiting = Mutex<[Retired]>([])

    /// Memory that belongs to nobody any more, and the epoch in which it was unlinked.
    @safe private struct Retired: Sendable {
        nonisolated(unsafe) let memory: UnsafeMutableRawPointer
        let epoch: UInt64
    }

    deinit {
        waiting.withLock { list in
            for retired in list { unsafe free(retired.memory) }
        }
        readers.release()
    }

    /// The present epoch, and behind it the epoch of the reader in each place, 0 where there is none. Pointers, so that
    /// readers count no references to what they all share.
    @safe struct Readers: Sendable {
        fileprivate nonisolated(unsafe) let epoch: UnsafeMutablePointer<Atomic<UInt64>>
        private let threadNumber = ThreadNumber()
        private static let count = (EpochReclaimer.places + 1) * EpochReclaimer.spacing

        fileprivate init() {
            unsafe epoch = .allocate(capacity: Readers.count)
            unsafe epoch.initialize(to: Atomic(1))
            for index in 1..<Readers.count { unsafe (epoch + index).initialize(to: Atomic(0)) }
        }

        fileprivate func release() {
            unsafe epoch.deinitialize(count: Readers.count)
            unsafe epoch.deallocate()
        }

        /// The place of the readers whose number is `index` or differs from it by a multiple of the number of places.
        @inline(__always)
        fileprivate func place(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
            unsafe epoch + (1 + index & (EpochReclaimer.places - 1)) * EpochReclaimer.spacing
        }

        /// Announces a reader. Lock-free; a few nanoseconds where threads keep to different places.
        @inline(__always)
        func pin() -> Pin {
            var index = threadNumber.current
            while true {
                let place = unsafe place(index)
                if unsafe place.pointee.load(ordering: .relaxed) == 0 {
                    let now = unsafe epoch.pointee.load(ordering: .acquiring)
                    let (taken, _) = unsafe place.pointee.compareExchange(
                        expected: 0, desired: now, ordering: .sequentiallyConsistent)
                    if taken { return unsafe Pin(place: place) }
                }
                index &+= 1
            }
        }
    }

    /// While it exists, nothing is freed that its holder could have found.
    @safe struct Pin: ~Copyable {
        fileprivate let place: UnsafeMutablePointer<Atomic<UInt64>>

        deinit { unsafe place.pointee.store(0, ordering: .releasing) }
    }

    /// Hands over memory from malloc that has just been made unreachable for new readers.
    func retire(_ memory: UnsafeMutableRawPointer) {
        waiting.withLock { list in
            unsafe list.append(
                Retired(memory: memory, epoch: readers.epoch.pointee.load(ordering: .sequentiallyConsistent)))
            if list.count >= EpochReclaimer.batch { reclaim(&list) }
        }
    }

    /// Begins a new epoch and returns the one that ended: readers who are announced in it, or earlier, may know what was
    /// unlinked until now.
    func advance() -> UInt64 {
        unsafe readers.epoch.pointee.add(1, ordering: .sequentiallyConsistent).oldValue
    }

    /// Whether no reader is left who was announced in `epoch` or earlier.
    func hasPassed(_ epoch: UInt64) -> Bool { epoch < oldestReader() }

    private func oldestReader() -> UInt64 {
        var oldest = UInt64.max
        for index in 0..<EpochReclaimer.places {
            let value = unsafe readers.place(index).pointee.load(ordering: .sequentiallyConsistent)
            if value != 0 { oldest = min(oldest, value) }
        }
        return oldest
    }

    private func reclaim(_ list: inout [Retired]) {
        _ = advance()
        let oldest = oldestReader()
        list.removeAll { retired in
            guard retired.epoch < oldest else { return false }
            unsafe free(retired.memory)
            return true
        }
    }
}

// MARK: - ThreadNumber

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Numbers threads as they come, so that each can be given memory of its own out of a few places: the first threads of a
/// process all get different ones.
struct ThreadNumber: Sendable {
    private static let next = Atomic<Int>(1)
    /// A copy, because asking for a static variable asks first whether it was made.
    private let key = ThreadNumber.key

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        guard unsafe pthread_key_create(&key, nil) == 0 else { fatalError("no room for a thread's number") }
        return key
    }()

    /// The calling thread's number; never 0. A few nanoseconds.
    @inline(__always)
    var current: Int {
        let known = unsafe Int(bitPattern: pthread_getspecific(key))
        return known != 0 ? known : ThreadNumber.take()
    }

    @inline(never)
    private static func take() -> Int {
        let number = next.add(1, ordering: .relaxed).oldValue
        // Where the system has no memory to keep it, the thread gets another number next time, which is as good.
        _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
        return number
    }
}

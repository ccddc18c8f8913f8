#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Has a place for one job on each thread of an executor.
struct ThreadSlots: Sendable {
    /// A thread's place for the job that it runs next. Only that thread uses it.
    final class Slot {
        private var job: UnownedJob?

        /// Puts a job, or none, in the place of another.
        func exchange(_ other: UnownedJob?) -> UnownedJob? {
            defer { job = other }
            return job
        }
    }

    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        precondition(unsafe pthread_key_create(&key, nil) == 0, "The system has no keys for threads left.")
        self.key = key
    }

    /// The slot of this thread; `nil` on one that is not the executor's.
    var own: Slot? {
        guard let pointer = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<Slot>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Gives this thread a slot for as long as the process lasts.
    func makeOwn() -> Slot {
        let slot = Slot()
        unsafe pthread_setspecific(key, Unmanaged.passRetained(slot).toOpaque())
        return slot
    }
}

#if ROOST_SANITIZING
    import Synchronization

    /// A mutex that the thread sanitizer sees: on Linux the standard one is a futex that it does not know, so that
    /// it takes whatever a contended one guards for a race.
    ///
    /// Inside the lock an atomic is read and written, which orders critical sections in the sanitizer's eyes as the
    /// lock does in truth. Only builds with ROOST_SANITIZING have it; there the modules that use `Mutex` mean this
    /// one by a type alias of their own.
    package struct VisibleMutex<Value: ~Copyable>: ~Copyable, Sendable {
        private let mutex: Synchronization.Mutex<Value>
        private let turns = Atomic<Int>(0)

        package init(_ value: consuming sending Value) { mutex = Synchronization.Mutex(value) }

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock { (value: inout sending Value) throws(Failure) -> sending Result in
                turns.add(1, ordering: .acquiringAndReleasing)
                defer { turns.add(1, ordering: .acquiringAndReleasing) }
                return try body(&value)
            }
        }
    }
#endif

import Synchronization

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

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A reference of each thread's own, which it does not retain.
package struct ThreadLocal<Value: AnyObject>: Sendable {
    private let key: pthread_key_t

    package init() {
        var key = pthread_key_t()
        precondition(unsafe pthread_key_create(&key, nil) == 0, "The system has no keys for threads left.")
        self.key = key
    }

    /// That of the calling thread; `nil` where it has set none. It must live as long as it is set.
    package var value: Value? {
        get {
            guard let pointer = unsafe pthread_getspecific(key) else { return nil }
            return unsafe Unmanaged<Value>.fromOpaque(pointer).takeUnretainedValue()
        }
        nonmutating set {
            unsafe pthread_setspecific(key, newValue.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
        }
    }
}

/// Has the system prefer other threads to the calling one, for as long as that lasts: no privilege is needed to lower a priority, and
/// one is to raise it again.
package func lowerThreadPriority() {
    #if canImport(Darwin)
        _ = unsafe pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
    #else
        // On Linux, 0 is the calling thread and not its process (setpriority(2), "C library/kernel differences").
        _ = setpriority(processPriority, 0, min(19, getpriority(processPriority, 0) + 10))
    #endif
}

#if canImport(Musl)
    private let processPriority = Int32(PRIO_PROCESS)
#elseif canImport(Glibc)
    private let processPriority = Int32(PRIO_PROCESS.rawValue)
#endif

/// Tells threads apart that run at the same time. Never 0.
package func currentThread() -> UInt {
    #if canImport(Darwin) || canImport(Musl)
        unsafe UInt(bitPattern: pthread_self())
    #else
        UInt(pthread_self())
    #endif
}

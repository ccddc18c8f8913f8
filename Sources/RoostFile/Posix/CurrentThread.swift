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

/// A thread whose priority can be lowered. It can't be raised again, for which programs need a privilege on Linux.
package struct ThreadPriority: Sendable {
    #if !canImport(Darwin)
        // On Linux, what is a process for the function is a thread (setpriority(2), "C library/kernel differences").
        /// Its number; `nil` where that is not known.
        private let thread: id_t?
        #if canImport(Musl)
            private static let kind = Int32(PRIO_PROCESS)
        #else
            private static let kind = Int32(PRIO_PROCESS.rawValue)
        #endif
    #endif

    /// The calling thread's.
    package init() {
        #if !canImport(Darwin)
            thread = Self.currentNumber
        #endif
    }

    #if !canImport(Darwin)
        /// The calling thread's number, which neither C library lets Swift ask for; `nil` where /proc is not mounted.
        private static var currentNumber: id_t? {
            let path = unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
                let text = unsafe buffer.bindMemory(to: CChar.self)
                let length = unsafe readlink("/proc/thread-self", text.baseAddress!, text.count)
                return unsafe String(decoding: buffer.prefix(max(0, length)), as: UTF8.self)
            }
            return path.split(separator: "/").last.flatMap { id_t($0) }
        }
    #endif

    /// Has the system prefer other threads to this one, if they can run: much, or altogether. On Apple's systems it must be the calling
    /// thread.
    package func lower(toLowest isLowest: Bool) {
        #if canImport(Darwin)
            _ = unsafe pthread_set_qos_class_self_np(isLowest ? QOS_CLASS_BACKGROUND : QOS_CLASS_UTILITY, 0)
        #else
            guard let thread else { return }
            let lowest: Int32 = 19
            let value = isLowest ? lowest : min(lowest, getpriority(Self.kind, thread) + 10)
            _ = setpriority(Self.kind, thread, value)
        #endif
    }
}

/// Tells threads apart that run at the same time. Never 0.
package func currentThread() -> UInt {
    #if canImport(Darwin) || canImport(Musl)
        unsafe UInt(bitPattern: pthread_self())
    #else
        UInt(pthread_self())
    #endif
}

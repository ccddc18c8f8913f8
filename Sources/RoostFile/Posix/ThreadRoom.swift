#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Whether the process's memory suffices for another thread.
///
/// Where a limit on the address space (`RLIMIT_AS`) leaves no room for a thread's stack, Dispatch tries again until there is some,
/// without an end: whoever gives it work then hangs. So work is kept on the calling thread, or refused, where this is `false`.
/// A process without such a limit is not looked at any further.
package func canStartThread() -> Bool {
    #if canImport(Darwin)
        return true
    #else
        guard isAddressSpaceLimited else { return true }
        let length = usualStack + 8 << 20
        guard
            let stack = unsafe mmap(
                nil, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | Int32(MAP_NORESERVE), -1, 0),
            unsafe stack != MAP_FAILED
        else { return false }
        unsafe munmap(stack, length)
        return true
    #endif
}

#if !canImport(Darwin)
    /// The limit is set before a program begins, as by a shell.
    private let isAddressSpaceLimited: Bool = {
        var limit = rlimit()
        #if canImport(Musl)
            return unsafe getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < rlim_t.max / 2
        #else
            return unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0
                && limit.rlim_cur < rlim_t.max / 2
        #endif
    }()

    /// A new thread's stack, in bytes.
    private let usualStack: Int = {
        var attributes = pthread_attr_t()
        guard unsafe pthread_attr_init(&attributes) == 0 else { return 8 << 20 }
        defer { unsafe pthread_attr_destroy(&attributes) }
        var size = 0
        return unsafe pthread_attr_getstacksize(&attributes, &size) == 0 ? size : 8 << 20
    }()
#endif

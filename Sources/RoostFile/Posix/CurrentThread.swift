#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Tells threads apart that run at the same time. Never 0.
package func currentThread() -> UInt {
    #if canImport(Darwin) || canImport(Musl)
        unsafe UInt(bitPattern: pthread_self())
    #else
        UInt(pthread_self())
    #endif
}

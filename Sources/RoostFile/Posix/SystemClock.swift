#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The operating system's clocks.
package struct SystemClock: WallClock {
    package init() {}

    package func now() -> UInt64 { microseconds(CLOCK_REALTIME) }

    package func monotonic() -> UInt64 { microseconds(CLOCK_MONOTONIC) }

    private func microseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        // A machine whose clock stands before 1970 is taken to be at 1970.
        return UInt64(clamping: time.tv_sec) * 1_000_000 + UInt64(clamping: time.tv_nsec / 1000)
    }
}

import Glibc

/// The monotonic clock, in nanoseconds; reading it costs about 25 ns.
enum Clock {
    static func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Seconds since `start`.
    static func seconds(since start: UInt64) -> Double {
        Double(now() - start) / 1e9
    }
}

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

    /// What all threads of this process have worked.
    static func processorSeconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

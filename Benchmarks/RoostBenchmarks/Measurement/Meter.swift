import Glibc
import WriteCounters

/// What one timed region cost.
struct Measurement {
    var seconds = 0.0
    /// Bytes passed to write calls by this process.
    var bytesWritten = 0.0
    var syncs = 0.0
    /// Bytes that the kernel says it will send to the device for this process: whole folios, so more than the
    /// truth for whoever overwrites in place.
    var blockBytes = 0.0
    /// Bytes that this process got from read calls.
    var bytesRead = 0.0
    /// Processor seconds that other programs (and the hypervisor's other guests) took meanwhile.
    var otherWork = 0.0

    /// The share of one core that others took.
    var disturbance: Double { seconds > 0 ? otherWork / seconds : 0 }
}

/// Measures a region from its creation to ``stop()``.
struct Meter {
    private let counters = writeCountersNow()
    private let blockBytes = ProcFile.number("self/io", "write_bytes:")
    private let bytesRead = Self.bytesRead()
    private let foreign = Self.foreignTicks()
    private let start = Clock.now()

    func stop() -> Measurement {
        let seconds = Clock.seconds(since: start)
        let now = writeCountersNow()
        let bytesRead = Self.bytesRead() - self.bytesRead
        // Both tick counts are rounded, so three ticks of difference prove nothing.
        let ticks = max(0, Self.foreignTicks() - foreign - 3)
        return Measurement(
            seconds: seconds,
            bytesWritten: Double(now.bytes - counters.bytes),
            syncs: Double(now.syncs - counters.syncs),
            blockBytes: ProcFile.number("self/io", "write_bytes:") - blockBytes,
            bytesRead: bytesRead,
            otherWork: ticks / Double(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// What the kernel counts; the reading of /proc that a measurement begins with is a few kilobytes of it.
    private static func bytesRead() -> Double { ProcFile.number("self/io", "rchar:") }

    /// Ticks of user, nice and stolen time of the whole machine less the user time of this process and of those that
    /// it has started and waited for. System time
    /// is left out, because the kernel's own threads write back and journal on behalf of whoever is measured.
    private static func foreignTicks() -> Double {
        let fields = ProcFile.text("stat").prefix { $0 != "\n" }.split(separator: " ").compactMap {
            Double($0)
        }
        guard fields.count >= 8 else { return 0 }
        let own = [RUSAGE_SELF, RUSAGE_CHILDREN].reduce(0.0) { sum, who in
            var usage = rusage()
            unsafe getrusage(__rusage_who_t(who.rawValue), &usage)
            return sum + Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
        }
        return fields[0] + fields[1] + fields[7] - own * Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

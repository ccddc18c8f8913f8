import Foundation

/// The resident memory of this process, file pages mapped into it included.
struct PeakMemory {
    private let baseline: Double

    /// Starts a new peak at what is resident now.
    init() {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        baseline = ProcFile.number("self/status", "VmRSS:")
    }

    /// How far the peak has risen above what was resident at the start, in megabytes (10⁶ bytes).
    func megabytes() -> Double {
        max(0, ProcFile.number("self/status", "VmHWM:") - baseline) * 1024 / 1e6
    }

    /// The largest of the processes that this one has started and waited for, in bytes.
    static var ofChildren: Int {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        return usage.ru_maxrss * 1024
    }
}

import Foundation

/// What this process uses of the machine.
struct ProcessUsage {
    /// Bytes of memory that are its own now; 0 where the system doesn't tell.
    let residentBytes: UInt64
    /// Seconds that its threads have run, and the system for them.
    let processorSeconds: Double
    /// How often the system took a thread from its processor.
    let contextSwitches: UInt64

    static var now: ProcessUsage {
        var usage = rusage()
        #if canImport(Glibc)
            unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            unsafe getrusage(RUSAGE_SELF, &usage)
        #endif
        return ProcessUsage(
            residentBytes: resident, processorSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            contextSwitches: UInt64(clamping: usage.ru_nvcsw) + UInt64(clamping: usage.ru_nivcsw))
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    #if canImport(Darwin)
        private static var resident: UInt64 {
            // Each call adds a right to the task's port, which has to be given back.
            let task = task_self_trap()
            defer { mach_port_deallocate(task, task) }
            var info = mach_task_basic_info()
            var count = mach_msg_type_number_t(
                MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
            let status = unsafe withUnsafeMutablePointer(to: &info) { pointer in
                unsafe pointer.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
                    unsafe task_info(task, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
                }
            }
            return status == KERN_SUCCESS ? info.resident_size : 0
        }
    #else
        /// The second number of `statm` is pages (proc_pid_statm(5)).
        private static var resident: UInt64 {
            guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
                return 0
            }
            let numbers = text.split(separator: " ")
            return numbers.count > 1 ? (UInt64(numbers[1]) ?? 0) * UInt64(sysconf(Int32(_SC_PAGESIZE))) : 0
        }
    #endif
}

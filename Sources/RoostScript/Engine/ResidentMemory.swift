#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// How much memory processes have.
enum ResidentMemory {
    /// Bytes of memory that this process has now; on Apple's systems the most that it ever had.
    ///
    /// Linux keeps the most that a process ever had over `exec`, so that a child would have that of the process that started it.
    static var present: Int {
        #if canImport(Darwin)
            var usage = rusage()
            unsafe getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #else
            return of("self")
        #endif
    }

    /// Bytes of memory that another process has now; 0 where the system does not say.
    static func of(_ process: pid_t) -> Int {
        #if canImport(Darwin)
            return 0
        #else
            return of(String(process))
        #endif
    }

    #if !canImport(Darwin)
        /// The second number of `statm` is pages (proc_pid_statm(5)).
        private static func of(_ process: String) -> Int {
            let file = unsafe open("/proc/\(process)/statm", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return 0 }
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: 128)
            let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress!, 128) }
            let fields = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
            return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
        }
    #endif
}

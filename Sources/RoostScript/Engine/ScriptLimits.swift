#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What scripts may take.
public struct ScriptLimits: Sendable {
    /// How many seconds one call may take: 256 documents of a view, one validation. Default: 5.
    public var seconds = 5.0
    /// How many bytes of memory a process with scripts may have. Default: 512 MiB.
    public var memory = 512 << 20
    /// How many bytes a call may answer. Default: 64 MiB.
    public var answer = 64 << 20
    /// How many functions of design documents one process keeps ready. Default: 64.
    public var functions = 64

    /// The usual ones.
    public init() {}
}

/// Why a call of a script has no result.
enum ScriptError: Error, CustomStringConvertible {
    /// The function threw, or its source is wrong.
    case thrown(String)
    case tooLong(seconds: Double)
    case tooMuchMemory(bytes: Int)
    case tooLargeAnswer(bytes: Int)
    /// The answer is nested too deeply to be kept.
    case unstorableAnswer
    /// There is no JavaScriptCore.
    case noLibrary
    /// The process ended, or does not answer as it should.
    case broken(String)

    var description: String {
        switch self {
        case .thrown(let reason): reason
        case .tooLong(let seconds): "The function took longer than \(seconds) seconds and was ended."
        case .tooMuchMemory(let bytes):
            "The function took more than \(bytes >> 20) MiB of memory and was ended."
        case .tooLargeAnswer(let bytes): "The function answered more than \(bytes >> 20) MiB."
        case .unstorableAnswer: "What the function answered is nested too deeply to be kept."
        case .noLibrary:
            "JavaScript needs the library JavaScriptCore, which is not installed: Debian's libjavascriptcoregtk-4.1-0."
        case .broken(let reason): "The process that runs JavaScript \(reason)."
        }
    }
}

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

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Runs scripts for another process: what a child of ``JavaScript`` has to call at once.
///
/// It reads requests from standard input and answers to standard output until its input ends.
public enum ScriptWorker {
    /// Serves the process that started this one.
    ///
    /// - Parameter limits: The same as the other process has.
    public static func run(_ limits: ScriptLimits = ScriptLimits()) {
        confine()
        var worlds = ScriptWorlds(limits)
        let watch = ScriptWatch(limits)
        while let message = ScriptMessage.read(STDIN_FILENO) {
            watch.begin()
            let answer = worlds.answer(message)
            watch.end()
            guard answer.write(STDOUT_FILENO) else { return }
        }
    }

    /// Gives up what scripts need not have: files that were open, files that could be written, and root's rights.
    private static func confine() {
        #if canImport(Glibc)
            closefrom(3)
        #else
            for descriptor in 3..<Int32(1024) { close(descriptor) }
        #endif
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &none)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        #else
            unsafe setrlimit(RLIMIT_FSIZE, &none)
            unsafe setrlimit(RLIMIT_CORE, &none)
        #endif
        if geteuid() == 0 {
            let nobody: UInt32 = 65534
            setgroups(0, nil)
            _ = setgid(nobody)
            _ = setuid(nobody)
        }
    }
}

/// The functions that a process keeps ready, each in its own world.
struct ScriptWorlds {
    private let limits: ScriptLimits
    private var contexts: [ArraySlice<UInt8>: ScriptContext] = [:]

    init(_ limits: ScriptLimits) { self.limits = limits }

    /// Does what a message asks for.
    mutating func answer(_ message: ScriptMessage) -> ScriptMessage {
        do throws(ScriptError) {
            guard message.kind == .request else {
                contexts = [:]
                return ScriptMessage(kind: .answer, bytes: [])
            }
            return ScriptMessage(kind: .answer, bytes: try respond(message.bytes))
        } catch {
            switch error {
            case .tooLong: return ScriptMessage(kind: .tooLong, bytes: [])
            case .tooMuchMemory: return ScriptMessage(kind: .tooMuchMemory, bytes: [])
            case .tooLargeAnswer: return ScriptMessage(kind: .tooLargeAnswer, bytes: [])
            case .noLibrary: return ScriptMessage(kind: .noLibrary, bytes: [])
            case .thrown(let reason), .broken(let reason):
                return ScriptMessage(kind: .thrown, bytes: Array(reason.utf8))
            case .unstorableAnswer: return ScriptMessage(kind: .thrown, bytes: Array(error.description.utf8))
            }
        }
    }

    private mutating func respond(_ bytes: [UInt8]) throws(ScriptError) -> [UInt8] {
        guard let end = bytes.firstIndex(of: 0) else { throw .broken("got a request without a key") }
        let key = bytes[..<end]
        let context: ScriptContext
        if let known = contexts[key] {
            context = known
        } else {
            context = try ScriptContext(limits)
            contexts[key] = context
        }
        return try context.respond(to: Array(bytes[(end + 1)...]))
    }
}

import Dispatch
import Synchronization

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

    /// Executes a message.
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

/// Ends this process when a call takes more time or memory than it may, after saying so to the process that started it.
///
/// It looks from a thread of its own, so that it needs nothing from the engine and ends what the engine could not interrupt, such as a
/// long search by a regular expression. The other process starts another child afterwards.
final class ScriptWatch: Sendable {
    private struct State {
        /// When the running call is to end, in nanoseconds; `nil` while none runs.
        var deadline: UInt64?
        /// Whether the thread sleeps until a call begins.
        var isIdle = false
    }

    private let limits: ScriptLimits
    private let state = Mutex(State())
    private let began = DispatchSemaphore(value: 0)

    /// Microseconds between looks.
    private static let interval: UInt32 = 100_000

    /// Watches until the process ends.
    init(_ limits: ScriptLimits) {
        self.limits = limits
        DispatchQueue.global().async { self.watch() }
    }

    /// A call begins.
    func begin() {
        let deadline = Self.now + UInt64(min(max(limits.seconds, 0), 1e9) * 1e9)
        let isIdle = state.withLock { state in
            state.deadline = deadline
            defer { state.isIdle = false }
            return state.isIdle
        }
        if isIdle { began.signal() }
    }

    /// The call has ended within its limits.
    func end() { state.withLock { $0.deadline = nil } }

    private func watch() {
        while true {
            let isIdle = state.withLock { state in
                guard let deadline = state.deadline else {
                    state.isIdle = true
                    return true
                }
                // With the lock held: the call can't end meanwhile and answer, too.
                if let verdict = verdict(deadline) { Self.exit(with: verdict) }
                return false
            }
            if isIdle { began.wait() } else { usleep(Self.interval) }
        }
    }

    private func verdict(_ deadline: UInt64) -> ScriptMessage.Kind? {
        if Self.now > deadline { return .tooLong }
        return ResidentMemory.present > limits.memory ? .tooMuchMemory : nil
    }

    private static func exit(with verdict: ScriptMessage.Kind) -> Never {
        _ = ScriptMessage(kind: verdict, bytes: []).write(STDOUT_FILENO)
        _exit(0)
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

/// A message between a process that runs scripts and its caller: four bytes of length, least first, one byte that
/// says what it is, and that many bytes.
struct ScriptMessage {
    enum Kind: UInt8 {
        // Requests.
        /// A function, by its key: the key, a zero byte, and a request for the prelude.
        case request
        /// All functions are to be forgotten.
        case forget
        // Answers.
        case answer
        case tooLong, tooMuchMemory, tooLargeAnswer, noLibrary, thrown
    }

    let kind: Kind
    let bytes: [UInt8]

    /// What a message answers.
    ///
    /// - Throws: What it says was wrong.
    func answer(_ limits: ScriptLimits) throws(ScriptError) -> [UInt8] {
        switch kind {
        case .answer: return bytes
        case .tooLong: throw .tooLong(seconds: limits.seconds)
        case .tooMuchMemory: throw .tooMuchMemory(bytes: limits.memory)
        case .tooLargeAnswer: throw .tooLargeAnswer(bytes: limits.answer)
        case .noLibrary: throw .noLibrary
        case .thrown: throw .thrown(String(decoding: bytes, as: UTF8.self))
        case .request, .forget: throw .broken("answered with a request")
        }
    }

    /// The longest that is taken, in bytes.
    static let longest = 256 << 20

    var encoded: [UInt8] {
        let count = UInt32(bytes.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + [kind.rawValue] + bytes
    }

    /// Length and kind of a message that begins with these five bytes; `nil` for what can't be.
    static func head(_ bytes: [UInt8]) -> (count: Int, kind: Kind)? {
        let count = (0..<4).reduce(0) { $0 | Int(bytes[$1]) << (8 * $1) }
        guard count <= longest, let kind = Kind(rawValue: bytes[4]) else { return nil }
        return (count, kind)
    }

    /// Reads the next message, waiting for it; `nil` at the end, or for what is none.
    static func read(_ descriptor: Int32) -> ScriptMessage? {
        guard let start = bytes(5, from: descriptor), let head = head(start),
            let content = bytes(head.count, from: descriptor)
        else { return nil }
        return ScriptMessage(kind: head.kind, bytes: content)
    }

    private static func bytes(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let received = unsafe bytes.withUnsafeMutableBytes {
                unsafe systemRead(descriptor, $0.baseAddress! + done, count - done)
            }
            if received < 0, errno == EINTR { continue }
            guard received > 0 else { return nil }
            done += received
        }
        return bytes
    }

    /// Writes it, waiting until all is written; answers whether it could be.
    func write(_ descriptor: Int32) -> Bool {
        let bytes = encoded
        var done = 0
        while done < bytes.count {
            let sent = unsafe bytes.withUnsafeBytes {
                unsafe systemWrite(descriptor, $0.baseAddress! + done, bytes.count - done)
            }
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            done += sent
        }
        return true
    }
}

// Within the type above, the names of its own methods would hide these.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    unsafe read(descriptor, bytes, count)
}
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}

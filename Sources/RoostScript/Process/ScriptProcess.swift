import Dispatch

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A child process that runs scripts. Belongs to one thread at a time.
final class ScriptProcess: ScriptPeer {
    private let limits: ScriptLimits
    private let process: pid_t
    private let input: Int32
    private let output: Int32
    private var hasEnded = false

    /// Milliseconds between looks at a process that does not answer.
    private static let interval: Int32 = 100
    /// Seconds that it gets beyond its own limit before it is killed, for one that does not end itself.
    private static let grace = 1.0

    /// Starts a process.
    ///
    /// - Parameter command: The program's path and its arguments; it has to call ``ScriptWorker/run(_:)``.
    init(_ command: [String], _ limits: ScriptLimits) throws(ScriptError) {
        self.limits = limits
        var requests: [Int32] = [-1, -1]
        var answers: [Int32] = [-1, -1]
        guard unsafe pipe(&requests) == 0 else { throw .broken("got no pipe") }
        guard unsafe pipe(&answers) == 0 else {
            for descriptor in requests { close(descriptor) }
            throw .broken("got no pipe")
        }
        for descriptor in requests + answers { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        guard let process = Self.spawn(command, input: requests[0], output: answers[1]) else {
            for descriptor in requests + answers { close(descriptor) }
            throw .broken("can't be started: \(command.first ?? "")")
        }
        close(requests[0])
        close(answers[1])
        self.process = process
        input = requests[1]
        output = answers[0]
        // Writing to a process that has died is an error then, and no signal.
        _ = fcntl(input, F_SETFL, fcntl(input, F_GETFL) | O_NONBLOCK)
    }

    deinit { end() }

    #if os(tvOS) || os(watchOS)
        /// The system has no other processes.
        private static func spawn(_ command: [String], input: Int32, output: Int32) -> pid_t? { nil }
    #else
        private static func spawn(_ command: [String], input: Int32, output: Int32) -> pid_t? {
            #if canImport(Darwin)
                var actions: posix_spawn_file_actions_t?
            #else
                var actions = unsafe posix_spawn_file_actions_t()
            #endif
            unsafe posix_spawn_file_actions_init(&actions)
            defer { unsafe posix_spawn_file_actions_destroy(&actions) }
            unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
            unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
            var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
            defer { unsafe arguments.forEach { unsafe free($0) } }
            // No environment: it has nothing to tell to scripts.
            var environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
            var process: pid_t = 0
            let status = unsafe posix_spawn(&process, command[0], &actions, nil, &arguments, &environment)
            return status == 0 ? process : nil
        }
    #endif

    var isUsable: Bool { !hasEnded }

    func exchange(_ message: ScriptMessage) throws(ScriptError) -> ScriptMessage {
        guard !hasEnded else { throw .broken("has ended") }
        do throws(ScriptError) {
            let deadline = Self.now + limits.seconds + Self.grace
            try send(message.encoded, deadline)
            let start = try receive(5, deadline)
            guard let head = ScriptMessage.head(start) else { throw .broken("does not answer as it should") }
            let answer = ScriptMessage(kind: head.kind, bytes: try receive(head.count, deadline))
            // What a script did to a process that had to stop it is not known.
            if answer.kind != .answer, answer.kind != .thrown { end() }
            return answer
        } catch {
            end()
            throw error
        }
    }

    // MARK: Waiting

    private func send(_ bytes: [UInt8], _ deadline: Double) throws(ScriptError) {
        var done = 0
        while done < bytes.count {
            let sent = unsafe bytes.withUnsafeBytes {
                unsafe write(input, $0.baseAddress! + done, bytes.count - done)
            }
            if sent > 0 {
                done += sent
            } else if sent < 0, errno == EAGAIN {
                try wait(input, Int16(POLLOUT), deadline)
            } else if sent == 0 || errno != EINTR {
                throw .broken("has ended")
            }
        }
    }

    private func receive(_ count: Int, _ deadline: Double) throws(ScriptError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            try wait(output, Int16(POLLIN), deadline)
            let received = unsafe bytes.withUnsafeMutableBytes {
                unsafe read(output, $0.baseAddress! + done, count - done)
            }
            if received < 0, errno == EINTR { continue }
            guard received > 0 else { throw .broken("has ended") }
            done += received
        }
        return bytes
    }

    /// Waits until there is something to read or room to write, and looks after time and memory meanwhile.
    private func wait(_ descriptor: Int32, _ events: Int16, _ deadline: Double) throws(ScriptError) {
        while true {
            var wanted = pollfd(fd: descriptor, events: events, revents: 0)
            if unsafe poll(&wanted, 1, Self.interval) > 0 { return }
            if Self.now > deadline { throw .tooLong(seconds: limits.seconds) }
            if ResidentMemory.of(process) > limits.memory + limits.memory / 4 {
                throw .tooMuchMemory(bytes: limits.memory)
            }
        }
    }

    private static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

    /// Ends the process. Doing it twice does nothing.
    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        close(input)
        close(output)
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
    }
}

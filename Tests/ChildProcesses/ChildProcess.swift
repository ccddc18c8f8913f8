import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// `kill` by another name, since the method below has that one.
private func send(_ signal: Int32, to process: pid_t) { _ = kill(process, signal) }

/// A program, such as one that is built beside the tests, running as a process of its own. Belongs to one thread at a time.
///
/// Foundation's `Process` now and then never learns of the end of one that is killed, and on Linux it reads beyond the end of what
/// `readdir` gave it where many files are open (`findMaximumOpenFromProcSelfFD`), which is a crash now and then.
package final class ChildProcess {
    /// What becomes of what the program writes to its standard error.
    package enum Errors {
        /// It is the tests' own.
        case shown
        /// It is part of the output.
        case joined
        /// Nobody sees it.
        case hidden
    }

    package let identifier: pid_t
    private let output: FileHandle
    private let input: FileHandle
    /// What `waitpid` has told of its end.
    private var status: Int32?

    /// Held while a process is started. Another one that inherits its pipes would keep them open after the process has ended.
    private static let starting = Mutex(())

    package convenience init(_ arguments: [String], of program: String = "CommitWriter") throws {
        try self.init(command: [Self.directory.appendingPathComponent(program).path] + arguments)
    }

    /// Runs a program to its end; answers its exit status, or the signal that has ended it, and what it wrote.
    ///
    /// - Parameter input: its standard input, of which a pipe holds all.
    package static func run(
        _ command: [String], input: String = "", errors: Errors = .joined
    ) throws -> (status: Int32, output: Data) {
        let process = try ChildProcess(command: command, errors: errors)
        try process.input.write(contentsOf: Data(input.utf8))
        try process.input.close()
        let output = process.output.readDataToEndOfFile()
        return (process.waitForEnd(), output)
    }

    /// Runs the program that `command` begins with, a path or a name to be found as a shell finds it.
    package init(command: [String], errors: Errors = .shown) throws {
        (identifier, input, output) = try Self.starting.withLock { _ in
            let (input, output) = (try Self.makePipe(), try Self.makePipe())
            defer { for descriptor in [input.reading, output.writing] { close(descriptor) } }
            let process = try Self.spawn(command, input: input.reading, output: output.writing, errors)
            return (
                process, FileHandle(fileDescriptor: input.writing, closeOnDealloc: true),
                FileHandle(fileDescriptor: output.reading, closeOnDealloc: true)
            )
        }
    }

    deinit { if status == nil { kill() } }

    private static func makePipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ command: [String], input: Int32, output: Int32, _ errors: Errors
    ) throws -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = unsafe posix_spawn_file_actions_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        switch errors {
        case .shown: break
        case .joined: unsafe posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        case .hidden:
            unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        // What would print a trace keeps the pipes open when the program is killed meanwhile.
        let variables = ProcessInfo.processInfo.environment
            .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            .map { "\($0.key)=\($0.value)" }
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        var environment = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let failure = unsafe posix_spawnp(&process, command[0], &actions, nil, &arguments, &environment)
        guard failure == 0 else { throw POSIXError(.init(rawValue: failure) ?? .ENOENT) }
        return process
    }

    /// Where the test bundle was built, and with it the program.
    private static var directory: URL {
        #if canImport(Darwin)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            return (bundle ?? .main).bundleURL.deletingLastPathComponent()
        #else
            return URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        #endif
    }

    package var isRunning: Bool {
        var status: Int32 = 0
        if self.status == nil, unsafe waitpid(identifier, &status, WNOHANG) == identifier {
            self.status = status
        }
        return self.status == nil
    }

    /// Ends the process without giving it a moment to do anything.
    package func kill() { _ = end(by: SIGKILL) }

    /// Asks the process to end, by a signal that it may handle, and waits until it has; its exit status, or the signal that has
    /// ended it.
    package func end(by signal: Int32) -> Int32 {
        if status == nil { send(signal, to: identifier) }
        return waitForEnd()
    }

    private func waitForEnd() -> Int32 {
        var status = status ?? 0
        if self.status == nil {
            while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            self.status = status
        }
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : signal
    }

    /// What the process has written since it was last asked; waits until there is something, or until it ended.
    package func read() -> String { String(decoding: output.availableData, as: UTF8.self) }

    /// Writes to its standard input, which stays open.
    package func write(_ text: String) throws { try input.write(contentsOf: Data(text.utf8)) }

    /// All that the process wrote and nobody has read, until it ends.
    package func readToEnd() -> String { String(decoding: output.readDataToEndOfFile(), as: UTF8.self) }

    /// Ends the process's standard input and waits for it to end.
    package func finish() -> Int32 {
        try? input.close()
        return waitForEnd()
    }
}

import Foundation
import Roost
import Synchronization

/// Shows what is printed page by page on a terminal: after each page a key is waited for.
final class Pager: Sendable {
    private struct Position {
        var lines = 0
        /// Whether no more is to be shown.
        var isOver = false
        /// Whether the rest is shown at once.
        var isOff = false
    }

    private let position = Mutex(Position())
    /// Whether Ctrl-C came: then nothing more is shown, and nothing asked.
    private let isInterrupted: @Sendable () -> Bool

    init(isInterrupted: @escaping @Sendable () -> Bool) { self.isInterrupted = isInterrupted }

    /// Whether the user has ended the output.
    var isOver: Bool { position.withLock { $0.isOver } }

    /// Whether a line may be printed; waits for a key where the page is full.
    func admits(_ line: String) -> Bool {
        guard !isInterrupted() else { return false }
        let width = line.reduce(0) { $0 + $1.columns }
        let height = max(1, (width + RawTerminal.columns - 1) / RawTerminal.columns)
        let isFull = position.withLock { position in
            guard !position.isOver, !position.isOff else { return false }
            defer { position.lines += height }
            return position.lines > 0 && position.lines + height > RawTerminal.rows - 1
        }
        if isFull { ask() }
        return !isOver
    }

    private func ask() {
        try? Console.flush()
        let terminal = RawTerminal()
        terminal.write("-- more -- (Space: a page, Enter: a line, a: all, q: no more)")
        let key = try? terminal.set(.keys) { terminal.byte() }
        terminal.write("\r\u{1B}[K")
        // What stops a statement stops it here, too.
        if key == RawTerminal.controlC { raise(SIGINT) }
        position.withLock { position in
            switch key {
            case UInt8(ascii: "q"), UInt8(ascii: "Q"), RawTerminal.controlC, 4, nil: position.isOver = true
            case UInt8(ascii: "a"), UInt8(ascii: "A"): position.isOff = true
            case 10, 13: position.lines -= 1
            default: position.lines = 0
            }
        }
    }
}

// MARK: - CommandProcess

/// A command of the tool in a process of its own, which has the terminal while it runs: Ctrl-C ends it, whatever it does, and not
/// the shell. A database stays intact whenever that happens.
enum CommandProcess {
    /// Runs the tool with these arguments, and waits for its end.
    ///
    /// - Parameter key: the database's key, which the process reads from a pipe.
    /// - Returns: the exit status, or 128 and the number of the signal that ended it.
    static func run(_ arguments: [String], key: EncryptionKey?) throws -> Int32 {
        try Console.flush()
        guard let key else { return try wait(for: spawn(arguments)) }
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw CommandFailure.system("The key can't be passed to it") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        do {
            defer { close(ends[1]) }
            var bytes = unsafe key.withBytes { unsafe [UInt8]($0) }
            defer { for index in bytes.indices { bytes[index] = 0 } }
            try OutputFile.write(bytes[...], to: ends[1])
        }
        let option = key.isPassphrase ? "--passphrase-file" : "--key-file"
        return try wait(for: spawn(arguments + [option, "/dev/fd/\(keyDescriptor)"], key: ends[0]))
    }

    /// Where the process finds the pipe with the key.
    private static let keyDescriptor: Int32 = 3

    private static func spawn(_ arguments: [String], key: Int32? = nil) throws -> pid_t {
        guard let program = Bundle.main.executablePath else {
            throw CommandFailure("The tool does not find itself.")
        }
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = unsafe posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let key { unsafe posix_spawn_file_actions_adddup2(&actions, key, keyDescriptor) }
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { unsafe sigaddset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        // Threads may have signals blocked, and the process would, too.
        var blocked = sigset_t()
        unsafe sigemptyset(&blocked)
        unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let failure = unsafe posix_spawn(&process, program, &actions, &attributes, &words, environ)
        guard failure == 0 else {
            throw CommandFailure("\(program) can't be started: \(unsafe String(cString: strerror(failure))).")
        }
        return process
    }

    private static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }
}

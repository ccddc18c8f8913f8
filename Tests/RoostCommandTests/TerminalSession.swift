import Foundation
import Testing

@testable import RoostCommand

/// The tool on a pseudo terminal that controls it: Ctrl-C reaches what runs there.
final class TerminalSession {
    let process: pid_t
    private let controller: FileHandle
    private let terminal: Int32
    private var seen = ""
    private var status: Int32?

    init(_ arguments: [String], history: String = "", kind: String = "xterm") throws {
        let descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.ENOTTY) }
        // The number of the terminal, which is unlocked: Linux's TIOCGPTN and TIOCSPTLCK.
        var (number, lock) = (CInt(0), CInt(0))
        guard unsafe ioctl(descriptor, 0x8004_5430, &number) == 0,
            unsafe ioctl(descriptor, 0x4004_5431, &lock) == 0
        else { throw POSIXError(.ENOTTY) }
        let name = "/dev/pts/\(number)"
        terminal = unsafe open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        controller = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var size = winsize(ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(descriptor, UInt(TIOCSWINSZ), &size)
        var environment = ProcessInfo.processInfo.environment
        environment["ROOST_HISTORY"] = history
        environment["TERM"] = kind
        process = try Self.spawn([Tool.program] + arguments, on: name, environment)
    }

    deinit {
        if status == nil {
            kill(process, SIGKILL)
            _ = end()
        }
        close(terminal)
    }

    /// Starts a session of which the terminal is the controlling one: the first that it opens.
    private static func spawn(_ command: [String], on terminal: String, _ variables: [String: String]) throws
        -> pid_t
    {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = unsafe posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, terminal, O_RDWR, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO)
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // POSIX_SPAWN_SETSID of Linux.
        unsafe posix_spawnattr_setflags(&attributes, 0x80)
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        var environment = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let failure = unsafe posix_spawn(
            &process, command[0], &actions, &attributes, &arguments, &environment)
        guard failure == 0 else { throw POSIXError(.init(rawValue: failure) ?? .ENOENT) }
        return process
    }

    func type(_ keys: String) throws { try controller.write(contentsOf: Data(keys.utf8)) }

    /// Reads until `text` was shown after what was read before, and answers what came in between. Fails when nothing is shown for
    /// a minute.
    @discardableResult func wait(for text: String) throws -> String {
        while true {
            if let place = seen.range(of: text) {
                defer { seen = String(seen[place.upperBound...]) }
                return String(seen[..<place.lowerBound])
            }
            var waiting = pollfd(fd: controller.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let isReady = unsafe poll(&waiting, 1, 60_000) > 0
            try #require(isReady, "\(text.debugDescription) is waited for, after \(seen.debugDescription)")
            let data = controller.availableData
            try #require(!data.isEmpty, "the tool ended, after \(seen.debugDescription)")
            seen += String(decoding: data, as: UTF8.self)
        }
    }

    /// Waits for the end; the exit status, or 128 and the signal that ended it.
    func end() -> Int32 {
        if let status { return status }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        self.status = signal == 0 ? status >> 8 & 0xff : 128 + signal
        return self.status ?? -1
    }

    /// Whether keys are shown and lines are handed over whole, as before.
    var isAsBefore: Bool {
        var settings = termios()
        guard unsafe tcgetattr(terminal, &settings) == 0 else { return false }
        return settings.c_lflag & tcflag_t(ECHO | ICANON | ISIG) == tcflag_t(ECHO | ICANON | ISIG)
    }
}

import Dispatch
import Foundation
import Synchronization

/// The terminal of standard input and output, while it is set otherwise than programs find it.
///
/// Whatever ends the program puts the terminal back: returning, errors, and the signals that a terminal or `kill` sends.
final class RawTerminal {
    /// How keys come.
    enum Mode {
        /// One by one, without being shown.
        case keys
        /// By lines, which the terminal lets users edit and shows. Ctrl-C ends one, too, and is its last byte.
        case lines
    }

    static let controlC: UInt8 = 3

    /// How the terminal was before; `nil` while it is as it was.
    private static let saved = Mutex<termios?>(nil)
    /// What watches for the signals that end the program.
    private static let watches = Mutex<[any DispatchSourceSignal]>([])
    /// What came and was not asked for yet, in reverse.
    private var waiting: [UInt8] = []

    init() {
        Self.watches.withLock { watches in
            guard watches.isEmpty else { return }
            for number in [SIGTERM, SIGHUP, SIGQUIT] {
                signal(number, SIG_IGN)
                let watch = DispatchSource.makeSignalSource(signal: number, queue: .global())
                watch.setEventHandler {
                    Self.restore()
                    Self.end(with: number)
                }
                watch.resume()
                watches.append(watch)
            }
        }
    }

    /// Ends the program as the signal does by default. Threads of Dispatch have signals blocked.
    private static func end(with number: Int32) {
        signal(number, SIG_DFL)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    /// Calls `body` while keys come in another way.
    func set<R>(_ mode: Mode, _ body: () throws -> R) throws -> R {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw CommandFailure.system("The terminal can't be asked")
        }
        Self.saved.withLock { $0 = settings }
        defer { Self.restore() }
        settings.c_lflag &= ~tcflag_t(ISIG)
        switch mode {
        case .keys:
            settings.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN)
            settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | BRKINT | INPCK | ISTRIP)
        case .lines:
            unsafe withUnsafeMutableBytes(of: &settings.c_cc) { unsafe $0[Int(VEOL)] = Self.controlC }
        }
        guard unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else {
            throw CommandFailure.system("The terminal can't be set")
        }
        return try body()
    }

    private static func restore() {
        saved.withLock { saved in
            guard var settings = saved else { return }
            _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
            saved = nil
        }
    }

    /// Whether a byte has come already.
    var hasByte: Bool { !waiting.isEmpty }

    /// The next byte; `nil` at the end.
    func byte() -> UInt8? {
        while waiting.isEmpty {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 {
                waiting = buffer.prefix(count).reversed()
            } else if count == 0 || errno != EINTR {
                return nil
            }
        }
        return waiting.removeLast()
    }

    func write(_ text: String) { try? OutputFile.write(Array(text.utf8)[...], to: STDOUT_FILENO) }

    /// How many columns the terminal shows; 80 where that is not known.
    static var columns: Int {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// How many lines the terminal shows; 24 where that is not known.
    static var rows: Int {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 24 }
        return Int(size.ws_row)
    }

    /// Whether it obeys sequences that move the cursor and set colours.
    static var understandsEscapes: Bool {
        !["", "dumb"].contains(ProcessInfo.processInfo.environment["TERM"] ?? "")
    }
}

// MARK: - Waiting

/// The tool's main thread, which waits for tasks: no task runs on it.
enum Waiting {
    /// What a task comes to.
    static func result<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
        let ended = DispatchSemaphore(value: 0)
        let result = Mutex<Result<R, any Error>?>(nil)
        Task {
            let made: Result<R, any Error>
            do { made = .success(try await body()) } catch { made = .failure(error) }
            result.withLock { $0 = made }
            ended.signal()
        }
        ended.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    /// Calls a function when the program is interrupted or asked to end, or gets other signals, instead of ending, until the
    /// value goes.
    final class Interruption {
        private let sources: [any DispatchSourceSignal]

        /// Returns when the signals are watched: one that came before that would be lost.
        init(_ signals: [Int32] = [SIGINT, SIGTERM], _ call: @escaping @Sendable () -> Void) {
            let queue = DispatchQueue(label: "roost.signals")
            let registered = DispatchGroup()
            sources = signals.map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                source.setEventHandler(handler: call)
                registered.enter()
                source.setRegistrationHandler { registered.leave() }
                source.activate()
                return source
            }
            registered.wait()
        }

        deinit { for source in sources { source.cancel() } }
    }
}

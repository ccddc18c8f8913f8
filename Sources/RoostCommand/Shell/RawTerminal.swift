import Dispatch
import Foundation
import Synchronization

/// The terminal of standard input and output, which hands keys over one by one while a line is being written.
///
/// Whatever ends the program puts the terminal back: returning, errors, and the signals that a terminal or `kill` sends.
final class RawTerminal {
    /// How the terminal was before; `nil` while it is as it was.
    private static let saved = Mutex<termios?>(nil)
    /// What watches for the signals that end the program.
    private static let watches = Mutex<[any DispatchSourceSignal]>([])

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

    /// Ends the program as the signal does where nobody watches for it. Threads of Dispatch have signals blocked.
    private static func end(with number: Int32) {
        signal(number, SIG_DFL)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    /// Calls `body` while keys come one by one, without being shown.
    func raw<R>(_ body: () throws -> R) throws -> R {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw CommandFailure.system("The terminal can't be asked")
        }
        Self.saved.withLock { $0 = settings }
        defer { Self.restore() }
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | BRKINT | INPCK | ISTRIP)
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

    /// The next byte; `nil` at the end.
    func byte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(STDIN_FILENO, &byte, 1)
            if count == 1 { return byte }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    func write(_ text: String) { try? OutputFile.write(Array(text.utf8)[...], to: STDOUT_FILENO) }

    /// How many columns the terminal shows; 80 where that is not known.
    static var columns: Int {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

/// Makes Ctrl-C end what is being done, and not the program.
enum Interruption {
    static func cancelling<R>(_ body: (@escaping @Sendable () -> Bool) throws -> R) rethrows -> R {
        let flag = Flag()
        let before = signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler { flag.raise() }
        source.resume()
        defer {
            source.cancel()
            _ = signal(SIGINT, before)
        }
        return try body { flag.isRaised }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isRaised: Bool { value.load(ordering: .relaxed) }
        func raise() { value.store(true, ordering: .relaxed) }
    }
}

import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Where lines are shown, and where they are typed.
///
/// On a terminal there is a prompt with what is being typed in the last line, and lines are shown above it; what was typed is taken away
/// when it is entered, since it comes back as a message. Where input or output is no terminal, lines are written as they are.
enum Screen {
    private struct State {
        /// The terminal's settings from before; `nil` where there is no prompt.
        var settings: termios?
        var prompt = ""
        var typed = ""
    }
    private static let state = Mutex(State())

    // MARK: Showing

    /// Shows a line. What others wrote must not steer the terminal, turn the direction of lines, or look like more lines than one.
    static func show(_ line: String) {
        state.withLock { state in
            write((state.settings == nil ? "" : clear) + harmless(line) + "\n" + promptText(state))
        }
    }

    /// What stands before what is typed.
    static func prompt(_ text: String) {
        state.withLock { state in
            state.prompt = harmless(text) + "> "
            write(promptText(state))
        }
    }

    private static let clear = "\r\u{1B}[K"

    private static func harmless(_ line: String) -> String {
        var harmless = String.UnicodeScalarView()
        for scalar in line.unicodeScalars {
            let turns = (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
            harmless.append(scalar.properties.generalCategory == .control || turns ? "\u{FFFD}" : scalar)
        }
        return String(harmless)
    }

    private static func write(_ text: String) {
        if !text.isEmpty { FileHandle.standardOutput.write(Data(text.utf8)) }
    }

    /// The last line, with as much of what is being typed as there is room for; nothing where there is no prompt.
    private static func promptText(_ state: State) -> String {
        guard state.settings != nil else { return "" }
        var size = winsize()
        let width =
            ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
        let prompt = String(state.prompt.prefix(width / 2))
        var room = width - 1 - columns(prompt)
        var shown: [Character] = []
        for character in state.typed.reversed() {
            room -= columns(String(character))
            if room < 0 { break }
            shown.append(character)
        }
        return clear + prompt + harmless(String(shown.reversed()))
    }

    /// How many columns a text may take.
    private static func columns(_ text: String) -> Int { text.reduce(0) { $0 + ($1.isASCII ? 1 : 2) } }

    // MARK: Typing

    /// The lines that are typed. Ends with the input, or at Ctrl-C and Ctrl-D.
    static func lines() -> AsyncStream<String> {
        begin()
        return AsyncStream { stream in
            // Reading waits, so it has a thread of its own.
            Thread.detachNewThread {
                if state.withLock({ $0.settings == nil }) {
                    while let line = readLine() { stream.yield(line) }
                } else {
                    readKeys { stream.yield($0) }
                }
                stream.finish()
            }
        }
    }

    private static func begin() {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return }
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
        state.withLock { $0.settings = settings }
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Gives the terminal back as it was.
    static func end() {
        state.withLock { state in
            guard var settings = state.settings.take() else { return }
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
            write(clear)
        }
    }

    /// Reads keys until the input ends: letters, backspace, Ctrl-U, and the end of a line. Others are passed over.
    private static func readKeys(_ enter: (String) -> Void) {
        var pending: [UInt8] = []
        var isInSequence = false
        while true {
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else { return }
            if isInSequence {
                // Of an arrow or a function key.
                isInSequence =
                    !(0x40...0x7E).contains(byte) || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O")
                continue
            }
            switch byte {
            case 3: return
            case 4: if state.withLock({ $0.typed.isEmpty }) { return }
            case 10, 13:
                enter(
                    state.withLock { state in
                        defer { state.typed = "" }
                        return state.typed
                    })
            case 8, 127: state.withLock { _ = $0.typed.popLast() }
            case 21: state.withLock { $0.typed = "" }
            case 27: isInSequence = true
            case 0..<32: break
            default:
                pending.append(byte)
                guard let text = String(validating: pending, as: UTF8.self) else {
                    if pending.count >= 4 { pending = [] }
                    continue
                }
                pending = []
                state.withLock { $0.typed += text }
            }
            state.withLock { write(promptText($0)) }
        }
    }
}

// MARK: - Secret

/// Reads what nobody should see, neither on the screen nor in the list of processes.
enum Secret {
    static func read(_ prompt: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { return readLine() ?? "" }
        FileHandle.standardError.write(Data(prompt.utf8))
        var old = termios()
        tcgetattr(STDIN_FILENO, &old)
        var silent = old
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSANOW, &old)
            FileHandle.standardError.write(Data("\n".utf8))
        }
        return readLine() ?? ""
    }
}

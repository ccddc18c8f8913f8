import Foundation

/// Where the shell's lines come from.
protocol LineInput: AnyObject {
    /// Whether the input is interactive: prompts and hints are shown.
    var isInteractive: Bool { get }

    /// The next line, which goes on what was `typed` of a statement before.
    func next(_ prompt: String, after typed: String) throws -> InputLine

    /// Keeps a statement, which may be of several lines, so that it can be recalled.
    func remember(_ statement: String)
}

enum InputLine: Equatable {
    /// A line without its end; several where they were pasted or recalled together.
    case line(String)
    /// Ctrl-C.
    case interrupted
    /// The end of the input, or Ctrl-D.
    case end
}

// MARK: - Key

/// What is pressed on the keyboard of a terminal, or pasted.
enum KeyPress: Equatable {
    /// Characters to insert.
    case text(String)
    case enter, tab, interrupt, controlD, clear, search
    case left, right, up, down, home, end, wordLeft, wordRight
    case deleteBackward, deleteForward, deleteWord, deleteToStart, deleteToEnd
    case cancel, unknown
}

/// Makes keys of the bytes that a terminal sends (ECMA-48, and xterm's bracketed paste).
struct KeyReader {
    /// The next byte; `nil` at the end.
    let byte: () -> UInt8?
    /// Whether a byte has come already.
    let hasByte: () -> Bool
    /// A byte that was read too far.
    private var ahead: UInt8?

    init(byte: @escaping () -> UInt8?, hasByte: @escaping () -> Bool) {
        self.byte = byte
        self.hasByte = hasByte
    }

    /// Whether keys have come already.
    var hasMore: Bool { ahead != nil || hasByte() }

    /// The next key; `nil` at the end.
    mutating func next() -> KeyPress? {
        guard let first = ahead ?? byte() else { return nil }
        ahead = nil
        switch first {
        case 27: return escape()
        case 0..<32, 127: return Self.controls[first] ?? .unknown
        default: return text(first)
        }
    }

    private static let controls: [UInt8: KeyPress] = [
        1: .home, 2: .left, 3: .interrupt, 4: .controlD, 5: .end, 6: .right, 7: .cancel, 8: .deleteBackward,
        9: .tab, 10: .enter,
        11: .deleteToEnd, 12: .clear, 13: .enter, 14: .down, 16: .up, 18: .search, 21: .deleteToStart,
        23: .deleteWord, 127: .deleteBackward,
    ]

    /// The characters that have come, of which `first` begins one, so that many are shown at once.
    private mutating func text(_ first: UInt8) -> KeyPress {
        var bytes: [UInt8] = []
        var next = first
        while true {
            bytes.append(next)
            var missing = next < 0xC0 ? 0 : next < 0xE0 ? 1 : next < 0xF0 ? 2 : 3
            while missing > 0, let byte = byte() {
                bytes.append(byte)
                missing -= 1
            }
            guard hasByte(), let byte = byte() else { break }
            guard byte >= 32, byte != 127 else {
                ahead = byte
                break
            }
            next = byte
        }
        return .text(String(decoding: bytes, as: UTF8.self))
    }

    /// A key that sends several bytes.
    private func escape() -> KeyPress {
        guard let first = byte() else { return .unknown }
        switch first {
        case UInt8(ascii: "b"): return .wordLeft
        case UInt8(ascii: "f"): return .wordRight
        case UInt8(ascii: "["), UInt8(ascii: "O"): break
        default: return .unknown
        }
        var parameters = ""
        while let byte = byte() {
            guard byte &- 48 < 10 || byte == UInt8(ascii: ";") else { return key(byte, parameters) }
            parameters.append(Character(UnicodeScalar(byte)))
        }
        return .unknown
    }

    private func key(_ final: UInt8, _ parameters: String) -> KeyPress {
        // Ctrl and Alt go by words.
        let isByWord = parameters.contains(";")
        switch (Character(UnicodeScalar(final)), parameters) {
        case ("A", _): return .up
        case ("B", _): return .down
        case ("C", _): return isByWord ? .wordRight : .right
        case ("D", _): return isByWord ? .wordLeft : .left
        case ("H", _), ("~", "1"), ("~", "7"): return .home
        case ("F", _), ("~", "4"), ("~", "8"): return .end
        case ("~", "3"): return .deleteForward
        case ("~", "200"): return .text(pasted())
        default: return .unknown
        }
    }

    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// What is pasted, with line feeds for line ends.
    private func pasted() -> String {
        var bytes: [UInt8] = []
        while let byte = byte() {
            bytes.append(byte)
            guard
                byte != Self.pasteEnd.last || !bytes.suffix(Self.pasteEnd.count).elementsEqual(Self.pasteEnd)
            else {
                bytes.removeLast(Self.pasteEnd.count)
                break
            }
        }
        let lines = bytes.split(omittingEmptySubsequences: false) { $0 == 10 || $0 == 13 }
        // A carriage return and a line feed are one end.
        var text = ""
        var place = 0
        for (index, line) in lines.enumerated() {
            let isBetween =
                line.isEmpty && place > 0 && place < bytes.count && bytes[place - 1] == 13
                && bytes[place] == 10
            if !isBetween {
                if index > 0 { text += "\n" }
                text += String(decoding: line, as: UTF8.self)
            }
            place += line.count + 1
        }
        return text
    }
}

// MARK: - PlainTerminal

/// Lines from a terminal that understands no escape sequences, which lets users edit them in its own way.
final class PlainTerminal: LineInput {
    private let terminal = RawTerminal()
    private let history: LineHistory

    let isInteractive = true

    init(_ history: LineHistory) { self.history = history }

    func next(_ prompt: String, after typed: String) throws -> InputLine {
        try Console.flush()
        return try terminal.set(.lines) {
            terminal.write(prompt)
            var bytes: [UInt8] = []
            while let byte = terminal.byte() {
                switch byte {
                case 10: return .line(String(decoding: bytes, as: UTF8.self))
                case RawTerminal.controlC:
                    terminal.write("\n")
                    return .interrupted
                default: bytes.append(byte)
                }
            }
            terminal.write("\n")
            return bytes.isEmpty ? .end : .line(String(decoding: bytes, as: UTF8.self))
        }
    }

    func remember(_ statement: String) { history.add(statement) }
}

// MARK: - PipeInput

/// Lines from a pipe or file that is standard input.
final class PipeInput: LineInput {
    private let input: InputFile
    private var piece: [UInt8] = []
    private var waiting: [UInt8] = []
    private var start = 0
    private var isFirst = true

    let isInteractive = false

    /// Takes standard input, and leaves an empty one to the commands: they must not read the lines that come after theirs.
    init() throws {
        let descriptor = dup(STDIN_FILENO)
        guard descriptor >= 0 else { throw CommandFailure.system("Standard input can't be read") }
        input = InputFile(standardInput: descriptor)
        let empty = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard empty >= 0, dup2(empty, STDIN_FILENO) >= 0 else {
            throw CommandFailure.system("/dev/null can't be read")
        }
        close(empty)
    }

    func next(_ prompt: String, after typed: String) throws -> InputLine {
        guard var line = try nextLine() else { return .end }
        if isFirst, line.unicodeScalars.first == "\u{FEFF}" { line.unicodeScalars.removeFirst() }
        isFirst = false
        if line.unicodeScalars.last == "\r" { line.unicodeScalars.removeLast() }
        return .line(line)
    }

    private func nextLine() throws -> String? {
        var searched = start
        while true {
            if let end = waiting[searched...].firstIndex(of: 10) {
                defer { start = end + 1 }
                return String(decoding: waiting[start..<end], as: UTF8.self)
            }
            waiting.removeFirst(start)
            start = 0
            searched = waiting.count
            // What has come is carried out before more is waited for: the other end may wait for the answer.
            try input.read(1 << 16, into: &piece)
            guard !piece.isEmpty else { break }
            waiting += piece
        }
        guard !waiting.isEmpty else { return nil }
        defer { waiting = [] }
        return String(decoding: waiting, as: UTF8.self)
    }

    func remember(_ statement: String) {}
}

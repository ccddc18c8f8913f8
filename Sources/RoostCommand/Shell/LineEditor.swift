/// Reads lines from a terminal, with the keys that shells have: arrows, Home, End, Ctrl-A E B F K U W L, Alt-B F, the
/// history with up and down, completion with Tab. Ctrl-C gives a line up, Ctrl-D on an empty one ends.
final class LineEditor {
    private let terminal: RawTerminal
    private let history: LineHistory
    /// What the word before the cursor may become, for the text before the cursor.
    private let complete: (String) -> Completion
    private var line = EditedLine()
    private var prompt = ""
    /// The place in the history, counted from its end; 0 for the line that is being written.
    private var age = 0
    private var draft = EditedLine()

    init(_ terminal: RawTerminal, _ history: LineHistory, _ complete: @escaping (String) -> Completion) {
        self.terminal = terminal
        self.history = history
        self.complete = complete
    }

    /// The next line; `nil` at the end.
    func readLine(_ prompt: String) throws -> String? {
        try Console.flush()
        self.prompt = prompt
        line = EditedLine()
        age = 0
        let text = try terminal.raw { read() }
        if let text { history.add(text) }
        return text
    }

    private func read() -> String? {
        show()
        while let byte = terminal.byte() {
            switch byte {
            case 10, 13:
                line.moveToEnd()
                show()
                terminal.write("\r\n")
                return line.text
            case 3:
                terminal.write("^C\r\n")
                line = EditedLine()
                age = 0
            case 4 where line.characters.isEmpty:
                terminal.write("\r\n")
                return nil
            case 9: completeWord()
            case 12: terminal.write("\u{1B}[H\u{1B}[2J")
            case 27: escape()
            case 0..<32, 127: control(byte)
            default: line.insert(character(byte))
            }
            show()
        }
        return line.characters.isEmpty ? nil : line.text
    }

    private func control(_ byte: UInt8) {
        switch byte {
        case 1: line.moveToStart()
        case 2: line.move(by: -1)
        case 4: line.deleteForward()
        case 5: line.moveToEnd()
        case 6: line.move(by: 1)
        case 8, 127: line.deleteBackward()
        case 11: line.deleteToEnd()
        case 14: recall(-1)
        case 16: recall(1)
        case 21: line.deleteToStart()
        case 23: line.deleteWordBackward()
        default: break
        }
    }

    /// A key that sends several bytes.
    private func escape() {
        guard let first = terminal.byte() else { return }
        switch first {
        case UInt8(ascii: "b"): return line.moveByWord(-1)
        case UInt8(ascii: "f"): return line.moveByWord(1)
        case UInt8(ascii: "["), UInt8(ascii: "O"): break
        default: return
        }
        var digits = ""
        while let byte = terminal.byte() {
            if byte &- 48 < 10 || byte == UInt8(ascii: ";") {
                digits.append(Character(UnicodeScalar(byte)))
                continue
            }
            return key(byte, digits)
        }
    }

    private func key(_ byte: UInt8, _ digits: String) {
        // Ctrl and Alt go by words.
        let isByWord = digits.contains(";")
        switch byte {
        case UInt8(ascii: "A"): recall(1)
        case UInt8(ascii: "B"): recall(-1)
        case UInt8(ascii: "C"): if isByWord { line.moveByWord(1) } else { line.move(by: 1) }
        case UInt8(ascii: "D"): if isByWord { line.moveByWord(-1) } else { line.move(by: -1) }
        case UInt8(ascii: "H"): line.moveToStart()
        case UInt8(ascii: "F"): line.moveToEnd()
        case UInt8(ascii: "~"):
            switch digits {
            case "1", "7": line.moveToStart()
            case "4", "8": line.moveToEnd()
            case "3": line.deleteForward()
            default: break
            }
        default: break
        }
    }

    /// The rest of a character in UTF-8; malformed bytes become U+FFFD.
    private func character(_ first: UInt8) -> String {
        var bytes = [first]
        let count = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        while bytes.count < count, let byte = terminal.byte() { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: History

    private func recall(_ step: Int) {
        let target = age + step
        guard 0...history.lines.count ~= target else { return }
        if age == 0 { draft = line }
        age = target
        line = age == 0 ? draft : EditedLine(history.lines[history.lines.count - age])
    }

    // MARK: Completion

    private func completeWord() {
        let completion = complete(line.beforeCursor)
        guard let first = completion.words.first else { return terminal.write("\u{7}") }
        let common = completion.words.dropFirst().reduce(first) { $0.sharedStart(with: $1) }
        if completion.words.count == 1 {
            line.replace(last: completion.replaced, with: first + (first.hasSuffix(".") ? "" : " "))
        } else if common.count > completion.replaced {
            line.replace(last: completion.replaced, with: common)
        } else {
            terminal.write("\r\n" + Self.columns(completion.words, RawTerminal.columns))
        }
    }

    /// Words beside each other, as `ls` shows names.
    static func columns(_ words: [String], _ width: Int) -> String {
        let shown = words.prefix(200)
        let widest = (shown.map(\.count).max() ?? 0) + 2
        let perLine = max(1, width / max(widest, 1))
        var text = ""
        for (index, word) in shown.enumerated() {
            let isLast = index % perLine == perLine - 1 || index == shown.count - 1
            text += isLast ? word + "\r\n" : word + String(repeating: " ", count: widest - word.count)
        }
        return text
    }

    // MARK: Showing

    /// Writes the line anew; of one that is too long the part around the cursor.
    private func show() {
        let room = max(8, RawTerminal.columns - prompt.reduce(0) { $0 + $1.columns } - 1)
        var start = line.place
        var used = 0
        while start > 0, used + line.characters[start - 1].columns <= room {
            start -= 1
            used += line.characters[start].columns
        }
        var end = line.place
        var total = used
        while end < line.characters.count, total + line.characters[end].columns <= room {
            total += line.characters[end].columns
            end += 1
        }
        let back = total - used
        terminal.write(
            "\r\u{1B}[K" + prompt + String(line.characters[start..<end]) + (back > 0 ? "\u{1B}[\(back)D" : "")
        )
    }
}

/// What a word may become.
struct Completion: Equatable {
    /// The whole words.
    var words: [String] = []
    /// How many characters of the line they take the place of.
    var replaced = 0
}

extension String {
    /// What both begin with.
    fileprivate func sharedStart(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}

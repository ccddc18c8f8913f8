/// Reads lines from a terminal, with the keys that shells have: arrows, Home, End, Ctrl-A E B F K U W L, Alt-B F, the
/// history with up and down and Ctrl-R, completion with Tab. Ctrl-C gives a line up, Ctrl-D on an empty one ends.
///
/// A line that was pasted or recalled may have line ends in it, which are shown as a sign.
final class LineEditor: LineInput {
    private let terminal = RawTerminal()
    private var keys: KeyReader
    private let history: LineHistory
    /// What the word before the cursor may become, for the text before the cursor.
    private let complete: (String) -> Completion
    private var line = EditedLine()
    private var prompt = ""
    private var typed = ""
    /// The place in the history, counted from its end; 0 for the line that is being written.
    private var age = 0
    private var draft = EditedLine()
    private var search: HistorySearch?

    let isInteractive = true

    init(_ history: LineHistory, _ complete: @escaping (String) -> Completion) {
        self.history = history
        self.complete = complete
        keys = KeyReader(byte: terminal.byte) { [terminal] in terminal.hasByte }
    }

    func next(_ prompt: String, after typed: String) throws -> InputLine {
        try Console.flush()
        self.prompt = prompt
        self.typed = typed
        line = EditedLine()
        age = 0
        search = nil
        return try terminal.set(.keys) {
            terminal.write("\u{1B}[?2004h")
            defer { terminal.write("\u{1B}[?2004l") }
            return read()
        }
    }

    func remember(_ statement: String) { history.add(statement) }

    private func read() -> InputLine {
        show()
        while let key = keys.next() {
            if let answer = search == nil ? self.key(key) : searchKey(key) { return answer }
            if !keys.hasMore { show() }
        }
        return line.characters.isEmpty ? .end : .line(line.text)
    }

    private func key(_ key: KeyPress) -> InputLine? {
        switch key {
        case .text(let text): line.insert(text)
        case .enter:
            line.moveToEnd()
            show()
            terminal.write("\r\n")
            return .line(line.text)
        case .interrupt:
            terminal.write("^C\r\n")
            return .interrupted
        case .controlD:
            guard line.characters.isEmpty else {
                line.deleteForward()
                return nil
            }
            terminal.write("\r\n")
            return .end
        case .tab: completeWord()
        case .clear: terminal.write("\u{1B}[H\u{1B}[2J")
        case .search: search = HistorySearch(history)
        case .left: line.move(by: -1)
        case .right: line.move(by: 1)
        case .up: recall(1)
        case .down: recall(-1)
        case .home: line.moveToStart()
        case .end: line.moveToEnd()
        case .wordLeft: line.moveByWord(-1)
        case .wordRight: line.moveByWord(1)
        case .deleteBackward: line.deleteBackward()
        case .deleteForward: line.deleteForward()
        case .deleteWord: line.deleteWordBackward()
        case .deleteToStart: line.deleteToStart()
        case .deleteToEnd: line.deleteToEnd()
        case .cancel, .unknown: break
        }
        return nil
    }

    // MARK: History

    private func recall(_ step: Int) {
        let target = age + step
        guard 0...history.entries.count ~= target else { return }
        if age == 0 { draft = line }
        age = target
        line = age == 0 ? draft : EditedLine(history.entries[history.entries.count - age])
    }

    /// Carries out a key during a search. Keys other than those that belong to it end it, with what was found as the line, and
    /// mean what they always do; Ctrl-C and Ctrl-G give it up.
    private func searchKey(_ key: KeyPress) -> InputLine? {
        switch key {
        case .text(let text): search?.append(text)
        case .deleteBackward: search?.removeLast()
        case .search: search?.searchOlder()
        case .interrupt, .cancel: search = nil
        default:
            if let found = search?.found { line = EditedLine(found) }
            search = nil
            return self.key(key)
        }
        return nil
    }

    // MARK: Completion

    private func completeWord() {
        let context = typed.isEmpty ? line.beforeCursor : typed + "\n" + line.beforeCursor
        let completion = complete(context)
        guard let first = completion.words.first else { return terminal.write("\u{7}") }
        let common = completion.words.dropFirst().reduce(first) { $0.sharedStart(with: $1) }
        if completion.words.count == 1 {
            line.replace(
                last: completion.replaced,
                with: first + (first.last.map { "./(".contains($0) } == true ? "" : " "))
        } else if common.count > completion.replaced {
            line.replace(last: completion.replaced, with: common)
        } else {
            terminal.write("\r\n" + Self.columns(completion.words, RawTerminal.columns))
        }
    }

    /// Words beside each other, as `ls` shows names.
    static func columns(_ words: [String], _ width: Int) -> String {
        let shown = words.prefix(200).map { ControlCharacters.escaped(in: $0) }
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
        let prompt = search.map { "(search \"\($0.text)\")> " } ?? self.prompt
        let line = search.map { EditedLine($0.found ?? "") } ?? self.line
        let room = max(8, RawTerminal.columns - prompt.reduce(0) { $0 + $1.columns } - 1)
        let part = line.part(within: room)
        terminal.write("\r\u{1B}[K" + prompt + part.text + (part.behind > 0 ? "\u{1B}[\(part.behind)D" : ""))
    }
}

/// What a word may become.
struct Completion: Equatable {
    /// The whole words, the likely ones first.
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

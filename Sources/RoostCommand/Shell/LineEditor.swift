import Foundation

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

    /// Redraws the line; of one that is too long, the part around the cursor.
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

// MARK: - EditedLine

/// A line that is being written, and the place in it.
struct EditedLine: Equatable {
    private(set) var characters: [Character] = []
    /// How many characters stand before the cursor.
    private(set) var place = 0

    init(_ text: String = "") {
        characters = Array(text)
        place = characters.count
    }

    var text: String { String(characters) }
    var beforeCursor: String { String(characters[..<place]) }

    mutating func insert(_ text: String) {
        // What combines with the character before the cursor becomes one with it.
        let before = Array(beforeCursor + text)
        characters = before + characters[place...]
        place = before.count
    }

    mutating func move(by distance: Int) { place = min(max(place + distance, 0), characters.count) }
    mutating func moveToStart() { place = 0 }
    mutating func moveToEnd() { place = characters.count }

    mutating func moveByWord(_ direction: Int) { place = wordEnd(direction) }

    mutating func deleteBackward() { delete(place - 1..<place) }
    mutating func deleteForward() { delete(place..<place + 1) }
    mutating func deleteToStart() { delete(0..<place) }
    mutating func deleteToEnd() { delete(place..<characters.count) }
    mutating func deleteWordBackward() { delete(wordEnd(-1)..<place) }

    /// Replaces the last `count` characters before the cursor.
    mutating func replace(last count: Int, with text: String) {
        delete(place - count..<place)
        insert(text)
    }

    /// The part around the cursor that fits into so many columns, and how many of them are behind the cursor.
    func part(within room: Int) -> (text: String, behind: Int) {
        var start = place
        var used = 0
        while start > 0, used + characters[start - 1].shown.columns <= room {
            start -= 1
            used += characters[start].shown.columns
        }
        var end = place
        var behind = 0
        while end < characters.count, used + behind + characters[end].shown.columns <= room {
            behind += characters[end].shown.columns
            end += 1
        }
        return (String(characters[start..<end].map(\.shown)), behind)
    }

    private mutating func delete(_ range: Range<Int>) {
        let range = range.clamped(to: 0..<characters.count)
        characters.removeSubrange(range)
        if place >= range.upperBound { place -= range.count } else { place = min(place, range.lowerBound) }
    }

    /// Where the word before or after the cursor begins or ends.
    private func wordEnd(_ direction: Int) -> Int {
        func isWord(_ index: Int) -> Bool { characters[index].isLetter || characters[index].isNumber }
        var index = place
        if direction < 0 {
            while index > 0, !isWord(index - 1) { index -= 1 }
            while index > 0, isWord(index - 1) { index -= 1 }
        } else {
            while index < characters.count, !isWord(index) { index += 1 }
            while index < characters.count, isWord(index) { index += 1 }
        }
        return index
    }
}

extension Character {
    /// A character that a terminal shows for this one: signs for line ends and other control characters.
    fileprivate var shown: Character {
        guard let scalar = unicodeScalars.first, ControlCharacters.contains(scalar) else { return self }
        if isNewline { return "↵" }
        return scalar.value < 0x20 ? Unicode.Scalar(0x2400 + scalar.value).map(Character.init) ?? "?" : "␡"
    }

    /// How many columns of a terminal it takes: two for East Asian wide characters and emoji.
    var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0..<0x20, 0x7F: return 0
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}

// MARK: - LineHistory

/// The statements that were entered, the oldest first; each may be of several lines.
final class LineHistory {
    private(set) var entries: [String] = []
    private let path: String?
    private static let most = 1_000
    /// What stands in the file for the end of a line within an entry, as in that of psql.
    private static let innerLineEnd = "\u{1}"

    /// - Parameter path: the file that keeps them; `nil` for none.
    init(path: String?) {
        self.path = path
        guard let path, let bytes = try? InputFile(path).readAll(limit: 1 << 26) else { return }
        let all = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        entries = all.suffix(Self.most).map {
            $0.split(separator: Self.innerLineEnd, omittingEmptySubsequences: false).joined(separator: "\n")
        }
        // Others append, too, so it is cut now and then only.
        if all.count > 2 * Self.most { write(entries, O_TRUNC) }
    }

    /// In the file that ROOST_HISTORY names, nowhere if it names none, else in the user's directory.
    static func ofUser() -> LineHistory {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["ROOST_HISTORY"] { return LineHistory(path: path.isEmpty ? nil : path) }
        return LineHistory(path: environment["HOME"].map { "\($0)/.roost_history" })
    }

    /// Adds an entry, unless it is that of before or begins with a space, here and at the end of the file: shells that run at the
    /// same time keep the entries of each other.
    func add(_ entry: String) {
        guard !entry.isEmpty, entry.first != " ", entry != entries.last else { return }
        entries.append(entry)
        if entries.count > Self.most { entries.removeFirst() }
        write([entry], O_APPEND)
    }

    /// The place of the newest entry before `end` that has `text` in it.
    func place(of text: String, before end: Int) -> Int? {
        entries[..<end].lastIndex { $0.contains(text) }
    }

    /// Writes to the file, which only its owner can read. A history that can't be written is forgotten.
    private func write(_ entries: [String], _ flag: Int32) {
        guard let path else { return }
        let text = entries.map { entry in
            entry.split(separator: "\n", omittingEmptySubsequences: false).joined(
                separator: Self.innerLineEnd) + "\n"
        }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flag, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        try? OutputFile.write(Array(text.joined().utf8)[...], to: descriptor)
    }
}

// MARK: - HistorySearch

/// A search backwards through what was typed before, as Ctrl-R begins it.
struct HistorySearch {
    private let history: LineHistory
    private(set) var text = ""
    /// The place of what was found in the history.
    private var place: Int?

    init(_ history: LineHistory) { self.history = history }

    /// What was found; `nil` where nothing was.
    var found: String? { place.map { history.entries[$0] } }

    /// Takes more text to search for.
    mutating func append(_ more: String) { search(text + more) }

    mutating func removeLast() { search(String(text.dropLast())) }

    /// Goes on to an older entry, if there is one that has the text in it.
    mutating func searchOlder() {
        guard let place else { return }
        self.place = history.place(of: text, before: place) ?? place
    }

    private mutating func search(_ text: String) {
        self.text = text
        place = text.isEmpty ? nil : history.place(of: text, before: history.entries.count)
    }
}

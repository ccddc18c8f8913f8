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

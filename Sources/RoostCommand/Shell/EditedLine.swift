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

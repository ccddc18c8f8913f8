import RoostBytes

/// Walks over a text and collects its words.
struct WordWalk {
    private let text: ByteView
    private let folding: WordFolding
    private let stopWords: Set<[UInt8]>

    init(_ text: ByteView, _ folding: WordFolding, _ stopWords: Set<[UInt8]>) {
        self.text = text
        self.folding = folding
        self.stopWords = stopWords
    }

    /// What a byte is to a word of ASCII.
    private enum Byte {
        static let none: UInt8 = 0
        static let letter: UInt8 = 1
        static let digit: UInt8 = 2
        static let underscore: UInt8 = 3
        static let colon: UInt8 = 4  // between letters
        static let comma: UInt8 = 5  // between digits
        static let point: UInt8 = 6  // between either
        static let other: UInt8 = 7  // of no ASCII

        /// By byte.
        static let classes: [UInt8] = (0..<256).map { number in
            let byte = UInt8(number)
            return switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): letter
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit
            case UInt8(ascii: "_"): underscore
            case UInt8(ascii: ":"): colon
            case UInt8(ascii: ","), UInt8(ascii: ";"): comma
            case UInt8(ascii: "."), UInt8(ascii: "'"): point
            case 0x80...: other
            default: none
            }
        }
    }

    mutating func run(_ words: inout WordList) {
        let classes = Byte.classes
        var offset = 0
        while offset < text.count {
            switch classes[Int(text[offset])] {
            case Byte.letter, Byte.digit, Byte.underscore:
                offset = asciiWord(from: offset, classes, &words) ?? segment(from: offset, &words)
            case Byte.other: offset = segment(from: offset, &words)
            default: offset += 1
            }
        }
    }

    /// Adds the word of ASCII that begins at `start` and answers where it ends; `nil` when it meets other characters.
    @inline(__always) private func asciiWord(
        from start: Int, _ classes: [UInt8], _ words: inout WordList
    ) -> Int? {
        let place = words.bytes.count
        var offset = start
        var last = Byte.none
        var hasWord = false
        scan: while offset < text.count {
            let byte = text[offset]
            let type = classes[Int(byte)]
            switch type {
            case Byte.letter:
                if folding.isTurkic, byte == UInt8(ascii: "I") { return giveUp(place, &words) }
                words.bytes.append(byte | 0x20)
                hasWord = true
            case Byte.digit:
                words.bytes.append(byte)
                hasWord = true
            case Byte.underscore: words.bytes.append(byte)
            case Byte.other: return giveUp(place, &words)
            case Byte.none: break scan
            default:
                let next = offset + 1 < text.count ? classes[Int(text[offset + 1])] : Byte.none
                if next == Byte.other { return giveUp(place, &words) }
                guard next == last, joins(type, last) else { break scan }
                words.bytes.append(byte)
            }
            last = type
            offset += 1
        }
        if hasWord {
            WordFolding.removePossessive(&words.bytes, from: place)
            finish(place, start..<offset, .word, &words)
        } else {
            words.bytes.removeLast(words.bytes.count - place)
        }
        return offset
    }

    /// Whether a sign may stand between two letters or two digits.
    @inline(__always) private func joins(_ sign: UInt8, _ neighbour: UInt8) -> Bool {
        switch sign {
        case Byte.colon: neighbour == Byte.letter
        case Byte.comma: neighbour == Byte.digit
        default: neighbour == Byte.letter || neighbour == Byte.digit
        }
    }

    private func giveUp(_ place: Int, _ words: inout WordList) -> Int? {
        words.bytes.removeLast(words.bytes.count - place)
        return nil
    }

    private func finish(
        _ place: Int, _ source: Range<Int>, _ kind: WordList.Word.Kind, _ words: inout WordList
    ) {
        if !stopWords.isEmpty, stopWords.contains(Array(words.bytes[place...])) { return words.skip(place) }
        words.finish(place, source, kind)
    }

    // MARK: Any characters

    private func segment(from start: Int, _ words: inout WordList) -> Int {
        let boundaries = WordBoundaries(scanner: UTF8Scanner(bytes: text))
        let segment = boundaries.segment(from: start)
        if segment.first.isUnspaced { return pairs(from: start, segment.end, boundaries, &words) }
        guard segment.isWord else { return segment.end }
        let place = words.bytes.count
        folding.append(text.slice(start, segment.end - start), to: &words.bytes)
        finish(place, start..<segment.end, .word, &words)
        return segment.end
    }

    /// Adds the pairs of a run of letters without spaces.
    private func pairs(
        from start: Int, _ firstEnd: Int, _ boundaries: WordBoundaries, _ words: inout WordList
    ) -> Int {
        var end = firstEnd
        while end < text.count {
            let next = boundaries.segment(from: end)
            guard next.first.isUnspaced else { break }
            end = next.end
        }
        var first = cluster(from: start, end, boundaries)
        while true {
            let second = first.upperBound < end ? cluster(from: first.upperBound, end, boundaries) : nil
            let source = first.lowerBound..<(second?.upperBound ?? first.upperBound)
            let place = words.bytes.count
            folding.append(text.slice(source.lowerBound, source.count), to: &words.bytes)
            words.finish(place, source, second == nil ? .last : .pair)
            guard let second else { return end }
            first = second
        }
    }

    /// A letter with the marks that belong to it.
    private func cluster(from start: Int, _ end: Int, _ boundaries: WordBoundaries) -> Range<Int> {
        var offset = boundaries.scanner.scalar(at: start).end
        while offset < end {
            let (scalar, next) = boundaries.scanner.scalar(at: offset)
            guard boundaries.table.characterClass(scalar).wordBreak.isIgnored else { break }
            offset = next
        }
        return start..<offset
    }
}

// MARK: - Word boundaries

/// Finds where words begin and end, by the rules of UAX #29 (Unicode 15).
struct WordBoundaries {
    let scanner: UTF8Scanner
    let table = CharacterTable.shared

    /// A run of characters that no rule breaks.
    struct Segment {
        let end: Int
        /// The class of the first character.
        let first: CharacterClass
        /// Whether it has letters, digits, a pictograph or a flag.
        let isWord: Bool
    }

    private var count: Int { scanner.bytes.count }

    private func character(at offset: Int) -> (type: CharacterClass, end: Int) {
        let scalar = scanner.scalar(at: offset)
        return (table.characterClass(scalar.value), scalar.end)
    }

    /// The segment that begins at `start`, which must be a boundary and before the end. O(length), and what is looked ahead at.
    func segment(from start: Int) -> Segment {
        let (first, firstEnd) = character(at: start)
        var end = firstEnd
        var isWord = first.makesWord
        var raw = first
        /// The last two characters that rule WB4 does not pass over.
        var (last, beforeLast) = (first.wordBreak, WordBreak.other)
        var indicators = last == .regionalIndicator ? 1 : 0
        while end < count {
            let (next, nextEnd) = character(at: end)
            guard joins(beforeLast, last, raw, next, nextEnd, indicators) else { break }
            isWord = isWord || next.makesWord
            if !next.wordBreak.isIgnored {
                (beforeLast, last) = (last, next.wordBreak)
                indicators += next.wordBreak == .regionalIndicator ? 1 : 0
            }
            raw = next
            end = nextEnd
        }
        // Two indicators are the flag of a region.
        return Segment(end: end, first: first, isWord: isWord || indicators > 1)
    }

    /// Whether there is no boundary before `next`, which ends at `nextEnd`.
    private func joins(
        _ beforeLast: WordBreak, _ last: WordBreak, _ raw: CharacterClass, _ next: CharacterClass,
        _ nextEnd: Int, _ indicators: Int
    ) -> Bool {
        let type = next.wordBreak
        if raw.wordBreak == .carriageReturn { return type == .lineFeed }  // WB3
        if raw.wordBreak.isLineBreak || type.isLineBreak { return false }  // WB3a, WB3b
        if raw.wordBreak == .joiner, next.isPictograph { return true }  // WB3c
        if raw.wordBreak == .space, type == .space { return true }  // WB3d
        if type.isIgnored { return true }  // WB4
        switch (last, type) {
        case (.letter, .letter), (.letter, .hebrewLetter), (.hebrewLetter, .letter),
            (.hebrewLetter, .hebrewLetter):
            return true  // WB5
        case (.letter, .numeric), (.hebrewLetter, .numeric), (.numeric, .letter), (.numeric, .hebrewLetter),
            (.numeric, .numeric):
            return true  // WB8–WB10
        case (.katakana, .katakana): return true  // WB13
        case (.letter, .extender), (.hebrewLetter, .extender), (.numeric, .extender), (.katakana, .extender),
            (.extender, .extender), (.extender, .letter), (.extender, .hebrewLetter), (.extender, .numeric),
            (.extender, .katakana):
            return true  // WB13a, WB13b
        case (.hebrewLetter, .singleQuote): return true  // WB7a
        case (.regionalIndicator, .regionalIndicator): return indicators % 2 == 1  // WB15, WB16
        default: break
        }
        if last.isLetter, type.isBetweenLetters { return following(nextEnd).isLetter }  // WB6
        if last.isBetweenLetters, type.isLetter { return beforeLast.isLetter }  // WB7
        if last == .hebrewLetter, type == .doubleQuote { return following(nextEnd) == .hebrewLetter }  // WB7b
        if last == .doubleQuote, type == .hebrewLetter { return beforeLast == .hebrewLetter }  // WB7c
        if last == .numeric, type.isBetweenDigits { return following(nextEnd) == .numeric }  // WB12
        if last.isBetweenDigits, type == .numeric { return beforeLast == .numeric }  // WB11
        return false
    }

    /// The next character that rule WB4 does not pass over.
    private func following(_ start: Int) -> WordBreak {
        var offset = start
        while offset < count {
            let (type, end) = character(at: offset)
            if !type.wordBreak.isIgnored { return type.wordBreak }
            offset = end
        }
        return .other
    }
}

// MARK: - Utf8scanner

/// Reads characters from UTF-8.
struct UTF8Scanner {
    let bytes: ByteView

    /// The scalar at `offset` and where it ends; U+FFFD and the next byte for what is ill-formed.
    @inline(__always) func scalar(at offset: Int) -> (value: UInt32, end: Int) {
        let first = UInt32(bytes[offset])
        if first < 0x80 { return (first, offset + 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first < 0xF5, offset + length <= bytes.count else { return (0xFFFD, offset + 1) }
        var value = first & (0xFF >> UInt32(length + 1))
        for index in offset + 1..<offset + length {
            let next = UInt32(bytes[index])
            guard next & 0xC0 == 0x80 else { return (0xFFFD, offset + 1) }
            value = value << 6 | next & 0x3F
        }
        guard value < 0x11_0000, !(0xD800...0xDFFF ~= value) else { return (0xFFFD, offset + 1) }
        return (value, offset + length)
    }
}

/// Appends a scalar's UTF-8.
func appendUTF8(_ scalar: UInt32, to bytes: inout [UInt8]) {
    switch scalar {
    case ..<0x80: bytes.append(UInt8(scalar))
    case ..<0x800:
        bytes.append(UInt8(0xC0 | scalar >> 6))
        bytes.append(UInt8(0x80 | scalar & 0x3F))
    case ..<0x1_0000:
        bytes.append(UInt8(0xE0 | scalar >> 12))
        bytes.append(UInt8(0x80 | scalar >> 6 & 0x3F))
        bytes.append(UInt8(0x80 | scalar & 0x3F))
    default:
        bytes.append(UInt8(0xF0 | scalar >> 18))
        bytes.append(UInt8(0x80 | scalar >> 12 & 0x3F))
        bytes.append(UInt8(0x80 | scalar >> 6 & 0x3F))
        bytes.append(UInt8(0x80 | scalar & 0x3F))
    }
}

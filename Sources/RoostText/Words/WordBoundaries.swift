import RoostBytes

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

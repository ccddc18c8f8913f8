/// The values of the property Word_Break (UAX #29), numbered as `Scripts/make-word-data` does.
enum WordBreak: UInt8 {
    case other, carriageReturn, lineFeed, newline, extend, joiner, format, space, letter, hebrewLetter,
        numeric
    case extender, katakana, midLetter, midNumber, midNumberLetter, singleQuote, doubleQuote,
        regionalIndicator

    /// AHLetter of UAX #29.
    var isLetter: Bool { self == .letter || self == .hebrewLetter }
    /// What rule WB4 passes over.
    var isIgnored: Bool { self == .extend || self == .format || self == .joiner }
    var isLineBreak: Bool { self == .carriageReturn || self == .lineFeed || self == .newline }
    /// What may stand between two letters of a word.
    var isBetweenLetters: Bool { self == .midLetter || self == .midNumberLetter || self == .singleQuote }
    /// What may stand between two digits of a number.
    var isBetweenDigits: Bool { self == .midNumber || self == .midNumberLetter || self == .singleQuote }
}

/// What a character is to the words around it.
struct CharacterClass: Equatable {
    private let bits: UInt8

    init(bits: UInt8) { self.bits = bits }

    var wordBreak: WordBreak { WordBreak(rawValue: bits & 31) ?? .other }
    /// A letter of a script that is written without spaces between words.
    var isUnspaced: Bool { bits & 32 != 0 }
    /// Whether a run of characters with this one in it is a word: letters, numbers, pictographs.
    var makesWord: Bool { bits & 64 != 0 }
    var isPictograph: Bool { bits & 128 != 0 }
}

/// Snowball's first stemmer for Dutch, by Martin Porter, which LiteCore has, too.
///
/// Snowball 3 calls it `dutch_porter`, and has that of Kraaij and Pohlmann as `dutch`.
struct DutchStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouyè"
    private static let doubled: LetterSet = "aeou"
    private static let plain: [StemWord.Letter: StemWord.Letter] = [
        "ä": "a", "ë": "e", "ï": "i", "ö": "o", "ü": "u", "á": "a", "é": "e", "í": "i", "ó": "o", "ú": "u",
    ]
    private static let plurals = Endings("heden", "ene en", "se s")
    private static let derivations = Endings("end ing", "ig", "lijk", "baar", "bar")
    private static let doubles = Endings("kk dd tt")

    func stem(_ word: inout StemWord) {
        word.letters = word.letters.map { Self.plain[$0] ?? $0 }
        markConsonants(&word)
        let start = word.region(Self.vowels)
        let r2 = word.region(Self.vowels, from: start)
        let r1 = max(start, 3)
        removePlural(&word, r1)
        let hadE = removeE(&word, r1)
        if word.ends("heid", from: r2), word.fromEnd(4) != "c" {
            word.removeLast(4)
            if word.ends("en") { removeEn(&word, 2, r1) }
        }
        removeDerivation(&word, r1, r2, hadE: hadE)
        shortenVowel(&word)
        word.replaceAll("I", "i")
        word.replaceAll("Y", "y")
    }

    /// Writes y in a capital at the beginning and behind a vowel, and i between vowels: they are consonants there.
    private func markConsonants(_ word: inout StemWord) {
        if word.letters.first == "y" { word.letters[0] = "Y" }
        for index in word.letters.indices.dropFirst() where Self.vowels.contains(word.letters[index - 1]) {
            if word.letters[index] == "y" {
                word.letters[index] = "Y"
            } else if word.letters[index] == "i", index + 1 < word.count,
                Self.vowels.contains(word.letters[index + 1])
            {
                word.letters[index] = "I"
            }
        }
    }

    /// Leaves one of two equal consonants.
    private func undouble(_ word: inout StemWord) {
        if word.ending(Self.doubles) != nil { word.removeLast(1) }
    }

    private func isConsonant(_ letter: StemWord.Letter?) -> Bool {
        letter != nil && !Self.vowels.contains(letter)
    }

    private func removePlural(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.longestEnding(Self.plurals, notBefore: r1) else { return }
        switch ending.group {
        case 0: word.replaceLast(ending.length, "heid")
        case 1: removeEn(&word, ending.length, r1)
        default:
            let before = word.fromEnd(ending.length)
            if isConsonant(before), before != "j" { word.removeLast(ending.length) }
        }
    }

    /// Takes the last letters off, which are "en" or the like, unless they are part of the word.
    private func removeEn(_ word: inout StemWord, _ length: Int, _ r1: Int) {
        let rest = word.count - length
        guard rest >= r1, isConsonant(word.fromEnd(length)), !word.ends("gem", before: rest) else { return }
        word.removeLast(length)
        undouble(&word)
    }

    /// Takes an e off; answers whether there was one.
    @discardableResult
    private func removeE(_ word: inout StemWord, _ r1: Int) -> Bool {
        guard word.ends("e", from: r1), isConsonant(word.fromEnd(1)) else { return false }
        word.removeLast(1)
        undouble(&word)
        return true
    }

    private func removeDerivation(_ word: inout StemWord, _ r1: Int, _ r2: Int, hadE: Bool) {
        guard let ending = word.longestEnding(Self.derivations, notBefore: r2) else { return }
        switch ending.group {
        case 0:
            word.removeLast(ending.length)
            if word.ends("ig", from: r2), word.fromEnd(2) != "e" {
                word.removeLast(2)
            } else {
                undouble(&word)
            }
        case 1: if word.fromEnd(2) != "e" { word.removeLast(2) }
        case 2:
            word.removeLast(ending.length)
            removeE(&word, r1)
        case 3: word.removeLast(ending.length)
        default: if hadE { word.removeLast(ending.length) }
        }
    }

    /// Writes a double vowel between consonants once: "maan" has "manen".
    private func shortenVowel(_ word: inout StemWord) {
        guard let last = word.fromEnd(0), isConsonant(last), last != "I", let vowel = word.fromEnd(1),
            Self.doubled.contains(vowel), word.fromEnd(2) == vowel, isConsonant(word.fromEnd(3))
        else { return }
        word.letters.remove(at: word.count - 2)
    }
}

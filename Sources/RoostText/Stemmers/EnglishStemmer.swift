/// Porter's second stemmer, "Porter2", as Snowball 3 publishes it.
struct EnglishStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouy"
    private static let doubles: LetterSet = "bdfgmnprt"
    private static let beforeLi: LetterSet = "cdeghkmnrt"
    private static let notShort: LetterSet = "aeiouywxY"
    private static let exceptions = [
        "skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli",
        "only": "onli", "singly": "singl", "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas",
        "cosmos": "cosmos", "bias": "bias", "andes": "andes",
    ]
    /// Beginnings that R1 starts behind.
    private static let beginnings: [Letters] = [
        "arsen", "commun", "emerg", "gener", "inter", "later", "organ", "past", "univers",
    ]
    private static let possessives = Endings("'s' 's '")
    private static let plurals = Endings("sses", "ied ies", "ss us", "s")
    private static let participles = Endings("eed eedly", "ed edly", "ing ingly")
    private static let keptBeforeIng: Set<String> = ["even", "cann", "inn", "earr", "herr", "out"]
    private static let keptBeforeEed: Set<String> = ["succ", "proc", "exc"]
    private static let afterParticiple = Endings("at bl iz", "bb dd ff gg mm nn pp rr tt")
    private static let step2 = Endings(
        "tional", "enci", "anci", "abli", "entli", "izer ization", "ational ation ator", "alism aliti alli",
        "fulness fulli", "ousli ousness", "iveness iviti", "biliti bli", "ogist", "ogi", "lessli", "li")
    private static let step2Results: [Letters] = [
        "tion", "ence", "ance", "able", "ent", "ize", "ate", "al", "ful", "ous", "ive", "ble", "og", "og",
        "less",
    ]
    private static let step3 = Endings("tional", "ational", "alize", "icate iciti ical", "ful ness", "ative")
    private static let step4 = Endings(
        "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize", "ion")

    func stem(_ word: inout StemWord) {
        guard word.count > 2 else { return }
        if let stem = Self.exceptions[word.string] {
            word = StemWord(stem)
            return
        }
        if word.letters[0] == "'" { word.letters.removeFirst() }
        markConsonantY(&word)
        let beginning = Self.beginnings.first { word.begins($0) }
        let r1 = beginning?.letters.count ?? word.region(Self.vowels)
        let r2 = word.region(Self.vowels, from: r1)
        removePlural(&word)
        removeParticiple(&word, r1)
        if word.count > 2, let last = word.fromEnd(0), last == "y" || last == "Y",
            !Self.vowels.contains(word.fromEnd(1))
        {
            word.replaceLast(1, "i")
        }
        shorten2(&word, r1)
        shorten3(&word, r1, r2)
        shorten4(&word, r2)
        shorten5(&word, r1, r2)
        word.replaceAll("Y", "y")
    }

    /// Y at the beginning or after a vowel is a consonant.
    private func markConsonantY(_ word: inout StemWord) {
        for index in word.letters.indices where word.letters[index] == "y" {
            if index == 0 || Self.vowels.contains(word.letters[index - 1]) { word.letters[index] = "Y" }
        }
    }

    private func hasVowel(_ word: StemWord, before end: Int) -> Bool {
        word.letters[..<max(end, 0)].contains { Self.vowels.contains($0) }
    }

    /// Whether the letters before `end` end in a short syllable.
    private func isShort(_ word: StemWord, before end: Int) -> Bool {
        guard end >= 2, Self.vowels.contains(word.letters[end - 2]) else {
            return word.ends("past", before: end)
        }
        let last = word.letters[end - 1]
        if end == 2 { return !Self.vowels.contains(last) }
        return !Self.notShort.contains(last) && !Self.vowels.contains(word.letters[end - 3])
            || word.ends("past", before: end)
    }

    private func removePlural(_ word: inout StemWord) {
        if let ending = word.ending(Self.possessives) { word.removeLast(ending.length) }
        guard let ending = word.ending(Self.plurals) else { return }
        switch ending.group {
        case 0: word.removeLast(2)
        case 1: word.replaceLast(3, word.count > 4 ? "i" : "ie")
        case 3 where hasVowel(word, before: word.count - 2): word.removeLast(1)
        default: break
        }
    }

    private func removeParticiple(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.ending(Self.participles) else { return }
        let rest = word.count - ending.length
        let start = StemWord.string(word.letters[..<rest])
        switch ending.group {
        case 0:
            if rest >= r1, !Self.keptBeforeEed.contains(start) { word.replaceLast(ending.length, "ee") }
            return
        case 2 where Self.keptBeforeIng.contains(start): return
        case 2 where rest == 2 && word.letters[1] == "y" && !Self.vowels.contains(word.letters[0]):
            word.replaceLast(ending.length + 1, "ie")
            return
        default: break
        }
        guard hasVowel(word, before: rest) else { return }
        word.removeLast(ending.length)
        switch word.ending(Self.afterParticiple)?.group {
        case 0: word.letters.append("e")
        case 1:
            let isKept = word.count == 3 && "aeo".unicodeScalars.contains(word.letters[0])
            if !isKept { word.removeLast(1) }
        default:
            if word.count == r1, isShort(word, before: word.count) { word.letters.append("e") }
        }
    }

    private func shorten2(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.ending(Self.step2) else { return }
        let rest = word.count - ending.length
        guard rest >= r1 else { return }
        switch ending.group {
        case 13 where word.fromEnd(3) != "l": break
        case 15: if Self.beforeLi.contains(word.fromEnd(2)) { word.removeLast(2) }
        default: word.replaceLast(ending.length, Self.step2Results[ending.group])
        }
    }

    private func shorten3(_ word: inout StemWord, _ r1: Int, _ r2: Int) {
        guard let ending = word.ending(Self.step3) else { return }
        let rest = word.count - ending.length
        guard rest >= r1 else { return }
        switch ending.group {
        case 0: word.replaceLast(ending.length, "tion")
        case 1: word.replaceLast(ending.length, "ate")
        case 2: word.replaceLast(ending.length, "al")
        case 3: word.replaceLast(ending.length, "ic")
        case 4: word.removeLast(ending.length)
        default: if rest >= r2 { word.removeLast(ending.length) }
        }
    }

    private func shorten4(_ word: inout StemWord, _ r2: Int) {
        guard let ending = word.ending(Self.step4), word.count - ending.length >= r2 else { return }
        if ending.group == 1 {
            let before = word.fromEnd(3)
            guard before == "s" || before == "t" else { return }
        }
        word.removeLast(ending.length)
    }

    private func shorten5(_ word: inout StemWord, _ r1: Int, _ r2: Int) {
        let rest = word.count - 1
        switch word.fromEnd(0) {
        case "e": if rest >= r2 || rest >= r1 && !isShort(word, before: rest) { word.removeLast(1) }
        case "l": if rest >= r2, word.fromEnd(1) == "l" { word.removeLast(1) }
        default: break
        }
    }
}

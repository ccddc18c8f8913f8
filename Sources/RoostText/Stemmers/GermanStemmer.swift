/// Snowball's stemmer for German, which also takes ae, oe and ue for umlauts.
struct GermanStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouyäöü"
    private static let beforeS: LetterSet = "bdfghklmnrt"
    private static let beforeSt: LetterSet = "bdfghklmnt"
    private static let beforeEt: LetterSet = "Udfgklmnrstzä"
    private static let step1 = Endings("em", "erinnen erin ern er", "e en es", "s", "ln lns")
    private static let step2 = Endings("en er est", "st", "et")
    private static let keptBeforeEt = Endings("tick plan geordn intern tr")
    private static let step3 = Endings("end ung", "ig isch ik", "lich heit", "keit")
    private static let possessives = Endings("' 'sch 's")

    func stem(_ word: inout StemWord) {
        word.markConsonants(["u": "U", "y": "Y"], between: Self.vowels)
        writeUmlauts(&word)
        var (r1, r2) = (word.count, word.count)
        if word.count >= 3 {
            r1 = word.region(Self.vowels)
            r2 = word.region(Self.vowels, from: r1)
            r1 = max(r1, 3)
        }
        removeInflection(&word, r1)
        removeComparison(&word, r1)
        removeDerivation(&word, r1, r2)
        if let ending = word.ending(Self.possessives), word.count - ending.length >= 2 {
            word.removeLast(ending.length)
        }
        for (old, new) in [("U", "u"), ("Y", "y"), ("ä", "a"), ("ö", "o"), ("ü", "u")]
            as [(StemWord.Letter, StemWord.Letter)]
        {
            word.replaceAll(old, new)
        }
    }

    private func writeUmlauts(_ word: inout StemWord) {
        var result: [StemWord.Letter] = []
        for letter in word.letters {
            switch (result.last, letter) {
            case ("a", "e"): result[result.count - 1] = "ä"
            case ("o", "e"): result[result.count - 1] = "ö"
            case ("u", "e") where result.dropLast().last != "q": result[result.count - 1] = "ü"
            case (_, "ß"): result += ["s", "s"]
            default: result.append(letter)
            }
        }
        word.letters = result
    }

    private func removeInflection(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.ending(Self.step1) else { return }
        let rest = word.count - ending.length
        guard rest >= r1 else { return }
        switch ending.group {
        case 0: if !word.ends("syst", before: rest) { word.removeLast(ending.length) }
        case 1: word.removeLast(ending.length)
        case 2:
            word.removeLast(ending.length)
            if word.ends("niss") { word.removeLast(1) }
        case 3: if Self.beforeS.contains(word.fromEnd(1)) { word.removeLast(1) }
        default: word.replaceLast(ending.length, "l")
        }
    }

    private func removeComparison(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.ending(Self.step2) else { return }
        let rest = word.count - ending.length
        guard rest >= r1 else { return }
        switch ending.group {
        case 0: break
        case 1: guard Self.beforeSt.contains(word.fromEnd(2)), rest >= 4 else { return }
        default:
            guard Self.beforeEt.contains(word.fromEnd(2)), word.ending(Self.keptBeforeEt, before: rest) == nil
            else { return }
        }
        word.removeLast(ending.length)
    }

    private func removeDerivation(_ word: inout StemWord, _ r1: Int, _ r2: Int) {
        guard let ending = word.ending(Self.step3), word.count - ending.length >= r2 else { return }
        switch ending.group {
        case 0:
            word.removeLast(ending.length)
            if word.ends("ig", from: r2), word.fromEnd(2) != "e" { word.removeLast(2) }
        case 1: if word.fromEnd(ending.length) != "e" { word.removeLast(ending.length) }
        case 2:
            word.removeLast(ending.length)
            if word.ends("er", from: r1) || word.ends("en", from: r1) { word.removeLast(2) }
        default:
            word.removeLast(ending.length)
            if word.ends("lich") {
                if word.count - 4 >= r2 { word.removeLast(4) }
            } else if word.ends("ig", from: r2) {
                word.removeLast(2)
            }
        }
    }
}

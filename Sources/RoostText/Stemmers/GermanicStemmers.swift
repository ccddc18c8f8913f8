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

// MARK: - Dutch stemmer

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

// MARK: - Swedish stemmer

/// Snowball's stemmer for Swedish.
struct SwedishStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouyäåö"
    private static let beforeS: LetterSet = "bcdfghjklmnoprtvy"
    private static let beforeOst: LetterSet = "iklnprtuv"
    private static let keptBeforeEt = Endings(
        "fab h pak rak stak kom iet cit dit alit ilit mit nit pit rit sit tit uit ivit kvit xit")
    private static let inflections = Endings(
        """
        a arna erna heterna orna ad e ade ande arne are aste en anden aren heten ern ar er heter or as arnas ernas ornas es \
        ades andes ens arens hetens erns at andet het ast
        """, "s", "et")
    private static let pairs = Endings("dd gd nn dt gt kt tt")
    private static let derivations = Endings("ig lig els", "öst", "fullt")

    func stem(_ word: inout StemWord) {
        guard word.count >= 3 else { return }
        let r1 = max(word.region(Self.vowels), 3)
        removeInflection(&word, r1)
        if word.ending(Self.pairs, from: r1) != nil { word.removeLast(1) }
        guard let ending = word.ending(Self.derivations, from: r1) else { return }
        switch ending.group {
        case 0: word.removeLast(ending.length)
        case 1: if Self.beforeOst.contains(word.fromEnd(3)) { word.removeLast(1) }
        default: word.removeLast(1)
        }
    }

    private func removeInflection(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.ending(Self.inflections, from: r1) else { return }
        switch ending.group {
        case 0: word.removeLast(ending.length)
        case 1:
            if word.ends("ets"), loosesEt(word, before: word.count - 3) {
                word.removeLast(3)
            } else if Self.beforeS.contains(word.fromEnd(1)) {
                word.removeLast(1)
            }
        default: if loosesEt(word, before: word.count - 2) { word.removeLast(2) }
        }
    }

    /// Whether "et" behind the letters before `end` is an ending.
    private func loosesEt(_ word: StemWord, before end: Int) -> Bool {
        end > 2 && !Self.vowels.contains(word.letters[end - 1]) && Self.vowels.contains(word.letters[end - 2])
            && word.ending(Self.keptBeforeEt, before: end) == nil
    }
}

// MARK: - Danish stemmer

/// Snowball's stemmer for Danish.
struct DanishStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouyåæø"
    private static let consonants: LetterSet = "bdfgklmnprst"
    private static let beforeS: LetterSet = "'abcdfghjklmnoprtvyzå"
    private static let inflections = Endings(
        """
        hed ethed ered e erede ende erende ene erne ere en heden eren er heder erer heds es endes erendes enes ernes eres ens \
        hedens erens ers ets erets et eret
        """, "s")
    private static let pairs = Endings("gd dt gt kt")
    private static let derivations = Endings("ig lig elig els", "løst")

    func stem(_ word: inout StemWord) {
        guard word.count >= 3 else { return }
        let r1 = word.scandinavianRegion(Self.vowels)
        if let ending = word.ending(Self.inflections, from: r1),
            ending.group == 0 || Self.beforeS.contains(word.fromEnd(1))
        {
            word.removeLast(ending.length)
        }
        shortenPair(&word, r1)
        if word.ends("igst") { word.removeLast(2) }
        if let ending = word.ending(Self.derivations, from: r1) {
            if ending.group == 0 {
                word.removeLast(ending.length)
                shortenPair(&word, r1)
            } else {
                word.removeLast(1)
            }
        }
        if word.count > r1, let last = word.fromEnd(0), Self.consonants.contains(last),
            word.fromEnd(1) == last
        {
            word.removeLast(1)
        }
        if word.ends("'") { word.removeLast(1) }
    }

    private func shortenPair(_ word: inout StemWord, _ r1: Int) {
        if word.ending(Self.pairs, from: r1) != nil { word.removeLast(1) }
    }
}

// MARK: - Norwegian stemmer

/// Snowball's stemmer for Norwegian: Bokmål, and much of Nynorsk.
struct NorwegianStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouyåæêòóôø"
    private static let beforeS: LetterSet = "bcdfghjlmnoptvyz"
    private static let inflections = Endings(
        """
        a e ede ande ende ane ene hetene en heten ar er heter as es edes endes enes hetenes ens hetens ets et het ast
        """, "ers", "s", "erte ert")
    private static let keptBeforeErs = Endings("ind kk nk amm omm kap pp lt ast øst v", "skap hav giv")
    private static let pairs = Endings("dt vt")
    private static let derivations = Endings("leg eleg ig eig lig elig els lov elov slov hetslov")

    func stem(_ word: inout StemWord) {
        let r1 = word.scandinavianRegion(Self.vowels)
        removeInflection(&word, r1)
        if word.ending(Self.pairs, from: r1) != nil { word.removeLast(1) }
        if let ending = word.ending(Self.derivations, from: r1) { word.removeLast(ending.length) }
        if word.ends("'") { word.removeLast(1) }
    }

    private func removeInflection(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.ending(Self.inflections, from: r1) else { return }
        switch ending.group {
        case 0: break
        case 1: guard word.ending(Self.keptBeforeErs, before: word.count - 3)?.group != 0 else { return }
        case 2: guard isEndingS(word) else { return }
        default:
            word.replaceLast(ending.length, "er")
            return
        }
        word.removeLast(ending.length)
    }

    private func isEndingS(_ word: StemWord) -> Bool {
        switch word.fromEnd(1) {
        case "r": word.fromEnd(2) != "e"
        case "k": word.fromEnd(2).map { !Self.vowels.contains($0) } ?? false
        case let letter: Self.beforeS.contains(letter)
        }
    }
}

extension StemWord {
    /// R1 of the Scandinavian languages: behind an apostrophe, or as elsewhere, but at least three letters from the beginning.
    func scandinavianRegion(_ vowels: LetterSet) -> Int {
        guard count >= 3 else { return count }
        return max(letters.firstIndex(of: "'").map { $0 + 1 } ?? region(vowels), 3)
    }
}

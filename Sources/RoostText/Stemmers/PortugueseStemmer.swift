/// Snowball's stemmer for Portuguese.
struct PortugueseStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouáâéêíóôú"
    // A tilde stands behind its vowel, as a consonant.
    private static let derivations = Endings(
        """
        ica ância adora osa ista eza ante ável ível ico ismo oso amento imento aça~o ador icas adoras osas \
        istas ezas adores antes aço~es icos ismos osos amentos imentos
        """,
        "logia logias",
        "uça~o uço~es",
        "ência ências",
        "amente",
        "mente",
        "idade idades",
        "iva ivo ivas ivos",
        "ira iras")
    private static let beforeAmente = Endings("ic ad os", "iv")
    private static let beforeMente = Endings("ante avel ível")
    private static let beforeIdade = Endings("ic abil iv")
    private static let verbs = Endings(
        """
        ada ida ia aria eria iria ara era ira ava asse esse isse aste este iste ei arei erei irei am iam \
        ariam eriam iriam aram eram iram avam em arem erem irem assem essem issem ado ido ando endo indo \
        ara~o era~o ira~o ar er ir as adas idas ias arias erias irias aras eras iras avas es ardes erdes \
        irdes ares eres ires asses esses isses astes estes istes is ais eis areis ereis ireis áreis éreis \
        íreis ásseis ésseis ísseis áveis íeis aríeis eríeis iríeis ados idos amos áramos éramos íramos \
        ávamos íamos aríamos eríamos iríamos emos aremos eremos iremos ássemos êssemos íssemos imos armos \
        ermos irmos ámos arás erás irás eu iu ou ará erá irá
        """)
    private static let residues = Endings("a i o os á í ó")
    private static let lastVowels = Endings("e é ê", "ç")

    func stem(_ word: inout StemWord) {
        word.rewrite("ã", "a~")
        word.rewrite("õ", "o~")
        let r1 = word.region(Self.vowels)
        let r2 = word.region(Self.vowels, from: r1)
        let rv = word.romanceRegion(Self.vowels)
        if removeDerivation(&word, r1, r2, rv) || removeVerbEnding(&word, rv) {
            if word.ends("ci"), word.count - 1 >= rv { word.removeLast(1) }
        } else {
            word.remove(Self.residues, notBefore: rv)
        }
        removeLastVowel(&word, rv)
        word.rewrite("a~", "ã")
        word.rewrite("o~", "õ")
    }

    private func removeDerivation(_ word: inout StemWord, _ r1: Int, _ r2: Int, _ rv: Int) -> Bool {
        guard let ending = word.ending(Self.derivations) else { return false }
        let rest = word.count - ending.length
        switch ending.group {
        case 4: guard rest >= r1 else { return false }
        case 8: guard rest >= rv, word.fromEnd(ending.length) == "e" else { return false }
        default: guard rest >= r2 else { return false }
        }
        let left: [Int: Letters] = [1: "log", 2: "u", 3: "ente", 8: "ir"]
        word.replaceLast(ending.length, left[ending.group] ?? "")
        switch ending.group {
        case 4: word.removeBeforeAdverb(Self.beforeAmente, r2)
        case 5: word.remove(Self.beforeMente, notBefore: r2)
        case 6: word.remove(Self.beforeIdade, notBefore: r2)
        case 7: word.remove("at", from: r2)
        default: break
        }
        return true
    }

    private func removeVerbEnding(_ word: inout StemWord, _ rv: Int) -> Bool {
        guard let ending = word.ending(Self.verbs, from: rv) else { return false }
        word.removeLast(ending.length)
        return true
    }

    private func removeLastVowel(_ word: inout StemWord, _ rv: Int) {
        guard let ending = word.ending(Self.lastVowels) else { return }
        guard ending.group == 0 else { return word.replaceLast(1, "c") }
        guard word.count - 1 >= rv else { return }
        word.removeLast(1)
        if word.ends("gu") || word.ends("ci"), word.count - 1 >= rv { word.removeLast(1) }
    }
}

/// Snowball's stemmer for Romanian.
struct RomanianStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouâîă"
    private static let articles = Endings(
        "ului ul",
        "aua",
        "ea ele elor",
        "iua iile iei ii ilor iilor",
        "ile",
        "atei",
        "ația ație")
    private static let combinations = Endings(
        "abilitate abilitati abilităi abilități",
        "ibilitate",
        "ivitate ivitati ivităi ivități",
        """
        icala iciva icale icitate icive icali icatori icitati icivi icităi icități ical icator iciv icală \
        icivă
        """,
        "ativa ațiune atoare ătoare ative atori ători ativi ator ător ativ ativă",
        "itiva ițiune itoare itive itori itivi itor itiv itivă")
    /// What the groups of ``combinations`` leave.
    private static let combined: [Letters] = ["abil", "ibil", "iv", "ic", "at", "it"]
    private static let derivations = Endings(
        """
        ica abila ibila oasa ata ita anta uta iva ic ice abile ibile oase ate itate ite ante ute ive ici \
        abili ibili atori osi ati itati iti anti uti ivi ităi oși ități abil ibil ator os at it ant ut iv \
        ică abilă ibilă oasă ată ită antă ută ivă
        """,
        "iune iuni",
        "ista isme iste isti iști ism ist istă")
    private static let verbs = Endings(
        """
        ea ia esc ăsc ind ând are ere ire âre ase ise use âse ește ăște eze ai eai iai ești ăști ui ezi âi \
        ași aseși iseși useși âseși iși uși âși eați iați arăți aserăți iserăți userăți âserăți irăți urăți \
        ârăți am eam iam asem isem usem âsem arăm aserăm iserăm userăm âserăm irăm urăm ârăm au eau iau indu \
        ându ez ească ară aseră iseră useră âseră iră ură âră ează
        """,
        """
        se sese sei seși seseși ați eți iți âți serăți seserăți em sesem im âm ăm serăm seserăm seră seseră
        """)
    private static let lastVowels = Endings("a e ie i ă")

    func stem(_ word: inout StemWord) {
        // Letters with a cedilla are those with a comma below.
        word.replaceAll("ş", "ș")
        word.replaceAll("ţ", "ț")
        word.markConsonants(["u": "U", "i": "I"], between: Self.vowels)
        let r1 = word.region(Self.vowels)
        let r2 = word.region(Self.vowels, from: r1)
        let rv = word.romanceRegion(Self.vowels)
        removeArticle(&word, r1)
        let isCombination = replaceCombinations(&word, r1)
        if !removeDerivation(&word, r2), !isCombination { removeVerbEnding(&word, rv) }
        word.remove(Self.lastVowels, notBefore: rv)
        word.replaceAll("I", "i")
        word.replaceAll("U", "u")
    }

    private func removeArticle(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.longestEnding(Self.articles, notBefore: r1) else { return }
        let left: [Letters] = ["", "a", "e", "i", "i", "at", "ați"]
        if ending.group == 4, word.ends("ab", before: word.count - ending.length) { return }
        word.replaceLast(ending.length, left[ending.group])
    }

    private func replaceCombinations(_ word: inout StemWord, _ r1: Int) -> Bool {
        var isFound = false
        while let ending = word.longestEnding(Self.combinations, notBefore: r1) {
            word.replaceLast(ending.length, Self.combined[ending.group])
            isFound = true
        }
        return isFound
    }

    private func removeDerivation(_ word: inout StemWord, _ r2: Int) -> Bool {
        guard let ending = word.longestEnding(Self.derivations, notBefore: r2) else { return false }
        switch ending.group {
        case 0: word.removeLast(ending.length)
        case 1:
            guard word.fromEnd(ending.length) == "ț" else { return false }
            word.replaceLast(ending.length + 1, "t")
        default: word.replaceLast(ending.length, "ist")
        }
        return true
    }

    private func removeVerbEnding(_ word: inout StemWord, _ rv: Int) {
        guard let ending = word.ending(Self.verbs, from: rv) else { return }
        if ending.group == 0 {
            let before = word.count - ending.length - 1
            guard before >= rv, !Self.vowels.contains(word.letters[before]) || word.letters[before] == "u"
            else { return }
        }
        word.removeLast(ending.length)
    }
}

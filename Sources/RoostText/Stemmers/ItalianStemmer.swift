/// Snowball's stemmer for Italian.
struct ItalianStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouàèìòù"
    private static let lastVowels: LetterSet = "aeioàèìò"
    private static let elided = Endings(
        "d' l' gl' all' dall' dell' nell' quell' sull' m' un' s' t' quest' tutt' v'")
    private static let pronouns = Endings(
        """
        la cela gliela mela tela vela le cele gliele mele tele vele ne cene gliene mene sene tene vene ci li \
        celi glieli meli teli veli gli mi si ti vi lo celo glielo melo telo velo
        """)
    private static let beforePronouns = Endings("ando endo", "ar er ir")
    private static let derivations = Endings(
        """
        ica osa ista anza ice atrice iche abile ibile ose ante mente iste anze ici atrici ichi abili ibili \
        ismi osi anti isti ico ismo oso istà istè istì
        """,
        "azione atore azioni atori",
        "logia logie",
        "usione uzione usioni uzioni",
        "enza enze",
        "amenti imenti amento imento",
        "amente",
        "ità",
        "iva ive ivi ivo")
    private static let beforeAmente = Endings("ic abil os", "iv")
    private static let beforeIta = Endings("ic abil iv")
    private static let verbs = Endings(
        """
        isca enda ata ita uta ava eva iva erebbe irebbe isce ende are ere ire asse ate avate evate ivate ete \
        erete irete ite ereste ireste ute erai irai isci endi erei irei assi ati iti eresti iresti uti avi \
        evi ivi isco ando endo Yamo iamo avamo evamo ivamo eremo iremo assimo ammo emmo eremmo iremmo immo \
        ano iscano avano evano ivano eranno iranno ono iscono arono erono irono erebbero irebbero assero \
        essero issero ato ito uto avo evo ivo ar ir erà irà erò irò
        """)

    func stem(_ word: inout StemWord) {
        removeElision(&word)
        markVowels(&word)
        let r1 = word.region(Self.vowels)
        let r2 = word.region(Self.vowels, from: r1)
        let rv = word.begins("divan") ? 5 : word.romanceRegion(Self.vowels)
        removePronoun(&word, rv)
        if !removeDerivation(&word, r1, r2, rv), let ending = word.ending(Self.verbs, from: rv) {
            word.removeLast(ending.length)
        }
        if Self.lastVowels.contains(word.fromEnd(0)), word.count - 1 >= rv {
            word.removeLast(1)
            word.remove("i", from: rv)
        }
        if word.ends("ch", from: rv) || word.ends("gh", from: rv) { word.removeLast(1) }
        word.replaceAll("I", "i")
        word.replaceAll("U", "u")
    }

    /// `dell'`, `un'` and the like before a word.
    private func removeElision(_ word: inout StemWord) {
        guard let end = word.letters.firstIndex(of: "'"), end + 1 < word.count,
            word.ending(Self.elided, before: end + 1)?.length == end + 1
        else { return }
        word.letters.removeFirst(end + 1)
    }

    /// Acute accents become grave ones; u behind q, and u and i between vowels, are no vowels.
    private func markVowels(_ word: inout StemWord) {
        for (old, new) in [("á", "à"), ("é", "è"), ("í", "ì"), ("ó", "ò"), ("ú", "ù")]
            as [(StemWord.Letter, StemWord.Letter)]
        {
            word.replaceAll(old, new)
        }
        for index in word.letters.indices.dropFirst() where word.letters[index] == "u" {
            if word.letters[index - 1] == "q" { word.letters[index] = "U" }
        }
        word.markConsonants(["u": "U", "i": "I"], between: Self.vowels)
    }

    private func removePronoun(_ word: inout StemWord, _ rv: Int) {
        guard let pronoun = word.ending(Self.pronouns) else { return }
        let end = word.count - pronoun.length
        guard let verb = word.ending(Self.beforePronouns, before: end), end - verb.length >= rv else {
            return
        }
        word.replaceLast(pronoun.length, verb.group == 0 ? "" : "e")
    }

    private func removeDerivation(_ word: inout StemWord, _ r1: Int, _ r2: Int, _ rv: Int) -> Bool {
        guard let ending = word.ending(Self.derivations) else { return false }
        let region = ending.group == 5 ? rv : ending.group == 6 ? r1 : r2
        guard word.count - ending.length >= region else { return false }
        let left: [Int: Letters] = [2: "log", 3: "u", 4: "ente"]
        word.replaceLast(ending.length, left[ending.group] ?? "")
        switch ending.group {
        case 1: word.remove("ic", from: r2)
        case 6: word.removeBeforeAdverb(Self.beforeAmente, r2)
        case 7: word.remove(Self.beforeIta, notBefore: r2)
        case 8: if word.remove("at", from: r2) { word.remove("ic", from: r2) }
        default: break
        }
        return true
    }
}

/// Snowball's stemmer for Spanish.
struct SpanishStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouáéíóúü"
    private static let pronouns = Endings("la sela le me se lo selo las selas les los selos nos")
    private static let beforePronouns = Endings(
        "iéndo", "ándo", "ár", "ér", "ír", "ando iendo ar er ir", "yendo")
    /// What the first groups of ``beforePronouns`` become without the accent.
    private static let withoutAccent: [Letters] = ["iendo", "ando", "ar", "er", "ir"]
    private static let derivations = Endings(
        """
        ica osa ista anza able ible ico ismo oso amiento imiento icas osas istas anzas ables ibles icos \
        ismos osos amientos imientos
        """,
        "ancia adora ante acion ación ador ancias adoras aciones adores antes",
        "logía logías",
        "ucion ución uciones",
        "encia encias",
        "amente",
        "mente",
        "idad idades",
        "iva ivo ivas ivos")
    private static let beforeAmente = Endings("ic ad os", "iv")
    private static let beforeMente = Endings("able ible ante")
    private static let beforeIdad = Endings("ic abil iv")
    private static let verbsWithY = Endings("ya ye yan yen yeron yendo yo yas yes yais yamos yó")
    private static let verbs = Endings(
        "en es éis emos",
        """
        aba ada ida ara iera ía aría ería iría ad ed id ase iese aste iste an aban aran ieran ían arían \
        erían irían asen iesen aron ieron arán erán irán ado ido ando iendo ar er ir as abas adas idas aras \
        ieras ías arías erías irías ases ieses abais arais ierais íais aríais eríais iríais aseis ieseis \
        asteis isteis áis aréis eréis iréis ados idos amos ábamos áramos iéramos íamos aríamos eríamos \
        iríamos aremos eremos iremos ásemos iésemos imos arás erás irás ís ará erá irá aré eré iré ió
        """)
    private static let residues = Endings("a o os á í ó", "e é")

    func stem(_ word: inout StemWord) {
        let r1 = word.region(Self.vowels)
        let r2 = word.region(Self.vowels, from: r1)
        let rv = word.romanceRegion(Self.vowels)
        removePronoun(&word, rv)
        if !removeDerivation(&word, r1, r2) { removeVerbEnding(&word, rv) }
        if let ending = word.longestEnding(Self.residues, notBefore: rv) {
            word.removeLast(ending.length)
            if ending.group == 1, word.ends("gu"), word.count - 1 >= rv { word.removeLast(1) }
        }
        for (old, new) in [("á", "a"), ("é", "e"), ("í", "i"), ("ó", "o"), ("ú", "u")]
            as [(StemWord.Letter, StemWord.Letter)]
        {
            word.replaceAll(old, new)
        }
    }

    private func removePronoun(_ word: inout StemWord, _ rv: Int) {
        guard let pronoun = word.ending(Self.pronouns) else { return }
        let end = word.count - pronoun.length
        guard let verb = word.ending(Self.beforePronouns, before: end), end - verb.length >= rv else {
            return
        }
        switch verb.group {
        case 5: word.removeLast(pronoun.length)
        case 6: if word.ends("u", before: end - verb.length) { word.removeLast(pronoun.length) }
        default: word.replaceLast(pronoun.length + verb.length, Self.withoutAccent[verb.group])
        }
    }

    private func removeDerivation(_ word: inout StemWord, _ r1: Int, _ r2: Int) -> Bool {
        guard let ending = word.ending(Self.derivations) else { return false }
        guard word.count - ending.length >= (ending.group == 5 ? r1 : r2) else { return false }
        let left: [Int: Letters] = [2: "log", 3: "u", 4: "ente"]
        word.replaceLast(ending.length, left[ending.group] ?? "")
        switch ending.group {
        case 1: word.remove("ic", from: r2)
        case 5: word.removeBeforeAdverb(Self.beforeAmente, r2)
        case 6: word.remove(Self.beforeMente, notBefore: r2)
        case 7: word.remove(Self.beforeIdad, notBefore: r2)
        case 8: word.remove("at", from: r2)
        default: break
        }
        return true
    }

    private func removeVerbEnding(_ word: inout StemWord, _ rv: Int) {
        if let ending = word.ending(Self.verbsWithY, from: rv), word.fromEnd(ending.length) == "u" {
            word.removeLast(ending.length)
        } else if let ending = word.ending(Self.verbs, from: rv) {
            word.removeLast(ending.length)
            if ending.group == 0, word.ends("gu") { word.removeLast(1) }
        }
    }
}

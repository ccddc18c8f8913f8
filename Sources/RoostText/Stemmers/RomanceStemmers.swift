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

// MARK: - Spanish stemmer

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

// MARK: - Portuguese stemmer

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

// MARK: - Romanian stemmer

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
